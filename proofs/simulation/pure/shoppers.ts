/**
 * Shoppers of the pure level. They open deposits, ask for trades, accept late, change their minds and take items back.
 */

import { ProblemError } from '../../../gateway/http/refusal.ts'
import type { OfferAsset } from '../../../gateway/steam/steam.ts'
import { cancelDeposit } from '../../../gateway/trades/cancellation.ts'
import type { ItemWorth } from '../../../gateway/trades/effects.ts'
import { isEnded } from '../../../gateway/trades/trade.ts'
import { type Habit, habitOf } from '../habits.ts'
import type { SteamOffer } from '../steam-memory.ts'
import type { Basket } from './attempts.ts'
import { intend } from './intents.ts'
import { type DepositRow, openDeposit, type TradeRow } from './memory.ts'
import { type Scene, startInProcess } from './scene.ts'

const SHOPPERS = 12
const ITEMS_EACH = 24
/** New deposits are opened during this time. */
const SHOPPING_MS = 20 * 60_000
/** The share of deposits that their store cancels, and the longest time until then. */
const CANCELLED_SHARE = 0.1
const MOST_CANCEL_MS = 6 * 60_000
/** How long an offer is open. */
const WINDOW_MS = 300_000
const HOUR_MS = 3_600_000

export function beginShopping(scene: Scene, deposits: number): void {
  const { engine, random, steam } = scene
  for (let shopper = 0; shopper < SHOPPERS; shopper += 1) {
    for (let item = 0; item < ITEMS_EACH; item += 1)
      steam.owners.set(assetOf(shopper, item).assetId, steamIdOf(shopper))
  }
  for (let n = 0; n < deposits; n += 1) {
    // The store locks half of the deposits to their shopper.
    const isLocked = n % 2 === 0
    engine.after(random.int(SHOPPING_MS), () => visit(scene, { shopper: random.int(SHOPPERS), isLocked }))
  }
}

const steamIdOf = (shopper: number): string => String(76_561_198_000_000_000n + BigInt(shopper))

/** An item of a shopper. Every second shopper has items that Steam protects after a trade. */
const assetOf = (shopper: number, item: number): OfferAsset => ({
  appId: shopper % 2 === 0 ? 730 : 570,
  contextId: '2',
  assetId: String(10_000 + shopper * 100 + item),
})

type Visitor = { shopper: number; isLocked: boolean }

function visit(scene: Scene, { shopper, isLocked }: Visitor): void {
  const { engine, random, stores } = scene
  const store = stores[random.int(stores.length)]
  if (store === undefined) return
  const deposit = openDeposit(scene, { store, shopper: steamIdOf(shopper), isLocked })
  engine.after(random.between(1_000, 60_000), () => askForTrade(scene, deposit, { shopper }))
  if (random.chance(CANCELLED_SHARE))
    engine.after(random.int(MOST_CANCEL_MS), () => cancelByStore(scene, deposit))
}

/** Cancels at any moment: before an offer, while one is sent, open or accepted, and after the deposit's end. */
function cancelByStore(scene: Scene, deposit: DepositRow): void {
  const { random, faults } = scene
  const process = random.chance(0.5) ? scene.processes.at(0) : scene.processes.at(-1)
  if (process === undefined || !process.isAlive) return
  startInProcess(scene, async () => {
    try {
      await cancelDeposit(process.deps, deposit.storeId, deposit.id)
      faults.note('store cancels')
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
    }
  })
}

type Asker = { shopper: number; tries?: number }

function askForTrade(scene: Scene, deposit: DepositRow, { shopper, tries = 1 }: Asker): void {
  const basket = basketOf(scene, shopper)
  if (basket === undefined) return
  requestTrade(scene, deposit, basket)
  // A waiting page repeats the call, and two pages can do so at the same time.
  for (const ms of [2_000, 2_000, 30_000]) {
    if (scene.random.chance(0.3)) scene.engine.after(ms, () => requestTrade(scene, deposit, basket))
  }
  scene.engine.after(scene.random.between(60_000, 400_000), () => {
    const mayAskAgain = deposit.status === 'created' && tries < 3
    if (mayAskAgain && scene.random.chance(0.7)) askForTrade(scene, deposit, { shopper, tries: tries + 1 })
  })
}

