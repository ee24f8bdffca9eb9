/** Random inventories, and choices to compare a proposal with. */
import { type Goal, type Proposal, propose } from './pick.ts'

export type Priced = { id: string; price: number }

/** Returns a seeded generator of integers from 0 to `below` - 1. The two constants are those of Numerical Recipes. */
export function draws(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Returns many cheap items and few expensive ones, like a real inventory, in cents. Some prices repeat, as in stacks. */
export function drawInventory(count: number, draw: (below: number) => number): Priced[] {
  return Array.from({ length: count }, (_, index) => {
    const most = [60, 300, 1_500, 9_000][draw(4)] ?? 60
    return { id: String(index), price: draw(3) === 0 ? 11 + draw(8) * 7 : 11 + draw(most) }
  })
}

/** Returns an inventory, and the total of one to ten of its items, at most 100 dollars. */
export function solvable(draw: (below: number) => number): { items: Priced[]; target: number } {
  const items = drawInventory(12 + draw(300), draw)
  const rest = [...items]
  let target = 0
  for (let wanted = 1 + draw(10); wanted > 0; wanted -= 1) {
    const [item] = rest.splice(draw(rest.length), 1)
    if (item !== undefined && target + item.price <= 10_000) target += item.price
  }
  return { items, target }
}

export const goalFor = (target: number, change: Partial<Goal> = {}): Goal => ({
  target,
  maxItems: 50,
  mostTotal: null,
  ...change,
})

/** Returns the proposal, and the number of slices into which the search for it was cut. */
export function runProposal(
  items: readonly Priced[],
  goal: Goal,
  mostSteps?: number,
): { proposal: Proposal; slices: number } {
  const work = propose(items, goal, mostSteps)
  let slices = 1
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return { proposal: step.value, slices }
    slices += 1
  }
}

/**
 * Picks the most expensive item that fits, repeatedly, then the cheapest that closes the gap. Returns the total;
 * undefined if the gap stays open.
 */
export function greedy(items: readonly Priced[], { target, maxItems }: Goal): number | undefined {
  const untaken = items.toSorted((a, b) => b.price - a.price)
  let total = 0
  let count = 0
  for (const item of [...untaken]) {
    if (count === maxItems || total + item.price > target) continue
    total += item.price
    count += 1
    untaken.splice(untaken.indexOf(item), 1)
  }
  if (total === target) return total
  const closing = untaken.findLast(({ price }) => total + price >= target)
  return closing === undefined || count === maxItems ? undefined : total + closing.price
}
