/**
 * `npm run bench -- console`: lists, searches and the timeline of the operator's console with 1,000,000 deposits,
 * compared with 10,000. The two tills have the same number of deposits per hour, so pages of the last day show equally
 * many rows. The small till covers less than 4 days. Items leave 9 days after their trade, and payouts come later, so
 * it has no departures and no payouts. Lists of the past are therefore compared with 10,000 deposits in 40 days.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { z } from 'zod'
import type { DepositStatus } from '../contract/statuses.ts'
import { openClock } from '../gateway/clock/service.ts'
import { readConfig } from '../gateway/config.ts'
import { FINDS } from '../gateway/console/finds.ts'
import { type Db, openDatabase } from '../gateway/db/client.ts'
import { migrate } from '../gateway/db/migrate.ts'
import type { ActDeps } from '../gateway/operations/operation.ts'
import { withFillConnection } from '../proofs/filling.ts'
import { fillYear } from '../proofs/year/rows.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome, percentile95 } from './outcome.ts'

const MANY = 1_000_000
const FEW = 10_000
const YEAR_DAYS = 365
const FEW_DAYS = (YEAR_DAYS * FEW) / MANY
const PAST_DAYS = 40
const LISTS_OF_PAST = ['departures', 'wishes', 'acts', 'payouts']
const SHAPE = { stores: 50, bots: 20 }
/** The factor by which a call may take longer on the large till. */
const GROWTH_LIMIT = 1.5
const P95_LIMIT_MS = 50
/** How many items have a price. `HOLDS`: how many are blocked, and how many shoppers are denied. */
const PRICES = 25_000
const HOLDS = 200
const WARM_UP = 3
const ROUNDS = 40
/** Shorter times count as this time, because the ratio of such short times means nothing. */
const LEAST_MS = 4

/** `findsNothing`: no row matches. Every other find must find something, or it would measure nothing. */
type Find = { name: string; find: string; input: object; findsNothing?: boolean }

/** A deposit of the bench's rows. */
type Sample = { id: bigint; shopper: string; order: string }

/**
 * `middle`: the number halfway through the deposits. `offered`: the newest deposit with an open offer. `paid`: the
 * newest paid one up to `middle`.
 */
type Samples = { middle: bigint; offered: Sample; paid: Sample }

/** An operator's searches and pages. */
function findsOf({ middle, offered, paid }: Samples): Find[] {
  const middleId = String(middle)
  const [dayAgo, hourAgo] = [24, 1].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString())
  const find = (text: string, name: string): Find => ({
    name: `find: ${name}`,
    find: 'find',
    input: { text },
  })
  const list = (filter: object, name: string): Find => {
    return { name: `deposits: ${name}`, find: 'deposits', input: filter }
  }
  const none = (each: Find): Find => ({ ...each, findsNothing: true })
  const withoutInput =
    'overview stores endpoints bots trades departures drift money weather shoppers acts payouts wishes prices'
  return [
    ...withoutInput.split(' ').map((name) => ({ name, find: name, input: {} })),
    list({}, 'newest'),
    list({ before: middleId }, 'from the middle'),
    list({ order: 'oldest' }, 'oldest'),
    list({ order: 'oldest', before: middleId, status: 'succeeded' }, 'oldest of a status, from the middle'),
    list({ status: 'tradeDeclined' }, 'of a status'),
    list({ storeId: '1', status: 'succeeded' }, 'of a store and status'),
    list({ steamId: offered.shopper }, 'of a shopper'),
    none(list({ game: 'rust' }, 'of a game that no deposit has')),
    list({ needsPerson: true }, 'that need a person'),
    list({ order: 'largest', currency: 'USD' }, 'largest'),
    list({ order: 'smallest', currency: 'USD', before: String(paid.id) }, 'smallest, after a given deposit'),
    list({ order: 'largest', currency: 'USD', storeId: '7' }, 'largest of a store'),
    list({ order: 'largest', currency: 'USD', from: dayAgo, to: hourAgo }, 'largest of a day'),
    list({ limit: 200 }, 'a page for a file'),
    { name: 'timeline', find: 'deposit', input: { depositId: String(offered.id) } },
    { name: 'shopper', find: 'shopper', input: { steamId: offered.shopper } },
    { name: 'store', find: 'store', input: { storeId: '1' } },
    { name: 'statement', find: 'statement', input: { storeId: '1', currency: 'USD' } },
    { name: 'attempts', find: 'attempts', input: { endpointId: '1' } },
    { name: 'bot', find: 'bot', input: { bot: '1' } },
    { name: 'items', find: 'items', input: {} },
    { name: 'protected items', find: 'items', input: { state: 'protected' } },
    none({ name: 'held items, none of them among the newest 500', find: 'items', input: { state: 'held' } }),
    { name: 'items of a bot', find: 'items', input: { bot: '1' } },
    find(String(offered.id), 'a number'),
    find(offered.order, 'an order'),
    none(find('K7QX2N', 'a code that no offer has')),
    none(find('6100000000000000001', 'a number that nothing has')),
    find('7-1', 'an item of a trade'),
    find(offered.shopper, 'an account'),
    find('Store 7', 'a store'),
    find('AK-47 | Redline (Field-Tested)', 'an item'),
    find('Redline 12', 'words of an item'),
    none(find('nothing of the kind', 'a text that matches nothing')),
  ]
}

