/** Acts that are under way while their operator is removed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActDeps } from '../operations/operation.ts'
import { dismissOperator } from '../operations/operators.ts'
import { recordPayout } from '../operations/payouts.ts'
import { approveProposal, changeApprovalLimit } from '../operations/proposals.ts'
import { post, signIn, startConsole, type TestConsole } from '../testing/console.ts'
import { countWaiting } from '../testing/waiting.ts'

let till: TestConsole

beforeAll(async () => {
  till = await startConsole()
  await till.db
    .insertInto('store')
    .values({ name: 'Ember', origins: ['https://store.test'] })
    .execute()
  await till.db
    .insertInto('account')
    .values({ store_id: 1n, kind: 'available', currency: 'USD', balance: 1_000_000n, floor: 0n })
    .execute()
})
afterAll(() => till.close())

const idOf = async (name: string): Promise<bigint> =>
  (await till.db.selectFrom('operator').select('id').where('name', '=', name).executeTakeFirstOrThrow()).id

const waiting = () => countWaiting(till.db)

test('a payout that waits for the balance of its store is never carried out after its operator was removed', async () => {
  const { headers } = await signIn(till, 'Ada')
  const [isLocked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const lock = till.db.transaction().execute(async (tx) => {
    await tx.selectFrom('account').select('id').forUpdate().execute()
    isLocked.resolve()
    await released.promise
  })
  await isLocked.promise
  const input = { storeId: '1', currency: 'USD', amount: '10.00', reference: 'wire 1' }
  const paying = post(till, 'act/payout-record', { headers, body: { reason: 'wages', input } })
  await expect.poll(waiting).toBe(1)
  let isRemoved = false
  const removing = dismissOperator(till.by('host'), 'Ada').finally(() => {
    isRemoved = true
  })
  await expect.poll(async () => isRemoved || (await waiting()) === 2).toBe(true)
  released.resolve()
  await Promise.all([lock, paying, removing])
  const acts = await till.db.selectFrom('operator_act').select('act').orderBy('id').execute()
  expect(acts.at(-1)?.act).toBe('operator remove')
})

test('an act that begins after its operator was removed is refused, as is an approval', async () => {
  await signIn(till, 'Bob')
  await signIn(till, 'Eve')
  await changeApprovalLimit(till.by('host'), { aboveUsdMinor: 1_000n })
  const asOperator = async (name: string): Promise<ActDeps> => ({
    ...till.by(name),
    operatorId: await idOf(name),
  })
  const [bob, eve] = [await asOperator('Bob'), await asOperator('Eve')]
  const payout = { storeId: 1n, currency: 'USD', amount: 2_000n, reference: 'wire 2' } as const
  expect(await recordPayout(bob, payout)).toMatchObject({ refusal: 'proposed' })
  const { id } = await till.db.selectFrom('proposal').select('id').executeTakeFirstOrThrow()
  await dismissOperator(till.by('host'), 'Eve')
  const removed = { refusal: 'conflict', message: 'You are no longer an operator: nothing was changed.' }
  expect(await approveProposal(eve, id)).toMatchObject(removed)
  expect(await recordPayout(eve, { ...payout, amount: 100n })).toMatchObject(removed)
  expect(
    await till.db.selectFrom('payout').select('reference').where('reference', '=', 'wire 2').execute(),
  ).toEqual([])
})
