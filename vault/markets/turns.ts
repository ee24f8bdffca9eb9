/**
 * Which items get a turn to be listed. Each round offers only a few, so without turns, items that no market can list
 * would keep the inventory's later items from being listed.
 */

/** An item waits in the queue of each market account that may list it. */
export type Turns = {
  /** Returns at most `most` items: those whose last turn in one of these queues was longest ago. */
  take<Item extends { assetId: string }>(
    queues: readonly string[],
    items: readonly Item[],
    most: number,
  ): Item[]
}

export function createTurns(): Turns {
  let turn = 0
  /** By queue: the number of the last turn of each item, 0 for none. Forgets items that a later call does not have. */
  const lastTurns = new Map<string, ReadonlyMap<string, number>>()
  return {
    take(queues, items, most) {
      turn += 1
      const lastOf = (queue: string, assetId: string): number => lastTurns.get(queue)?.get(assetId) ?? 0
      const waiting = items.map((item) => ({
        item,
        last: Math.min(...queues.map((queue) => lastOf(queue, item.assetId))),
      }))
      const taken = waiting.sort((one, other) => one.last - other.last).slice(0, most)
      const ids = new Set(taken.map(({ item }) => item.assetId))
      for (const queue of queues) {
        const turns = items.map(
          ({ assetId }) => [assetId, ids.has(assetId) ? turn : lastOf(queue, assetId)] as const,
        )
        lastTurns.set(queue, new Map(turns))
      }
      return taken.map(({ item }) => item)
    },
  }
}
