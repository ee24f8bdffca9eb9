/** Takes listings down, a part at a time. */
import type { Listing } from './book.ts'
import type { createSeller } from './seller.ts'

/** The most listings to take down in one call. */
const MOST_LINES = 50
/** How long to wait before the market is asked again to take the same listings down. */
const AGAIN_MS = 15_000

type Parts = { seller: Pick<ReturnType<typeof createSeller>, 'unlist'>; now(): Date }

/**
 * Returns a function that takes down a part of these listings of a game. Those that the market was already asked to take
 * down may have been sold meanwhile, so they wait until all others have had their turn.
 */
export function createTakeDown({ seller, now }: Parts) {
  /** By game: the listings that the market was asked to take down, and when last. */
  const takingDown = new Map<number, { asked: Set<string>; atMs: number }>()
  return async (appId: number, listings: readonly Listing[]): Promise<void> => {
    const onSale = listings.flatMap(({ state, itemId }) =>
      state === 'on_sale' && itemId !== null ? [itemId] : [],
    )
    if (onSale.length === 0) return void takingDown.delete(appId)
    const nowMs = now().getTime()
    const last = takingDown.get(appId) ?? { asked: new Set(), atMs: nowMs }
    const waiting = onSale.filter((itemId) => !last.asked.has(itemId))
    if (waiting.length === 0 && Math.abs(nowMs - last.atMs) < AGAIN_MS) return
    const itemIds = (waiting.length === 0 ? onSale : waiting).slice(0, MOST_LINES)
    const asked = new Set(waiting.length === 0 ? itemIds : [...last.asked, ...itemIds])
    takingDown.set(appId, { asked, atMs: nowMs })
    await seller.unlist(appId, itemIds)
  }
}
