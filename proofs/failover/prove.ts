/**
 * `npm run prove -- failover`: the database fails under load in seven ways, and comes back or is replaced. Times do not
 * decide the result. They are printed with the machine's speed in the same run.
 */
import { z } from 'zod'
import { LEASE_MS } from '../../gateway/bots/lease-store.ts'
import { secondsInWords, secondsOf } from '../kill/seconds.ts'
import { meanOf, readSpeed } from '../machine.ts'
import { count, defineProof, type Finding, keepFlag } from '../proof.ts'
import { type RoundFacts, restoreRound } from '../restore/rounds.ts'
import { withFolder } from '../server.ts'
import { openOwnServer } from './own-server.ts'
import { type PromotedResult, promotedRound } from './promoted.ts'
import { type FailoverResult, failoverRounds, type Kind, type Times } from './rounds.ts'

/** How long the API and the bots may take to work again, on a quiet machine. */
const LIMITS = {
  api: { mostMs: 2_000 },
  bots: { mostMs: 30_000, waitMs: LEASE_MS },
} as const

/**
 * `synchronous` and `asynchronous`: the server crashes, and a standby of that kind is promoted. `Kind` explains the
 * others.
 */
const KINDS = ['crashed', 'full', 'asynchronous', 'silent', 'synchronous', 'refusing', 'replaced'] as const

type Round = (typeof KINDS)[number]

export const failoverProof = defineProof({
  options: z.object({
    rounds: count(10, 'how many times the database fails'),
    seed: count(1, 'decides when the database fails, for how long, and what shoppers do'),
    keep: keepFlag(),
  }),
  async run({ rounds, seed }) {
    const plan = Array.from({ length: rounds }, (_, index) => KINDS[index % KINDS.length] ?? 'silent')
    const before = await readSpeed()
    const findings: Findings = {
      seed,
      ...(await runInPlace(plan, seed)),
      synchronous: [],
      asynchronous: [],
    }
    for (const [index, kind] of plan.entries()) {
      if (kind === 'synchronous')
        findings.synchronous.push(await withFolder((folder) => promotedRound(folder, seed + index)))
      if (kind === 'asynchronous')
        findings.asynchronous.push(await withFolder((folder) => restoreRound(folder, 'promoted')))
    }
    const { speed } = meanOf([before, await readSpeed()])
    return report(findings, speed)
  },
})

const isInPlace = (kind: Round): kind is Kind => kind !== 'synchronous' && kind !== 'asynchronous'

/** Runs all rounds without a standby, on one till. */
async function runInPlace(
  plan: readonly Round[],
  seed: number,
): Promise<Pick<Findings, 'inPlace' | 'notRun'>> {
  const server = await openOwnServer()
  try {
    const { url, diskProblem } = server
    const kinds = plan.filter(isInPlace).filter((kind) => kind !== 'full' || diskProblem === undefined)
    const notRun = diskProblem === undefined ? {} : { notRun: `without a full disk: ${diskProblem}` }
    if (kinds.length === 0) return notRun
    return { inPlace: await failoverRounds({ url, controls: server }, { kinds, seed }), ...notRun }
  } finally {
    await server.close()
  }
}

type Findings = {
  seed: number
  inPlace?: FailoverResult
  /** The kind of round that this machine could not run, and why. */
  notRun?: string
  synchronous: PromotedResult[]
  asynchronous: RoundFacts[]
}

function mostOf(times: readonly Times[]): Record<string, { api: number; bots: number }> {
  const most = (ms: readonly number[]) => Math.round(Math.max(...ms))
  return Object.fromEntries(
    [...Map.groupBy(times, ({ kind }) => kind)].map(([kind, timesOfKind]) => [
      kind,
      {
        api: most(timesOfKind.map(({ apiMs }) => apiMs)),
        bots: most(timesOfKind.map(({ botsMs }) => botsMs)),
      },
    ]),
  )
}

/** How many rounds of each kind ran. A machine may be unable to run all that were planned. */
const roundsOf = ({ inPlace, synchronous, asynchronous }: Findings): Record<string, number> => ({
  ...inPlace?.rounds,
  synchronous: synchronous.length,
  asynchronous: asynchronous.length,
})

function report(findings: Findings, speed: number): Finding {
  const { seed, inPlace, notRun, synchronous, asynchronous } = findings
  const results = [...(inPlace === undefined ? [] : [inPlace]), ...synchronous]
  const problems = [...results, ...asynchronous].flatMap((result) => result.problems)
  if (asynchronous.some(({ eventsLost }) => eventsLost <= 0))
    problems.push('an asynchronous standby lost nothing, so its round proves nothing')
  const passed = problems.length === 0
  const times = results.flatMap((result) => result.times)
  const seconds = {
    api: secondsOf([{ ms: times.map(({ apiMs }) => apiMs), speed }], LIMITS.api),
    bots: secondsOf([{ ms: times.map(({ botsMs }) => botsMs), speed }], LIMITS.bots),
  }
  const mostMs = mostOf(times)
  const rounds = roundsOf(findings)
  const sum = (field: 'deliveries' | 'reversals' | 'webhooks' | 'events') =>
    results.reduce((total, { counts }) => total + counts[field], 0)
  const counts = {
    deliveries: sum('deliveries'),
    reversals: sum('reversals'),
    webhooks: sum('webhooks'),
    events: sum('events'),
  }
  for (const problem of problems) console.log(problem)
  if (notRun !== undefined) console.log(notRun)
  console.log(secondsInWords('until the API answers after the database is back', seconds.api))
  console.log(secondsInWords('until the bots work after the database is back', seconds.bots))
  for (const [kind, { api, bots }] of Object.entries(mostMs))
    console.log(`${kind}: the API ${api} ms at most, the bots ${bots} ms`)
  for (const { kept, lost, later, eventsLost } of asynchronous)
    console.log(
      `asynchronous: ${kept} deliveries kept, ${lost} lost with ${eventsLost} events, ${later} in the next epoch`,
    )
  console.log(
    `failover: ${Object.entries(rounds)
      .map(([kind, times]) => `${times} ${kind}`)
      .join(', ')}; ${counts.deliveries} deliveries, ${counts.reversals} reversals, ` +
      `${counts.webhooks} webhooks, ${problems.length} problems ${passed ? 'PASS' : 'FAIL'}`,
  )
  const content = {
    passed,
    seed,
    rounds,
    left: notRun,
    refused: inPlace?.refused ?? 0,
    ...counts,
    behind: asynchronous,
    seconds,
    mostMs,
    problems,
  }
  return { passed, result: { name: 'failover', content, isOneOfMany: true } }
}
