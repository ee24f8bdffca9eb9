/**
 * Kills the real gateway again and again, under load and on real PostgreSQL, and checks that nothing is lost or
 * doubled.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { eventually, type Running } from '../../e2e/support/process.ts'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import { type Random, seededRandom } from '../random.ts'
import { checkTill, countWork, unsettledWork, type WorkCounts } from './check.ts'
import { startLoad } from './load.ts'
import {
  countLeases,
  openProcessTill,
  type ProcessTill,
  passHour,
  passMinute,
  untilAnswering,
  untilBotsOnline,
} from './till.ts'

/** The share of gateways that are killed while they start. */
const KILLED_EARLY = 0.15
/**
 * The share of the rest that are killed at a random moment. All others are killed during half-done work, or after
 * `MOST_LIFE_MS` if there is none.
 */
const KILLED_ANYTIME = 0.25
/** The longest life of a gateway that is killed while it starts. */
const MOST_START_MS = 900
/** If a gateway has started: the longest time from its first answer to its kill, or to half-done work. */
const MOST_LIFE_MS = 4_000
/** The longest time from half-done work to the kill. */
const MOST_LAG_MS = 25
/** Keeps the load's random numbers apart from those of the rounds. */
const LOAD_SEED = 1_000_000
/** How long `untilDelivered` and `settle` wait on a busy machine before they fail. */
const SETTLE_MS = 300_000
/** The fewest deliveries of a world. Its shoppers continue until it has these and a reversal. */
const LEAST_DELIVERIES = 3
/**
 * The store's credit mode and who is liable for reversals, which change each round. A trade keeps those that
 * applied at its delivery (D-36).
 */
const TERMS = [
  ['on_accept', 'operator'],
  ['on_release', 'store'],
  ['on_accept', 'store'],
  ['on_release', 'operator'],
] as const

/** A first attempt that has begun: its claim delays the next one. */
const WEBHOOK_IN_FLIGHT = `webhook_delivery
  where state = 'due' and attempts = 0 and due_at > now() + interval '10 seconds'`

/** Half-done work: the process has sent or written one thing, but not yet the next. */
const HALF_DONE = [
  `from trade where state = 'sending'`,
  `from trade where state = 'active' and accepted_at is not null`,
  `from trade where delivered_at > now() - interval '1 second'`,
  'from event where sequence is null',
  `from ${WEBHOOK_IN_FLIGHT}`,
] as const

export type KillResult = {
  rounds: number
  problems: string[]
  /** Milliseconds from a start to the first answer. */
  apiMs: number[]
  /** Milliseconds from the start after a kill until the bots are back, in rounds that wait for them in real time. */
  botsMs: number[]
  /** Work that was under way at the kills: trades by state, and webhooks. */
  caught: Record<string, number>
  counts: WorkCounts
}

/** `realTimeEvery`: one round in this many waits for the bots in real time; by default none does. */
type Plan = { rounds: number; seed: number; realTimeEvery?: number }

/** Runs one world: rounds of start and kill, then a last start and the comparison of the books. */
export async function killRounds(serverUrl: string, plan: Plan): Promise<KillResult> {
  const { rounds, seed, realTimeEvery } = plan
  // Separate from the shoppers' randomness, because a round must not depend on how many shoppers came before it.
  const random = seededRandom(seed)
  const till = await openProcessTill(serverUrl, `kill-${seed}`)
  const result: Notes = { rounds, problems: [], apiMs: [], botsMs: [], caught: {} }
  const load = startLoad(till, seededRandom(LOAD_SEED + seed))
  let gateway: Running | undefined
  try {
    for (let round = 1; round <= rounds; round += 1) {
      await setTerms(till, round)
      const isPatient = realTimeEvery !== undefined && round % realTimeEvery === 0
      await (isPatient ? patientRound(till, result) : quickRound(till, random, result))
      const differences = await verifyLedger(till.pool)
      result.problems.push(
        ...differences.map(({ problem, detail }) => `round ${round}: ${problem}: ${detail}`),
      )
    }
    gateway = till.start()
    result.apiMs.push(await untilAnswering(till, gateway))
    await untilDelivered(till)
    await load.stopVisits()
    await settle(till)
    await load.end()
    result.problems.push(...(await checkTill(till, load.confirmedIds)))
    return { ...result, counts: await countWork(till) }
  } finally {
    await load.end()
    await gateway?.interrupt()
    await till.close()
  }
}

