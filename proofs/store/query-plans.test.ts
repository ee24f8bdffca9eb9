/**
 * Calls of stores, operators and waiting pages read a limited number of rows, however large the tables are. Every query
 * of a call runs again under EXPLAIN ANALYZE, and its rows are counted. In full:
 * `PROOF_DEPOSITS=1000000 npm test -- proofs/store/query-plans`.
 */
import { hash } from 'node:crypto'
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { listDepositsQuerySchema } from '../../contract/store-api.ts'
import { heldItems, updateHeldItems } from '../../gateway/bots/held-item-store.ts'
import { type Database, type Db, openDatabase } from '../../gateway/db/client.ts'
import type { Tables } from '../../gateway/db/schema.ts'
import { lookThroughItems } from '../../gateway/departures/item-list-store.ts'
import { viewReader } from '../../gateway/deposits/shopper-view.ts'
import { listDeposits, storeDepositOf } from '../../gateway/deposits/store-deposit.ts'
import { readDepositEvents, readEvents } from '../../gateway/events/store.ts'
import { listDeposits as listForOperator } from '../../gateway/operations/deposit-list.ts'
import type { DepositFilter } from '../../gateway/operations/deposit-list-store.ts'
import { showDeposit } from '../../gateway/operations/deposits.ts'
import { find } from '../../gateway/operations/find.ts'
import { countValues, SEALED, valuesWithout } from '../../gateway/operations/sealed-store.ts'
import { listTrades } from '../../gateway/operations/trades.ts'
import { listEndpoints } from '../../gateway/operations/webhooks.ts'
import { readBalances, readStatement } from '../../gateway/stores/balance-store.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../../gateway/testing/till.ts'
import { claimLane } from '../../gateway/webhooks/store.ts'
import { withFillConnection } from '../filling.ts'
import { fillDeposits } from './rows.ts'

const DEPOSITS = Number(process.env.PROOF_DEPOSITS ?? 10_000)
/** Every call reads fewer rows than this, at any size: a page with its trades and items, and a few more. */
const MOST_ROWS = 2_000
const STORE = 1n
const PUBLIC_URL = 'http://till.test'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 + DEPOSITS })

let till: Till
let connection: Database
let observed: Db
let observedQueries: CompiledQuery[]

beforeAll(async () => {
  till = await startTill()
  await aStore(till, { webhookUrl: 'http://127.0.0.1:9/' })
  await aStore(till)
  await aBot(till)
  const { id } = await aDeposit(till, { id: STORE })
  await withFillConnection(till.url, (db) => fill(db, id))
  observedQueries = []
  // Reads int8 as bigint, like the gateway's own connection.
  connection = openDatabase(till.url, 2)
  observed = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: connection.pool }),
    log: ({ query }) => {
      observedQueries.push(CompiledQuery.raw(query.sql, [...query.parameters]))
    },
  })
})
afterAll(async () => {
  await observed.destroy()
  await till.close()
})

/**
 * Fills the database with the deposits of rows.ts. Each also has an event, and one in ten a movement of money. Those of
 * store 1 also have a webhook delivery. Half of the deliveries are due. Half of the due ones were never claimed, so
 * they are in the lane `first`. The payload of every event is about `depositId`.
 */
async function fill(db: Db, depositId: bigint): Promise<void> {
  const data = await storeDepositOf(till.db, { storeId: STORE, depositId }, PUBLIC_URL)
  const payload = JSON.stringify({
    type: 'deposit.payment_timeout',
    timestamp: new Date().toISOString(),
    data,
  })
  await fillDeposits(db, DEPOSITS)
  await sql`
    insert into event (id, store_id, deposit_id, type, payload, sequence)
    select gen_random_uuid(), store_id, id, 'deposit.payment_timeout', ${payload}::jsonb,
      row_number() over (partition by store_id order by id) from deposit where external_id like 'order %'`.execute(
    db,
  )
  await sql`update store set last_sequence = (select count(*) from event where store_id = store.id)`.execute(
    db,
  )
  await fillLedger(db)
  await fillCustody(db)
  await sql`
    insert into webhook_delivery (event_id, endpoint_id, state, attempts, due_at, claim)
    select id, 1, case when sequence % 2 = 0 then 'due' else 'delivered' end, 0, now() - interval '1 hour', sequence / 2 % 2
    from event where store_id = 1`.execute(db)
  await sql`
    insert into webhook_attempt (delivery_id, endpoint_id, attempt, at, duration_ms, status)
    select id, 1, 1, now(), 40, 200 from webhook_delivery`.execute(db)
  await sql`insert into webhook_endpoint (store_id, url, secret) values (2, 'http://127.0.0.1:9/', '')`.execute(
    db,
  )
  await sql`analyze`.execute(db)
}

