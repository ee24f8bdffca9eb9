import { traitsOf } from './people.ts'
import {
  type Answer,
  type Asset,
  DAY_S,
  findAccount,
  MOST_KEPT,
  type Offer,
  PROTECTED_APP,
  refuse,
  STATE,
  TRADE,
  type Trade,
  type TradedItem,
  type World,
  withAccount,
  withOffer,
  withTrade,
} from './world.ts'

/** How long an account cannot trade after it has reversed its protected trades. */
const RESTRICTION_S = 30 * DAY_S

/** Too large for a JavaScript number, like Steam's ids. */
const tradeIdOf = (number: number): string => `61${String(number).padStart(17, '0')}`

/**
 * Creates the trade of an accepted offer: completed immediately, or in escrow if an account that gives items has no
 * authenticator. The items of the other side then wait too.
 */
export function beginTrade(world: World, offer: Offer, nowS: number): { world: World; tradeId: string } {
  const tradeId = tradeIdOf(world.lastId + 1)
  const givers = [
    ...(offer.give.length > 0 ? [offer.sender] : []),
    ...(offer.items.length > 0 ? [offer.partner] : []),
  ]
  const holdDays = Math.max(...givers.map((steamId) => holdDaysOf(world, steamId)))
  const withGiver = (steamId: string) => (asset: Asset) => ({ ...asset, from: steamId })
  const trade: Trade = {
    id: tradeId,
    sender: offer.sender,
    partner: offer.partner,
    status: TRADE.inEscrow,
    atS: nowS,
    settlesAtS: 0,
    settled: false,
    items: [...offer.items.map(withGiver(offer.partner)), ...offer.give.map(withGiver(offer.sender))],
  }
  const begun = { ...world, lastId: world.lastId + 1, trades: [...world.trades, trade].slice(-MOST_KEPT) }
  const afterRemoval = withoutItems(begun, trade, nowS)
  const accepted = { ...offer, tradeId, updatedAtS: nowS }
  if (holdDays === 0) {
    const done = withOffer(afterRemoval, { ...accepted, state: STATE.accepted })
    return { world: deliver(done, tradeId, nowS), tradeId }
  }
  const escrowEndsAtS = nowS + holdDays * DAY_S
  const inEscrow = withOffer(afterRemoval, { ...accepted, state: STATE.inEscrow, escrowEndsAtS })
  return { world: withTrade(inEscrow, { ...trade, escrowEndsAtS }), tradeId }
}

/** The number of days for which Steam would hold a trade in which this account gives items. */
export function holdDaysOf(world: World, steamId: string): number {
  const account = findAccount(world, steamId)
  return account ? (traitsOf(world, account).holdDays ?? 0) : 0
}

/** Removes the items from their owners. Other offers with these items become invalid. */
function withoutItems(world: World, trade: Trade, nowS: number): World {
  return withoutAssets(world, new Set(trade.items.map(({ assetId }) => assetId)), nowS)
}

export function withoutAssets(world: World, gone: ReadonlySet<string>, nowS: number): World {
  const losesItems = (offer: Offer) =>
    (offer.state === STATE.active || offer.state === STATE.needsConfirmation) &&
    [...offer.items, ...offer.give].some(({ assetId }) => gone.has(assetId))
  return {
    ...world,
    offers: world.offers.map((offer) =>
      losesItems(offer) ? { ...offer, state: STATE.invalidItems, updatedAtS: nowS } : offer,
    ),
    accounts: world.accounts.map((account) => ({
      ...account,
      assets: account.assets.filter(({ assetId }) => !gone.has(assetId)),
    })),
  }
}

/** True if Steam protects the game's items: in Counter-Strike 2, or in any game if a party's behaviour says so. */
export function isProtectedApp(
  world: World,
  { sender, partner }: Pick<Trade, 'sender' | 'partner'>,
  appId: number,
): boolean {
  const protectsEveryGame = (steamId: string) => {
    const account = findAccount(world, steamId)
    return account !== undefined && traitsOf(world, account).everyGameProtected === true
  }
  return appId === PROTECTED_APP || protectsEveryGame(sender) || protectsEveryGame(partner)
}

