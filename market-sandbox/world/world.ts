/** The saved state of one market, as plain JSON. Times are seconds since 1970; money is in the units of `SCALES`. */
import type { Currency } from '../games.ts'

/** The tempers of buyers, each with its reaction to the seller's offer. */
export const TEMPERS = {
  accepts: 'Accepts 5 seconds after the seller reported the trade as ready.',
  eager: 'Accepts immediately, before the seller reports the trade as ready.',
  late: 'Accepts 8 minutes after the offer was made, after the seller’s time to hand over is up.',
  never: 'Never answers, so the seller must cancel the offer.',
  declines: 'Declines after 10 seconds.',
  counters: 'Answers with a counteroffer after 10 seconds.',
  escrow: 'Accepts while the seller lacks the authenticator, so Steam holds the trade for 15 days.',
  reverses: 'Accepts, and takes the trade back 3 days later if Steam protects it.',
} as const
/** How a buyer reacts to the seller's offer. */
export type Temper = keyof typeof TEMPERS

export function isTemper(value: unknown): value is Temper {
  return typeof value === 'string' && Object.hasOwn(TEMPERS, value)
}

/** A player of the Steam sandbox. */
export type Buyer = { steamId: string; token: string; name: string; temper: Temper }

/** An item in a seller's inventory. */
export type Owned = { assetId: string; classId: string; name: string; tradable: boolean }

/** The market's copy of an inventory. The market reads an inventory only on request, some seconds later. */
export type Inventory = {
  appId: number
  /** When the next reading is due. */
  dueAtS?: number
  /** When the market last read it successfully. */
  readAtS?: number
  /** When the market last tried to read it. */
  triedAtS?: number
  items: Owned[]
}

export type Seller = {
  steamId: string
  key: string
  /** True once the market has deleted the key because of too many requests. */
  keyDeleted: boolean
  currency: Currency
  /** The token of the account's trade link; at Waxpeer, the whole link. */
  tradeToken?: string
  /** The access token of the last ping; at Waxpeer, the last that the seller sent. */
  accessToken?: string
  /** When Waxpeer received the token. */
  tokenAtS?: number
  onlineUntilS: number
  /** True while Waxpeer has taken the account's listings off sale, although its socket is open. */
  isPaused?: true
  /** When the family last accepted a ping. */
  pingedAtS?: number
  /** The balance that can be paid out. */
  free: number
  /** The seller's share of sales that can still be reversed on Steam. */
  settling: number
  inventories: Inventory[]
  /** How many sales were not handed over since one was, or since a ban. Declined and countered offers do not count. */
  missed: number
  bannedUntilS: number
  /** Asset ids that a reversal brought back, each with the time until which it cannot be listed. */
  blocked: { assetId: string; untilS: number }[]
}

/** `waiting`: the seller has reported the offer. `cancelled`: sold, but not given. Taking a listing down deletes it. */
export type ListingStatus = 'on_sale' | 'sold' | 'waiting' | 'given' | 'cancelled'

export type Listing = {
  itemId: number
  seller: string
  appId: number
  assetId: string
  classId: string
  name: string
  price: number
  currency: Currency
  status: ListingStatus
  listedAtS: number
  changedAtS: number
  /** The hash of the deal, once the item is sold. */
  hash?: string
  outcome?: Outcome
}

/**
 * The state of a sale. `settling`: given, but the trade can still be reversed on Steam. `timed_out`: the items were not
 * given, whatever the reason.
 */
export type Outcome = {
  kind: 'settling' | 'paid' | 'timed_out' | 'reversed'
  soldAtS: number
  received: number
  settlesAtS: number
  tradeId: string
  causer?: 'buyer' | 'seller'
  refund?: number
}

/** One purchase by a buyer. A single offer must give all of its items. */
export type Deal = {
  hash: string
  seller: string
  buyer: string
  appId: number
  itemIds: number[]
  message: string
  madeAtS: number
  deadlineS: number
  state: 'open' | 'given' | 'failed'
  /** When the seller reported the offer. */
  readyAtS?: number
  offerId?: string
  /** Set once the seller begins to take the items back. Without it, a reversal counts as the buyer's. */
  reversing?: 'seller'
}

export type World = {
  version: 1
  lastId: number
  /** How far the Steam sandbox's clock was ahead of the machine's at the last check. */
  aheadS: number
  buyers: Buyer[]
  sellers: Seller[]
  items: Listing[]
  deals: Deal[]
}

export const DAY_S = 86_400
export const MINUTE_S = 60
/** How long a seller has to hand over a purchase. */
export const HAND_OVER_S = 5 * MINUTE_S
/** How many items and how many deals to keep at most; older ones are deleted. */
const MOST_KEPT = 5000

export type Change<T> = { world: World; answer: T }

export function emptyWorld(lastId: number): World {
  return { version: 1, lastId, aheadS: 0, buyers: [], sellers: [], items: [], deals: [] }
}

export function isWorld(value: unknown): value is World {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'version') === 1
}

export function findSeller(world: World, steamId: string): Seller | undefined {
  return world.sellers.find((seller) => seller.steamId === steamId)
}

export function withSeller(world: World, changed: Seller): World {
  return {
    ...world,
    sellers: world.sellers.map((seller) => (seller.steamId === changed.steamId ? changed : seller)),
  }
}

/** Changes the account, if there is one. */
export function changeSeller(world: World, steamId: string, change: (seller: Seller) => Seller): World {
  const seller = findSeller(world, steamId)
  return seller ? withSeller(world, change(seller)) : world
}

export function withItems(world: World, changed: readonly Listing[]): World {
  const changedById = new Map(changed.map((item) => [item.itemId, item]))
  const old = new Set(world.items.map(({ itemId }) => itemId))
  const added = changed.filter(({ itemId }) => !old.has(itemId))
  const items = [...world.items.map((item) => changedById.get(item.itemId) ?? item), ...added]
  return { ...world, items: items.slice(-MOST_KEPT) }
}

export function withDeal(world: World, changed: Deal): World {
  const isKnown = world.deals.some(({ hash }) => hash === changed.hash)
  const deals = isKnown
    ? world.deals.map((deal) => (deal.hash === changed.hash ? changed : deal))
    : [...world.deals, changed]
  return { ...world, deals: deals.slice(-MOST_KEPT) }
}

export function itemsOf(world: World, { itemIds }: Deal): Listing[] {
  return world.items.filter(({ itemId }) => itemIds.includes(itemId))
}