function basketOf({ random, steam }: Scene, shopper: number): Basket | undefined {
  const items = new Map<string, ItemWorth>()
  const assets: OfferAsset[] = []
  const wanted = random.between(1, 4)
  const first = random.int(ITEMS_EACH)
  for (let n = 0; n < ITEMS_EACH && assets.length < wanted; n += 1) {
    const asset = assetOf(shopper, (first + n) % ITEMS_EACH)
    // Some shoppers choose items that another of their trades has taken.
    if (steam.owners.get(asset.assetId) !== steamIdOf(shopper) && !random.chance(0.02)) continue
    const price = BigInt(random.between(50, 9_000))
    assets.push(asset)
    items.set(asset.assetId, { price, gross: price + BigInt(random.int(900)) })
  }
  if (assets.length === 0) return undefined
  return { assets, items, game: shopper % 2 === 0 ? 'cs' : 'dota' }
}

function requestTrade(scene: Scene, deposit: DepositRow, basket: Basket): void {
  const process = scene.processes[scene.random.int(scene.processes.length)]
  if (process === undefined || !process.isAlive) return
  startInProcess(scene, async () => {
    const tradesBefore = scene.trades.size
    const row = await intend(scene, process.gate, { deposit, basket, now: process.deps.clock.now })
    if (row === undefined) return
    scene.trace.add(`${scene.engine.now()} deposit ${deposit.id}: trade ${row.facts.id}`)
    // Ids count up from 1: a repeated call returns an earlier trade.
    if (row.facts.id > tradesBefore) lookForOffer(scene, row)
  })
}

/** Lets the shopper see an offer soon after it is on Steam, even if the till does not know about it. */
export function lookForOffer(scene: Scene, row: TradeRow) {
  const { engine, random, steam } = scene
  const offer = steam.byMessage.get(row.trade.secretCode)
  if (offer !== undefined) return decideOn(scene, row, offer)
  // After this time, the send has made the offer or never will.
  const isOver = isEnded(row.trade) || engine.now() - row.createdAt.getTime() > 15 * 60_000
  if (!isOver) engine.after(random.between(300, 4_000), () => lookForOffer(scene, row))
}

function decideOn(scene: Scene, row: TradeRow, offer: SteamOffer): void {
  const { engine, random, steam } = scene
  const leftMs = offer.createdAt + WINDOW_MS - engine.now()
  const soonMs = random.between(500, 120_000)
  const accept = (afterMs: number, options = {}) =>
    engine.after(afterMs, () => acceptAt(scene, row, { offer, ...options }))
  const end = (state: 'declined' | 'countered' | 'cancelled') =>
    engine.after(random.between(1_000, WINDOW_MS), () => steam.decline(offer, state))
  // The shopper accepts an open offer that Steam reports as ended.
  if (offer.lie !== null) accept(offer.lie.from - engine.now() + random.between(2_000, 100_000))
  const habits: Record<Habit, () => void> = {
    accepts: () => accept(soonMs),
    'accepts at the deadline': () => accept(leftMs + random.between(-3_000, 6_000)),
    'accepts after the deadline': () => accept(leftMs + random.between(0, 90_000)),
    declines: () => end('declined'),
    counters: () => end('countered'),
    cancels: () => end('cancelled'),
    'has no authenticator': () => accept(soonMs, { hasEscrow: true }),
    'does nothing': () => {},
  }
  if (offer.lie === null) habits[habitOf(random)]()
}

type Acceptance = { offer: SteamOffer; hasEscrow?: boolean }

function acceptAt(scene: Scene, row: TradeRow, { offer, hasEscrow = false }: Acceptance): void {
  const { engine, random, steam, faults, trace } = scene
  if (!steam.accept(offer, { hasEscrow })) return
  trace.add(`${engine.now()} offer ${offer.offerId} of trade ${row.trade.tradeId} accepted`)
  if (hasEscrow) return
  if (isEnded(row.trade)) faults.note(`acceptance after ${row.trade.state}`)
  if (!random.chance(0.25)) return
  // The items are taken back within a minute, when the till may not have noticed the delivery yet, or within a week.
  const afterMs = random.chance(0.35) ? random.between(200, 60_000) : random.int(160 * HOUR_MS)
  engine.after(afterMs, () => takeBack(scene, offer))
}

function takeBack(scene: Scene, offer: SteamOffer): void {
  const { engine, random, steam, trace } = scene
  const steamTrade = steam.steamTrades.get(offer.tradeId ?? '')
  if (steamTrade === undefined) return
  const someAssetIds = steamTrade.items
    .slice(0, random.between(1, steamTrade.items.length))
    .map(({ asset }) => asset.assetId)
  const isTakenBack = steam.reverse(steamTrade, random.chance(0.5) ? undefined : someAssetIds)
  if (isTakenBack) trace.add(`${engine.now()} Steam trade ${steamTrade.tradeId} taken back`)
  if (isTakenBack && random.chance(0.3)) engine.after(random.int(24 * HOUR_MS), () => takeBack(scene, offer))
}
