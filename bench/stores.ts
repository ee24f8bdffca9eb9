/** What stores and waiting pages ask, with 1,000,000 deposits in the table beside 10,000. */
import { sql } from 'kysely'
import pg from 'pg'
import { listDepositsQuerySchema } from '../contract/store-api.ts'
import { type Database, type Db, openDatabase } from '../gateway/db/client.ts'
import { migrate } from '../gateway/db/migrate.ts'
import { listDeposits, storeDepositOf } from '../gateway/deposits/told.ts'
import { viewReader } from '../gateway/deposits/views.ts'
import { withDatabase } from './database.ts'
import { middle, type Outcome } from './outcome.ts'

const FEW = 10_000
const MANY = 1_000_000
const LIMIT = 1.5
const ROUNDS = 20
const CALLS_A_ROUND = 20
const PUBLIC_URL = 'http://till.test'
const STORE = 1n
/** Ids of deposits count from here. */
const FIRST_ID = 1_001
/** Deposits of one customer, whatever the size. */
const A_CUSTOMER = 20
/** Pages that one read of the views serves. */
const POLLED = 50

export function benchStores(): Promise<Outcome> {
  return growth({ few: FEW, many: MANY })
}

/** Both sizes lie in one server and are asked in turns, so that what else the machine does meets both. */
function growth({ few, many }: { few: number; many: number }): Promise<Outcome> {
  return withDatabase({ fsync: false }, async (serverUrl) => {
    const small = await filled(serverUrl, few)
    const large = await filled(serverUrl, many)
    try {
      return judge(await measure(small, large))
    } finally {
      await Promise.all([small.close(), large.close()])
    }
  })
}

type Filled = Database & { size: number }

