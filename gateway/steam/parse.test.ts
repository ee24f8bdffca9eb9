import { describe, expect, it } from 'vitest'
import {
  parseHoldDays,
  parseOffer,
  parseOffers,
  parsePartnerPage,
  parsePublicPage,
  plainText,
} from './parse.ts'
import { parseTrade, parseTrades } from './parse-trades.ts'

const offer = {
  tradeofferid: '7001',
  accountid_other: 4001,
  message: 'K7M2QX',
  trade_offer_state: 3,
  tradeid: '4611686018427387905',
  items_to_receive: [{ appid: 730, contextid: '2', assetid: '9007199254740993', classid: '1' }],
  time_created: 1_767_225_600,
}
const trade = {
  tradeid: '4611686018427387905',
  steamid_other: '76561197960269729',
  status: 3,
  time_settlement: 1_767_830_400,
  assets_received: [{ appid: 730, contextid: '2', assetid: '11', new_assetid: '12', new_contextid: '16' }],
}
/** Values that JavaScript can convert to a number or a flag, although they say nothing. */
const NO_NUMBERS = [null, '', false, [], [5], 'soon', -1]
const tradeAnswer = (changes: object) => ({ response: { trades: [{ ...trade, ...changes }] } })

describe('an offer', () => {
  it('is read with ids beyond 2^53 intact', () => {
    expect(parseOffer({ response: { offer } })).toEqual({
      offerId: '7001',
      partnerSteamId: '76561197960269729',
      message: 'K7M2QX',
      state: 'accepted',
      tradeId: '4611686018427387905',
      itemsToReceive: [{ appId: 730, contextId: '2', assetId: '9007199254740993' }],
      itemsToGive: [],
      createdAt: new Date(1_767_225_600_000),
      escrowEndsAt: null,
      delaysSettlement: false,
      settlesAt: null,
    })
  })

  it('D-24 in escrow has the time when the escrow ends', () => {
    const inEscrow = { ...offer, trade_offer_state: 11, escrow_end_date: 1_768_521_600 }
    expect(parseOffer({ response: { offer: inEscrow } })).toMatchObject({
      state: 'in_escrow',
      escrowEndsAt: new Date(1_768_521_600_000),
    })
  })

  it('is null if Steam does not know the offer, and undefined if the answer is unreadable', () => {
    expect(parseOffer({ response: {} })).toBeNull()
    expect(parseOffer({})).toBeUndefined()
    expect(parseOffer(null)).toBeUndefined()
    expect(parseOffer({ response: { offer: { ...offer, trade_offer_state: 99 } } })).toBeUndefined()
    const halfRead = [...offer.items_to_receive, { appid: 730, contextid: '2' }]
    expect(parseOffer({ response: { offer: { ...offer, items_to_receive: halfRead } } })).toBeUndefined()
  })

  it('can have state 12, which the libraries do not know', () => {
    expect(parseOffer({ response: { offer: { ...offer, trade_offer_state: 12 } } })?.state).toBe('reverted')
  })

  it('that is unreadable in a list is reported, and does not hide the list’s other offers', () => {
    const page = parseOffers({ response: { trade_offers_sent: [{}, offer, 7], next_cursor: 0 } })
    const noFields = { offerId: null, partnerSteamId: null, message: null }
    expect(page).toMatchObject({ sent: [{ offerId: '7001' }], unreadable: [noFields, noFields] })
    expect(parseOffers('<html>')).toBeUndefined()
  })

  it('is missing if Steam’s answer has only a `next_cursor`; one without content, or with an unreadable cursor, proves nothing', () => {
    const none = { sent: [], received: [], unreadable: [], nextCursor: 0 }
    expect(parseOffers({ response: { next_cursor: 0 } })).toEqual(none)
    expect(parseOffers({ response: {} })).toBe('nothing')
    for (const next of NO_NUMBERS)
      expect(parseOffers({ response: { next_cursor: next } }), JSON.stringify(next)).toBeUndefined()
  })
})

