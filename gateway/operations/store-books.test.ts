/**
 * An operator's payouts and adjustments of a store's balance: in the statement, the report, the acts and the check of
 * the ledger.
 */

import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { verifyLedger } from '../ledger/verify.ts'
import { operatorOf } from '../testing/operator.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import type { ActDeps } from './operation.ts'
import { listPayouts, recordPayout, voidPayout } from './payouts.ts'
import {
  creditStore,
  debitStore,
  reportMoney,
  reportStore,
  showStatement,
  writeOffStore,
} from './store-books.ts'
import { listStores } from './stores.ts'

let till: Till
let deps: ActDeps
let pool: pg.Pool
let began: Date

beforeAll(async () => {
  till = await startTill()
  pool = testPool(till.url)
  deps = operatorOf(till)
  began = till.clock.now()
})
afterAll(async () => {
  await pool.end()
  await till.close()
})

let storeId: bigint
/** Gives each test a new store with 30.00 USD available. */
beforeEach(async () => {
  const store = await aStore(till)
  storeId = store.id
  const bot = await till.db.selectFrom('bot').select('id').executeTakeFirst()
  if (bot === undefined) await payFor(till, await aBot(till), await aDeposit(till, store))
  else await creditInstead(3_000n)
})

/** Credits the store with an adjustment instead of a deposit. */
const creditInstead = async (amountMinor: bigint) => {
  await creditStore(deps, { storeId, currency: 'USD', amountMinor, reference: 'instead of a deposit' })
}

const money = (amountMinor: bigint, reference: string) => ({
  storeId,
  currency: 'USD' as const,
  amountMinor,
  reference,
})

async function available(): Promise<bigint | undefined> {
  const answer = await listStores(deps, { limit: 500 })
  const stores = answer.kind === 'done' ? answer.data.stores : []
  return stores.find((store) => store.storeId === storeId)?.balances[0]?.availableMinor
}

const acts = () =>
  till.db
    .selectFrom('operator_act')
    .select(['act', 'operator', 'reason', 'arguments'])
    .orderBy('id', 'desc')
    .execute()

const problems = async () => (await verifyLedger(pool)).map(({ problem, detail }) => `${problem}: ${detail}`)

it('a credit, a debit and a write-off each move money once with a record, and the ledger has no difference', async () => {
  expect(await creditStore(deps, money(100n, 'a'))).toMatchObject({ kind: 'done', data: { kind: 'credit' } })
  expect(await available()).toBe(3_100n)
  expect(await creditStore(deps, money(100n, 'a'))).toMatchObject({ kind: 'unchanged' })
  expect(await creditStore(deps, money(101n, 'a'))).toMatchObject({ refusal: 'conflict' })
  expect(await debitStore(deps, money(3_101n, 'b'))).toMatchObject({
    refusal: 'conflict',
    message: 'Nothing was recorded: the store has 31.00 USD available.',
  })
  const debit = { ...money(3_600n, 'b'), mayOwe: true }
  expect(await debitStore(deps, debit)).toMatchObject({ kind: 'done' })
  expect(await debitStore(deps, debit)).toMatchObject({ kind: 'unchanged' })
  expect(await available()).toBe(-500n)
  expect(await writeOffStore(deps, money(501n, 'c'))).toMatchObject({
    message: 'Nothing was recorded: the store has -5.00 USD: it owes less than 5.01 USD.',
  })
  expect(await writeOffStore(deps, money(500n, 'c'))).toMatchObject({ kind: 'done' })
  expect(await writeOffStore(deps, money(500n, 'c'))).toMatchObject({ kind: 'unchanged' })
  expect(await available()).toBe(0n)
  expect((await acts()).slice(0, 3)).toMatchObject([
    {
      act: 'store write-off',
      operator: 'Ada',
      reason: 'case 7',
      arguments: { amountMinor: 500, reference: 'c' },
    },
    { act: 'store debit', arguments: { amountMinor: 3_600 } },
    { act: 'store credit', arguments: { amountMinor: 100, currency: 'USD', reference: 'a' } },
  ])
  expect(await problems()).toEqual([])
})

