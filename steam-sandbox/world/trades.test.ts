import { describe, expect, it } from 'vitest'
import { CATALOGUE } from '../items.ts'
import { acceptOffer, answerConfirmation, counterOffer, endOffer, sendOffer } from './offers.ts'
import { seedWorld, upgradeWorld } from './seed.ts'
import { advanceTo } from './time.ts'
import { reverseAll, reverseTrade } from './trades.ts'
import { DAY_S, findOffer, STATE, TRADE, type World } from './world.ts'

const NOW_S = 1_800_000_000
const fresh = () => seedWorld('test', NOW_S * 1000)

function account(world: World, name: string) {
  const found = world.accounts.find((other) => other.name === name)
  if (!found) throw new Error(`The seed has no ${name}.`)
  return found
}

const bot = (world: World) => account(world, 'Tradetill Bot #1')

function send(world: World, { who = 'nova_hound', appId = 730, count = 1 } = {}) {
  const shopper = account(world, who)
  const items = shopper.assets
    .filter((asset) => asset.appId === appId && CATALOGUE.get(asset.classId)?.tradable)
    .slice(0, count)
  const { token, steamId } = shopper
  const intent = { sender: bot(world).steamId, partner: steamId, token, message: 'CODE', items }
  const { world: next, answer } = sendOffer(world, intent, NOW_S)
  if (answer.kind !== 'sent') throw new Error(JSON.stringify(answer))
  return { world: next, offerId: answer.offerId, items, shopper }
}

function acceptedTrade(options: Parameters<typeof send>[1] = {}) {
  const sent = send(fresh(), options)
  const accept = { offerId: sent.offerId, by: sent.shopper.steamId }
  const { world, answer } = acceptOffer(sent.world, accept, NOW_S)
  if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer))
  return { ...sent, world, tradeId: answer.tradeId }
}

const idsOf = (world: World, name: string) => account(world, name).assets.map(({ assetId }) => assetId)
const offerState = (world: World, offerId: string) => findOffer(world, offerId)?.state

describe('a protected trade', () => {
  it('can be reversed as a whole: with status 12, no settlement, a new row, and the old ids', () => {
    const { world, tradeId, items } = acceptedTrade({ count: 2 })
    const back = reverseTrade(world, { tradeId }, NOW_S + DAY_S)
    const [original, reversal] = back.world.trades
    expect(original).toMatchObject({
      status: TRADE.protectionRollback,
      settlesAtS: 0,
      modifiedAtS: NOW_S + DAY_S,
      items: items.map(({ assetId }) => ({ rolledBackAssetId: assetId })),
    })
    expect(reversal).toMatchObject({ status: TRADE.complete, rollbackOf: tradeId, settlesAtS: 0 })
    expect(reversal?.items.map((item) => item.newAssetId)).toEqual(items.map(({ assetId }) => assetId))
    expect(idsOf(back.world, 'nova_hound')).toEqual(expect.arrayContaining(items.map((item) => item.assetId)))
    expect(bot(back.world).assets).toEqual([])
    expect(reverseTrade(back.world, { tradeId }, NOW_S + DAY_S).answer).toMatchObject({ eresult: 11 })
  })

  it('can be reversed in part: with status 7, and marks on the returned items only', () => {
    const { world, tradeId, items } = acceptedTrade({ count: 3 })
    const assetIds = items.slice(0, 1).map(({ assetId }) => assetId)
    const back = reverseTrade(world, { tradeId, assetIds }, NOW_S + 5).world
    expect(back.trades[0]).toMatchObject({ status: TRADE.selectiveRollback, settlesAtS: NOW_S + 7 * DAY_S })
    expect(back.trades[0]?.items.filter(({ rolledBackAssetId }) => rolledBackAssetId)).toHaveLength(1)
    expect(bot(back).assets).toHaveLength(2)
    const settled = advanceTo(back, NOW_S + 7 * DAY_S)
    expect(bot(settled).assets.map(({ contextId }) => contextId)).toEqual(['2', '2'])
  })

  it('cannot be reversed after it has settled, except by support', () => {
    const { world, tradeId } = acceptedTrade()
    const laterS = NOW_S + 7 * DAY_S
    const settled = advanceTo(world, laterS)
    expect(reverseTrade(settled, { tradeId }, laterS).answer).toMatchObject({ eresult: 11 })
    const undone = reverseTrade(settled, { tradeId, bySupport: true }, laterS)
    expect(undone.world.trades[0]?.status).toBe(TRADE.supportRollback)
  })

  it('is reversed by `reverseAll`, which also bars the shopper from trading for 30 days', () => {
    const { world, shopper } = acceptedTrade()
    const reversed = reverseAll(world, shopper.steamId, NOW_S + DAY_S)
    expect(reversed.trades[0]?.status).toBe(TRADE.protectionRollback)
    const sendAgain = (atS: number) => {
      const [item] = account(reversed, 'nova_hound').assets.filter(
        ({ classId }) => CATALOGUE.get(classId)?.tradable,
      )
      const intent = {
        sender: bot(world).steamId,
        partner: shopper.steamId,
        token: shopper.token,
        message: '',
      }
      return sendOffer(reversed, { ...intent, items: item ? [item] : [] }, atS).answer
    }
    expect(sendAgain(NOW_S + 2 * DAY_S)).toMatchObject({ eresult: 15, text: 'cannot_trade' })
    expect(sendAgain(NOW_S + 32 * DAY_S)).toMatchObject({ kind: 'sent' })
  })
})