describe('a received offer', () => {
  it('is listed separately with the items that it asks for, or ignored if it is unreadable', () => {
    const asks = { ...offer, items_to_give: [{ appid: 570, contextid: '2', assetid: '77' }] }
    const page = parseOffers({ response: { trade_offers_received: [asks, {}] } })
    expect(page).toMatchObject({
      sent: [],
      received: [{ offerId: '7001', itemsToGive: [{ appId: 570, contextId: '2', assetId: '77' }] }],
      unreadable: [],
    })
  })
})

describe('a page of the history', () => {
  const page = (rows: unknown[], more: boolean) => parseTrades({ response: { trades: rows, more } })

  it('counts unreadable rows, and gives the start of the next page', () => {
    const older = { ...trade, tradeid: '5', time_init: 1_767_000_000, rollback_trade: '4' }
    const parsedPage = page([trade, { tradeid: 'x' }, older], true)
    expect(parsedPage?.trades).toMatchObject([{ tradeId: trade.tradeid }, { tradeId: '5', rollbackOf: '4' }])
    expect(parsedPage).toMatchObject({
      unreadable: 1,
      next: { tradeId: '5', begunAt: new Date(1_767_000_000_000) },
    })
    expect(page([trade], false)?.next).toBeNull()
    expect(parseTrades({ response: { more: false } })).toMatchObject({
      trades: [],
      unreadable: 0,
      next: null,
    })
  })

  it('gives the start of the next page at its last readable row, so an odd row does not hide the pages below', () => {
    const older = { ...trade, tradeid: '5', time_init: 1_767_000_000 }
    for (const odd of [{ tradeid: '4', time_init: null }, { ...trade, time_init: 'soon' }, 7])
      expect(page([trade, older, odd], true)).toMatchObject({
        next: { tradeId: '5', begunAt: new Date(1_767_000_000_000) },
      })
  })

  it('is unreadable if it has no list of trades and does not say whether more follow', () => {
    expect(parseTrades({ response: {} })).toBeUndefined()
  })

  it('is not the last one unless Steam says so', () => {
    const parse = (more: unknown) =>
      parseTrades({ response: { trades: [{ ...trade, time_init: 1_767_000_000 }], more } })
    for (const more of NO_NUMBERS.filter((value) => value !== false))
      expect(parse(more), JSON.stringify(more)).toBeUndefined()
    for (const more of [1, true]) expect(parse(more)?.next).toMatchObject({ tradeId: trade.tradeid })
    for (const more of [0, false]) expect(parse(more)?.next).toBeNull()
  })

  it('is unreadable if it announces a next page without saying where that page starts', () => {
    expect(page([], true)).toBeUndefined()
    for (const start of ['soon', 0, null])
      expect(page([{ ...trade, time_init: start }], true), String(start)).toBeUndefined()
    expect(parseTrades('<html>')).toBeUndefined()
  })
})

