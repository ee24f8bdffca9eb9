/**
 * One address, one link and one store, each as hostile as it may be, beside 100 honest shoppers who each come from an
 * address of their own. A wave of honest shoppers with nobody else goes before each siege: what they wait for under siege
 * is held against it. Nobody honest may be refused, no limit of Steam may be hit, and rows and log stay bounded.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { inventorySchema } from '../contract/widget-api.ts'
import type { Running } from '../e2e/support/process.ts'
import { openDatabase } from '../gateway/db/client.ts'
import { systemClock } from '../gateway/kit/clock.ts'
import { createStore } from '../gateway/stores/service.ts'
import { openVisit } from '../proofs/kill/load.ts'
import { answering, botsOnline, type KillTill, openKillTill } from '../proofs/kill/till.ts'
import { readMachine } from '../proofs/machine.ts'
import { withDatabase } from './database.ts'
import { watchCalls } from './fleet-figures.ts'
import { middle, type Outcome, percentile95 } from './outcome.ts'
import type { Order } from './siege-attacker.ts'
import { type Answer, createCaller } from './siege-calls.ts'

const SHOPPERS = Number(process.env.SIEGE_SHOPPERS ?? 100)
const FURTHER_BOTS = 10
const ARRIVALS_A_SECOND = 5
const POLLS = 6
const POLL_EVERY_MS = 1_000
const AGAIN_MS = 500
const MOST_ASKS = 60
const HOSTILE_LINKS = 10
const RATIO_LIMIT = 2
/** Above what honest shoppers bring about in the same time. */
const ROWS_A_MINUTE = 3_000
/** A store may call 20 times a second, and each call has a line. */
const LOG_BYTES_A_MINUTE = 500_000
const KINDS = ['address', 'link', 'store'] as const

type Seen = { times: number[]; refusals: string[] }
type Wave = Seen & { minutes: number; rows: number; logBytes: number }

export function benchSiege(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openKillTill(serverUrl, 'siege', {
      furtherBots: FURTHER_BOTS,
      quotas: true,
      // As in production: the proofs' own settings let everything come from one address, and log little.
      settings: { TRADETILL_MAX_CONNECTIONS_PER_ADDRESS: '200', TRADETILL_LOG_LEVEL: 'info' },
    })
    const gateway = till.start()
    try {
      await answering(till, gateway)
      await botsOnline(till, 0n)
      return await besiege(till, gateway)
    } catch (error) {
      console.error(gateway.output().slice(-4_000))
      throw error
    } finally {
      await gateway.interrupt()
      await till.close()
    }
  })
}

async function besiege(till: KillTill, gateway: Running): Promise<Outcome> {
  const calls = watchCalls(till.steam)
  const apiKey = await hostileStore(till)
  await wave(till, gateway)
  const outcomes: Outcome[] = []
  for (const kind of KINDS) {
    const before = await readMachine()
    const quiet = await wave(till, gateway)
    const hash = (await openVisit(till, `hostile-${kind}`, till.steam.invite('quiet_lynx').steamId)) ?? ''
    const tradeUrls = Array.from({ length: HOSTILE_LINKS }, () => till.steam.invite('quiet_lynx').tradeUrl())
    const between = await readMachine()
    const attacker = begin({ url: till.url, kind, hash, tradeUrls, apiKey })
    const under = await wave(till, gateway)
    console.log(`siege: ${kind}: answered ${JSON.stringify(await endOf(attacker))}`)
    const speeds = [before, between, await readMachine()].map(({ speed }) => speed.toFixed(2))
    console.log(
      `siege: ${kind}: the machine before, between and after, 1 is two quiet cores: ${speeds.join(', ')}`,
    )
    outcomes.push(...judge(kind, quiet, under))
  }
  calls.end()
  const limited = calls.limited(new Set())
  const steam = { name: 'siege-steam-limits-hit', ours: String(limited), limit: '0', passed: limited === 0 }
  const also = [...outcomes, steam]
  const passed = also.every((outcome) => outcome.passed)
  return { name: 'siege', ours: `${KINDS.length} sieges`, limit: 'all', passed, also }
}

