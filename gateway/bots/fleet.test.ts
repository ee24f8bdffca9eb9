import { describe, expect, it } from 'vitest'
import { type BotFacts, chooseBot, DEFAULT_FLEET_LIMITS, isBetterElsewhere, shareOfStore } from './fleet.ts'

const aBot = (facts: Partial<BotFacts>): BotFacts => ({
  botId: 1n,
  level: 10,
  state: 'active',
  reachable: true,
  failing: false,
  late: false,
  waiting: 0,
  barState: 'free',
  itemsHeld: 0,
  itemsOnTheWay: 0,
  liveOffers: 0,
  liveOffersWithPartner: 0,
  ...facts,
})

const choose = (bots: BotFacts[], items = 1, limits = DEFAULT_FLEET_LIMITS) =>
  chooseBot(bots, limits, { game: 'cs', items })

describe('the choice of a bot', () => {
  it('takes the least busy bot', () => {
    const bots = [aBot({ botId: 1n, liveOffers: 3, level: 99 }), aBot({ botId: 2n, liveOffers: 1 })]
    expect(choose(bots)?.botId).toBe(2n)
  })

  it('takes the bot with the higher level among equally busy bots, and the older bot if the levels are equal', () => {
    expect(choose([aBot({ botId: 1n, level: 5 }), aBot({ botId: 2n, level: 50 })])?.botId).toBe(2n)
    expect(choose([aBot({ botId: 2n }), aBot({ botId: 1n })])?.botId).toBe(1n)
  })

  it('prefers a bot that sends immediately to a late bot, and a late bot to a failing bot', () => {
    const late = aBot({ botId: 1n, late: true })
    expect(choose([late, aBot({ botId: 2n, liveOffers: 20 })])?.botId).toBe(2n)
    expect(choose([late, aBot({ botId: 2n, failing: true })])?.botId).toBe(1n)
  })

  it.each([
    ['is paused', { state: 'paused' as const }],
    ['is dead', { state: 'dead' as const }],
    ['is out of reach', { reachable: false }],
    ['has 30 live offers', { liveOffers: 30 }],
    ['holds 900 items', { itemsHeld: 900 }],
    ['will hold 900 items with those on the way', { itemsHeld: 880, itemsOnTheWay: 20 }],
    ['has 5 live offers with this partner', { liveOffers: 5, liveOffersWithPartner: 5 }],
  ])('passes over a bot that %s', (_, facts) => {
    expect(choose([aBot(facts)])).toBeUndefined()
    expect(
      choose([aBot(facts), aBot({ botId: 7n, liveOffers: 29, liveOffersWithPartner: 4, itemsHeld: 899 })])
        ?.botId,
    ).toBe(7n)
  })

  it('prefers a working bot to a failing bot, and a failing bot to none', () => {
    const failing = aBot({ botId: 1n, failing: true, level: 99 })
    expect(choose([failing, aBot({ botId: 2n, liveOffers: 20 })])?.botId).toBe(2n)
    expect(choose([failing])?.botId).toBe(1n)
  })

  it('prefers a failing bot to a doubted bot, and a doubted bot to none', () => {
    // Several times, Steam refused an offer of this bot and then took the same offer from another bot.
    const doubted = aBot({ botId: 1n, barState: 'doubted', level: 99 })
    expect(choose([doubted, aBot({ botId: 2n, failing: true, liveOffers: 20 })])?.botId).toBe(2n)
    expect(choose([doubted])?.botId).toBe(1n)
  })

  it('takes another bot for a shopper who already has an open trade with the first', () => {
    const known = aBot({ botId: 1n, liveOffers: 1, liveOffersWithPartner: 1 })
    expect(choose([known, aBot({ botId: 2n, liveOffers: 9 })])?.botId).toBe(2n)
  })

  it('passes over a bot whose limit the items would exceed', () => {
    const almostFull = aBot({ botId: 1n, itemsHeld: 850, itemsOnTheWay: 45 })
    expect(choose([almostFull], 5)?.botId).toBe(1n)
    expect(choose([almostFull], 6)).toBeUndefined()
    expect(choose([almostFull, aBot({ botId: 2n, liveOffers: 20 })], 6)?.botId).toBe(2n)
  })

  it('respects the operator’s limits', () => {
    const limits = { liveOffers: 2, liveOffersWithPartner: 5, itemsHeld: { cs: 10, dota: 1, rust: 1, tf: 1 } }
    expect(choose([aBot({ liveOffers: 2 })], 1, limits)).toBeUndefined()
    expect(choose([aBot({ itemsHeld: 10 })], 1, limits)).toBeUndefined()
  })
})