async function filled(serverUrl: string, size: number): Promise<Filled> {
  const url = new URL(serverUrl)
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database stores_${size}`)
  await client.end()
  url.pathname = `/stores_${size}`
  await migrate({ url: url.href })
  const begin = performance.now()
  const filling = openDatabase(url.href, 1)
  await fill(filling.db, size)
  await filling.close()
  console.log(`stores: ${size} deposits written in ${Math.round(performance.now() - begin)} ms`)
  return { ...openDatabase(url.href, 2), size }
}

/** Ninety in a hundred belong to one store; a tenth has a trade of two items. */
async function fill(db: Db, size: number): Promise<void> {
  await sql`set statement_timeout = 0`.execute(db)
  await sql`
    insert into store (name, origins) select 'Store ' || n, '{https://store.test}' from generate_series(1, 2) n`.execute(
    db,
  )
  await sql`
    insert into bot (steam_id, name, avatar_url, profile_url, level, refresh_token)
    values ('76561198000000001', 'Tradetill Bot', 'a', 'p', 47, '')`.execute(db)
  await sql`
    insert into exchange_rate (currency, per_usd, source, as_of) values ('USD', 1, 'bench', now())`.execute(
    db,
  )
  await sql`
    insert into deposit (hash, store_id, external_id, request_sha256, status, currency, back_to_store_url,
      credited_amount, customer_reference, created_at, expires_at)
    select md5(n::text), case when n % 10 = 0 then 2 else 1 end, 'order ' || n, '', status, 'USD',
      'https://store.test/', case when status = 'succeeded' then 1000 end, 'customer ' || n % (${size}::int / ${A_CUSTOMER}::int),
      now() - (${size}::int - n) * interval '1 second', now()
    from (select n, case when n % 3 = 1 then 'succeeded' when n % 1000 = 2 then 'tradeDeclined' else 'paymentTimeout' end
      as status from generate_series(1, ${size}::int) n) made`.execute(db)
  await fillTrades(db)
  await sql`vacuum analyze`.execute(db)
}

async function fillTrades(db: Db): Promise<void> {
  await sql`
    insert into quote (id, deposit_id, game, currency, rate_id, created_at, expires_at)
    select md5('quote ' || id)::uuid, id, 'cs', 'USD', 1, now(), now() from deposit where id % 10 = 1`.execute(
    db,
  )
  await sql`
    insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, partner_token, state,
      currency, total, gross_total, steam_trade_id, delivered_at)
    select deposit_id, 1, id, 'cs', id::text, '76561198000000001', 't', 'final', 'USD', 1000, 1100, id::text, now()
    from quote`.execute(db)
  await sql`
    insert into trade_item (trade_id, asset_id, app_id, context_id, name, market_hash_name, price, gross, live)
    select trade.id, trade.id || '-' || n, 730, '2', 'Item', 'Item', 500, 550, false
    from trade, generate_series(1, 2) n`.execute(db)
}

type Call = (database: Filled) => Promise<unknown>

/** Any of the deposits, so that what is asked for is not always at hand. */
const anyOf = (size: number): number => 1 + Math.floor(Math.random() * size)

const list =
  (query: (size: number) => object): Call =>
  ({ db, size }) =>
    listDeposits(db, STORE, { query: listDepositsQuerySchema.parse(query(size)), publicUrl: PUBLIC_URL })

const CALLS: Record<string, Call> = {
  'list, newest': list(() => ({})),
  'list, anywhere': list((size) => ({ after: String(FIRST_ID + anyOf(size)) })),
  'list, by status': list((size) => ({ status: 'succeeded', after: String(FIRST_ID + anyOf(size)) })),
  'list, by customer': list((size) => ({
    customerReference: `customer ${anyOf(size) % (size / A_CUSTOMER)}`,
  })),
  'get, by id': ({ db, size }) =>
    storeDepositOf(db, { storeId: STORE, depositId: BigInt(FIRST_ID + anyOf(size)) }, PUBLIC_URL),
  'get, by order id': ({ db, size }) =>
    storeDepositOf(db, { storeId: STORE, externalId: `order ${anyOf(size)}` }, PUBLIC_URL),
  poll: async ({ db, size }) => {
    const { rows } = await sql<{ hash: string }>`
      select md5((1 + floor(random() * ${size}::int))::int::text) as hash from generate_series(1, ${POLLED}::int)`.execute(
      db,
    )
    return viewReader(db, 'http://steam.test')(rows.map(({ hash }) => hash))
  },
}

type Measured = { what: string; smallMs: number; largeMs: number }

async function measure(small: Filled, large: Filled): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const [what, call] of Object.entries(CALLS)) {
    const times = { small: [] as number[], large: [] as number[] }
    await timed(small, call, [])
    await timed(large, call, [])
    for (let round = 0; round < ROUNDS; round += 1) {
      await timed(small, call, times.small)
      await timed(large, call, times.large)
    }
    measured.push({ what, smallMs: middle(times.small), largeMs: middle(times.large) })
  }
  return measured
}

async function timed(database: Filled, call: Call, into: number[]): Promise<void> {
  for (let n = 0; n < CALLS_A_ROUND; n += 1) {
    const begin = performance.now()
    await call(database)
    into.push(performance.now() - begin)
  }
}

const ratioOf = ({ smallMs, largeMs }: Measured): number => largeMs / smallMs

/** The call that grows most decides. */
function judge(measured: readonly Measured[]): Outcome {
  for (const one of measured) {
    const { what, smallMs, largeMs } = one
    console.log(
      `stores: ${what}: ${largeMs.toFixed(2)} ms, with few ${smallMs.toFixed(2)} ms: ${ratioOf(one).toFixed(2)} times`,
    )
  }
  const [worst] = [...measured].sort((a, b) => ratioOf(b) - ratioOf(a))
  if (worst === undefined) throw new Error('nothing was measured')
  const ratio = ratioOf(worst)
  return {
    name: 'stores',
    ours: `${worst.largeMs.toFixed(2)}ms`,
    floor: `${worst.smallMs.toFixed(2)}ms`,
    ratio,
    limit: `<=${LIMIT}`,
    passed: ratio <= LIMIT,
  }
}
