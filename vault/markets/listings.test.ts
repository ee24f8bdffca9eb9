/** Listings on a market whose list of them is late, empty or wrong. */
import { describe, expect, it, vi } from 'vitest'
import { APP, createOutside, type Outside, runVault } from '../testing/outside.ts'
import type { Market } from './market.ts'

describe('a listing', () => {
  const roundWithoutRows: Market['round'] = async () => ({ kind: 'answered', value: { rows: [], due: [] } })

  it.each([
    ['arrived', 'none'],
    ['was lost', 'lost_after'],
  ] as const)(
    'whose answer %s stays on record while the market’s list does not yet show the listing',
    async (_what, mishap) => {
      const out = createOutside()
      const { round } = out.market
      out.plan([mishap])
      await out.seller().list(APP, [{ assetId: '1', priceMinor: 100n }])
      out.market.round = roundWithoutRows
      out.advanceS(3)
      await out.seller().round(APP)
      expect(out.book().listings.map(({ state }) => state)).toEqual(['on_sale'])
      out.market.round = round
      out.advanceS(15)
      await out.seller().round(APP)
      expect(out.book().listings.map(({ state, itemId }) => [state, itemId])).toEqual([['on_sale', '101']])
      expect([out.alarms, out.items.map(({ stage }) => stage)]).toEqual([[], ['on_sale']])
    },
  )

  it.each<Awaited<ReturnType<Market['list']>>>([
    { kind: 'refused', code: 'bad_key' },
    { kind: 'busy' },
    { kind: 'answered', value: [{ kind: 'postponed', assetId: '1' }] },
  ])('that was never requested from the market leaves no entry in the log: %j', async (answer) => {
    const out = createOutside()
    out.market.list = async () => answer
    expect(await out.seller().list(APP, [{ assetId: '1', priceMinor: 100n }])).toEqual(answer)
    expect(out.entries).toEqual([])
  })

  it.each([
    ['does not show', (out: Outside) => out.items.splice(0)],
    [
      'shows as cancelled',
      (out: Outside) => out.items.map((item) => Object.assign(item, { stage: 'cancelled' })),
    ],
  ])('that the market’s list %s for a minute is over', async (_what, change) => {
    const out = createOutside()
    const seller = out.seller()
    await seller.list(APP, [{ assetId: '1', priceMinor: 100n }])
    change(out)
    const states: (string | undefined)[] = []
    for (let looks = 0; looks < 5; looks += 1) {
      await seller.round(APP)
      states.push(out.book().listings[0]?.state)
      out.advanceS(15)
    }
    expect(states).toEqual(['on_sale', 'on_sale', 'on_sale', 'on_sale', 'over'])
  })

  it.each([
    ['once', 1],
    ['twice, hours apart', 2],
  ])(
    'stays on record, and its item is given to the buyer, although the market’s list was empty %s',
    async (_what, times) => {
      const out = createOutside()
      const seller = out.seller()
      await runVault(out, seller)
      out.plan([], 'empty')
      for (let looks = 0; looks < times; looks += 1) {
        out.advanceS(10_000)
        await seller.round(APP)
      }
      out.plan([])
      out.buy(1)
      out.advanceS(15)
      await runVault(out, seller)
      expect([out.alarms, out.offers.map(({ seen }) => seen.state)]).toEqual([[], ['active']])
    },
  )

  it.each(['lost_before', 'lost_after'] as const)(
    'is sold at its true price if the answer to a change of the price and the next call are lost: %s',
    async (mishap) => {
      const out = createOutside()
      const seller = out.seller()
      await runVault(out, seller)
      const [item] = out.items
      if (item === undefined) throw new Error('nothing is listed')
      out.plan([mishap, 'lost_before'])
      await seller.reprice(APP, [{ itemId: item.itemId, priceMinor: 90n }])
      out.plan([])
      out.buy(1)
      out.advanceS(15)
      await runVault(out, seller)
      expect([out.alarms, out.offers.map(({ seen }) => seen.state)]).toEqual([[], ['active']])
      expect(out.book().listings[0]?.priceMinor).toBe(item.price)
    },
  )

  it.each(['lost_before', 'lost_after'] as const)(
    'gets no second change of price before the market’s list shows the outcome of an unanswered one: second change %s',
    async (mishap) => {
      const out = createOutside()
      const seller = out.seller()
      await runVault(out, seller)
      const [item] = out.items
      if (item === undefined) throw new Error('nothing is listed')
      out.plan(['lost_after', mishap])
      await seller.reprice(APP, [{ itemId: item.itemId, priceMinor: 90n }])
      await seller.reprice(APP, [{ itemId: item.itemId, priceMinor: 80n }])
      out.plan([])
      out.buy(1)
      out.advanceS(15)
      await runVault(out, seller)
      expect([out.alarms, out.offers.map(({ seen }) => seen.state)]).toEqual([[], ['active']])
      expect(out.book().listings[0]?.priceMinor).toBe(90n)
      expect(item.price).toBe(90n)
    },
  )

  it('is sold at its true price if a change of the price could not be recorded', async () => {
    const out = createOutside()
    const seller = out.seller()
    await runVault(out, seller)
    const [item] = out.items
    if (item === undefined) throw new Error('nothing is listed')
    const disk = vi.spyOn(out.entries, 'push').mockImplementation(() => {
      throw new Error('no space left on device')
    })
    await expect(seller.reprice(APP, [{ itemId: item.itemId, priceMinor: 90n }])).rejects.toThrow('no space')
    for (let looks = 0; looks < 8; looks += 1) {
      await seller.round(APP).catch(String)
      out.advanceS(15)
    }
    disk.mockRestore()
    await seller.round(APP)
    out.buy(1)
    await runVault(out, seller)
    expect([out.alarms, out.offers.map(({ seen }) => seen.state)]).toEqual([[], ['active']])
    expect(out.book().listings[0]?.priceMinor).toBe(90n)
  })

  it.each([
    ['before', 0, 100n],
    ['soon after', 45, 90n],
  ])(
    'is sold at its true price if it is bought %s the market carries out a late change of price',
    async (_what, seconds, price) => {
      const out = createOutside()
      const seller = out.seller()
      await runVault(out, seller)
      const [item] = out.items
      if (item === undefined) throw new Error('nothing is listed')
      out.plan(['late'])
      await seller.reprice(APP, [{ itemId: item.itemId, priceMinor: 90n }])
      for (let waitedS = 0; waitedS < seconds; waitedS += 15) {
        // The first lists still show the old price.
        if (waitedS < 30) await seller.round(APP)
        out.advanceS(15)
      }
      out.buy(1)
      await runVault(out, seller)
      expect([out.alarms, out.offers.map(({ seen }) => seen.state)]).toEqual([[], ['active']])
      expect(out.book().listings[0]?.priceMinor).toBe(price)
    },
  )

  it.each([
    ['is taken down if it is on sale', false, ['cancelled'], []],
    ['is handed over if it was sold', true, ['sold'], ['active']],
  ])('whose price the market does not show after a lost change %s', async (_what, isSold, stages, offers) => {
    const out = createOutside()
    const seller = out.seller()
    await seller.list(APP, [{ assetId: '1', priceMinor: 100n }])
    const { round, unlist } = out.market
    let askedToUnlist = 0
    out.market.round = async (appId) => {
      const answer = await round(appId)
      if (answer.kind !== 'answered') return answer
      const rows = answer.value.rows.map((row) => ({ ...row, price: null }))
      return { kind: 'answered', value: { ...answer.value, rows } }
    }
    out.market.unlist = async (appId, itemIds) => {
      askedToUnlist += 1
      return unlist(appId, itemIds)
    }
    out.plan(['lost_before'])
    await seller.reprice(APP, [{ itemId: '101', priceMinor: 90n }])
    if (isSold) out.buy(1)
    await seller.round(APP)
    await seller.advance()
    expect([askedToUnlist, out.alarms]).toEqual([isSold ? 0 : 1, []])
    expect(out.items.map(({ stage }) => stage)).toEqual(stages)
    expect(out.offers.map(({ seen }) => seen.state)).toEqual(offers)
  })

  it('at a price other than the recorded one is taken down after a minute, with an alarm', async () => {
    const out = createOutside()
    const seller = out.seller()
    await runVault(out, seller)
    const [item] = out.items
    if (item === undefined) throw new Error('nothing is listed')
    item.price = 1n
    for (let looks = 0; looks < 5; looks += 1) {
      expect(item.stage).toBe('on_sale')
      await seller.round(APP)
      out.advanceS(15)
    }
    expect(item.stage).toBe('cancelled')
    expect(out.alarms).toEqual([{ kind: 'other_price', itemId: item.itemId }])
    expect(out.book().listings[0]?.state).toBe('over')
  })
})
