import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CATALOGUE } from '../items.ts'
import { acceptOffer, answerConfirmation, counterOffer, endOffer, sendOffer } from './offers.ts'
import { seedWorld } from './seed.ts'
import { advanceTo } from './time.ts'
import { reverseAll, reverseTrade } from './trades.ts'
import { DAY_S, STATE, TRADE, type World } from './world.ts'

const START_S = 1_800_000_000

const PEOPLE = [
  'nova_hound',
  'magic_hold',
  'magic_counters',
  'magic_reverser',
  'Tradetill Bot #1',
  'Tradetill Bot #2',
]

/** A small world: two bots, and four shoppers with at most three items of each of two games, so steps often collide. */
function smallWorld(): World {
  const world = seedWorld('laws', START_S * 1000)
  const accounts = world.accounts.filter(({ name }) => PEOPLE.includes(name))
  const few = (appId: number, assets: World['accounts'][number]['assets']) =>
    assets.filter((asset) => asset.appId === appId && CATALOGUE.get(asset.classId)?.tradable).slice(0, 3)
  return {
    ...world,
    accounts: accounts.map((account) => ({
      ...account,
      assets: [...few(730, account.assets), ...few(570, account.assets)],
    })),
  }
}

// Worlds are immutable, so all runs can start with the same one.
const SMALL = smallWorld()

/** `who` chooses the bot and the shopper, `which` the offer, the trade or the number of items. */
type Step = { what: string; who: number; which: number; afterS: number }

const steps = fc.array(
  fc.record({
    what: fc.constantFrom(
      'send',
      'send',
      'give',
      'accept',
      'accept',
      'decline',
      'cancel',
      'counter',
      'confirm',
      'deny',
      'reverse',
      'reverse in part',
      'reverse by support',
      'reverse all',
    ),
    who: fc.nat(11),
    which: fc.nat(20),
    afterS: fc.oneof(
      { weight: 9, arbitrary: fc.nat(400) },
      fc.constantFrom(DAY_S, 4 * DAY_S, 8 * DAY_S, 16 * DAY_S),
    ),
  }),
  { minLength: 10, maxLength: 60, size: 'max' },
)

function run(script: Step[]): { worlds: World[]; nowS: number } {
  let world = SMALL
  let nowS = START_S
  const worlds = [world]
  for (const step of script) {
    nowS += step.afterS
    world = takeStep(advanceTo(world, nowS), step, nowS)
    worlds.push(world)
  }
  return { worlds, nowS }
}

function takeStep(world: World, { what, who, which }: Step, nowS: number): World {
  const pick = <T>(list: T[]): T | undefined => list[which % Math.max(1, list.length)]
  const bot = world.accounts.filter(({ kind }) => kind === 'bot')[who % 2]
  const shopper = world.accounts.filter(({ kind }) => kind === 'shopper')[who % 4]
  const [offer, trade] = [pick(world.offers), pick(world.trades)]
  if (!bot || !shopper) return world
  const token = shopper.token
  const base = { sender: bot.steamId, partner: shopper.steamId, token, message: 'CODE' }
  const offerId = offer?.id ?? ''
  switch (what) {
    case 'send':
      return sendOffer(world, { ...base, items: shopper.assets.slice(0, 1 + (which % 3)) }, nowS).world
    case 'give':
      return sendOffer(world, { ...base, items: [], give: bot.assets.slice(0, 1) }, nowS).world
    case 'accept':
      return acceptOffer(world, { offerId, by: offer?.partner ?? '' }, nowS).world
    case 'decline':
      return endOffer(world, { offerId, by: offer?.partner ?? '', how: 'decline' }, nowS).world
    case 'cancel':
      return endOffer(world, { offerId, by: offer?.sender ?? '', how: 'cancel' }, nowS).world
    case 'counter':
      return counterOffer(world, { offerId, by: offer?.partner ?? '' }, nowS).world
    case 'confirm':
    case 'deny':
      return answerConfirmation(world, { offerId, allow: what === 'confirm' }, nowS).world
    case 'reverse all':
      return reverseAll(world, shopper.steamId, nowS)
    default: {
      const part = what === 'reverse in part' ? { assetIds: [trade?.items[0]?.assetId ?? ''] } : {}
      return reverseTrade(
        world,
        { tradeId: trade?.id ?? '', bySupport: what === 'reverse by support', ...part },
        nowS,
      ).world
    }
  }
}

