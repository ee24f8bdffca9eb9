/** Measures calls of stores and of waiting pages with 1,000,000 deposits in the table, compared with 10,000. */
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { listDepositsQuerySchema } from '../contract/store-api.ts'
import { type Database, type Db, openDatabase } from '../gateway/db/client.ts'
import { migrate } from '../gateway/db/migrate.ts'
import { viewReader } from '../gateway/deposits/shopper-view.ts'
import { listDeposits, storeDepositOf } from '../gateway/deposits/store-deposit.ts'
import { withFillConnection } from '../proofs/filling.ts'
import { DEPOSITS_A_CUSTOMER, fillDeposits } from '../proofs/store/rows.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome } from './outcome.ts'

const FEW = 10_000
const MANY = 1_000_000
/** The factor by which a call may take longer with many deposits. */
const LIMIT = 1.5
const ROUNDS = 20
const CALLS_A_ROUND = 20
const PUBLIC_URL = 'http://till.test'
const STEAM_URL = 'http://steam.test'
const STORE_ID = 1n
/** The ids of deposits begin after this. */
const ID_BEFORE_FIRST = 1_000
/** The number of waiting pages whose deposits one query reads. */
const POLLED = 50
/** One a second. */
const DEPOSITS_AN_HOUR = 3_600

/** Measures both sizes on one server alternately, so other work on the machine affects both. */
export function benchStores(): Promise<Outcome> {
  return withDatabase({ fsync: false }, async (serverUrl) => {
    const small = await openFilled(serverUrl, FEW)
    const large = await openFilled(serverUrl, MANY)
    try {
      return judge(await measure(small, large))
    } finally {
      await Promise.all([small.close(), large.close()])
    }
  })
}

type FilledTill = Database & { size: number }

async function openFilled(serverUrl: string, size: number): Promise<FilledTill> {
  const url = new URL(serverUrl)
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database stores_${size}`)
  await client.end()
  url.pathname = `/stores_${size}`
  await migrate({ url: url.href })
  const beganMs = performance.now()
  await withFillConnection(url.href, (db) => fill(db, size))
  console.log(`stores: ${size} deposits written in ${Math.round(performance.now() - beganMs)} ms`)
  return { ...openDatabase(url.href, 2), size }
}

async function fill(db: Db, size: number): Promise<void> {
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
  await fillDeposits(db, size)
  await sql`vacuum analyze`.execute(db)
}

/** Creates the call that one round makes several times. */
type Call = (database: FilledTill) => () => Promise<unknown>

/** The number of a random deposit. Numbers begin at 1. Random, because rows that were read before are in memory. */
const randomNumber = (size: number): number => 1 + Math.floor(Math.random() * size)

const hashOf = (n: number): string => hash('md5', String(n))

const list =
  (query: (size: number) => object): Call =>
  ({ db, size }) =>
  () =>
    listDeposits(db, STORE_ID, { query: listDepositsQuerySchema.parse(query(size)), publicUrl: PUBLIC_URL })

const CALLS: Record<string, Call> = {
  'list, newest': list(() => ({})),
  'list, anywhere': list((size) => ({ after: String(ID_BEFORE_FIRST + randomNumber(size)) })),
  'list, by status': list((size) => ({
    status: 'succeeded',
    after: String(ID_BEFORE_FIRST + randomNumber(size)),
  })),
  'list, by customer': list((size) => ({
    customerReference: `customer ${randomNumber(size) % (size / DEPOSITS_A_CUSTOMER)}`,
  })),
  'get, by id':
    ({ db, size }) =>
    () =>
      storeDepositOf(
        db,
        { storeId: STORE_ID, depositId: BigInt(ID_BEFORE_FIRST + randomNumber(size)) },
        PUBLIC_URL,
      ),
  'get, by order id':
    ({ db, size }) =>
    () =>
      storeDepositOf(db, { storeId: STORE_ID, externalId: `order ${randomNumber(size)}` }, PUBLIC_URL),
  // A shopper opens the link of a deposit of any age, whose rows are probably not in memory.
  'poll, opening any page': ({ db, size }) => {
    const read = viewReader(db, STEAM_URL)
    return () => read([hashOf(randomNumber(size))])
  },
  // The view cache reads all waiting pages together, twice a second, and few pages wait for more than an hour. So these
  // are recent deposits, read again and again. Fifty random pages, read only once, would measure how much of the table
  // is in memory.
  'poll, pages that wait': ({ db, size }) => {
    const read = viewReader(db, STEAM_URL)
    const waiting = Array.from({ length: POLLED }, () => hashOf(size + 1 - randomNumber(DEPOSITS_AN_HOUR)))
    return () => read(waiting)
  },
}

type Measured = { name: string; smallMs: number; largeMs: number }

async function measure(small: FilledTill, large: FilledTill): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const [name, call] of Object.entries(CALLS)) {
    const times = { small: [] as number[], large: [] as number[] }
    await runRound(small, call, [])
    await runRound(large, call, [])
    for (let round = 0; round < ROUNDS; round += 1) {
      await runRound(small, call, times.small)
      await runRound(large, call, times.large)
    }
    measured.push({ name, smallMs: median(times.small), largeMs: median(times.large) })
  }
  return measured
}

async function runRound(database: FilledTill, makeCall: Call, timesMs: number[]): Promise<void> {
  const call = makeCall(database)
  for (let n = 0; n < CALLS_A_ROUND; n += 1) {
    const beganMs = performance.now()
    await call()
    timesMs.push(performance.now() - beganMs)
  }
}

const ratioOf = ({ smallMs, largeMs }: Measured): number => largeMs / smallMs

/** The call that slows down most decides. */
function judge(measured: readonly Measured[]): Outcome {
  for (const each of measured) {
    const { name, smallMs, largeMs } = each
    console.log(
      `stores: ${name}: ${largeMs.toFixed(2)} ms, with few deposits ${smallMs.toFixed(2)} ms: ${ratioOf(each).toFixed(2)} times`,
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
