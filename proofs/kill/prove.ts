/**
 * `npm run prove -- kill`: kills one process in the middle of its work, then plays rounds of start and kill. Times do
 * not decide the result. They are printed beside their limits and the machine's speed in the same run.
 */
import { z } from 'zod'
import { LEASE_MS } from '../../gateway/bots/lease-store.ts'
import { type MachineSpeed, meanOf, readSpeed } from '../machine.ts'
import { count, defineProof, type Finding, keepFlag } from '../proof.ts'
import { withServer } from '../server.ts'
import type { WorkCounts } from './check.ts'
import { type KillReport, killOnce } from './one-kill.ts'
import { type KillResult, killRounds } from './rounds.ts'
import { type Measured, secondsInWords, secondsOf } from './seconds.ts'
import { openProcessTill, untilAnswering, untilBotsOnline } from './till.ts'

/**
 * A simulated Steam has enough items for this many rounds. Then the books are compared, and a new world begins: another
 * Steam with another till.
 */
const ROUNDS_A_WORLD = 20
/** In every tenth round, no time is skipped after the kill: the next process waits until the dead one's lease ends. */
const REAL_TIME_EVERY = 10
/** `waitMs`: the part of the limit that a slower machine does not lengthen. */
const LIMITS = {
  /** From a start until the API answers. */
  api: { mostMs: 2_000 },
  /** From the start after a kill until the bots work. */
  bots: { mostMs: 30_000, waitMs: LEASE_MS },
  /** From a kill until the work of the killed process continues. */
  work: { mostMs: 30_000, waitMs: LEASE_MS },
} as const

export const killProof = defineProof({
  options: z.object({
    rounds: count(200, 'how many rounds of start and kill'),
    seed: count(1, 'decides when to kill, and what shoppers do'),
    keep: keepFlag(),
  }),
  run: ({ rounds, seed }) => withServer(async (url) => report(await play(url, rounds, seed), seed)),
})

type WithSpeed<T> = { result: T; speed: number }

type KillFindings = { oneKill: WithSpeed<Omit<KillReport, 'nextGateway'>>; worlds: WithSpeed<KillResult>[] }

async function play(serverUrl: string, rounds: number, seed: number): Promise<KillFindings> {
  const withSpeed = await createSpeedGauge()
  const oneKill = await withSpeed(() => measureOneKill(serverUrl, seed))
  const worlds: WithSpeed<KillResult>[] = []
  for (let done = 0; done < rounds; done += ROUNDS_A_WORLD) {
    const roundsHere = Math.min(ROUNDS_A_WORLD, rounds - done)
    const plan = { rounds: roundsHere, seed: seed * 1_000 + worlds.length, realTimeEvery: REAL_TIME_EVERY }
    const world = await withSpeed(() => killRounds(serverUrl, plan))
    worlds.push(world)
    const { counts, problems } = world.result
    const verdict = problems.length === 0 ? 'nothing lost, nothing doubled' : problems.join('; ')
    console.log(
      `${done + roundsHere} rounds: ${counts.deliveries} deliveries, ${counts.reversals} reversals, ` +
        `${counts.webhooks} webhooks, ${verdict}; ` +
        `machine ${Math.round(world.speed * 100)} % of a quiet one`,
    )
  }
  return { oneKill, worlds }
}

/** Returns a function that runs work, and measures the machine's speed right before and right after it. */
async function createSpeedGauge(): Promise<<T>(work: () => Promise<T>) => Promise<WithSpeed<T>>> {
  let before: MachineSpeed = await readSpeed()
  return async (work) => {
    const result = await work()
    const after = await readSpeed()
    const { speed } = meanOf([before, after])
    before = after
    return { result, speed }
  }
}

/**
 * Kills a process of a new till in the middle of its work. Skips no time until another process has finished that work.
 */
async function measureOneKill(serverUrl: string, seed: number): Promise<Omit<KillReport, 'nextGateway'>> {
  const till = await openProcessTill(serverUrl, `kill-once-${seed}`)
  let gateway = till.start()
  try {
    await untilAnswering(till, gateway)
    await untilBotsOnline(till)
    const oneKill = await killOnce(till, gateway)
    gateway = oneKill.nextGateway
    return oneKill
  } finally {
    await gateway.interrupt()
    await till.close()
  }
}

function report({ oneKill, worlds }: KillFindings, seed: number): Finding {
  const problems = [...oneKill.result.problems, ...worlds.flatMap(({ result }) => result.problems)]
  const sum = (count: (counts: WorkCounts) => number): number =>
    worlds.reduce((total, { result }) => total + count(result.counts), 0)
  const reversals = sum((counts) => counts.reversals)
  if (reversals === 0) problems.push('no trade was taken back, so nothing is proved about reversals')
  const passed = problems.length === 0
  const measured = (timesOf: (world: KillResult) => number[]): Measured[] =>
    worlds.map(({ result, speed }) => ({ ms: timesOf(result), speed }))
  const work = [{ ms: Object.values(oneKill.result.continuedMs), speed: oneKill.speed }]
  const seconds = {
    api: secondsOf(
      measured(({ apiMs }) => apiMs),
      LIMITS.api,
    ),
    bots: secondsOf(
      measured(({ botsMs }) => botsMs),
      LIMITS.bots,
    ),
    work: secondsOf(work, LIMITS.work),
  }
  console.log(secondsInWords('the API answers after a start', seconds.api))
  console.log(secondsInWords('the bots work after a kill', seconds.bots))
  console.log(secondsInWords('the work of a killed process continues', seconds.work))
  const rounds = worlds.reduce((total, { result }) => total + result.rounds, 0)
  console.log(`kill: ${rounds} rounds, ${problems.length} problems ${passed ? 'PASS' : 'FAIL'}`)
  const content = {
    passed,
    rounds,
    seed,
    deliveries: sum(({ deliveries }) => deliveries),
    reversals,
    creditedCents: sum(({ creditedMinor }) => creditedMinor),
    events: sum(({ events }) => events),
    webhooksReceived: sum(({ webhooks }) => webhooks),
    seconds,
    caught: sumOfCaught(worlds.map(({ result }) => result)),
    problems,
  }
  return { passed, result: { name: 'kill', content } }
}

/** How much work of each kind was under way at the kills of all worlds. */
function sumOfCaught(worlds: readonly KillResult[]): Record<string, number> {
  const caught: Record<string, number> = {}
  for (const [state, times] of worlds.flatMap((world) => Object.entries(world.caught))) {
    caught[state] = (caught[state] ?? 0) + times
  }
  return caught
}