describe('a trade of unprotected Dota 2 items', () => {
  it('cannot be reversed, even by support, after the bot has given the item away', () => {
    const { world, tradeId, shopper } = acceptedTrade({ appId: 570 })
    const [item] = bot(world).assets
    const intent = { sender: bot(world).steamId, partner: shopper.steamId, token: shopper.token, message: '' }
    const gift = sendOffer(world, { ...intent, items: [], give: item ? [item] : [] }, NOW_S)
    const offerId = gift.answer.kind === 'sent' ? gift.answer.offerId : ''
    const confirmed = answerConfirmation(gift.world, { offerId, allow: true }, NOW_S)
    const given = acceptOffer(confirmed.world, { offerId, by: shopper.steamId }, NOW_S)
    expect(given.answer).toMatchObject({ kind: 'accepted' })
    const back = reverseTrade(given.world, { tradeId, bySupport: true }, NOW_S)
    expect(back.answer).toMatchObject({ eresult: 26 })
  })

  it('cannot be reversed by its parties', () => {
    const { world, tradeId } = acceptedTrade({ appId: 570 })
    expect(reverseTrade(world, { tradeId }, NOW_S).answer).toMatchObject({ eresult: 11 })
  })
})

describe('a counteroffer', () => {
  it('ends the offer as countered and reaches the bot as an offer of the shopper', () => {
    const sent = send(fresh(), { count: 3 })
    const assetIds = sent.items.slice(1).map(({ assetId }) => assetId)
    const counter = { offerId: sent.offerId, by: sent.shopper.steamId, assetIds }
    const { world, answer } = counterOffer(sent.world, counter, NOW_S + 1)
    expect(offerState(world, sent.offerId)).toBe(STATE.countered)
    expect(answer).toMatchObject({ kind: 'sent', needsConfirmation: false })
    expect(world.offers[1]).toMatchObject({
      sender: sent.shopper.steamId,
      partner: bot(world).steamId,
      state: STATE.active,
      counters: sent.offerId,
      give: assetIds.map((assetId) => ({ assetId })),
      items: [],
    })
    expect(counterOffer(world, counter, NOW_S + 2).answer).toMatchObject({ eresult: 11 })
  })

  it('brings the items to the bot if the bot accepts', () => {
    const sent = send(fresh())
    const countered = counterOffer(sent.world, { offerId: sent.offerId, by: sent.shopper.steamId }, NOW_S)
    const offerId = countered.answer.kind === 'sent' ? countered.answer.offerId : ''
    const { world } = acceptOffer(countered.world, { offerId, by: bot(sent.world).steamId }, NOW_S)
    expect(bot(world).assets).toHaveLength(1)
    expect(world.trades[0]?.items[0]?.from).toBe(sent.shopper.steamId)
  })
})

