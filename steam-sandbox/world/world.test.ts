import { describe, expect, it } from 'vitest'
import { CATALOGUE } from '../items.ts'
import { acceptOffer, endOffer, sendOffer } from './offers.ts'
import { isOrdinary, seedWorld, withManyItems } from './seed.ts'
import { advanceTo } from './time.ts'
import { OFFER_LIFE_S, STATE, type World } from './world.ts'

const NOW_S = 1_800_000_000
const fresh = () => seedWorld('test', NOW_S * 1000)

function mainAccounts(world: World) {
  const [nova, lynx, bot] = world.accounts
  if (!nova || !lynx || !bot) throw new Error('The seed lacks a bot or shopper.')
  return { nova, lynx, bot }
}

function send(world: World, pick: { appId?: number; index?: number; token?: string } = {}) {
  const { nova, bot } = mainAccounts(world)
  const tradable = nova.assets.filter(
    ({ appId, classId }) => appId === (pick.appId ?? 730) && CATALOGUE.get(classId)?.tradable,
  )
  const intent = {
    sender: bot.steamId,
    partner: nova.steamId,
    token: pick.token ?? nova.token,
    message: 'CODE',
    items: tradable.slice(pick.index ?? 0, (pick.index ?? 0) + 1),
  }
  const { world: next, answer } = sendOffer(world, intent, NOW_S)
  return { world: next, answer, offerId: answer.kind === 'sent' ? answer.offerId : '' }
}

describe('the seed', () => {
  it('makes the same world for the same seed and time, and a different world for another seed', () => {
    expect(fresh()).toEqual(fresh())
    expect(seedWorld('other', NOW_S * 1000)).not.toEqual(fresh())
  })

  it('draws from at least 120 item classes with different names, and gives a shopper more than 60 items of one game', () => {
    const ordinary = [...CATALOGUE.values()].filter(isOrdinary)
    const names = new Set(ordinary.map(({ appId, name }) => `${appId}/${name}`))
    expect(names.size).toBe(ordinary.length)
    expect(names.size).toBeGreaterThanOrEqual(120)
    expect(mainAccounts(fresh()).nova.assets.filter(({ appId }) => appId === 730).length).toBeGreaterThan(60)
  })

  it('uses the phases of a Doppler in turn, under one name', () => {
    const phases = [...CATALOGUE.values()].filter(({ name }) => name.includes('Doppler'))
    expect(new Set(phases.map(({ name }) => name)).size).toBe(1)
    expect(new Set(phases.map(({ paint }) => paint?.index)).size).toBe(phases.length)
    const { nova } = mainAccounts(fresh())
    const many = withManyItems(fresh(), nova.steamId).accounts.find(({ steamId }) => steamId === nova.steamId)
    const dealt = many?.assets.flatMap(({ classId }) => CATALOGUE.get(classId)?.paint?.index ?? []) ?? []
    const counts = phases.map(({ paint }) => dealt.filter((index) => index === paint?.index).length)
    // `seedWorld` and `withManyItems` each begin with the first phase, so two counts differ by at most 2.
    expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) - 3)
  })
})

describe('an offer', () => {
  it('moves its items under new ids when accepted, and protects them for seven days in Counter-Strike 2', () => {
    const sent = send(fresh())
    const { nova, bot } = mainAccounts(sent.world)
    const accept = { offerId: sent.offerId, by: nova.steamId }
    const { world, answer } = acceptOffer(sent.world, accept, NOW_S)
    expect(answer).toMatchObject({ kind: 'accepted' })
    const item = world.trades[0]?.items[0]
    const botItem = ({ accounts }: World) =>
      accounts.find(({ steamId }) => steamId === bot.steamId)?.assets[0]
    expect(botItem(world)).toMatchObject({ assetId: item?.newAssetId, contextId: '16' })
    expect(item?.newAssetId).not.toBe(item?.assetId)
    expect(botItem(advanceTo(world, NOW_S + 7 * 86_400 - 1))?.contextId).toBe('16')
    expect(botItem(advanceTo(world, NOW_S + 7 * 86_400))?.contextId).toBe('2')
    expect(acceptOffer(world, accept, NOW_S).answer).toEqual({ kind: 'refused', eresult: 28 })
  })

  it('leaves its items unprotected in a game other than Counter-Strike 2', () => {
    const sent = send(fresh(), { appId: 440 })
    const { nova } = mainAccounts(sent.world)
    const { world } = acceptOffer(sent.world, { offerId: sent.offerId, by: nova.steamId }, NOW_S)
    expect(world.trades[0]).toMatchObject({ settlesAtS: 0, items: [{ newContextId: '2' }] })
  })

  it('is refused with 15 for a wrong token and with 26 if it names no items', () => {
    expect(send(fresh(), { token: 'wrong' }).answer).toEqual({ kind: 'refused', eresult: 15 })
    expect(send(fresh(), { index: 900 }).answer).toEqual({ kind: 'refused', eresult: 26 })
  })

  it('is refused with 25 if the partner already has five other offers', () => {
    let world = fresh()
    for (let index = 0; index < 5; index += 1) world = send(world, { index }).world
    expect(send(world).answer).toMatchObject({ kind: 'refused', eresult: 25 })
  })

  it('is refused with 25 if the sender already has thirty other offers', () => {
    let world = fresh()
    const { bot } = mainAccounts(world)
    const others = world.accounts.filter(({ kind, assets }) => kind === 'shopper' && assets.length > 10)
    for (const partner of others.slice(0, 14)) {
      for (let count = 0; count < 3; count += 1) {
        const [item] = partner.assets.filter(({ classId }) => CATALOGUE.get(classId)?.tradable)
        const { steamId, token } = partner
        const intent = {
          sender: bot.steamId,
          partner: steamId,
          token,
          message: '',
          items: item ? [item] : [],
        }
        world = sendOffer(world, intent, NOW_S).world
      }
    }
    expect(world.offers).toHaveLength(30)
    expect(send(world).answer).toMatchObject({ kind: 'refused', eresult: 25 })
  })

  it('becomes invalid when another trade takes its item', () => {
    const first = send(fresh())
    const second = send(first.world)
    const { nova } = mainAccounts(second.world)
    const { world } = acceptOffer(second.world, { offerId: second.offerId, by: nova.steamId }, NOW_S)
    expect(world.offers[0]?.state).toBe(STATE.invalidItems)
  })

  it('can be ended once, and can be cancelled by its sender only', () => {
    const sent = send(fresh())
    const { nova, bot } = mainAccounts(sent.world)
    const end = (world: World, by: string, how: 'cancel' | 'decline') =>
      endOffer(world, { offerId: sent.offerId, by, how }, NOW_S)
    expect(end(sent.world, nova.steamId, 'cancel').answer).toEqual({ kind: 'refused', eresult: 15 })
    const declined = end(sent.world, nova.steamId, 'decline')
    expect(declined.world.offers[0]?.state).toBe(STATE.declined)
    expect(end(declined.world, bot.steamId, 'cancel').answer).toEqual({ kind: 'refused', eresult: 11 })
  })

  it('expires after fourteen days', () => {
    const { world } = send(fresh())
    expect(advanceTo(world, NOW_S + OFFER_LIFE_S - 1)).toBe(world)
    expect(advanceTo(world, NOW_S + OFFER_LIFE_S).offers[0]?.state).toBe(STATE.expired)
  })
})