/** Delivers the items under new ids; protected ones go into context 16. */
export function deliver(world: World, tradeId: string, nowS: number): World {
  const trade = world.trades.find(({ id }) => id === tradeId)
  if (!trade) return world
  const protects = ({ appId }: Asset) => world.protectionS > 0 && isProtectedApp(world, trade, appId)
  const isProtected = trade.items.some(protects)
  const settlesAtS = isProtected ? nowS + world.protectionS : 0
  const items = trade.items.map((item, index) => ({
    ...item,
    newAssetId: String(world.lastId + 1 + index),
    newContextId: protects(item) ? '16' : '2',
  }))
  const { escrowEndsAtS: _, ...unheld } = trade
  const completed = { ...unheld, status: TRADE.complete, settlesAtS, settled: !isProtected, items }
  const arrived = items.map((item) => ({
    to: otherSide(trade, item.from),
    asset: arrivedAsset(item, settlesAtS, nowS),
  }))
  const next = { ...withTrade(world, completed), lastId: world.lastId + items.length }
  return withArrived(next, arrived)
}

function arrivedAsset(item: TradedItem, settlesAtS: number, nowS: number): Asset {
  const { appId, classId, newAssetId = '', newContextId = '2' } = item
  const asset = { assetId: newAssetId, appId, contextId: newContextId, classId, receivedAtS: nowS }
  return newContextId === '16' ? { ...asset, settlesAtS } : asset
}

function withArrived(world: World, arrived: { to: string; asset: Asset }[]): World {
  return {
    ...world,
    accounts: world.accounts.map((account) => {
      const assets = arrived.filter(({ to }) => to === account.steamId).map(({ asset }) => asset)
      return assets.length > 0 ? { ...account, assets: [...account.assets, ...assets] } : account
    }),
  }
}

function otherSide(trade: Trade, steamId: string): string {
  return trade.sender === steamId ? trade.partner : trade.sender
}

/** Ends the protection of a trade. Its items move to the ordinary context. */
export function settleTrade(world: World, tradeId: string): World {
  const trade = world.trades.find(({ id }) => id === tradeId)
  if (!trade) return world
  const ids = new Set(trade.items.map(({ newAssetId }) => newAssetId))
  const settle = ({ settlesAtS: _, ...asset }: Asset): Asset => ({ ...asset, contextId: '2' })
  return {
    ...withTrade(world, { ...trade, settled: true }),
    accounts: world.accounts.map((account) => ({
      ...account,
      assets: account.assets.map((asset) => (ids.has(asset.assetId) ? settle(asset) : asset)),
    })),
  }
}

/** Cancels a trade in escrow and returns its items. The given offer already has its final state. */
export function cancelEscrow(world: World, { state, ...offer }: Offer, nowS: number): World {
  const trade = world.trades.find(({ id }) => id === offer.tradeId)
  if (!trade) return world
  const returned = trade.items.map(({ from, ...asset }) => ({ to: from, asset }))
  const ended = { ...trade, status: TRADE.escrowRollback, modifiedAtS: nowS, settled: true }
  const { escrowEndsAtS: _, ...unheld } = offer
  return withArrived(withTrade(withOffer(world, { ...unheld, state, updatedAtS: nowS }), ended), returned)
}

export type Reversal = {
  tradeId: string
  /** The items to reverse, by their ids before or after the trade; all of them if absent. */
  assetIds?: string[]
  /** True if Steam's support makes the reversal, which it can do even without protection. */
  bySupport?: boolean
}

/**
 * Reverses a trade. The items go back under their old ids, the trade changes its status, and a new one records the
 * reversal. Refusals: 42 (unknown), 11 (cannot be reversed), 26 (no such item, or one that has left its receiver).
 */