it('only one of several simultaneous adjustments or payouts with the same reference moves money, whatever their currencies', async () => {
  const credit = (currency: 'EUR' | 'BRL') => creditStore(deps, { ...money(500n, 'two tabs'), currency })
  const first = await Promise.all([credit('EUR'), credit('EUR'), credit('EUR')])
  expect(first.map(({ kind }) => kind).sort()).toEqual(['done', 'unchanged', 'unchanged'])
  expect(await credit('BRL')).toMatchObject({ kind: 'refused', refusal: 'conflict' })

  await creditStore(deps, { ...money(3_000n, 'euros'), currency: 'EUR' })
  const pay = (currency: 'USD' | 'EUR') =>
    recordPayout(deps, { storeId, currency, amount: 1_000n, reference: 'wire of two tabs' })
  const paid = await Promise.all([pay('USD'), pay('EUR')])
  expect(paid.map(({ kind }) => kind).sort()).toEqual(['done', 'refused'])
  expect(await problems()).toEqual([])
})

it('a voided payout returns its money to the store once', async () => {
  await recordPayout(deps, { storeId, currency: 'USD', amount: 2_500n, reference: 'wire 1' })
  const list = await listPayouts(deps, { storeId, limit: 10 })
  const [payout] = list.kind === 'done' ? list.data.payouts : []
  const payoutId = payout?.payoutId ?? 0n
  expect(payout).toMatchObject({ amountMinor: 2_500n, reference: 'wire 1', voidedAt: null })
  expect(await available()).toBe(500n)
  expect(await voidPayout(deps, payoutId)).toMatchObject({ kind: 'done' })
  expect(await voidPayout(deps, payoutId)).toMatchObject({ kind: 'unchanged' })
  expect(await voidPayout(deps, 999n)).toMatchObject({ refusal: 'not_found' })
  expect(await available()).toBe(3_000n)
  const again = { storeId, currency: 'USD', amount: 2_500n, reference: 'wire 1' } as const
  expect(await recordPayout(deps, again)).toMatchObject({
    message: 'Nothing was recorded: wire 1 was voided: give the payout another reference.',
  })
  expect(await problems()).toEqual([])
})

it('two simultaneous voids of one payout move its amount once', async () => {
  await recordPayout(deps, { storeId, currency: 'USD', amount: 3_000n, reference: 'wire 2' })
  const { id } = await till.db
    .selectFrom('payout')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const kinds = (await Promise.all([voidPayout(deps, id), voidPayout(deps, id)])).map(({ kind }) => kind)
  expect(kinds.sort()).toEqual(['done', 'unchanged'])
  expect(await available()).toBe(3_000n)
})

it('the statement begins with the latest movement, and the rows of the report add up to the change of the balance', async () => {
  await debitStore(deps, money(200n, 'd'))
  const statement = await showStatement(deps, { storeId, currency: 'USD', limit: 1 })
  expect(statement).toMatchObject({
    data: { movements: [{ cause: 'adjusted', reference: 'd', availableMinor: -200, depositId: null }] },
  })
  const to = new Date(till.clock.now().getTime() + 1)
  // Store 1 is that of the first test, the only one with a paid deposit.
  const report = await reportStore(deps, { storeId: 1n, from: began, to, by: 'day' })
  if (report.kind !== 'done') throw new Error(report.message)
  const { rows, opening, closing } = report.data
  const sum = (balances: { availableMinor: bigint }[]) =>
    balances.reduce((total, { availableMinor }) => total + availableMinor, 0n)
  expect(sum(rows)).toBe(sum(closing) - sum(opening))
  expect(rows.find(({ cause }) => cause === 'delivered')).toMatchObject({
    movements: 1,
    availableMinor: 3_000n,
    commissionMinor: 300n,
  })
  const before = await reportStore(deps, { storeId: 1n, from: new Date(0), to: new Date(1), by: 'month' })
  expect(before).toMatchObject({ data: { rows: [], closing: [{ availableMinor: 0n }] } })
  expect(await reportStore(deps, { storeId: 1n, from: to, to: began, by: 'day' })).toMatchObject({
    refusal: 'usage',
  })
})

