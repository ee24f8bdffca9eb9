import { inventoryOf, isBanned } from './sellers.ts'
import { type Listing, type Seller, type World, withItems } from './world.ts'

type Line = { assetId: string; price: number }
export type ListAnswer = { kind: 'listed'; item: Listing } | { kind: 'refused'; error: string }

const LIVE = new Set(['on_sale', 'sold', 'waiting'])
/** In the market's integer units: 100,000 dollars. */
const MOST_PRICE = 100_000_000

/** True while the item is on sale, or sold and not handed over yet. */
export function isLive({ status }: Listing): boolean {
  return LIVE.has(status)
}

export function isPrice(price: number): boolean {
  return Number.isInteger(price) && price > 0 && price <= MOST_PRICE
}

export function listItem(
  world: World,
  { seller, appId, line }: { seller: Seller; appId: number; line: Line },
  nowS: number,
): { world: World; answer: ListAnswer } {
  const refuse = (error: string) => ({ world, answer: { kind: 'refused' as const, error } })
  if (!/^\d{1,20}$/.test(line.assetId)) return refuse('bad_input')
  if (!isPrice(line.price)) return refuse('bad_request')
  const inventory = inventoryOf(seller, appId)
  if (inventory.readAtS === undefined) return refuse('inventory_not_loaded')
  const owned = inventory.items.find(({ assetId }) => assetId === line.assetId)
  if (!owned?.tradable) return refuse('item_not_in_inventory')
  const isListed = world.items.some(
    (item) =>
      item.seller === seller.steamId && item.appId === appId && item.assetId === line.assetId && isLive(item),
  )
  if (isListed) return refuse('item_not_inserted')
  if (seller.blocked.some(({ assetId, untilS }) => assetId === line.assetId && untilS > nowS))
    // The market's own spelling.
    return refuse('item_not_recieved')
  if (isBanned(seller, nowS)) return refuse('item_not_inserted')
  const item: Listing = {
    itemId: world.lastId + 1,
    seller: seller.steamId,
    appId,
    assetId: owned.assetId,
    classId: owned.classId,
    name: owned.name,
    price: line.price,
    currency: seller.currency,
    status: 'on_sale',
    listedAtS: nowS,
    changedAtS: nowS,
  }
  return { world: withItems({ ...world, lastId: item.itemId }, [item]), answer: { kind: 'listed', item } }
}

/** Changes a listing's price; 0 takes it off sale. Sold items cannot be changed. */
export function priceItem(
  world: World,
  { seller, itemId, price }: { seller: string; itemId: number; price: number },
  nowS: number,
): { world: World; answer: boolean } {
  const item = world.items.find((other) => other.itemId === itemId && other.seller === seller)
  if (item?.status !== 'on_sale' || (price !== 0 && !isPrice(price))) return { world, answer: false }
  if (price === 0) return { world: without(world, [item]), answer: true }
  return { world: withItems(world, [{ ...item, price, changedAtS: nowS }]), answer: true }
}

/** Takes all items of a game off sale. Returns their number. */
export function unlistAll(
  world: World,
  { seller, appId }: { seller: string; appId: number },
): { world: World; answer: number } {
  const removed = world.items.filter(
    (item) => item.seller === seller && item.appId === appId && item.status === 'on_sale',
  )
  return { world: without(world, removed), answer: removed.length }
}

function without(world: World, removed: readonly Listing[]): World {
  return { ...world, items: world.items.filter((item) => !removed.includes(item)) }
}