export function reverseTrade(
  world: World,
  { tradeId, assetIds, bySupport = false }: Reversal,
  nowS: number,
): Answer<{ kind: 'reversed'; tradeId: string }> {
  const trade = world.trades.find(({ id }) => id === tradeId)
  if (!trade) return refuse(world, 42)
  const isDone = trade.status === TRADE.complete || trade.status === TRADE.selectiveRollback
  if (!isDone || trade.rollbackOf || !(bySupport || isProtectedNow(trade, nowS))) return refuse(world, 11)
  const unreturned = trade.items.filter(({ rolledBackAssetId }) => !rolledBackAssetId)
  const isMeant = ({ assetId, newAssetId = '' }: TradedItem) =>
    !assetIds || assetIds.includes(assetId) || assetIds.includes(newAssetId)
  const returning = unreturned.filter(isMeant)
  const owned = new Set(world.accounts.flatMap(({ assets }) => assets.map(({ assetId }) => assetId)))
  if (returning.length === 0 || !returning.every(({ newAssetId = '' }) => owned.has(newAssetId)))
    return refuse(world, 26)
  const isWhole = returning.length === unreturned.length && trade.status === TRADE.complete
  const reversalId = tradeIdOf(world.lastId + 1)
  const markedItems = trade.items.map((item) =>
    returning.includes(item) ? { ...item, rolledBackAssetId: item.assetId } : item,
  )
  const wholeStatus = bySupport ? TRADE.supportRollback : TRADE.protectionRollback
  const changedTrade = {
    ...trade,
    items: markedItems,
    modifiedAtS: nowS,
    status: isWhole ? wholeStatus : TRADE.selectiveRollback,
    settlesAtS: returning.length === unreturned.length ? 0 : trade.settlesAtS,
  }
  const afterRemoval = withoutAssets(world, new Set(returning.map(({ newAssetId = '' }) => newAssetId)), nowS)
  const returnedAssets = returning.map(({ from, assetId, appId, classId }) => ({
    to: from,
    asset: { assetId, appId, classId, contextId: '2', receivedAtS: nowS },
  }))
  const row = reversalRow(changedTrade, returning, { id: reversalId, nowS })
  const next = { ...withTrade(afterRemoval, changedTrade), lastId: world.lastId + 1 }
  const recorded = { ...next, trades: [...next.trades, row].slice(-MOST_KEPT) }
  return { world: withArrived(recorded, returnedAssets), answer: { kind: 'reversed', tradeId: reversalId } }
}

function reversalRow(
  trade: Trade,
  returning: TradedItem[],
  { id, nowS }: { id: string; nowS: number },
): Trade {
  const items = returning.map(({ from, assetId, appId, classId, newAssetId = '', newContextId = '2' }) => ({
    assetId: newAssetId,
    appId,
    classId,
    contextId: newContextId,
    from: otherSide(trade, from),
    newAssetId: assetId,
    newContextId: '2',
  }))
  const { sender, partner } = trade
  return {
    id,
    sender,
    partner,
    status: TRADE.complete,
    atS: nowS,
    settlesAtS: 0,
    settled: true,
    rollbackOf: trade.id,
    items,
  }
}

export function isProtectedNow(trade: Trade, nowS: number): boolean {
  return trade.settlesAtS > nowS && !trade.settled
}

/**
 * Reverses the protected trades of an account, except those with an item that has moved on, and stops the account from
 * trading for 30 days, as one click on Steam does. Changes nothing without a protected trade.
 */
export function reverseAll(world: World, by: string, nowS: number): World {
  const trades = world.trades.filter(
    (trade) =>
      (trade.sender === by || trade.partner === by) && isProtectedNow(trade, nowS) && !trade.rollbackOf,
  )
  if (trades.length === 0) return world
  const reversed = trades.reduce((next, { id }) => reverseTrade(next, { tradeId: id }, nowS).world, world)
  return withAccount(reversed, by, (account) => ({ ...account, restrictedUntilS: nowS + RESTRICTION_S }))
}
