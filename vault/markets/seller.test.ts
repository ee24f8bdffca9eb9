/** The seller, with a lying market, lost answers, and a process that is killed at any call. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  APP,
  BUYER,
  createOutside,
  type Lie,
  type Mishap,
  type Outside,
  runVault,
} from '../testing/outside.ts'
import { alarmLine } from './alarm.ts'
import type { Listing } from './book.ts'
import type { Market } from './market.ts'
import { reportsOf } from './reports.ts'

/** Runs one process of the vault without faults, with a willing buyer, until every sale must have ended. */
async function runWithoutFaults(out: Outside): Promise<void> {
  const seller = out.seller()
  for (let turn = 0; turn < 60; turn += 1) {
    out.plan([])
    await runVault(out, seller)
    out.letOthersAct(true)
    out.advanceS(15)
  }
}

const dealStates = (out: Outside) => [...out.book().deals.values()].map(({ state }) => state)

function expectRules(out: Outside): void {
  const realDeals = [...out.deals.values()].map(({ due }) => due)
  for (const { gift, leftS, confirmLeftS } of out.offers) {
    // With less time left, the market would cancel the sale before its offer is confirmed and reported.
    expect(leftS).toBeGreaterThanOrEqual(45)
    expect(confirmLeftS).toBeGreaterThanOrEqual(20)
    // An offer gives exactly the bought items to their buyer, with the buyer's message.
    const deal = realDeals.find(
      (due) => due.message === gift.message && due.partnerSteamId === gift.partnerSteamId,
    )
    expect(deal?.assets).toEqual(gift.assets)
  }
  const messages = out.offers.map(({ gift }) => gift.message)
  expect(new Set(messages).size).toBe(messages.length)
  const liveAssetIds = out
    .book()
    .listings.filter(({ state }) => state === 'on_sale' || state === 'in_deal')
    .map(({ assetId }) => assetId)
  expect(new Set(liveAssetIds).size).toBe(liveAssetIds.length)
}

describe('a sale', () => {
  it.each(['confirm_then_report', 'report_then_confirm'] as const)(
    'on a market with the order %s succeeds if nothing fails',
    async (order) => {
      const out = createOutside(order)
      await runVault(out)
      out.buy(2)
      await runVault(out)
      expect(out.offers.map(({ seen }) => seen.state)).toEqual(['active'])
      out.letOthersAct(true)
      await runVault(out)
      const kinds = out.entries.map(({ entry }) => entry.kind).filter((kind) => !kind.startsWith('list'))
      // `told`: the offer was reported to the market.
      const confirmAndReport = order === 'confirm_then_report' ? ['confirmed', 'told'] : ['told', 'confirmed']
      expect(kinds).toEqual([
        ...['deal_intended', 'send_begun', 'offer_known', ...confirmAndReport],
        ...['delivered', 'outcome', 'outcome'],
      ])
      expect(out.book().listings.map(({ state, end }) => [state, end?.kind])).toEqual([
        ['given', 'paid'],
        ['given', 'paid'],
        ['on_sale', undefined],
      ])
    },
  )

  it('is cancelled if its buyer does nothing for ten minutes, and its item is listed again', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    for (let turn = 0; turn < 50; turn += 1) {
      await runVault(out)
      out.letOthersAct(false)
      out.advanceS(15)
    }
    expect(out.offers.map(({ seen }) => seen)).toEqual([{ state: 'ended', how: 'withdrawn' }])
    expect(dealStates(out)).toEqual(['ended'])
    expect(out.items.filter(({ assetId, stage }) => assetId === '1' && stage === 'on_sale')).toHaveLength(1)
  })

  // After this many calls, the process asks whether the market still wants the deal, and dies during that call.
  it.each([
    ['confirm_then_report', 3],
    ['report_then_confirm', 5],
  ] as const)(
    'on a market with the order %s gives nothing away if the market calls it off before the confirmation',
    async (order, callsBefore) => {
      const out = createOutside(order)
      await runVault(out)
      out.buy(1)
      out.plan([...Array.from({ length: callsBefore }, () => 'none' as const), 'kill_after'])
      await runVault(out)
      expect(out.offers.map(({ seen }) => seen.state)).toEqual(['needs_confirmation'])
      out.callOff()
      await runWithoutFaults(out)
      expect(out.offers.map(({ seen }) => seen)).toEqual([{ state: 'ended', how: 'withdrawn' }])
      expect(out.entries.filter(({ entry }) => entry.kind === 'confirmed')).toEqual([])
      expect(out.items.filter(({ assetId, stage }) => assetId === '1' && stage === 'on_sale')).toHaveLength(1)
    },
  )

  it('ends before its buyer can accept the offer if the market calls it off after the confirmation', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    await runVault(out)
    expect(out.offers.map(({ seen }) => seen.state)).toEqual(['active'])
    out.callOff()
    await runVault(out)
    out.letOthersAct(true)
    expect(out.owned.has('1')).toBe(true)
    await runWithoutFaults(out)
    expect(out.offers[0]?.seen).toEqual({ state: 'ended', how: 'withdrawn' })
    expect(out.items.filter(({ assetId, stage }) => assetId === '1' && stage === 'on_sale')).toHaveLength(1)
  })

  it('is reported to the till as cancelled if Steam refused its offer', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.owned.delete('1')
    await runVault(out)
    const refused = out.entries.find(({ entry }) => entry.kind === 'send_refused')?.entry
    const itemId = out.items.find(({ assetId }) => assetId === '1')?.itemId
    expect(refused && reportsOf(out.book(), refused, () => false)).toEqual([
      { kind: 'report', market: 'm', reference: itemId, report: { kind: 'cancelled' } },
    ])
  })

  it('is not tried a second time if Steam refused its offer, and an alarm is raised', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.owned.delete('1')
    await runWithoutFaults(out)
    expect([dealStates(out), out.offers]).toEqual([['ended'], []])
    expect(out.alarms).toMatchObject([{ kind: 'due_refused', problem: 'not_sent: item_gone' }])
  })

  it('has one offer, even if the process ended right after making it', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    // The first call asks the market for its listings and due deals. The second one sends the offer, and then the
    // process dies.
    out.plan(['none', 'kill_after'])
    await runVault(out)
    expect(dealStates(out)).toEqual(['sending'])
    await runWithoutFaults(out)
    expect(dealStates(out)[0]).toBe('delivered')
    expectRules(out)
  })

  it('of an item that came back under its old number is handed over too', async () => {
    const out = createOutside()
    const seller = out.seller()
    const sellOnce = async () => {
      await seller.list(APP, [{ assetId: '1', priceMinor: 100n }])
      out.buy(1)
      await seller.round(APP)
      await seller.advance()
      out.letOthersAct(true)
      await seller.advance()
      out.advanceS(15)
    }
    await sellOnce()
    const [sold] = out.items
    if (sold === undefined) throw new Error('nothing was sold')
    sold.end = { kind: 'reversed', causer: 'buyer', refundMinor: 20n }
    out.owned.add('1')
    await seller.followMoney(APP, new Date(0))
    await sellOnce()
    expect([out.alarms, dealStates(out)]).toEqual([[], ['delivered', 'delivered']])
  })

  it('is given up after several looks if its offer was never made', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    // The first call asks the market for its listings and due deals. The second one, the send, never reaches Steam.
    out.plan(['none', 'lost_before'])
    await runVault(out)
    expect(dealStates(out)).toEqual(['unknown'])
    await runWithoutFaults(out)
    expect([dealStates(out)[0], out.offers.filter(({ gift }) => gift.assets[0]?.assetId === '1')]).toEqual([
      'ended',
      [],
    ])
  })
})

