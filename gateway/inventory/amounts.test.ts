/** The prices in the inventory decide the amount of the trade. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Game } from '../../contract/games.ts'
import { MOST_UNAVAILABLE_NAMES } from '../../contract/limits.ts'
import { saveRate } from '../pricing/store.ts'
import { anItem, type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { requestTrade } from '../trades/request.ts'

let till: StockedTill

beforeEach(async () => {
  till = await startStockedTill()
  // In millionths of a dollar. After 10 % commission, at 0.80 euros a dollar: a knife credits 14.40 euros, a case 0.72,
  // the dime 0.10 dollars and Eleven 0.11 dollars. Rare has too few sales.
  const prices = { Knife: 20_000_000n, Case: 1_000_000n, Dime: 111_200n, Eleven: 122_300n, Rare: 20_000_000n }
  await setPrices(till, prices)
  till.steam.owned = {
    kind: 'items',
    items: [
      anItem('1', 'Knife'),
      anItem('2', 'Case'),
      anItem('3', 'Case'),
      anItem('4', 'Dime'),
      anItem('5', 'Eleven'),
      anItem('6', 'Rare'),
      anItem('7', 'Knife', { tradable: false }),
    ],
  }
})
afterEach(() => till.close())

const setLimits = (limits: { min_amount?: bigint; max_amount?: bigint; target_amount?: bigint }) =>
  till.db.updateTable('deposit').set(limits).execute()

/** Reads the inventory and requests a trade of these items. The bot is away, so an accepted request stays open. */
async function trade(...items: string[]) {
  return tradeWithQuote(items, (await till.ask()).quoteId)
}

function tradeWithQuote(items: string[], quoteId: string | null) {
  const signals = { ...till.deps.signals, until: async () => undefined }
  const body = { hash: till.hash, game: 'cs' as const, items, ...(quoteId === null ? {} : { quoteId }) }
  return requestTrade({ ...till.deps, signals }, body)
}
const accepted = { kind: 'sending' }
const refusal = (code: string) => ({ kind: 'refused', code })

describe('the amount of a trade', () => {
  test('A-113 has a minimum in each game, which the page shows in the deposit’s currency', async () => {
    // 3 dollars for CS, and 1 dollar for the other games, at 0.80 euros a dollar.
    const shownMinimum = async (game: Game) => (await till.ask({ game })).minPrice
    expect(await Promise.all((['cs', 'dota', 'rust', 'tf'] as const).map(shownMinimum))).toEqual([
      240, 80, 80, 80,
    ])
    await till.db.updateTable('deposit').set({ currency: 'BRL' }).execute()
    await saveRate(till.db, 'test', { currency: 'BRL', perUsd: '5.3401', asOf: till.clock.now() })
    expect([await shownMinimum('cs'), await shownMinimum('tf')]).toEqual([1_603, 535])
  })

  test('A-113 is refused below the minimum, and accepted if it equals the minimum', async () => {
    expect(await trade('2', '3')).toEqual(refusal('below_minimum'))
    // A case now credits 2.40 euros, the minimum.
    await setPrices(till, { Case: 3_333_400n })
    // A deposit gets at most one new quote in ten seconds.
    till.clock.advance(10_000)
    expect(await trade('2')).toEqual(accepted)
  })

  test.each([
    ['may equal the store’s minimum', { min_amount: 1_440n }, accepted],
    ['is refused below the store’s minimum', { min_amount: 1_441n }, refusal('below_minimum')],
    ['may be far above a store’s small minimum', { min_amount: 1n }, accepted],
    ['may equal an exact target', { min_amount: 1_440n, target_amount: 1_440n }, accepted],
    [
      'is refused below an exact target',
      { min_amount: 1_441n, target_amount: 1_441n },
      refusal('below_minimum'),
    ],
    ['may equal the store’s maximum', { max_amount: 1_440n }, accepted],
    ['is refused above the store’s maximum', { max_amount: 1_439n }, refusal('above_maximum')],
  ])('D-15 %s', async (_what, limits, answer) => {
    await setLimits(limits)
    expect(await trade('1')).toEqual(answer)
  })

  test('D-15 may exceed an exact target, and the trade’s total includes the excess', async () => {
    await setLimits({ min_amount: 1_441n, target_amount: 1_441n })
    expect(await trade('1')).toEqual(refusal('below_minimum'))
    expect(await trade('1', '2')).toEqual(accepted)
    const { total } = await till.db.selectFrom('trade').select('total').executeTakeFirstOrThrow()
    expect(total).toBe(1_440n + 72n)
    expect(await till.db.selectFrom('deposit').select(['target_amount', 'max_amount']).execute()).toEqual([
      { target_amount: 1_441n, max_amount: null },
    ])
  })

  test('D-13 is enough at the minimum that the page showed, even if the exchange rate has changed since', async () => {
    await setPrices(till, { Case: 3_333_400n })
    const { minPrice, quoteId, items } = await till.ask()
    expect(items.find(({ id }) => id === '2')?.price).toBe(minPrice)
    till.clock.advance(60_000)
    await saveRate(till.db, 'test', { currency: 'EUR', perUsd: '0.95', asOf: till.clock.now() })
    expect((await till.ask()).minPrice).toBe(285)
    expect(await tradeWithQuote(['2'], quoteId)).toEqual(accepted)
  })
})