async function fillLedger(db: Db): Promise<void> {
  await sql`
    insert into account (store_id, kind, currency, balance) values (1, 'available', 'USD', 0), (1, 'held', 'USD', 0),
      (null, 'items', 'USD', 0)`.execute(db)
  await sql`
    insert into ledger_entry (debit_account, credit_account, amount, currency, cause, trade_id, quote_id, rate_id)
    select (select id from account where kind = 'items'), (select id from account where kind = 'available'), 1000,
      'USD', 'delivered', trade.id, quote_id, 1 from trade`.execute(db)
}

/** Writes custody entries, as if the items of all trades had arrived and left again. */
async function fillCustody(db: Db): Promise<void> {
  for (const moved of ['in', 'out']) {
    await sql`
      insert into custody_entry (trade_id, asset_id, bot_id, moved)
      select trade_id, asset_id, 1, ${moved} from trade_item order by trade_id, asset_id`.execute(db)
    await updateHeldItems(db, 2 ** 31 - 1)
  }
}

const nodeSchema = z.looseObject({
  'Node Type': z.string(),
  'Actual Rows': z.number().default(0),
  'Actual Loops': z.number().default(0),
  'Rows Removed by Filter': z.number().default(0),
  Plans: z.array(z.unknown()).default([]),
})

/** The rows that the scans of a plan read. */
function rowsOf(plan: unknown): number {
  const node = nodeSchema.parse(plan)
  const rowsOfNode = node['Node Type'].includes('Scan')
    ? (node['Actual Rows'] + node['Rows Removed by Filter']) * node['Actual Loops']
    : 0
  return rowsOfNode + node.Plans.reduce<number>((sum, inner) => sum + rowsOf(inner), 0)
}

const explainedSchema = z.array(z.object({ 'QUERY PLAN': z.array(z.object({ Plan: z.unknown() })) }))

async function countRowsRead(call: () => Promise<unknown>): Promise<number> {
  observedQueries = []
  await call()
  const queries = [...observedQueries]
  let rows = 0
  for (const { sql: text, parameters } of queries) {
    const explain = CompiledQuery.raw(`explain (analyze, format json) ${text}`, [...parameters])
    const plans = explainedSchema.parse((await observed.executeQuery(explain)).rows)
    rows += plans.reduce(
      (sum, row) => sum + row['QUERY PLAN'].reduce((all, { Plan }) => all + rowsOf(Plan), 0),
      0,
    )
  }
  return rows
}

const listOf = (query: object) => () =>
  listDeposits(observed, STORE, { query: listDepositsQuerySchema.parse(query), publicUrl: PUBLIC_URL })

/** Hashes spread over all deposits, some with a trade. */
const fiftyHashes = () =>
  Array.from({ length: 50 }, (_, n) => hash('md5', String(1 + Math.floor((DEPOSITS * n) / 50) + (n % 10))))

const operatorDeps = () => ({ db: observed, clock: till.clock })

const operatorList = (filter: Partial<DepositFilter>) =>
  listForOperator(operatorDeps(), { limit: 50, ...filter })

const middleId = () => String(1_000 + Math.floor(DEPOSITS / 2))
const middleTime = () => new Date(Date.now() - (DEPOSITS / 2) * 1_000).toISOString()

/** One of the oldest deposits: ids begin at about 1,000, so only about 200 are older. */
const NEAR_THE_END = 1_200n
/** The limit for calls that must skip most rows, lower than the number of trades. */
const FEW_ROWS = 500

/** No sealed value of the test begins with this mark, so all of them must still be sealed again. */
const NEW_MARK = Buffer.from('a new key')

