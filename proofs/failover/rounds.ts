/**
 * The real gateway under load, and its database gone again and again: silent, at another address, or refusing. Afterwards
 * nothing is lost and nothing doubled.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../e2e/support/process.ts'
import { LEASE_MS } from '../../gateway/bots/lease-store.ts'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import { type SilentProxy, startSilentProxy } from '../../gateway/testing/silent-proxy.ts'
import { type Books, booksOf, checkTill } from '../kill/check.ts'
import { startLoad } from '../kill/load.ts'
import { delivered, settle } from '../kill/rounds.ts'
import { answering, botsOnline, type KillTill, openKillTill } from '../kill/till.ts'
import { type Random, seededRandom } from '../random.ts'

/** In turn. A database that is `replaced` answers new connections at once, and the old ones never again. */
const KINDS = ['silent', 'refusing', 'replaced'] as const

export type Kind = (typeof KINDS)[number]

const LOAD_SEED = 2_000_000
const MOST_LIFE_MS = 4_000
const MOST_AWAY_MS = 6_000
/** Every so many rounds it is away for longer than a lease. */
const LONG_EVERY = 4
/** As long as a busy machine may need. The caller judges the times. */
const PATIENCE_MS = 180_000

export type Failed = {
  rounds: Record<Kind, number>
  problems: string[]
  /** Milliseconds from the return of the database. */
  apiMs: number[]
  botsMs: number[]
  /** Calls that were refused for want of the database, as a shopper's page sees them. */
  refused: number
  books: Books
}

type Plan = { rounds: number; seed: number; kinds?: readonly Kind[] }

export async function failoverRounds(
  serverUrl: string,
  { rounds, seed, kinds = KINDS }: Plan,
): Promise<Failed> {
  const random = seededRandom(seed)
  const proxies: SilentProxy[] = []
  const through = async (url: string) => {
    const proxy = await startSilentProxy(url)
    proxies.push(proxy)
    return proxy.url
  }
  const till = await openKillTill(serverUrl, `failover-${seed}`, { through })
  const [proxy] = proxies
  if (proxy === undefined) throw new Error('the till has no proxy')
  const notes: Notes = {
    rounds: { silent: 0, refusing: 0, replaced: 0 },
    problems: [],
    apiMs: [],
    botsMs: [],
    refused: 0,
  }
  const gateway = till.start()
  await answering(till, gateway)
  await botsOnline(till, 0n)
  const load = startLoad(till, seededRandom(LOAD_SEED + seed))
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const kind = kinds[(round - 1) % kinds.length] ?? 'silent'
      await delay(random.int(MOST_LIFE_MS))
      await playRound({ till, proxy, random, notes }, kind, round % LONG_EVERY === 0)
      if (gateway.hasEnded()) throw new Error(`the gateway ended:\n${gateway.output()}`)
      const differences = await verifyLedger(till.pool)
      notes.problems.push(
        ...differences.map(({ problem, detail }) => `round ${round}: ${problem}: ${detail}`),
      )
    }
    await delivered(till)
    await load.leave()
    await settle(till)
    await load.end()
    notes.problems.push(...(await checkTill(till, load.opened)))
    return { ...notes, books: await booksOf(till) }
  } finally {
    await load.end()
    await gateway.interrupt()
    await proxy.close()
    await till.close()
  }
}

type Notes = Omit<Failed, 'books'>
type World = { till: KillTill; proxy: SilentProxy; random: Random; notes: Notes }

async function playRound({ till, proxy, random, notes }: World, kind: Kind, isLong: boolean): Promise<void> {
  notes.rounds[kind] += 1
  if (kind === 'replaced') {
    proxy.replace()
  } else {
    if (kind === 'silent') proxy.swallow()
    else proxy.refuse()
    await refusing(till, notes)
    await delay(isLong ? LEASE_MS + random.int(MOST_AWAY_MS) : random.int(MOST_AWAY_MS))
    proxy.pass()
  }
  const begin = performance.now()
  await answersAgain(till)
  notes.apiMs.push(performance.now() - begin)
  await atWork(till)
  notes.botsMs.push(performance.now() - begin)
}

/** A call that asks the database, and what it answers where there is no such deposit. */
const probe = ({ url }: KillTill) =>
  fetch(`${url}/api/payment?hash=${'0'.repeat(32)}`, { signal: AbortSignal.timeout(PATIENCE_MS) })

/** While the database is away a call is refused at once, and says when to come again. */
async function refusing(till: KillTill, notes: Notes): Promise<void> {
  const isRefused = async () => {
    const answer = await probe(till)
    if (answer.status !== 503) return undefined
    const { code } = (await answer.json()) as { code?: string }
    if (code !== 'database_unavailable' || answer.headers.get('retry-after') === null) {
      notes.problems.push(`a call was refused with ${code}, Retry-After ${answer.headers.get('retry-after')}`)
    }
    notes.refused += 1
    return true
  }
  await eventually('calls are refused', isRefused, PATIENCE_MS)
}

async function answersAgain(till: KillTill): Promise<void> {
  const isAnswered = async () => ((await probe(till)).status === 404 ? true : undefined)
  await eventually('the API answers again', isAnswered, PATIENCE_MS)
}

/** Every bot is online, and its lease is not over. */
async function atWork({ pool }: KillTill): Promise<void> {
  const areAll = async () => {
    const { rows } = await pool.query<{ all: boolean }>(
      'select bool_and(online and lease_until > now()) as all from bot',
    )
    return rows[0]?.all === true || undefined
  }
  await eventually('the bots are at work', areAll, PATIENCE_MS)
}