/**
 * Adds what an operator sets, the prices of all items, and trades that need a person: `fillYear` writes only what grows
 * with deposits.
 */
async function fillRest(db: Db): Promise<void> {
  await sql`update trade set send_started_at = now() - interval '2 days' where state = 'active' and id % 3 = 0`.execute(
    db,
  )
  await sql`insert into price (source, game, market_hash_name, usd_micros, popularity, popularity_kind, as_of)
    select 'bench', 'cs', 'AK-47 | Redline ' || n, 5500000, 50, 'sales7d', now() from generate_series(1, ${PRICES}::int) n`.execute(
    db,
  )
  await sql`insert into price_hold (game, market_hash_name, kind, since)
    select 'cs', 'AK-47 | Redline ' || n, 'blocked', now() from generate_series(1, ${HOLDS}::int) n`.execute(
    db,
  )
  await sql`insert into denied_shopper (steam_id, reason, denied_at)
    select '7656119700000' || lpad(n::text, 4, '0'), 'stolen account', now() from generate_series(1, ${HOLDS}::int) n`.execute(
    db,
  )
  await sql`analyze trade, price, price_hold, denied_shopper`.execute(db)
}

async function readSamples(db: Db): Promise<Samples> {
  const sampleOf = async (status: DepositStatus, before: bigint): Promise<Sample> => {
    const { id, user_steam_id, external_id } = await db
      .selectFrom('deposit')
      .select(['id', 'user_steam_id', 'external_id'])
      .where('status', '=', status)
      .where('id', '<=', before)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    return { id, shopper: user_steam_id ?? '', order: external_id }
  }
  const { first, last } = await db
    .selectFrom('deposit')
    .select((eb) => [eb.fn.min('id').as('first'), eb.fn.max('id').as('last')])
    .executeTakeFirstOrThrow()
  const middle = (first + last) / 2n
  return { middle, offered: await sampleOf('pending', last), paid: await sampleOf('succeeded', middle) }
}

type Till = { deps: ActDeps; finds: Find[]; close(): Promise<void> }

async function openTill(serverUrl: string, deposits: number, days: number): Promise<Till> {
  const url = new URL(serverUrl)
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  const name = `console_${deposits}_${Math.ceil(days)}`
  await client.query(`create database ${name}`)
  await client.end()
  url.pathname = `/${name}`
  await migrate({ url: url.href })
  const startedMs = performance.now()
  await fillYear(url.href, { ...SHAPE, deposits, days })
  await withFillConnection(url.href, fillRest)
  console.log(`console: ${deposits} deposits in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`)
  const answer = readConfig({})
  if (answer.kind === 'refused') throw new Error(answer.problems.join())
  const config = { ...answer.config, masterKey: randomBytes(32) }
  const { db, close } = openDatabase(url.href, 2, 'sandbox')
  const clock = await openClock(db, 'sandbox')
  return {
    deps: { config, db, clock, operator: 'bench', reason: null },
    finds: findsOf(await readSamples(db)),
    close,
  }
}

