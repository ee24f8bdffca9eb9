import type pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkLedger } from '../ledger/jobs.ts'
import { balancesOf } from '../ledger/store.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { createMetrics } from '../metrics.ts'
import { steamTradeIdOf } from '../testing/fake-steam.ts'
import { operatorOf } from '../testing/operator.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { requestTrade } from '../trades/request.ts'
import { holdDeposit, showDeposit } from './deposits.ts'
import { releaseDeposit } from './early-release.ts'
import { approveProposal } from './proposals.ts'
import { atRiskOf } from './store.ts'
import { changeStore } from './stores.ts'

const DAY_MS = 86_400_000

let till: Till
let pool: pg.Pool
let bot: Awaited<ReturnType<typeof aBot>>
let store: { id: bigint }

beforeEach(async () => {
  till = await startTill()
  pool = testPool(till.url)
  bot = await aBot(till)
  store = await aStore(till, { riskLimitUsdCents: 5_000n })
})
afterEach(async () => {
  expect(await verifyLedger(pool)).toEqual([])
  await pool.end()
  await till.close()
})

const deps = () => operatorOf(till)

/** Returns a deposit of 30 USD. All of it is held, although its store's limit has room. */
async function heldDeposit(): Promise<bigint> {
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await holdDeposit(deps(), deposit.id)
  await payFor(till, bot, deposit)
  return deposit.id
}

const runTradeJobs = async () => {
  for (const { id } of await till.db.selectFrom('trade').select('id').orderBy('id').execute())
    await tradeHandlers(till.deps).trade(bot.bot, id)
}

const tradeRow = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirstOrThrow()
const events = async () =>
  (await till.db.selectFrom('event').select('type').orderBy('inserted').execute()).map(({ type }) => type)
const acts = () =>
  till.db
    .selectFrom('operator_act')
    .select(['act', 'arguments', 'reason'])
    .where('act', '=', 'deposit release')
    .execute()

it('a release makes the credit available, counts it as at risk until Steam’s protection ends, and publishes one event', async () => {
  const id = await heldDeposit()
  const suggested = (await showDeposit(deps(), id)).data?.can.map(({ act }) => act)
  expect(suggested).toContain('deposit release')
  const answer = await releaseDeposit(deps(), { depositId: id })
  const { id: tradeId } = await tradeRow()
  const released = { depositId: id, tradeIds: [tradeId], releasedMinor: 3_000n, currency: 'USD' }
  expect(answer).toMatchObject({ kind: 'done', data: released, message: /you lose the amount/ })
  expect(await acts()).toMatchObject([
    { arguments: { tradeIds: [String(tradeId)], releasedMinor: 3_000 }, reason: 'case 7' },
  ])
  const available = [{ currency: 'USD', held: 0n, available: 3_000n }]
  expect(await balancesOf(till.db, store.id)).toEqual(available)
  expect(await atRiskOf(till.db, store.id)).toBe(3_000n)
  expect(await tradeRow()).toMatchObject({ state: 'held', held_amount: 0n, at_risk_amount: 3_000n })
  expect(await verifyLedger(pool)).toEqual([])
  expect((await showDeposit(deps(), id)).data).toMatchObject({
    heldMinor: 0n,
    shopper: { history: { trades: 1 } },
  })
  // A second release finds nothing held.
  expect(await releaseDeposit(deps(), { depositId: id })).toMatchObject({
    refusal: 'conflict',
    message: /no held credit/,
  })

  till.clock.advance(8 * DAY_MS)
  await runTradeJobs()
  expect(await tradeRow()).toMatchObject({ state: 'final', at_risk_amount: 0n })
  expect(await atRiskOf(till.db, store.id)).toBe(0n)
  expect(await balancesOf(till.db, store.id)).toEqual(available)
  expect((await events()).filter((type) => type === 'deposit.funds_available')).toHaveLength(1)
})

it.each([
  ['operator', 'the operator bears the loss', { available: 3_000n, loss: -3_000n }],
  ['store', 'the store bears the loss', { available: 0n, loss: undefined }],
] as const)('a release is at the risk of the %s: after a reversal, %s', async (liability, _what, left) => {
  await changeStore(deps(), { storeId: store.id, liability })
  const id = await heldDeposit()
  await releaseDeposit(deps(), { depositId: id })
  const { steam_offer_id: offerId } = await tradeRow()
  bot.session.takeBack(steamTradeIdOf(offerId ?? ''))
  till.clock.advance(8 * DAY_MS)
  await runTradeJobs()
  expect(await tradeRow()).toMatchObject({ state: 'reversed', reversed_amount: 3_000n })
  const accounts = await till.db.selectFrom('account').select(['kind', 'balance']).execute()
  const balanceOf = (kind: string) => accounts.find((account) => account.kind === kind)?.balance
  expect({ available: balanceOf('available'), loss: balanceOf('loss') }).toEqual(left)
  // The lost credit keeps using the store’s limit, whoever bears the loss.
  expect(await atRiskOf(till.db, store.id)).toBe(3_000n)
})

