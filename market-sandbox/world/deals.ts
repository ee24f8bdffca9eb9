import { createHash } from 'node:crypto'
import { isBanned, isOnline } from './sellers.ts'
import {
  type Buyer,
  type Change,
  type Deal,
  findSeller,
  HAND_OVER_S,
  type Listing,
  MINUTE_S,
  type World,
  withDeal,
  withItems,
} from './world.ts'

export type BuyAnswer = { kind: 'bought'; deal: Deal } | { kind: 'refused'; error: string }

/** Buys items of one seller and one game. The seller must give them in a single offer. */
export function buyItems(
  world: World,
  { itemIds, buyer, site }: { itemIds: readonly number[]; buyer: Buyer; site: string },
  nowS: number,
): Change<BuyAnswer> {
  const refuse = (error: string): Change<BuyAnswer> => ({ world, answer: { kind: 'refused', error } })
  const items = world.items.filter(({ itemId }) => itemIds.includes(itemId))
  const [first] = items
  if (!first || items.length < itemIds.length) return refuse('There is no such item.')
  if (!items.every(({ status }) => status === 'on_sale')) return refuse('An item is no longer on sale.')
  if (!items.every(({ seller, appId }) => seller === first.seller && appId === first.appId))
    return refuse('The items must be of one seller and one game.')
  const seller = findSeller(world, first.seller)
  if (!seller || !isOnline(seller, nowS)) return refuse('The seller is not online.')
  if (isBanned(seller, nowS)) return refuse('The seller may not sell.')
  const lastId = world.lastId + 1
  const hash = createHash('sha1').update(`deal ${lastId}`).digest('hex')
  const deal: Deal = {
    hash,
    seller: seller.steamId,
    buyer: buyer.steamId,
    appId: first.appId,
    itemIds: items.map(({ itemId }) => itemId),
    message: messageOf(hash, site),
    madeAtS: nowS,
    deadlineS: nowS + HAND_OVER_S,
    state: 'open',
  }
  const sold = items.map((item) => ({ ...item, status: 'sold' as const, hash, changedAtS: nowS }))
  return { world: withDeal(withItems({ ...world, lastId }, sold), deal), answer: { kind: 'bought', deal } }
}

/** The message that the market asks for in the offer: four letters and a link. */
function messageOf(hash: string, site: string): string {
  const letters = [...hash.slice(0, 4)]
    .map((digit) => 'ABCDEFGHJKLMNPQR'[Number.parseInt(digit, 16)])
    .join('')
  return `${letters} https://${site}/trade/${hash.slice(0, 10)}/`
}

/** Seconds left to hand over a sold item; 0 once the time is up or the item is given, and for an item without a deal. */
export function secondsLeft(world: World, item: Listing, nowS: number): number {
  const deal = world.deals.find(({ hash }) => hash === item.hash)
  if (!deal || item.status === 'given') return 0
  return Math.max(0, deal.deadlineS - nowS)
}

/** Returns the deals whose items the seller must hand over. */
export function openDeals(world: World, seller: string, appId: number): Deal[] {
  return world.deals.filter((deal) => deal.state === 'open' && deal.seller === seller && deal.appId === appId)
}

/** Records the offer of a deal. Its items wait for the buyer from now on. */
export function markReady(
  world: World,
  { hash, offerId }: { hash: string; offerId: string },
  nowS: number,
): World {
  const deal = world.deals.find((other) => other.hash === hash)
  if (!deal) return world
  const waiting = world.items
    .filter((item) => item.hash === hash && item.status === 'sold')
    .map((item) => ({ ...item, status: 'waiting' as const, changedAtS: nowS }))
  return withDeal(withItems(world, waiting), { ...deal, offerId, readyAtS: deal.readyAtS ?? nowS })
}

/**
 * Records that the seller, not the buyer, reverses the deals whose items the seller has given: Steam reverses all
 * protected trades of an account at once.
 */
export function markReversing(world: World, seller: string): World {
  const deals = world.deals.map((deal) =>
    deal.seller === seller && deal.state === 'given' ? { ...deal, reversing: 'seller' as const } : deal,
  )
  return { ...world, deals }
}

/**
 * Returns the listings that passers-by buy: those that have been on sale for at least half a minute, cost no more than
 * the lowest price of other sellers, and have a seller who is online and not banned.
 */
export function listingsForPassers(
  world: World,
  lowestOf: (item: Listing) => number,
  nowS: number,
): Listing[] {
  return world.items.filter((item) => {
    const seller = findSeller(world, item.seller)
    return (
      item.status === 'on_sale' &&
      item.listedAtS + MINUTE_S / 2 <= nowS &&
      item.price <= lowestOf(item) &&
      seller !== undefined &&
      isOnline(seller, nowS) &&
      !isBanned(seller, nowS)
    )
  })
}
