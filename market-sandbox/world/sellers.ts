import { createHash } from 'node:crypto'
import type { Currency } from '../games.ts'
import {
  type Change,
  findSeller,
  type Inventory,
  type Owned,
  type Seller,
  type World,
  withSeller,
} from './world.ts'

/** The real market shows a seller as offline 3 to 4 minutes after the last ping. */
const PING_LIFE_S = 210
/** The market refuses a ping this soon after the last one. */
const PING_EVERY_S = 60
/** On the real market, items show up 10 to 20 seconds after `update-inventory`. */
const INVENTORY_AFTER_S = 12
const KEY_LENGTH = 31

/** Opens an account for a Steam id, or returns the existing one. A deleted key is replaced. */
export function openAccount(
  world: World,
  { steamId, currency }: { steamId: string; currency: Currency },
): Change<Seller> {
  const known = findSeller(world, steamId)
  if (known && !known.keyDeleted) return { world, answer: known }
  const key = createHash('sha256').update(`${steamId}/${world.lastId}`).digest('hex').slice(0, KEY_LENGTH)
  const lastId = world.lastId + 1
  if (known) {
    const renewed = { ...known, key, keyDeleted: false }
    return { world: withSeller({ ...world, lastId }, renewed), answer: renewed }
  }
  const seller: Seller = {
    steamId,
    key,
    keyDeleted: false,
    currency,
    onlineUntilS: 0,
    free: 0,
    settling: 0,
    inventories: [],
    missed: 0,
    bannedUntilS: 0,
    blocked: [],
  }
  return { world: { ...world, lastId, sellers: [...world.sellers, seller] }, answer: seller }
}

export function isOnline(seller: Seller, nowS: number): boolean {
  return seller.onlineUntilS > nowS && seller.isPaused !== true
}

export function isBanned(seller: Seller, nowS: number): boolean {
  return seller.bannedUntilS > nowS
}

export function banAccount(world: World, steamId: string, untilS: number) {
  const sellers = world.sellers.map((seller) =>
    seller.steamId === steamId ? { ...seller, bannedUntilS: untilS } : seller,
  )
  return { world: { ...world, sellers }, answer: undefined }
}

export function recordPing(seller: Seller, accessToken: string, nowS: number): Seller {
  return { ...seller, accessToken, pingedAtS: nowS, onlineUntilS: nowS + PING_LIFE_S }
}

export function isEarlyPing({ pingedAtS = -Infinity }: Seller, nowS: number): boolean {
  return nowS - pingedAtS < PING_EVERY_S
}

export function inventoryOf(seller: Seller, appId: number): Inventory {
  return seller.inventories.find((inventory) => inventory.appId === appId) ?? { appId, items: [] }
}

function withInventory(seller: Seller, changed: Inventory): Seller {
  const others = seller.inventories.filter(({ appId }) => appId !== changed.appId)
  return { ...seller, inventories: [...others, changed] }
}

/** Asks the market to read the inventory, which it does some seconds later. */
export function askForInventory(seller: Seller, appId: number, nowS: number): Seller {
  const inventory = inventoryOf(seller, appId)
  if (inventory.dueAtS !== undefined) return seller
  return withInventory(seller, { ...inventory, dueAtS: nowS + INVENTORY_AFTER_S })
}

/** The inventories that the market must now read on Steam. */
export function readingsDue(world: World, nowS: number): { seller: Seller; appId: number }[] {
  return world.sellers.flatMap((seller) =>
    seller.inventories
      .filter(({ dueAtS = Infinity }) => dueAtS <= nowS)
      .map(({ appId }) => ({ seller, appId })),
  )
}

/** Records a reading of an inventory. `items`: undefined if Steam did not show them. */
export function recordInventory(
  world: World,
  { steamId, appId, items }: { steamId: string; appId: number; items: Owned[] | undefined },
  nowS: number,
): World {
  const seller = findSeller(world, steamId)
  if (!seller) return world
  const { dueAtS: _, ...known } = inventoryOf(seller, appId)
  const reading = items === undefined ? {} : { items, readAtS: nowS }
  return withSeller(world, withInventory(seller, { ...known, ...reading, triedAtS: nowS }))
}