describe("a store's share of the fleet", () => {
  const share = (bots: number, ofOthers = 0, limits = DEFAULT_FLEET_LIMITS) =>
    shareOfStore({ bots, ofOthers }, limits)

  it.each([
    { bots: 1, ofOthers: 0, share: 23 },
    { bots: 2, ofOthers: 0, share: 45 },
    { bots: 2, ofOthers: 45, share: 12 },
    { bots: 2, ofOthers: 57, share: 3 },
    { bots: 2, ofOthers: 60, share: 1 },
    { bots: 0, ofOthers: 5, share: 1 },
  ])(
    'is $share open offers if $bots bots work and other stores have $ofOthers',
    ({ bots, ofOthers, share: most }) => {
      expect(share(bots, ofOthers)).toBe(most)
    },
  )

  it('leaves some offers for the next store, even if several use their full share', () => {
    expect([share(1, 0), share(1, 23), share(1, 29)]).toEqual([23, 6, 1])
  })

  it('follows the limits of the operator', () => {
    expect(share(3, 0, { ...DEFAULT_FLEET_LIMITS, liveOffers: 4 })).toBe(9)
    expect(share(1, 0, { ...DEFAULT_FLEET_LIMITS, liveOffers: 1 })).toBe(1)
  })
})

describe('a request that waits for a bot', () => {
  const moves = (mine: Partial<BotFacts>, other: Partial<BotFacts>) =>
    isBetterElsewhere([aBot({ botId: 1n, ...mine }), aBot({ botId: 2n, ...other })], DEFAULT_FLEET_LIMITS, {
      botId: 1n,
      tried: [],
      game: 'cs',
      items: 1,
    })

  it.each([
    ['a bot that sends immediately', true, { late: true }, {}],
    ['a bot that is late too', false, { late: true }, { late: true }],
    ['a bot with as many offers waiting', true, { late: true, waiting: 3 }, { waiting: 3 }],
    ['a bot with more offers waiting', false, { late: true, waiting: 3 }, { waiting: 4 }],
    ['a late bot, if the present one has no session', true, { reachable: false }, { late: true }],
    ['a late bot, if the present one fails', true, { failing: true }, { late: true }],
    ['a late bot, if the present one is barred', true, { barState: 'barred' as const }, { late: true }],
    ['a bot that fails', false, { reachable: false }, { failing: true }],
    ['a bot without room', false, { late: true }, { liveOffers: 30 }],
  ])('may move to %s: %s', (_, answer, mine, other) => {
    expect(moves(mine, other)).toBe(answer)
  })

  it('does not return to a bot that it tried before, and leaves a bot that no longer exists', () => {
    const [first, second] = [aBot({ botId: 1n, late: true }), aBot({ botId: 2n })]
    const request = { botId: 1n, tried: [2n], game: 'cs' as const, items: 1 }
    expect(isBetterElsewhere([first, second], DEFAULT_FLEET_LIMITS, request)).toBe(false)
    expect(
      isBetterElsewhere([{ ...second, late: true }], DEFAULT_FLEET_LIMITS, { ...request, tried: [] }),
    ).toBe(true)
  })
})