describe('a trade in escrow', () => {
  const tradeInEscrow = () => {
    const sent = send(fresh(), { who: 'magic_hold' })
    return { ...sent, ...acceptOffer(sent.world, { offerId: sent.offerId, by: sent.shopper.steamId }, NOW_S) }
  }

  it.each([
    ['a shopper without it gives', { lacks: 'nova_hound', gives: ['nova_hound'] }, true],
    ['a shopper without it gives and gets', { lacks: 'nova_hound', gives: ['nova_hound', 'bot'] }, true],
    ['not if a shopper without it only gets', { lacks: 'nova_hound', gives: ['bot'] }, false],
    ['a bot without it gives', { lacks: 'bot', gives: ['bot'] }, true],
    ['not if a bot without it only gets', { lacks: 'bot', gives: ['nova_hound'] }, false],
  ])(
    'is one in which an account that gives items lacks the mobile authenticator: %s',
    (_, { lacks, gives }, isHeld) => {
      const { world: stocked, shopper } = acceptedTrade()
      const owned = advanceTo(stocked, NOW_S + 8 * DAY_S)
      const { steamId } = lacks === 'bot' ? bot(owned) : shopper
      const world = { ...owned, switched: [{ name: 'hold-15-days', steamId }] }
      const ofBot = bot(world).assets.slice(0, 1)
      const ofShopper = account(world, 'nova_hound').assets.filter(
        ({ classId }) => CATALOGUE.get(classId)?.tradable,
      )
      const [sender, partner] = [bot(world).steamId, shopper.steamId]
      const items = gives.includes('nova_hound') ? ofShopper.slice(0, 1) : []
      const give = gives.includes('bot') ? ofBot : []
      const nowS = NOW_S + 8 * DAY_S
      const sent = sendOffer(world, { sender, partner, token: shopper.token, message: '', items, give }, nowS)
      if (sent.answer.kind !== 'sent') throw new Error(JSON.stringify(sent.answer))
      const { offerId } = sent.answer
      const confirmed = answerConfirmation(sent.world, { offerId, allow: true }, nowS).world
      const done = acceptOffer(confirmed, { offerId, by: partner }, nowS).world
      expect(offerState(done, offerId)).toBe(isHeld ? STATE.inEscrow : STATE.accepted)
    },
  )

  it('keeps the items from both parties until the hold ends', () => {
    const { world, offerId, items } = tradeInEscrow()
    expect(offerState(world, offerId)).toBe(STATE.inEscrow)
    expect(world.trades[0]).toMatchObject({ status: TRADE.inEscrow, escrowEndsAtS: NOW_S + 15 * DAY_S })
    expect(idsOf(world, 'magic_hold')).not.toContain(items[0]?.assetId)
    expect(bot(world).assets).toEqual([])
    const done = advanceTo(world, NOW_S + 15 * DAY_S)
    expect(offerState(done, offerId)).toBe(STATE.accepted)
    expect(done.trades[0]).toMatchObject({ status: TRADE.complete, settlesAtS: NOW_S + 22 * DAY_S })
    expect(bot(done).assets).toHaveLength(1)
  })

  it('returns the items if it is called off', () => {
    const { world, offerId, items } = tradeInEscrow()
    const end = endOffer(world, { offerId, by: bot(world).steamId, how: 'cancel' }, NOW_S + 1)
    expect(offerState(end.world, offerId)).toBe(STATE.canceled)
    expect(end.world.trades[0]?.status).toBe(TRADE.escrowRollback)
    expect(idsOf(end.world, 'magic_hold')).toContain(items[0]?.assetId)
    expect(advanceTo(end.world, NOW_S + 40 * DAY_S).trades[0]?.status).toBe(TRADE.escrowRollback)
  })

  it.each(['cancel', 'decline'] as const)(
    'ended by `%s` puts the account that ended it into a cooldown of 7 days',
    (how) => {
      const { world, offerId, shopper } = tradeInEscrow()
      const by = how === 'cancel' ? bot(world).steamId : shopper.steamId
      const end = endOffer(world, { offerId, by, how }, NOW_S)
      const duringCooldown = how === 'cancel' ? { eresult: 24 } : { eresult: 15, text: 'cannot_trade' }
      const sendAgain = (partner: string, atS: number) => {
        const { steamId, token, assets } = account(end.world, partner)
        const items = assets.filter(({ classId }) => CATALOGUE.get(classId)?.tradable).slice(0, 1)
        const intent = { sender: bot(world).steamId, partner: steamId, token, message: '', items }
        return sendOffer(end.world, intent, atS).answer
      }
      expect(sendAgain('magic_hold', NOW_S + 7 * DAY_S - 1)).toMatchObject(duringCooldown)
      expect(sendAgain('magic_hold', NOW_S + 7 * DAY_S)).toMatchObject({ kind: 'sent' })
      const toOthers = how === 'cancel' ? { eresult: 24 } : { kind: 'sent' }
      expect(sendAgain('nova_hound', NOW_S + 1)).toMatchObject(toOthers)
    },
  )

  it('is needed for a cooldown: an offer that is cancelled before its acceptance causes none', () => {
    const { world, offerId } = send(fresh(), { who: 'magic_hold' })
    const end = endOffer(world, { offerId, by: bot(world).steamId, how: 'cancel' }, NOW_S)
    expect(bot(end.world).restrictedUntilS).toBeUndefined()
  })
})