it('each unreadable deal causes only one alarm', async () => {
  const out = createOutside()
  const unread = ['5', 'without a number']
  out.market.round = async () => ({ kind: 'answered', value: { rows: [], due: [], unread } })
  const seller = out.seller()
  await seller.round(APP)
  await seller.round(APP)
  expect(out.alarms).toEqual(unread.map((dealId) => ({ kind: 'unread_deal', dealId })))
})

/** Sells an item, and lets the market pay for it. */
async function sellOne() {
  const out = createOutside()
  await runVault(out)
  out.buy(1)
  await runVault(out)
  out.letOthersAct(true)
  await runVault(out)
  const sold = out.items.find(({ stage }) => stage === 'given')
  if (sold === undefined) throw new Error('nothing was sold')
  return { out, sold }
}

describe('a market that lies', () => {
  it.each([
    ['an item', 'asset', 'asset_not_listed'],
    ['the number of items', 'more', 'not_sold'],
    ['the buyer', 'partner', 'own_account'],
    ['the message', 'message', 'deposit_message'],
    ['the price', 'price', 'price_differs'],
  ] as const)('about %s receives nothing, and causes one alarm', async (_what, lie, problem) => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    for (let turn = 0; turn < 3; turn += 1) {
      out.plan([], lie)
      await runVault(out)
    }
    const refused = out.alarms.filter(({ kind }) => kind === 'due_refused')
    expect([out.offers, refused]).toEqual([
      [],
      [{ kind: 'due_refused', dealId: expect.any(String), problem }],
    ])
    // The deal stays refused even if the market tells the truth later.
    await runWithoutFaults(out)
    expect(out.offers).toEqual([])
  })

  it('and changes a deal gets the first version of the deal carried out, and causes an alarm', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    await runVault(out)
    out.plan([], 'swap')
    await runVault(out)
    expect(out.offers.map(({ gift }) => gift.partnerSteamId)).toEqual([BUYER])
    expect(out.alarms).toMatchObject([{ problem: 'changed' }])
    expect(out.alarms.map((alarm) => alarmLine(alarm)[0])).toEqual([
      'the market changed a deal, and the vault keeps to the first version',
    ])
  })

  it.each<NonNullable<Listing['end']>>([
    { kind: 'paid', receivedMinor: 101n },
    { kind: 'reversed', causer: 'buyer', refundMinor: 101n },
  ])('is not believed but asked again if it claims to pay more than the price: $kind', async (end) => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    await runVault(out)
    out.letOthersAct(true)
    const sold = out.items.find(({ stage }) => stage === 'given')
    if (sold === undefined) throw new Error('nothing was sold')
    sold.end = end
    await runVault(out)
    const endOf = () => out.book().listings.find(({ itemId }) => itemId === sold.itemId)?.end
    expect([endOf(), out.alarms]).toEqual([null, [{ kind: 'too_much', itemId: sold.itemId }]])
    sold.end = { kind: 'paid', receivedMinor: 100n }
    await runVault(out)
    expect(endOf()).toEqual({ kind: 'paid', receivedMinor: 100n })
  })

  it.each<[string, NonNullable<Listing['end']>, string]>([
    ['another amount', { kind: 'paid', receivedMinor: 94n }, 'paid, now paid with another amount'],
    ['settling', { kind: 'settling', receivedMinor: 95n, settlesAt: new Date(0) }, 'paid, now settling'],
    ['cancelled', { kind: 'cancelled' }, 'paid, now cancelled'],
  ])(
    'and changes a paid sale to %s is not followed: no entry, one alarm, however often it is asked',
    async (_what, end, problem) => {
      const { out, sold } = await sellOne()
      sold.end = end
      const [entriesBefore, seller] = [out.entries.length, out.seller()]
      for (let look = 0; look < 20; look += 1) expect(await seller.followMoney(APP, new Date(0))).toBe(false)
      expect(out.entries).toHaveLength(entriesBefore)
      expect(out.alarms).toEqual([{ kind: 'sale_changed', itemId: sold.itemId, problem }])
    },
  )

  it('and changes the refund of a reversed sale is not followed, and causes one alarm', async () => {
    const { out, sold } = await sellOne()
    const seller = out.seller()
    for (const refundMinor of [20n, 20n, 19n, 18n]) {
      sold.end = { kind: 'reversed', causer: 'buyer', refundMinor }
      await seller.followMoney(APP, new Date(0))
    }
    expect(out.book().listings.find(({ itemId }) => itemId === sold.itemId)?.end).toMatchObject({
      refundMinor: 20n,
    })
    expect(out.alarms).toMatchObject([{ problem: 'reversed, now reversed with another amount' }])
  })

  it('is asked to take down a listing that somebody else made with our key', async () => {
    const out = createOutside()
    out.items.push({ itemId: '7', assetId: '3', price: 1n, stage: 'on_sale' })
    await runVault(out)
    expect(out.items.find(({ itemId }) => itemId === '7')?.stage).toBe('cancelled')
    expect(out.alarms).toEqual([{ kind: 'strange_listing', itemId: '7' }])
  })
})