describe('a Steam trade', () => {
  const parse = (changes: object) => parseTrade(tradeAnswer(changes), trade.tradeid)

  it('has the items’ new ids and the end of their protection', () => {
    expect(parse({})).toMatchObject({
      state: 'complete',
      received: [{ assetId: '11', newAssetId: '12' }],
      settlesAt: new Date(1_767_830_400_000),
      rollbackOf: null,
    })
  })

  it('has the items that the bot gave, with the new ids', () => {
    const given = [{ appid: 570, contextid: '2', assetid: '21', new_assetid: '22' }]
    expect(parse({ time_init: 1_767_225_600, assets_given: given })).toMatchObject({
      begunAt: new Date(1_767_225_600_000),
      given: [{ appId: 570, assetId: '21', newAssetId: '22', rolledBackAssetId: null }],
    })
    expect(parse({})?.given).toEqual([])
  })

  it.each([
    [4, 'failed'],
    [8, 'pending'],
    [9, 'abandoned'],
    [11, 'failed'],
  ])('that failed has status %i: %s', (status, state) => {
    expect(parse({ status })?.state).toBe(state)
  })

  it('can have status 12, or undo another trade', () => {
    expect(parse({ status: 12, time_settlement: 0 })).toMatchObject({ state: 'rolled_back', settlesAt: null })
    expect(parse({ rollback_trade: '77' })?.rollbackOf).toBe('77')
  })

  it('is unreadable with an unreadable asset or list, an unknown status or another id', () => {
    expect(parse({ assets_received: [...trade.assets_received, {}] })).toBeUndefined()
    expect(parse({ assets_given: [...trade.assets_received, {}] })).toBeUndefined()
    for (const list of ['', 0, {}, 'none']) {
      expect(parse({ assets_given: list })).toBeUndefined()
      expect(parse({ assets_received: list })).toBeUndefined()
    }
    expect(parse({ assets_given: null })?.given).toEqual([])
    expect(parse({ status: 40 })).toBeUndefined()
    expect(parse({ tradeid: '5' })).toBeUndefined()
  })

  it('is unreadable if the end of its protection is', () => {
    for (const time of NO_NUMBERS)
      expect(parse({ time_settlement: time }), JSON.stringify(time)).toBeUndefined()
  })

  it('is unreadable if it gives one item twice, or an app number that the database cannot store', () => {
    const asset = { appid: 2 ** 31 - 1, contextid: '2', assetid: '21' }
    expect(parse({ assets_given: [asset] })).toBeDefined()
    expect(parse({ assets_given: [asset, { ...asset, new_assetid: '22' }] })).toBeUndefined()
    expect(parse({ assets_given: [{ ...asset, appid: 2 ** 31 }] })).toBeUndefined()
  })

  it('that Steam does not know yet is null', () => {
    expect(parseTrade({ response: {} }, '5')).toBeNull()
    expect(parseTrade({ response: { trades: [] } }, '5')).toBeNull()
  })
})

describe('a hold', () => {
  const seconds = (mine: unknown, theirs: unknown) => ({
    response: {
      my_escrow: { escrow_end_duration_seconds: mine },
      their_escrow: { escrow_end_duration_seconds: theirs },
    },
  })

  it('is read for each side, in days rounded up', () => {
    expect(parseHoldDays(seconds(0, 0))).toEqual({ own: 0, partner: 0 })
    expect(parseHoldDays(seconds(0, 1_296_000))).toEqual({ own: 0, partner: 15 })
    expect(parseHoldDays(seconds(86_401, 0))).toEqual({ own: 2, partner: 0 })
  })

  it('is undefined, not zero, if Steam does not state it', () => {
    expect(parseHoldDays({ response: {} })).toBeUndefined()
    for (const unknown of NO_NUMBERS) {
      expect(parseHoldDays(seconds(unknown, 0)), JSON.stringify(unknown)).toBeUndefined()
      expect(parseHoldDays(seconds(0, unknown)), JSON.stringify(unknown)).toBeUndefined()
    }
    expect(parseHoldDays(seconds('0', '86400'))).toEqual({ own: 0, partner: 1 })
  })
})