/** Every item of the world: in an inventory, or in escrow. */
function itemsOf({ accounts, trades }: World): { id: string; classId: string }[] {
  const inEscrow = trades.filter(({ status }) => status === TRADE.inEscrow).flatMap(({ items }) => items)
  return [...accounts.flatMap(({ assets }) => assets), ...inEscrow].map(({ assetId, classId }) => ({
    id: assetId,
    classId,
  }))
}

const RUNS = { numRuns: 400 }

it('the random scripts reach every state of an offer that steps can cause, and every status of a trade', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(steps, (script) => {
      const world = run(script).worlds.at(-1) ?? SMALL
      for (const { state } of world.offers) seen.add(`offer ${state}`)
      for (const { status } of world.trades) seen.add(`trade ${status}`)
    }),
    { ...RUNS, seed: 1 },
  )
  // Only a bad day shows an offer as reverted, and no step has that result.
  const offerStates = Object.values(STATE).filter((state) => state !== STATE.reverted)
  const reachable = [
    ...offerStates.map((state) => `offer ${state}`),
    ...Object.values(TRADE).map((status) => `trade ${status}`),
  ]
  expect(reachable.filter((each) => !seen.has(each))).toEqual([])
})

it('no step loses, duplicates or changes an item', () => {
  const classes = (world: World) =>
    itemsOf(world)
      .map(({ classId }) => classId)
      .sort()
  const classesAtStart = classes(SMALL)
  fc.assert(
    fc.property(steps, (script) => {
      for (const world of run(script).worlds) {
        const ids = itemsOf(world).map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        expect(classes(world)).toEqual(classesAtStart)
      }
    }),
    RUNS,
  )
})

it('context 16 contains all protected items and no others', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const { worlds, nowS } = run(script)
      const world = advanceTo(worlds.at(-1) ?? SMALL, nowS)
      for (const { assets } of world.accounts) {
        for (const { contextId, settlesAtS } of assets) {
          expect(contextId).toBe(settlesAtS !== undefined && settlesAtS > nowS ? '16' : '2')
        }
      }
    }),
    RUNS,
  )
})

it('an offer that is neither open nor in escrow never changes its state again', () => {
  const canChange = (state: number | undefined) =>
    state === STATE.active || state === STATE.needsConfirmation || state === STATE.inEscrow
  fc.assert(
    fc.property(steps, (script) => {
      const { worlds } = run(script)
      for (const [index, world] of worlds.entries()) {
        const next = worlds[index + 1]
        for (const { id, state } of next ? world.offers : []) {
          if (!canChange(state)) expect(next?.offers.find((offer) => offer.id === id)?.state).toBe(state)
        }
      }
    }),
    RUNS,
  )
})

it('advancing time in many steps has the same result as in one', () => {
  fc.assert(
    fc.property(steps, fc.array(fc.nat(20 * DAY_S), { maxLength: 5 }), (script, moments) => {
      const { worlds, nowS } = run(script)
      const world = worlds.at(-1) ?? SMALL
      const endS = nowS + 20 * DAY_S
      const inSteps = moments
        .sort((a, b) => a - b)
        .reduce((current, atS) => advanceTo(current, nowS + atS), world)
      const atOnce = advanceTo(world, endS)
      expect(advanceTo(inSteps, endS)).toEqual(atOnce)
      expect(advanceTo(atOnce, endS)).toBe(atOnce)
    }),
    RUNS,
  )
})