/** The result so far, to which each round adds. */
type Notes = Omit<KillResult, 'counts'>

/** Starts a gateway, kills it while it starts, at a random moment or during half-done work, and skips a minute. */
async function quickRound(till: ProcessTill, random: Random, notes: Notes): Promise<void> {
  const gateway = till.start()
  if (random.chance(KILLED_EARLY)) {
    await delay(random.int(MOST_START_MS))
  } else {
    notes.apiMs.push(await untilAnswering(till, gateway))
    if (random.chance(KILLED_ANYTIME)) await delay(random.int(MOST_LIFE_MS))
    else await untilHalfDone(till, random)
  }
  await gateway.kill()
  await countWorkUnderWay(till, notes)
  await passMinute(till)
}

async function setTerms({ pool }: ProcessTill, round: number): Promise<void> {
  const terms = TERMS[round % TERMS.length] ?? TERMS[0]
  await pool.query('update store set credit_mode = $1, liability = $2', [...terms])
}

async function untilHalfDone({ pool }: ProcessTill, random: Random): Promise<void> {
  const halfDone = random.pick(HALF_DONE)
  const endMs = performance.now() + MOST_LIFE_MS
  while (performance.now() < endMs) {
    const { rowCount } = await pool.query(`select 1 ${halfDone} limit 1`)
    if (rowCount === 1) break
    await delay(2)
  }
  await delay(random.int(MOST_LAG_MS))
}

/** Kills a working gateway, and waits for its successor in real time. */
async function patientRound(till: ProcessTill, notes: Notes): Promise<void> {
  const first = till.start()
  await untilAnswering(till, first)
  await untilBotsOnline(till)
  const leases = await countLeases(till)
  await first.kill()
  await countWorkUnderWay(till, notes)
  const beganMs = performance.now()
  const second = till.start()
  notes.apiMs.push(await untilAnswering(till, second))
  await untilBotsOnline(till, leases)
  notes.botsMs.push(performance.now() - beganMs)
  await second.kill()
  await passMinute(till)
}

async function countWorkUnderWay({ pool }: ProcessTill, { caught }: Notes): Promise<void> {
  const { rows } = await pool.query<{ state: string; n: number }>(
    `select state, count(*)::int as n from trade
     where state in ('intended', 'sending', 'unknown', 'active') group by state
     union all select 'accepted, not credited', count(*)::int from trade
       where state = 'active' and accepted_at is not null
     union all select 'webhook in flight', count(*)::int from ${WEBHOOK_IN_FLIGHT}`,
  )
  for (const { state, n } of rows) caught[state] = (caught[state] ?? 0) + n
}

/** Passes hours until the world has enough deliveries and a reversal. */
export async function untilDelivered(till: ProcessTill): Promise<void> {
  const hasEnough = async () => {
    const { deliveries, reversals } = await countWork(till)
    if (deliveries >= LEAST_DELIVERIES && reversals > 0) return true
    await passHour(till)
    return undefined
  }
  await eventually(`${LEAST_DELIVERIES} deliveries and a reversal`, hasEnough, SETTLE_MS)
}

/** Passes hours until all work is settled. Throws an error that lists the unsettled work if that takes too long. */
export async function settle(till: ProcessTill): Promise<void> {
  let unsettled: string[] = []
  await eventually(
    'everything is settled',
    async () => {
      await passHour(till)
      unsettled = await unsettledWork(till)
      return unsettled.length === 0 || undefined
    },
    SETTLE_MS,
  ).catch((cause: unknown) => {
    throw new Error(`not settled after ${SETTLE_MS / 1000} s:\n${unsettled.slice(0, 20).join('\n')}`, {
      cause,
    })
  })
}
