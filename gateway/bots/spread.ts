/** How many bots each process should hold, from the live processes and the number of bots. Pure. */

export type LiveProcess = { owner: string; maxBots: number }

/** Number of bots left over when every process holds its maximum; 0 while no process runs. */
export function botsWithoutRoom(processes: readonly LiveProcess[], bots: number): number {
  if (processes.length === 0) return 0
  const places = processes.reduce((sum, { maxBots }) => sum + maxBots, 0)
  return Math.max(0, bots - places)
}

/** An even share, rounded up; less if this process cannot hold that many, more if others cannot. */
export function shareOf(owner: string, processes: readonly LiveProcess[], bots: number): number {
  // From the smallest capacity to the largest: later processes get what earlier ones cannot hold.
  const bySize = processes.toSorted((a, b) => a.maxBots - b.maxBots)
  let botsLeft = bots
  for (const [index, { owner: candidate, maxBots }] of bySize.entries()) {
    const evenShare = Math.ceil(botsLeft / (bySize.length - index))
    // All later processes can hold at least as many, so an even share leaves nothing over.
    if (maxBots >= evenShare) return evenShare
    if (candidate === owner) return maxBots
    botsLeft -= maxBots
  }
  return 0
}