describe('the automatic reactions of people', () => {
  it.each([
    ['magic_accepts', 5, STATE.accepted],
    ['magic_declines', 10, STATE.declined],
    ['magic_counters', 10, STATE.countered],
    ['magic_seller', 10, STATE.invalidItems],
    ['magic_last_second', 299, STATE.accepted],
  ])('happen on time: %s reacts after %i seconds', (who, afterS, state) => {
    const { world, offerId } = send(fresh(), { who, count: 2 })
    expect(offerState(advanceTo(world, NOW_S + afterS - 1), offerId)).toBe(STATE.active)
    const worldThen = advanceTo(world, NOW_S + afterS + 1000)
    expect(findOffer(worldThen, offerId)).toMatchObject({ state, updatedAtS: NOW_S + afterS })
  })

  it('include magic_last_second, who accepts just before a cancellation', () => {
    const { world, offerId } = send(fresh(), { who: 'magic_last_second' })
    const end = endOffer(world, { offerId, by: bot(world).steamId, how: 'cancel' }, NOW_S + 290)
    expect(end.answer).toMatchObject({ eresult: 11 })
    expect(offerState(end.world, offerId)).toBe(STATE.accepted)
  })

  it('include magic_seller, who declines an offer that asks for no items', () => {
    const { world } = acceptedTrade({ appId: 570 })
    const { steamId, token } = account(world, 'magic_seller')
    const give = bot(world).assets
    const intent = { sender: bot(world).steamId, partner: steamId, token, message: '', items: [], give }
    const sent = sendOffer(world, intent, NOW_S)
    const offerId = sent.answer.kind === 'sent' ? sent.answer.offerId : ''
    const confirmed = answerConfirmation(sent.world, { offerId, allow: true }, NOW_S).world
    expect(offerState(advanceTo(confirmed, NOW_S + 10), offerId)).toBe(STATE.declined)
  })

  it('include magic_reverser, who takes the trade back after three days', () => {
    const { world } = send(fresh(), { who: 'magic_reverser' })
    expect(advanceTo(world, NOW_S + 3 * DAY_S).trades[0]?.status).toBe(TRADE.complete)
    const worldThen = advanceTo(world, NOW_S + 3 * DAY_S + 5)
    expect(worldThen.trades.map(({ status }) => status)).toEqual([TRADE.protectionRollback, TRADE.complete])
    expect(worldThen.trades[1]?.atS).toBe(NOW_S + 3 * DAY_S + 5)
    expect(advanceTo(world, NOW_S + 30 * DAY_S).trades[0]?.status).toBe(TRADE.protectionRollback)
  })
})

describe('a world that an older sandbox saved', () => {
  it('keeps its trades, and receives the accounts that it lacks', () => {
    const current = fresh()
    const old = {
      version: 1 as const,
      lastId: 5,
      accounts: current.accounts.slice(0, 4),
      offers: [],
      trades: [{ id: '61', giver: 'a', receiver: 'b', atS: 1, settlesAtS: 9, items: [] }],
    }
    const upgraded = upgradeWorld(old, current)
    expect(upgraded?.accounts).toHaveLength(current.accounts.length)
    expect(upgraded?.trades).toMatchObject([{ sender: 'b', partner: 'a', status: 3, settled: false }])
  })
})