/** Each call with its name. The number replaces `MOST_ROWS`. */
const CALLS: [string, () => Promise<unknown>, number?][] = [
  ['the newest deposits', listOf({})],
  ['a page of deposits in the middle', () => listOf({ after: middleId() })()],
  ['deposits of a rare status', listOf({ status: 'tradeDeclined' })],
  ['deposits of a status that none has', listOf({ status: 'pending' })],
  [
    'a page of deposits of a status, in the middle',
    () => listOf({ status: 'succeeded', after: middleId() })(),
  ],
  ['deposits of a customer', listOf({ customerReference: 'customer 7' })],
  ['deposits before a time', () => listOf({ createdBefore: middleTime() })()],
  ['a deposit by id', () => storeDepositOf(observed, { storeId: STORE, depositId: 1_500n }, PUBLIC_URL)],
  [
    'a deposit by external id',
    () => storeDepositOf(observed, { storeId: STORE, externalId: 'order 7' }, PUBLIC_URL),
  ],
  ['the events of a deposit', () => readDepositEvents(observed, 1_011n)],
  ['the event log from the middle', () => readEvents(observed, STORE, { after: DEPOSITS / 2, limit: 100 })],
  ...['order 7', '1500', '76561198000000001', 'a'.repeat(32), 'Item', 'Ember Forge', '17-9'].map(
    (text): [string, () => Promise<unknown>] => [`a search for ${text}`, () => find(operatorDeps(), text)],
  ),
  ['the list of all deposits', () => operatorList({})],
  ['the list from the middle', () => operatorList({ before: BigInt(middleId()) })],
  ['the list of a store', () => operatorList({ storeId: 2n })],
  ['the list of a status that no deposit has', () => operatorList({ status: 'pending' })],
  ['the list of one store and one status', () => operatorList({ storeId: 1n, status: 'tradeDeclined' })],
  ['the list of a shopper', () => operatorList({ steamId: '76561198000001001' })],
  ['the list of deposits that need a person', () => operatorList({ needsPerson: true })],
  ['the list of all deposits, oldest first', () => operatorList({ order: 'oldest' })],
  [
    'the list of one store and one status from the middle, oldest first',
    () => operatorList({ storeId: 1n, status: 'succeeded', order: 'oldest', before: BigInt(middleId()) }),
  ],
  [
    'the list of a game that no deposit has',
    () => operatorList({ game: 'rust', before: NEAR_THE_END }),
    FEW_ROWS,
  ],
  ['open trades, after many that have ended', () => listTrades(operatorDeps()), FEW_ROWS],
  ['items, after many that left at the same time', () => lookThroughItems(observed, { limit: 50 }), FEW_ROWS],
  ['the bots’ items, after many that have left', () => heldItems(observed), FEW_ROWS],
  ['the items of one bot, after many that have left', () => heldItems(observed, { botId: 1n }), FEW_ROWS],
  [
    'the count of sealed values, after many trades whose tokens were erased',
    () => countValues(observed, NEW_MARK),
    FEW_ROWS,
  ],
  ...SEALED.map(({ table, column, ...source }): [string, () => Promise<unknown>, number] => [
    `the values of ${table}.${column} to seal again`,
    () =>
      valuesWithout(observed, { table, column, ...source }, { mark: NEW_MARK, after: undefined, limit: 100 }),
    FEW_ROWS,
  ]),
  ['endpoints', () => listEndpoints(operatorDeps(), { limit: 50 })],
  ['failing endpoints', () => listEndpoints(operatorDeps(), { limit: 50, failing: true })],
  ['a deposit for an operator, with its next step', () => showDeposit(operatorDeps(), 1_011n)],
  ['the balance', () => readBalances(observed, STORE)],
  ['the statement', () => readStatement(observed, STORE, { currency: 'USD', limit: 50 })],
  ['the poll of a waiting page', () => viewReader(observed, 'http://steam.test')([hash('md5', '10')])],
  ['the polls of fifty waiting pages', () => viewReader(observed, 'http://steam.test')(fiftyHashes())],
  ...(['first', 'again'] as const).map((lane): [string, () => Promise<unknown>] => [
    `webhooks of the lane “${lane}”, while many are due in both lanes`,
    async () => {
      const claims = await claimLane({ db: observed, clock: till.clock }, { endpointId: 1n, lane }, 8)
      expect(claims).toHaveLength(8)
    },
  ]),
]

/** A balance reads fewer rows than this: the accounts and totals of a store and of a few others. */
const MOST_BALANCE_ROWS = 20

describe(`with ${DEPOSITS} deposits`, () => {
  test('the balance reads few rows, even if one in ten deposits was taken back', async () => {
    const reversed = await till.db
      .selectFrom('deposit')
      .select((eb) => [eb.fn.countAll<bigint>().as('count'), eb.fn.sum<bigint>('reversed_amount').as('sum')])
      .where('store_id', '=', STORE)
      .where('reversed_amount', '>', 0n)
      .executeTakeFirstOrThrow()
    expect(Number(reversed.count)).toBeGreaterThanOrEqual(DEPOSITS * 0.09)
    expect(await readBalances(observed, STORE)).toMatchObject({
      balances: [{ reversed: Number(reversed.sum) }],
    })
    expect(await countRowsRead(() => readBalances(observed, STORE))).toBeLessThan(MOST_BALANCE_ROWS)
  })

  test.each(CALLS)('a call for %s reads few rows', async (name, call, most = MOST_ROWS) => {
    const rows = await countRowsRead(call)
    if (DEPOSITS >= 100_000) console.log(`${name}: ${rows} rows`)
    expect(rows).toBeLessThan(most)
  })
})