it('a release is refused and not recorded if the store’s limit has no room for it beside the open offers', async () => {
  const id = await heldDeposit()
  await changeStore(deps(), { storeId: store.id, riskLimitUsdCents: 2_999n })
  expect(await releaseDeposit(deps(), { depositId: id })).toMatchObject({
    refusal: 'conflict',
    message: /too little room/,
  })
  await changeStore(deps(), { storeId: store.id, riskLimitUsdCents: 5_000n })
  // An open offer is promised 30 of the 50, so a limit of 30 leaves nothing for the release.
  await offerFor(till, bot.bot, await aDeposit(till, store, { game: 'cs' }))
  await changeStore(deps(), { storeId: store.id, riskLimitUsdCents: 3_000n })
  expect(await releaseDeposit(deps(), { depositId: id })).toMatchObject({
    refusal: 'conflict',
    message: /too little room/,
  })
  expect(await acts()).toEqual([])
  expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 3_000n, available: 0n }])
  await changeStore(deps(), { storeId: store.id, riskLimitUsdCents: 10_000n })
  expect(await releaseDeposit(deps(), { depositId: id })).toMatchObject({ kind: 'done' })
})

it('the gateway’s check of new ledger entries finds nothing wrong after a release', async () => {
  const metrics = createMetrics()
  const differences = async () => {
    await checkLedger({ pool, log: till.deps.log, metrics })
    return /^tradetill_ledger_differences (.*)$/m.exec(await metrics.registry.metrics())?.[1]
  }
  await releaseDeposit(deps(), { depositId: await heldDeposit() })
  expect(await differences()).toBe('0')
  await payFor(till, bot, await aDeposit(till, store, { game: 'dota' }))
  expect(await differences()).toBe('0')
})

/** Changes rows as only a superuser can, and returns what the check of the ledger then finds. */
async function differencesAfter(damage: string): Promise<string[]> {
  const client = await pool.connect()
  try {
    await client.query('set session_replication_role = replica')
    await client.query(damage)
  } finally {
    client.release(true)
  }
  return (await verifyLedger(pool)).map(({ problem }) => problem)
}

it('the check of the ledger reports a release without its record, and a record without its release', async () => {
  await releaseDeposit(deps(), { depositId: await heldDeposit() })
  const rename = (from: string, to: string) =>
    differencesAfter(`update operator_act set act = '${to}' where act = '${from}'`)
  expect(await rename('deposit release', 'another act')).toEqual([
    'an operator released a trade early without a record of it',
  ])
  expect(await rename('another act', 'deposit release')).toEqual([])
  expect(await differencesAfter('update trade set released_early = false')).toContain(
    "the record of an operator's act names a trade that was not released early",
  )
  expect(await differencesAfter('update trade set released_early = true')).toEqual([])
})

it('a release is refused for an unknown deposit, and for a deposit without held credit', async () => {
  expect(await releaseDeposit(deps(), { depositId: 999n })).toMatchObject({ refusal: 'not_found' })
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await payFor(till, bot, deposit)
  expect(await releaseDeposit(deps(), { depositId: deposit.id })).toMatchObject({
    refusal: 'conflict',
    message: /no held credit/,
  })
})

it('a release waits for a second operator if its amount is above the limit for one operator', async () => {
  const id = await heldDeposit()
  await till.db.insertInto('approval_limit').values({ above_usd_cents: 2_999n }).execute()
  expect(await releaseDeposit(deps(), { depositId: id })).toMatchObject({ refusal: 'proposed' })
  const proposal = await till.db.selectFrom('proposal').select(['act', 'worth_usd_cents']).executeTakeFirst()
  expect(proposal).toEqual({ act: 'deposit release', worth_usd_cents: 3_000n })
  expect(await tradeRow()).toMatchObject({ held_amount: 3_000n, released_early: false })
})

/**
 * Pays the deposit with its second trade, after the offer of its first was not found. Resolves to a function that
 * delivers the first too: its offer was accepted after all.
 */
async function lateDelivery(deposit: Awaited<ReturnType<typeof aDeposit>>): Promise<() => Promise<void>> {
  bot.session.sends.push({ answer: 'unknown' })
  const request = requestTrade(till.deps, deposit.body)
  await expect.poll(() => till.db.selectFrom('trade').select('id').execute()).toHaveLength(1)
  for (const ms of [0, 5_000, 15_000, 25_000]) {
    till.clock.advance(ms)
    await runTradeJobs()
  }
  await request
  const { id, secret_code: message, partner_steam_id: partnerSteamId } = await tradeRow()
  await payFor(till, bot, deposit)
  return async () => {
    const [paid] = bot.session.offers.values()
    if (paid === undefined) throw new Error('Steam has no offer')
    bot.session.offers.set('70', {
      ...paid,
      offerId: '70',
      message,
      partnerSteamId,
      state: 'active',
      tradeId: null,
    })
    bot.session.accept('70')
    till.clock.advance(60_000)
    await tradeHandlers(till.deps).trade(bot.bot, id)
  }
}

it('an approved release is refused and moves nothing if more items were delivered since the proposal', async () => {
  const [ada, grace] = await till.db
    .insertInto('operator')
    .values(
      ['Ada', 'Grace'].map((name) => ({ name, role: 'operator' as const, user_handle: Buffer.from(name) })),
    )
    .returning('id')
    .execute()
  if (ada === undefined || grace === undefined) throw new Error('no operators')
  await changeStore(deps(), { storeId: store.id, riskLimitUsdCents: 100_000n })
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await holdDeposit(deps(), deposit.id)
  const deliverLate = await lateDelivery(deposit)
  await till.db.insertInto('approval_limit').values({ above_usd_cents: 2_999n }).execute()
  expect(await releaseDeposit({ ...deps(), operatorId: ada.id }, { depositId: deposit.id })).toMatchObject({
    refusal: 'proposed',
  })
  await deliverLate()
  const { id } = await till.db.selectFrom('proposal').select('id').executeTakeFirstOrThrow()
  expect(await approveProposal({ ...deps(), operatorId: grace.id }, id)).toMatchObject({
    refusal: 'conflict',
  })
  expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 6_000n, available: 0n }])
})