describe('A-087 items that do not qualify', () => {
  test('are listed by name, each name once with its count, up to the number of names that the page can show', async () => {
    const many = Array.from({ length: MOST_UNAVAILABLE_NAMES + 5 }, (_, index) =>
      anItem(String(index + 1), `Knife ${index}`, { tradable: false }),
    )
    till.steam.owned = { kind: 'items', items: [...many, anItem('90', 'Dime'), anItem('91', 'Dime')] }
    const { unavailableByReason, unavailableNames, unavailableCounts } = await till.ask()
    expect(unavailableByReason).toEqual({ tooCheap: 2, notTradable: MOST_UNAVAILABLE_NAMES + 5 })
    expect([unavailableNames?.tooCheap, unavailableCounts?.tooCheap]).toEqual([['Dime'], [2]])
    expect(unavailableCounts?.notTradable).toEqual(Array.from({ length: MOST_UNAVAILABLE_NAMES }, () => 1))
    expect(unavailableNames?.notTradable).toHaveLength(MOST_UNAVAILABLE_NAMES)
  })

  test('include an item that credits 0.10 dollars, but not one that credits 0.11', async () => {
    const { items, unavailableByReason, unavailableNames } = await till.ask()
    expect(items.map(({ id }) => id)).toEqual(['1', '2', '3', '5'])
    expect(unavailableByReason).toEqual({ tooCheap: 1, notPopular: 1, notTradable: 1 })
    expect(unavailableNames).toEqual({ tooCheap: ['Dime'], notPopular: ['Rare'], notTradable: ['Knife'] })
    expect(await trade('1', '4')).toEqual(refusal('items_unavailable'))
    expect(await trade('1', '5')).toEqual(accepted)
  })

  test.each([
    ['too rarely sold', '6'],
    ['not tradable', '7'],
    ['not in the inventory', '99'],
  ])('are refused in a trade: an item that is %s', async (_what, id) => {
    expect(await trade('1', id)).toEqual(refusal('items_unavailable'))
  })
})

test('D-14 items in a live trade are counted as such, and qualify for no other trade until that trade ends', async () => {
  expect(await trade('1')).toEqual(accepted)
  expect(await till.ask()).toMatchObject({ unavailableByReason: { inAnotherTrade: 1 } })
  await till.db.updateTable('trade_item').set({ live: false }).execute()
  expect((await till.ask()).items.map(({ id }) => id)).toContain('1')
})