async function timeOf({ deps }: Till, { name, find, input, findsNothing = false }: Find): Promise<number> {
  const call = FINDS[find]
  if (call === undefined) throw new Error(`the console has no find ${find}`)
  const startedMs = performance.now()
  const answer = await call.run(deps, input)
  const tookMs = performance.now() - startedMs
  if (answer.kind === 'refused' && answer.refusal !== 'not_found')
    throw new Error(`${name}: ${answer.message}`)
  const isFound = answer.kind !== 'refused' && hasRows(answer.data)
  if (isFound === findsNothing) throw new Error(`${name}: ${isFound ? 'found a row' : 'found nothing'}`)
  return tookMs
}

/** False for an answer whose lists are all empty. */
function hasRows(data: unknown): boolean {
  const lists = Object.values(z.looseObject({}).parse(data)).filter((value) => Array.isArray(value))
  return lists.length === 0 || lists.some((list) => list.length > 0)
}

type Pair = { name: string; fewMs: number; manyMs: number; p95Ms: number }

/** `few`: the small till. `fewInPast`: as small, but over more days. `many`: the large till. */
type Tills = { few: Till; fewInPast: Till; many: Till }

/** Measures the large and the small till alternately, so other work on the machine affects both. */
async function measure({ few, fewInPast, many }: Tills): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (const [index, find] of many.finds.entries()) {
    const small = LISTS_OF_PAST.includes(find.name) ? fewInPast : few
    const smallFind = small.finds[index]
    if (smallFind === undefined) throw new Error('the two tills have different finds')
    const times = { few: [] as number[], many: [] as number[] }
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const [fewMs, manyMs] = [await timeOf(small, smallFind), await timeOf(many, find)]
      if (round < 0) continue
      times.few.push(fewMs)
      times.many.push(manyMs)
    }
    const pair = { fewMs: median(times.few), manyMs: median(times.many), p95Ms: percentile95(times.many) }
    pairs.push({ name: find.name, ...pair })
  }
  return pairs
}

const growthOf = ({ fewMs, manyMs }: Pair): number => Math.max(manyMs, LEAST_MS) / Math.max(fewMs, LEAST_MS)

export function benchConsole(): Promise<Outcome> {
  return withDatabase({ fsync: false }, async (serverUrl) => {
    const few = await openTill(serverUrl, FEW, FEW_DAYS)
    const fewInPast = await openTill(serverUrl, FEW, PAST_DAYS)
    const many = await openTill(serverUrl, MANY, YEAR_DAYS)
    try {
      return judge(await measure({ few, fewInPast, many }))
    } finally {
      await Promise.all([few, fewInPast, many].map((till) => till.close()))
    }
  })
}

/** The call that slows down most, and the slowest call, decide. */
function judge(pairs: readonly Pair[]): Outcome {
  for (const pair of pairs) {
    const { name, fewMs, manyMs, p95Ms } = pair
    const times = `${manyMs.toFixed(1)} ms, with few deposits ${fewMs.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms`
    console.log(`console: ${name}: ${times}: ${growthOf(pair).toFixed(2)} times`)
  }
  const growing = pairs.reduce((worst, pair) => (growthOf(pair) > growthOf(worst) ? pair : worst))
  const slow = pairs.reduce((worst, pair) => (pair.p95Ms > worst.p95Ms ? pair : worst))
  console.log(`console: ${growing.name} grows most, ${slow.name} is the slowest`)
  const p95: Outcome = {
    name: 'console-p95',
    ours: `${slow.p95Ms.toFixed(1)}ms`,
    limit: `<=${P95_LIMIT_MS}ms`,
    passed: slow.p95Ms <= P95_LIMIT_MS,
  }
  return {
    name: 'console',
    ours: `${growing.manyMs.toFixed(1)}ms`,
    floor: `${growing.fewMs.toFixed(1)}ms`,
    ratio: growthOf(growing),
    limit: `<=${GROWTH_LIMIT}`,
    passed: growthOf(growing) <= GROWTH_LIMIT && p95.passed,
    further: [p95],
  }
}
