/** A bot's own inventory on the simulated Steam, and items that appear and vanish there without a trade. */
import type { OfferAsset, OwnInventoryAnswer, OwnItem } from '../../gateway/steam/steam.ts'
import { itemsInHand } from './gifts.ts'
import type { SteamMemory } from './steam-memory.ts'

/** How many market names the items of shoppers have. */
const NAMES = 3
const NAME_WITHOUT_TRADE = 'Somebody’s own'
/**
 * The chances that Steam shows only a part and says so, and that it omits an item without saying so. These faults and
 * those of `drift` continue after the others have stopped, because the bots' inventories are read days later.
 */
const IN_PART = 0.25
const LEFT_OUT = 0.15

/** The market name of an item. Several items share a name. */
export const nameOf = ({ assetId }: Pick<OfferAsset, 'assetId'>): string => `Thing ${Number(assetId) % NAMES}`

export function ownInventory(memory: SteamMemory, bot: string, appId: number): OwnInventoryAnswer {
  const { random, faults, lastOmitted, lastInEscrow, shownInFull, engine } = memory
  const ownItems = itemsOf(memory, bot).filter((item) => item.appId === appId)
  if (ownItems.length > 0 && random.chance(IN_PART)) {
    faults.note('own inventory shown in part')
    return { kind: 'items', items: ownItems.filter(() => random.chance(0.5)), isComplete: false }
  }
  const key = inventoryKey(bot, { appId })
  shownInFull.set(key, [...(shownInFull.get(key) ?? []), engine.now()])
  const before = lastInEscrow.get(key)
  lastInEscrow.set(key, inEscrow(memory, bot))
  // Never the same item twice in a row, nor one that was missing before because it was in escrow.
  const mayBeLeftOut = ({ assetId }: OwnItem): boolean =>
    lastOmitted.get(key) !== assetId && !before?.has(assetId)
  const [leftOut] = ownItems.filter(mayBeLeftOut)
  if (leftOut === undefined || !random.chance(LEFT_OUT))
    return { kind: 'items', items: ownItems, isComplete: true }
  lastOmitted.set(key, leftOut.assetId)
  faults.note('own inventory lacking an item')
  return { kind: 'items', items: ownItems.filter((item) => item !== leftOut), isComplete: true }
}

/** The key of a bot's inventory of one game. Steam shows one game at a time. */
export const inventoryKey = (bot: string, { appId }: { appId: number }): string => `${bot}/${appId}`

/** Items that the bot gave in a trade in escrow. Its inventory does not show them. */
const inEscrow = ({ steamTrades }: SteamMemory, bot: string): Set<string> =>
  new Set(
    [...steamTrades.values()].flatMap(({ items }) =>
      items.flatMap(({ place, gift }) =>
        place?.bot === bot && gift?.state === 'in_escrow' ? [place.assetId] : [],
      ),
    ),
  )

function itemsOf({ steamTrades, strayItems, engine }: SteamMemory, bot: string): OwnItem[] {
  const now = engine.now()
  const brought = [...steamTrades.values()].flatMap(({ items, settlesAt }) =>
    items.flatMap(({ asset, place, gift }): OwnItem[] => {
      if (place?.bot !== bot || gift?.state === 'in_escrow') return []
      // Steam shows protected items in context 16.
      const contextId = settlesAt !== null && settlesAt > now ? '16' : '2'
      return [{ appId: asset.appId, contextId, assetId: place.assetId, marketHashName: nameOf(asset) }]
    }),
  )
  const withoutTrade = strayItems
    .filter((each) => each.bot === bot)
    .map(
      ({ appId, assetId }): OwnItem => ({
        appId,
        contextId: '2',
        assetId,
        marketHashName: NAME_WITHOUT_TRADE,
      }),
    )
  return [...brought, ...withoutTrade]
}

/** Makes an item of the bot vanish, or a new one appear, without a trade. */
export function drift(memory: SteamMemory, bot: string): void {
  const { random, faults, strayItems } = memory
  if (random.chance(0.3)) {
    memory.lastId += 1
    strayItems.push({ bot, appId: 570, assetId: String(memory.lastId) })
    faults.note('item without a trade')
    return
  }
  const [item] = itemsInHand(memory, bot)
  if (item === undefined) return
  item.place = null
  item.isVanished = true
  faults.note('item that vanished')
}
