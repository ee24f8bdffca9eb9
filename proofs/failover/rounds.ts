/**
 * The real gateway under load, while its database fails again and again: it falls silent, refuses connections, is
 * replaced, crashes, or fills its disk. Afterwards nothing may be lost or doubled.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { eventually } from '../../e2e/support/process.ts'
import { LEASE_MS } from '../../gateway/bots/lease-store.ts'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import { type SilentProxy, startSilentProxy } from '../../gateway/testing/silent-proxy.ts'
import { checkTill, countWork, type WorkCounts } from '../kill/check.ts'
import { startLoad } from '../kill/load.ts'
import { settle, untilDelivered } from '../kill/rounds.ts'
import { openProcessTill, type ProcessTill, untilAnswering, untilBotsOnline } from '../kill/till.ts'
import { type Random, seededRandom } from '../random.ts'
import { callStore } from '../restore/shopping.ts'
import type { OwnServer } from './own-server.ts'

/**
 * `silent`: no byte passes, and no connection ends. `refusing`: connections are ended and refused. `replaced`: new
 * connections work immediately, and old ones never again. `crashed`: all processes of the server end. `full`: its disk
 * is full. The last two need a server that belongs to the proof.
 */
export type Kind = 'silent' | 'refusing' | 'replaced' | 'crashed' | 'full'

/** Keeps the load's random numbers apart from those of the rounds. */
const LOAD_SEED = 2_000_000
/** The longest time before a failure. */
const MOST_LIFE_MS = 4_000
/** The longest time that the database stays away once calls are refused. A long round adds the time of a lease. */
const MOST_AWAY_MS = 6_000
/** Every fourth round keeps the database away for longer than a lease, unless the round is `replaced`. */
const LONG_EVERY = 4
/** Long enough for a busy machine. The caller judges the times. */
const PATIENCE_MS = 180_000

/** Milliseconds from the return of the database. */
export type Times = { kind: string; apiMs: number; botsMs: number }

export type FailoverResult = {
  rounds: Record<Kind, number>
  problems: string[]
  times: Times[]
  /** How many calls of the rounds were refused because of the database. Those of the load do not count. */
  refused: number
  counts: WorkCounts
}

type Plan = { kinds: readonly Kind[]; seed: number }
/** The calls by which a round breaks and repairs the server. */
type ServerControls = Pick<OwnServer, 'crash' | 'start' | 'fillDisk' | 'makeRoom'>

/** Plays the rounds in order, on a new database of the server. */
export async function failoverRounds(
  server: { url: string; controls?: ServerControls },
  { kinds, seed }: Plan,
): Promise<FailoverResult> {
  const random = seededRandom(seed)
  const proxies: SilentProxy[] = []
  const mapDatabaseUrl = async (url: string) => {
    const proxy = await startSilentProxy(url)
    proxies.push(proxy)
    return proxy.url
  }
  const till = await openProcessTill(server.url, `failover-${seed}`, { mapDatabaseUrl })
  const [proxy] = proxies
  if (proxy === undefined) throw new Error('the till has no proxy')
  const notes: Notes = {
    rounds: { silent: 0, refusing: 0, replaced: 0, crashed: 0, full: 0 },
    problems: [],
    times: [],
    refused: 0,
  }
  const gateway = till.start()
  await untilAnswering(till, gateway)
  await untilBotsOnline(till)
  const load = startLoad(till, seededRandom(LOAD_SEED + seed))
  try {
    for (const [index, kind] of kinds.entries()) {
      const round = index + 1
      await delay(random.int(MOST_LIFE_MS))
      const parts = { till, proxy, random, notes, controls: server.controls }
      await playRound(parts, kind, round % LONG_EVERY === 0)
      if (gateway.hasEnded()) throw new Error(`the gateway ended:\n${gateway.output()}`)
      const differences = await verifyLedger(till.pool)
      notes.problems.push(
        ...differences.map(({ problem, detail }) => `round ${round}: ${problem}: ${detail}`),
      )
    }
    await untilDelivered(till)
    await load.stopVisits()
    await settle(till)
    await load.end()
    notes.problems.push(...(await checkTill(till, load.confirmedIds)))
    return { ...notes, counts: await countWork(till) }
  } finally {
    await load.end()
    await gateway.interrupt()
    await proxy.close()
    await till.close()
  }
}