const mishap = fc.constantFrom<Mishap>(
  'none',
  'none',
  'none',
  'kill_before',
  'kill_after',
  'lost_before',
  'lost_after',
  'late',
  'no_session',
)
/** Leaves out `swap`: only the market knows who bought an item, so another buyer in its first answer goes unnoticed. */
const lie = fc.option(fc.constantFrom<Lie>('asset', 'more', 'partner', 'message', 'price', 'empty'), {
  freq: 4,
  nil: undefined,
})
const turn = fc.record({
  mishaps: fc.array(mishap, { maxLength: 12 }),
  lie,
  buys: fc.nat({ max: 2 }),
  willing: fc.boolean(),
  seconds: fc.constantFrom(1, 15, 15, 60, 230, 400),
})

it('whatever is lost, killed or lied about, only bought items are given, each once, and every sale ends', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Market['order']>('confirm_then_report', 'report_then_confirm'),
      fc.array(turn, { maxLength: 14 }),
      async (order, turns) => {
        const out = createOutside(order)
        for (const { mishaps, lie: nextLie, buys, willing, seconds } of turns) {
          out.plan(mishaps, nextLie)
          await runVault(out)
          out.buy(buys)
          out.letOthersAct(willing)
          out.advanceS(seconds)
          expectRules(out)
        }
        await runWithoutFaults(out)
        expectRules(out)
        expect(dealStates(out).filter((state) => state !== 'delivered' && state !== 'ended')).toEqual([])
        const given = out.book().listings.filter(({ state }) => state === 'given')
        expect(given.map(({ end }) => end?.kind)).toEqual(given.map(() => 'paid'))
      },
    ),
    { numRuns: 150 },
  )
})

it('two accounts that are asked for items at the same moment give no more than the limits allow', async () => {
  const outsides = [createOutside(), createOutside()]
  const takenDeals = () => outsides.flatMap((out) => [...out.book().deals.values()])
  const hasRoom = () => takenDeals().length < 1
  for (const out of outsides) {
    await runVault(out)
    out.buy(1)
  }
  const sellers = outsides.map((out) => out.seller({ hasRoom }))
  await Promise.all(sellers.map((seller) => seller.round(APP)))
  expect(takenDeals()).toHaveLength(1)
  expect(outsides.flatMap(({ alarms }) => alarms.map(({ kind }) => kind))).toEqual(['no_room'])
})
