/** How many bots each process holds: pure, from the processes that live and the bots that there are. */

export type LiveProcess = { owner: string; maxBots: number }

/** The bots that find no place although every process holds as many as it may; 0 while no process runs. */
export function homeless(processes: readonly LiveProcess[], bots: number): number {
  if (processes.length === 0) return 0
  const places = processes.reduce((sum, { maxBots }) => sum + maxBots, 0)
  return Math.max(0, bots - places)
}

/** An even share, rounded up; more where others may not hold so many. */
export function shareOf(owner: string, processes: readonly LiveProcess[], bots: number): number {
  // From the smallest room to the largest: what one cannot hold is left to those after it.
  const bySize = processes.toSorted((a, b) => a.maxBots - b.maxBots)
  let left = bots
  for (const [index, { owner: one, maxBots }] of bySize.entries()) {
    const even = Math.ceil(left / (bySize.length - index))
    // Those after it may hold at least as many as it, so nothing is left over at an even share.
    if (maxBots >= even) return even
    if (one === owner) return maxBots
    left -= maxBots
  }
  return 0
}