/** The result of all rounds, to which each adds its own. */
type Notes = Omit<FailoverResult, 'counts'>
type RoundParts = {
  till: ProcessTill
  proxy: SilentProxy
  random: Random
  notes: Notes
  controls: ServerControls | undefined
}

async function playRound(parts: RoundParts, kind: Kind, isLong: boolean): Promise<void> {
  const { till, random, notes } = parts
  notes.rounds[kind] += 1
  const fault = faultOf(parts, kind)
  await fault.begin()
  if (kind !== 'replaced') {
    await (kind === 'full' ? untilWritesRefused(till, notes) : untilRefused(till, notes))
    await delay(isLong ? LEASE_MS + random.int(MOST_AWAY_MS) : random.int(MOST_AWAY_MS))
  }
  await fault.end()
  const beganMs = performance.now()
  await untilApiAnswers(till)
  const apiMs = performance.now() - beganMs
  await untilBotsWork(till)
  notes.times.push({ kind, apiMs, botsMs: performance.now() - beganMs })
}

type Fault = { begin(): void | Promise<void>; end(): void | Promise<void> }

function faultOf({ proxy, controls }: RoundParts, kind: Kind): Fault {
  const pass = () => proxy.pass()
  if (kind === 'replaced') return { begin: () => proxy.replace(), end: pass }
  if (kind === 'silent') return { begin: () => proxy.swallow(), end: pass }
  if (kind === 'refusing') return { begin: () => proxy.refuse(), end: pass }
  if (controls === undefined) throw new Error(`a round "${kind}" needs the proof's own server`)
  if (kind === 'crashed') return { begin: () => controls.crash(), end: () => controls.start() }
  return { begin: () => controls.fillDisk(), end: () => controls.makeRoom() }
}

/** A call that needs the database, for a deposit that does not exist. */
const probe = ({ url }: ProcessTill) =>
  fetch(`${url}/api/payment?hash=${'0'.repeat(32)}`, { signal: AbortSignal.timeout(PATIENCE_MS) })

/**
 * Waits until a call is refused because the database is away. Notes a problem if the refusal is not a 503 with its code
 * and a time to retry.
 */
async function untilRefused(till: ProcessTill, notes: Notes): Promise<void> {
  await eventually('calls are refused', async () => isRefused(await probe(till), notes), PATIENCE_MS)
}

/** Waits until new deposits are refused because the disk is full. Reads may still work. */
async function untilWritesRefused(till: ProcessTill, notes: Notes): Promise<void> {
  const deposit = () => ({
    externalId: `full-${randomUUID()}`,
    currency: 'USD',
    backToStoreUrl: 'http://localhost/',
  })
  const write = async () => {
    const answer = await callStore(till, { method: 'POST', path: '/v1/deposits', body: deposit() })
    return isRefused(answer, notes)
  }
  await eventually('new deposits are refused', write, PATIENCE_MS)
}

async function isRefused(answer: Response, notes: Notes): Promise<true | undefined> {
  if (answer.status < 500) return undefined
  const { code } = refusalSchema.parse(await answer.json())
  if (
    answer.status !== 503 ||
    code !== 'database_unavailable' ||
    answer.headers.get('retry-after') === null
  ) {
    notes.problems.push(
      `a call was refused with ${answer.status} ${code}, Retry-After ${answer.headers.get('retry-after')}`,
    )
  }
  notes.refused += 1
  return true
}

const refusalSchema = z.object({ code: z.string().optional() })

export async function untilApiAnswers(till: ProcessTill): Promise<void> {
  const isAnswered = async () => ((await probe(till)).status === 404 ? true : undefined)
  await eventually('the API answers again', isAnswered, PATIENCE_MS)
}

/** Waits until every bot is online, with a valid lease. */
export async function untilBotsWork({ pool }: ProcessTill): Promise<void> {
  const areAllWorking = async () => {
    const { rows } = await pool.query<{ all: boolean }>(
      'select bool_and(online and lease_until > now()) as all from bot',
    )
    return rows[0]?.all === true || undefined
  }
  await eventually('the bots work', areAllWorking, PATIENCE_MS)
}