function judge(kind: string, quiet: Wave, under: Wave): Outcome[] {
  const [calm, besieged] = [percentile95(quiet.times), percentile95(under.times)]
  const refusals = [...quiet.refusals, ...under.refusals]
  if (refusals.length > 0) console.log(`siege: ${kind}: refused: ${[...new Set(refusals)].join(', ')}`)
  console.log(
    `siege: ${kind}: middle ${middle(under.times).toFixed(0)} ms, ${middle(quiet.times).toFixed(0)} ms without`,
  )
  const more = (name: string, of: (one: Wave) => number, limit: number): Outcome => {
    const value = Math.max(0, of(under) / under.minutes - of(quiet) / quiet.minutes)
    const ours = `${Math.round(value)}/min`
    return { name: `siege-${kind}-${name}`, ours, limit: `<=${limit}`, passed: value <= limit }
  }
  return [
    {
      name: `siege-${kind}-p95`,
      ours: `${besieged.toFixed(0)}ms`,
      floor: `${calm.toFixed(0)}ms`,
      ratio: besieged / calm,
      limit: `<=${RATIO_LIMIT}`,
      passed: besieged / calm <= RATIO_LIMIT,
    },
    {
      name: `siege-${kind}-refused`,
      ours: `${refusals.length}`,
      limit: '0',
      passed: refusals.length === 0,
    },
    more('rows', ({ rows }) => rows, ROWS_A_MINUTE),
    more('log', ({ logBytes }) => logBytes, LOG_BYTES_A_MINUTE),
  ]
}

/** Resolves when every honest shopper has an offer and has waited for it a while. */
async function wave(till: KillTill, gateway: Running): Promise<Wave> {
  const seen: Seen = { times: [], refusals: [] }
  const [begin, rows, logged] = [performance.now(), await rowsOf(till), gateway.output().length]
  await Promise.all(
    Array.from({ length: SHOPPERS }, async (_, number) => {
      await delay((1_000 / ARRIVALS_A_SECOND) * number)
      await visit(till, number, seen)
    }),
  )
  return {
    ...seen,
    minutes: (performance.now() - begin) / 60_000,
    rows: (await rowsOf(till)) - rows,
    logBytes: gateway.output().length - logged,
  }
}

async function visit(till: KillTill, number: number, seen: Seen): Promise<void> {
  const guest = till.steam.invite('quiet_lynx')
  const hash = await openVisit(till, `honest-${guest.steamId}`, guest.steamId)
  const caller = createCaller(till.url, `127.0.1.${number + 1}`)
  const call = async (path: string, body?: object): Promise<Answer> => {
    const answer = await caller.call(path, body === undefined ? {} : { body })
    seen.times.push(answer.tookMs)
    if (answer.status >= 400) seen.refusals.push(`${path.split('?')[0]} ${answer.status} ${answer.text}`)
    return answer
  }
  try {
    await call(`/deposit/${hash}`)
    await call(`/api/payment?hash=${hash}`)
    await call('/api/trade-url', { hash, tradeUrl: guest.tradeUrl() })
    const shown = await call(`/api/inventory?hash=${hash}&game=cs`)
    if (shown.status !== 200) return
    const { items, quoteId } = inventorySchema.parse(JSON.parse(shown.text))
    const [dearest] = items.toSorted((a, b) => b.price - a.price)
    const wish = { hash, game: 'cs', items: [dearest?.id], quoteId }
    for (let asks = 0; asks < MOST_ASKS && (await call('/api/trade', wish)).status === 202; asks += 1)
      await delay(AGAIN_MS)
    for (let polls = 0; polls < POLLS; polls += 1) {
      await call(`/api/payment?hash=${hash}`)
      await delay(POLL_EVERY_MS)
    }
  } catch (error) {
    seen.refusals.push(String(error))
  } finally {
    caller.end()
  }
}

/** A second store of the same till; resolves to its key. */
async function hostileStore({ pool, box }: KillTill): Promise<string> {
  const { db, close } = openDatabase(String(pool.options.connectionString), 1)
  try {
    const store = await createStore(
      { db, box, mode: 'sandbox', clock: systemClock },
      { name: 'Hostile', origins: ['http://localhost'], riskLimitUsdCents: 0n },
    )
    if (store.kind === 'refused') throw new Error(store.reason)
    return store.apiKey
  } finally {
    await close()
  }
}

/** Rows written since the database was made. */
async function rowsOf({ pool }: KillTill): Promise<number> {
  const { rows } = await pool.query<{ n: string }>('select sum(n_tup_ins) as n from pg_stat_user_tables')
  return Number(rows[0]?.n)
}

const begin = (order: Order): ChildProcess =>
  fork(join(import.meta.dirname, 'siege-attacker.ts'), [JSON.stringify(order)])

async function endOf(attacker: ChildProcess): Promise<Record<string, number>> {
  const told = once(attacker, 'message')
  attacker.send('end')
  const [seen] = await told
  return z.record(z.string(), z.number()).parse(seen)
}