describe('an inventory page', () => {
  const description = {
    classid: '310',
    instanceid: '302',
    name: 'AK-47 | Redline',
    market_hash_name: 'AK-47 | Redline (Field-Tested)',
    tradable: 1,
    marketable: 1,
    icon_url: 'ak47-redline',
    tags: [{ category: 'Rarity', internal_name: 'Rarity_Legendary_Weapon', name: 'Classified' }],
  }
  const item = {
    assetId: '42',
    classId: '310',
    instanceId: '302',
    amount: 1,
    name: 'AK-47 | Redline',
    marketHashName: 'AK-47 | Redline (Field-Tested)',
    tradable: true,
    restriction: null,
    market: { kind: 'open' },
    isNoted: false,
    tags: [{ category: 'Rarity', internalName: 'Rarity_Legendary_Weapon', name: 'Classified' }],
    paintIndex: null,
  }
  const owned = { id: '42', classid: '310', instanceid: '302', amount: '1', pos: 1 }
  const partnerPage = {
    success: true,
    more: true,
    more_start: 2000,
    rgInventory: { '42': owned },
    rgDescriptions: { '310_302': description },
  }

  it('for an offer is read', () => {
    expect(parsePartnerPage(partnerPage)).toEqual({ items: [item], next: '2000' })
  })

  it('that is empty can have arrays in place of objects', () => {
    const empty = { success: true, rgInventory: [], rgDescriptions: [], more: false, more_start: false }
    expect(parsePartnerPage(empty)).toEqual({ items: [], next: null })
  })

  it('of the public inventory is read', () => {
    const page = {
      success: 1,
      assets: [{ appid: 730, contextid: '2', assetid: '42', classid: '310', instanceid: '302', amount: '1' }],
      descriptions: [{ ...description, tradable: 0 }],
      more_items: 1,
      last_assetid: '42',
    }
    expect(parsePublicPage(page)).toEqual({ items: [{ ...item, tradable: false }], next: '42' })
    const empty = { success: 1, total_inventory_count: 0 }
    expect(parsePublicPage(empty)).toEqual({ items: [], next: null, total: 0 })
    expect(parsePublicPage(null)).toBeUndefined()
  })

  const PAINT = [
    { propertyid: 2, float_value: '0.0215', name: 'Wear Rating' },
    { propertyid: 1, int_value: '661' },
    { propertyid: 7, int_value: '282', name: 'Finish Catalog' },
  ]

  it('has the paint of each item, wherever Steam puts it', () => {
    const shown = { ...partnerPage, rgAssetProperties: { '42': PAINT, '43': [] } }
    expect(parsePartnerPage(shown)?.items).toEqual([{ ...item, paintIndex: 282 }])
    const assets = [
      { assetid: '42', classid: '310', instanceid: '302' },
      { assetid: '43', classid: '310', instanceid: '302' },
    ]
    const asset_properties = [
      null,
      {},
      { appid: 730, contextid: '2', assetid: '42', asset_properties: PAINT },
    ]
    const page = { success: 1, assets, descriptions: [description], asset_properties }
    expect(parsePublicPage(page)?.items.map(({ paintIndex }) => paintIndex)).toEqual([282, null])
  })

  it.each([
    ['no list', 'ruby'],
    [
      'a list of something else',
      [null, 7, 'ruby', {}, { propertyid: 7 }, { propertyid: '7', int_value: '415' }],
    ],
    ['no number', [{ propertyid: 7, int_value: 'ruby' }]],
    ['zero', [{ propertyid: 7, int_value: '0' }]],
    ['a fraction', [{ propertyid: 7, int_value: '4.15' }]],
    ['an endless list', [...Array(1_000).fill({ propertyid: 1 }), { propertyid: 7, int_value: '415' }]],
  ])('has no paint if Steam gives %s', (_, properties) => {
    const page = { ...partnerPage, rgAssetProperties: { '42': properties } }
    expect(parsePartnerPage(page)?.items).toEqual([item])
  })

  it('omits an item without a class, and reads an item without a description as untradable', () => {
    const rgInventory = { '42': owned, '43': { id: '43' }, '44': { ...owned, id: '44', classid: '999' } }
    expect(parsePartnerPage({ ...partnerPage, rgInventory })?.items).toEqual([
      item,
      expect.objectContaining({ assetId: '44', marketHashName: '', tradable: false }),
    ])
  })

  it.each([['0'], ['false'], [0], [null], [{}]])('reads %j as not tradable', (tradable) => {
    const rgDescriptions = { '310_302': { ...description, tradable } }
    expect(parsePartnerPage({ ...partnerPage, rgDescriptions })?.items[0]?.tradable).toBe(false)
  })

  it('accepts only digits as a class, because the URL of the picture contains the class', () => {
    const rgInventory = { '42': { ...owned, classid: '310" onerror="alert(1)' } }
    expect(parsePartnerPage({ ...partnerPage, rgInventory })?.items).toEqual([])
  })
})

describe('a text of Steam', () => {
  it('loses control characters and direction marks', () => {
    expect(plainText(' nova\u202egnp.exe\u0000\n ')).toBe('novagnp.exe')
    expect(plainText('\u061cnova\u200e\u200f\u2066')).toBe('nova')
  })
})