it('the report of all stores is the sum of their reports, and the operator’s own accounts change by the opposite amount', async () => {
  await debitStore(deps, money(100n, 'e'))
  await recordPayout(deps, { storeId, currency: 'USD', amount: 400n, reference: 'wire 3' })
  const period = { from: began, to: new Date(till.clock.now().getTime() + 1), by: 'month' } as const
  const answer = await reportMoney(deps, period)
  if (answer.kind !== 'done') throw new Error(answer.message)
  const { rows, opening, closing, own } = answer.data
  const stores = await till.db.selectFrom('store').select('id').execute()
  const reports = await Promise.all(stores.map(({ id }) => reportStore(deps, { storeId: id, ...period })))
  const storeRows = reports.flatMap((report) => (report.kind === 'done' ? report.data.rows : []))
  const sumOf = (parts: typeof rows, key: 'availableMinor' | 'commissionMinor') =>
    parts.reduce((sum, part) => sum + (part[key] ?? 0n), 0n)
  for (const { cause, currency, movements, availableMinor, commissionMinor } of rows) {
    const rowsOfCause = storeRows.filter((row) => row.cause === cause && row.currency === currency)
    expect(rowsOfCause.reduce((sum, part) => sum + part.movements, 0)).toBe(movements)
    expect(sumOf(rowsOfCause, 'availableMinor')).toBe(availableMinor)
    expect(sumOf(rowsOfCause, 'commissionMinor')).toBe(commissionMinor ?? 0n)
  }
  expect(new Set(storeRows.map(({ cause }) => cause))).toEqual(new Set(rows.map(({ cause }) => cause)))
  const dollars = (balances: typeof closing) =>
    balances.find(({ currency }) => currency === 'USD')?.availableMinor
  const ofStores = rows.filter(({ currency }) => currency === 'USD')
  expect(sumOf(ofStores, 'availableMinor')).toBe((dollars(closing) ?? 0n) - (dollars(opening) ?? 0n))
  // Debits equal credits: what the stores got, the operator's accounts gave.
  const ofOperator = own.filter(({ currency }) => currency === 'USD')
  expect(ofOperator.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(
    -sumOf(ofStores, 'availableMinor'),
  )
  expect(ofOperator.find(({ kind }) => kind === 'commission')).toMatchObject({ amountMinor: 300n })
  expect(await reportMoney(deps, { ...period, to: began })).toMatchObject({ refusal: 'usage' })
})

it('the movements of an unended period add up to the balances, even if money moves during the read', async () => {
  let isFirst = true
  const db = till.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isFirst) {
        isFirst = false
        await creditStore(deps, money(700n, 'while the report is read'))
      }
      return result
    },
  })
  const period = { from: began, to: new Date(till.clock.now().getTime() + 60_000), by: 'day' } as const
  const answer = await reportMoney({ ...deps, db }, period)
  if (answer.kind !== 'done') throw new Error(answer.message)
  const inDollars = <Row extends { currency: string }>(amounts: Row[]) =>
    amounts.filter(({ currency }) => currency === 'USD')
  const { rows, opening, closing, own } = answer.data
  const sum = (amounts: { availableMinor: bigint }[]) =>
    amounts.reduce((total, { availableMinor }) => total + availableMinor, 0n)
  const moved = sum(inDollars(rows))
  expect(sum(inDollars(opening)) + moved).toBe(sum(inDollars(closing)))
  expect(inDollars(own).reduce((total, { amountMinor }) => total + amountMinor, 0n)).toBe(-moved)
  // The credit was booked while the report was read.
  expect(isFirst).toBe(false)
  expect(await available()).toBe(3_700n)
})

const NOT_POSTED = 'a payout or adjustment is not posted as recorded'
const NOT_RECORDED = 'an operator moved money without a record of it'

it.each([
  [
    'a payout that was posted with another amount',
    `update ledger_entry set amount = amount + 1 where cause = 'paid_out'`,
    NOT_POSTED,
  ],
  ['an adjustment without its movement', `delete from ledger_entry where cause = 'adjusted'`, NOT_POSTED],
  ['a void that nobody recorded', `delete from operator_act where act = 'payout void'`, NOT_RECORDED],
  [
    'a write-off that nobody recorded',
    `delete from operator_act where act = 'store write-off'`,
    NOT_RECORDED,
  ],
])('the check of the ledger finds %s', async (_, statement, problem) => {
  const client = await pool.connect()
  await client.query('begin')
  // Switches off the triggers that protect these rows.
  await client.query('set local session_replication_role = replica')
  const { rowCount } = await client.query(statement)
  // The check reads on the same connection, so it sees the uncommitted change.
  const found = await verifyLedger({ connect: async () => withoutTransactions(client) })
  await client.query('rollback')
  client.release()
  expect(rowCount).toBeGreaterThan(0)
  expect(found.map((difference) => difference.problem)).toContain(problem)
})

/** Ignores the check's own `begin`, `commit` and release, which would end the transaction of the test. */
function withoutTransactions(client: pg.PoolClient): pg.PoolClient {
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'release') return () => {}
      if (name !== 'query') return Reflect.get(target, name)
      return (text: string, values?: unknown[]) =>
        /^(begin|commit)/.test(text) ? Promise.resolve({ rows: [] }) : target.query(text, values)
    },
  })
}
