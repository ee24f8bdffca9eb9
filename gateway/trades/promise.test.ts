import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { forecastPromise } from '../ledger/promise.ts'
import { readRoom } from '../ledger/promise-store.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { anItem, type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { aBot, aDeposit, aStore, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { requestTrade } from './request.ts'

const DAY_MS = 86_400_000

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

describe('D-9 an open offer', () => {
  beforeEach(async () => {
    till = await startTill()
    store = await aStore(till, { riskLimitUsdCents: 100_000n })
    ;({ bot, session } = await aBot(till))
  })
  afterEach(() => till.close())

  async function work(): Promise<void> {
    const rows = await till.db.selectFrom('trade').select('id').orderBy('id').execute()
    for (const { id } of rows) await tradeHandlers(till.deps).trade(bot, id)
  }

  type DepositSpec = { total: bigint; game?: 'cs' | 'dota' }

  const depositFor = ({ total, game = 'cs' }: DepositSpec) => aDeposit(till, store, { prices: [total], game })

  /** Opens an offer. Resolves to the hash of its deposit. */
  const openOffer = async (spec: DepositSpec) => ask(await depositFor(spec))

  async function ask({ hash, body }: Awaited<ReturnType<typeof depositFor>>) {
    let isAnswered = false
    const answer = requestTrade(till.deps, body).finally(() => {
      isAnswered = true
    })
    const workUntilAnswered = async () => {
      await work()
      return isAnswered
    }
    await expect.poll(workUntilAnswered).toBe(true)
    expect(await answer).toEqual({ kind: 'active' })
    return hash
  }

  /** Returns the parts that the page shows as credited at once and as held, with the end and the rule of the hold. */
  async function shown(hash: string) {
    const payment = (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment
    if (payment === undefined || payment.amount === null) throw new Error('the page shows no money')
    const { amount, heldAmount, heldUntil, heldBy } = payment
    return { atOnce: amount - heldAmount, held: heldAmount, until: heldUntil, by: heldBy }
  }

  async function accept(offer: number): Promise<void> {
    session.accept(String(offer))
    await tradeHandlers(till.deps).watch(bot)
  }

  const setStore = (change: { risk_limit_usd_cents?: bigint; credit_mode?: 'on_release' }) =>
    till.db.updateTable('store').set(change).execute()

  it.each<[string, { limit: bigint; game?: 'dota'; mode?: 'on_release' }, [number, number, string?]]>([
    ['within the risk limit promises the whole amount as immediate credit', { limit: 3_375n }, [3_375, 0]],
    [
      'above the risk limit promises as immediate credit what the limit covers',
      { limit: 1_000n },
      [1_000, 2_375, 'limit'],
    ],
    ['with a risk limit of zero promises no immediate credit', { limit: 0n }, [0, 3_375, 'limit']],
    [
      'to a store with credit on release promises no immediate credit',
      { limit: 9_000n, mode: 'on_release' },
      [0, 3_375, 'release'],
    ],
    [
      'of a game without protection promises the whole amount as immediate credit',
      { limit: 0n, game: 'dota' },
      [3_375, 0],
    ],
  ])(
    '%s, names the rule if a part is held, and is credited that way',
    async (_name, { limit, game, mode }, expected) => {
      const [atOnce, held, by] = expected
      await setStore({ risk_limit_usd_cents: limit, ...(mode && { credit_mode: mode }) })
      const hash = await openOffer({ total: 3_375n, ...(game && { game }) })
      const before = await shown(hash)
      expect(before).toMatchObject({ atOnce, held, by })
      await accept(1)
      const after = await shown(hash)
      expect(after).toMatchObject({ atOnce, held, by })
      expect(before.until === null).toBe(after.until === null)
      if (!before.until || !after.until) return
      // The shopper may take all five minutes to accept, so the page shows the latest possible time.
      const latest = till.clock.now().getTime() + PROTECTION_DAYS * DAY_MS + 5 * 60_000
      expect(Date.parse(before.until)).toBeGreaterThanOrEqual(Date.parse(after.until))
      expect(Date.parse(before.until)).toBeLessThanOrEqual(latest)
    },
  )

  it('keeps its promise if a later offer is accepted first', async () => {
    await setStore({ risk_limit_usd_cents: 1_000n })
    const first = await openOffer({ total: 3_375n })
    const second = await openOffer({ total: 3_375n })
    expect(await shown(first)).toMatchObject({ atOnce: 1_000, held: 2_375 })
    expect(await shown(second)).toMatchObject({ atOnce: 0, held: 3_375 })
    await accept(2)
    expect(await shown(second)).toMatchObject({ atOnce: 0, held: 3_375 })
    await accept(1)
    expect(await shown(first)).toMatchObject({ atOnce: 1_000, held: 2_375 })
  })

  it.each(['intended', 'sending', 'unknown', 'active'] as const)(
    'keeps its promise while its trade is %s',
    async (state) => {
      await setStore({ risk_limit_usd_cents: 1_000n })
      await openOffer({ total: 3_375n })
      await till.db.updateTable('trade').set({ state }).execute()
      const { id: rateId } = await till.db.selectFrom('exchange_rate').select('id').executeTakeFirstOrThrow()
      const room = await readRoom(till.db, { storeId: store.id, rateId })
      expect(room).toMatchObject({ freeMinor: 1_000n, otherPromisesMinor: 1_000n })
    },
  )

  it('promises the part of the limit that earlier offers left, and gives the promised credit', async () => {
    await setStore({ risk_limit_usd_cents: 1_500n })
    const deposits = [
      await depositFor({ total: 3_375n }),
      await depositFor({ total: 3_375n }),
      await depositFor({ total: 3_375n }),
    ]
    const { id: rateId } = await till.db
      .selectFrom('exchange_rate')
      .select('id')
      .limit(1)
      .executeTakeFirstOrThrow()
    const query = { deposit: { store_id: store.id, credit_mode: null }, shopperMode: null, rateId, days: 8 }
    // A partial promise is rounded down to a step, so it does not reveal the limit.
    expect(await forecastPromise(till.db, { ...query, total: 3_375n })).toEqual({
      atOnce: 1_000n,
      days: 8,
      by: 'limit',
    })
    const hashes: string[] = []
    for (const deposit of deposits) hashes.push(await ask(deposit))
    const promised = [
      { atOnce: 1_000, held: 2_375 },
      { atOnce: 500, held: 2_875 },
      { atOnce: 0, held: 3_375 },
    ]
    expect(await Promise.all(hashes.map(shown))).toMatchObject(promised)
    for (const offer of [3, 1, 2]) await accept(offer)
    expect(await Promise.all(hashes.map(shown))).toMatchObject(promised)
    const { usd_cents: taken } = await till.db
      .selectFrom('credit_at_risk')
      .select('usd_cents')
      .executeTakeFirstOrThrow()
    expect(taken).toBe(1_500n)
  })

  it('gives more immediate credit than it promised if another offer has ended meanwhile', async () => {
    await setStore({ risk_limit_usd_cents: 1_500n })
    await openOffer({ total: 1_000n })
    const second = await openOffer({ total: 1_200n })
    expect(await shown(second)).toMatchObject({ atOnce: 500, held: 700 })
    const first = session.offers.get('1')
    if (first) session.offers.set('1', { ...first, state: 'declined' })
    await tradeHandlers(till.deps).watch(bot)
    await accept(2)
    expect(await shown(second)).toMatchObject({ atOnce: 1_200, held: 0 })
  })

  it('gives no more immediate credit than the limit allows, even if the operator has lowered the limit', async () => {
    const hash = await openOffer({ total: 3_375n })
    await setStore({ risk_limit_usd_cents: 300n })
    await accept(1)
    expect(await shown(hash)).toMatchObject({ atOnce: 300, held: 3_075 })
  })
})

describe('D-9 an inventory forecasts, before a trade is requested,', () => {
  let stocked: StockedTill

  beforeEach(async () => {
    stocked = await startStockedTill()
    await setPrices(stocked, { Case: 10_000_000n })
    // Two items of 7.20 euros each.
    stocked.steam.owned = { kind: 'items', items: [anItem('1', 'Case'), anItem('2', 'Case')] }
  })
  afterEach(() => stocked.close())

  const setLimit = (usdCents: bigint) =>
    stocked.db.updateTable('store').set({ risk_limit_usd_cents: usdCents }).execute()

  it.each([
    ['no immediate credit with a limit of zero', 0n, 0],
    ['a round part of what the limit leaves', 1_249n, 500],
    ['the full value of the items if the limit leaves as much', 1_800n, 1_440],
    ['no more than the items’ full value, however much the limit leaves', 10_000_000n, 1_440],
  ])('%s', async (_name, usdCents, atOnce) => {
    await setLimit(usdCents)
    const { hold } = await stocked.ask()
    const until = new Date(stocked.clock.now().getTime() + PROTECTION_DAYS * DAY_MS).toISOString()
    expect(hold).toEqual({ atOnce, days: PROTECTION_DAYS, until, by: 'limit' })
  })

  it('no more immediate credit than the deposit accepts', async () => {
    await setLimit(10_000_000n)
    await stocked.db.updateTable('deposit').set({ max_amount: 900n }).execute()
    expect((await stocked.ask()).hold?.atOnce).toBe(900)
  })

  it('no held part in a game without protection, or without an item that has a price', async () => {
    expect((await stocked.ask({ game: 'dota' })).hold).toBeNull()
    stocked.steam.owned = { kind: 'items', items: [anItem('3', 'Unheard of')] }
    expect((await stocked.ask({ reload: true })).hold).toBeNull()
  })
})
