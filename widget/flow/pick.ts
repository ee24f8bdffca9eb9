/**
 * Proposes items for an amount: the lowest total that reaches it, with no more items than one offer may have. Pure. The
 * order of the items makes no difference. The work is limited to a number of steps, so among very many items, or for a
 * very large amount, the total may be above the lowest.
 */
import type { Item } from '../../contract/widget-api.ts'

/** Amounts in minor units. `mostTotal`: the most that the deposit takes; null for no limit. */
export type Goal = { target: number; maxItems: number; mostTotal: number | null }

export type Proposal =
  | { kind: 'found'; ids: readonly string[]; total: number }
  /** No offer of these items reaches the amount; `reach` is the most that an offer of them can be worth. */
  | { kind: 'short'; reach: number }
  /** Every choice found that reaches the amount exceeds the most that the deposit takes. */
  | { kind: 'none' }

type Priced = Pick<Item, 'id' | 'price'>
type Choice = { items: readonly Priced[]; total: number }

/** About a tenth of a second on a desktop. */
const MOST_STEPS = 40_000_000
/** About one frame on a phone. */
const SLICE_STEPS = 150_000
/** The most sums and chains of items that `leastSum` keeps: tens of megabytes. */
const MOST_SUMS = 4_000_000
const MOST_CHAINS = 1_000_000

/** Yields between slices of its work, so the page stays responsive. */
export function* propose(
  items: readonly Priced[],
  goal: Goal,
  mostSteps = MOST_STEPS,
): Generator<void, Proposal> {
  const descending = items.filter(({ price }) => price > 0).toSorted(byWorth)
  const reach = totalOf(descending.slice(0, goal.maxItems))
  if (reach < goal.target) return { kind: 'short', reach }
  const quick = quickChoice(descending, goal)
  const best = quick.total === goal.target ? quick : yield* improve(descending, { goal, quick, mostSteps })
  if (goal.mostTotal !== null && best.total > goal.mostTotal) return { kind: 'none' }
  return { kind: 'found', ids: best.items.toSorted(byWorth).map(({ id }) => id), total: best.total }
}

const byWorth = (a: Priced, b: Priced): number => b.price - a.price || (a.id < b.id ? -1 : 1)
const totalOf = (items: readonly Priced[]): number => items.reduce((sum, { price }) => sum + price, 0)
/** Returns the choice with the lower total or, of equal totals, with fewer items. */
const cheaper = (one: Choice, other: Choice): Choice =>
  other.total < one.total || (other.total === one.total && other.items.length < one.items.length)
    ? other
    : one

/** Picks as a person would: the most expensive item that fits, repeatedly, then one more to close the gap. */
function quickChoice(descending: readonly Priced[], goal: Goal): Choice {
  let best = closeGap(descending, [], goal)
  const taken: Priced[] = []
  let left = goal.target
  for (const item of descending) {
    if (item.price > left) continue
    taken.push(item)
    left -= item.price
    const choice = closeGap(descending, taken, goal)
    if (choice !== undefined && (best === undefined || cheaper(best, choice) === choice)) best = choice
    if (left === 0 || taken.length === goal.maxItems) break
  }
  const fallback = mostExpensiveFirst(descending, goal)
  return best === undefined ? fallback : cheaper(best, fallback)
}

/** Returns `taken` and the cheapest item that closes the gap; undefined if there is none. */
function closeGap(
  descending: readonly Priced[],
  taken: readonly Priced[],
  { target, maxItems }: Goal,
): Choice | undefined {
  const total = totalOf(taken)
  if (total >= target) return { items: [...taken], total }
  if (taken.length === maxItems) return undefined
  // Prices descend, so the last item that is worth enough and not taken is the cheapest.
  let low = 0
  let high = descending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((descending[middle]?.price ?? 0) >= target - total) low = middle + 1
    else high = middle
  }
  const used = new Set(taken)
  for (let index = low - 1; index >= 0; index -= 1) {
    const item = descending[index]
    if (item !== undefined && !used.has(item)) return { items: [...taken, item], total: total + item.price }
  }
  return undefined
}

/**
 * Picks the most expensive first, so it succeeds whenever any choice does. The last item is the cheapest that suffices.
 */
function mostExpensiveFirst(descending: readonly Priced[], goal: Goal): Choice {
  const taken: Priced[] = []
  let total = 0
  for (const item of descending.slice(0, goal.maxItems)) {
    if (total + item.price >= goal.target) break
    taken.push(item)
    total += item.price
  }
  return closeGap(descending, taken, goal) ?? { items: taken, total }
}

type Search = { goal: Goal; quick: Choice; mostSteps: number }

/**
 * Finds the choice with the least excess if the steps suffice. Otherwise keeps the most expensive items of the quick
 * choice and searches for the rest of the amount among as many of the other items as the steps allow.
 */
function* improve(
  descending: readonly Priced[],
  { goal, quick, mostSteps }: Search,
): Generator<void, Choice> {
  const kept: Priced[] = []
  let { target } = goal
  let limit = quick.total - 1
  const rest = () => descending.filter((item) => !kept.includes(item) && item.price < target)
  for (const item of quick.items.toSorted(byWorth)) {
    if (withoutSurplus(rest(), limit).length * target <= mostSteps || item.price >= target) break
    kept.push(item)
    target -= item.price
    limit -= item.price
  }
  const maxItems = goal.maxItems - kept.length
  const candidates = thinOut(withoutSurplus(rest(), limit), Math.max(1, Math.floor(mostSteps / target)))
  const found = yield* leastSum(candidates, { target, limit, maxItems })
  if (found === undefined) return quick
  const items = [...kept, ...found]
  return cheaper(quick, { items, total: totalOf(items) })
}

/** Keeps only as many items of one price as fit into the limit: more of them change nothing. */
function withoutSurplus(items: readonly Priced[], limit: number): readonly Priced[] {
  const counts = new Map<number, number>()
  return items.filter(({ price }) => {
    const count = (counts.get(price) ?? 0) + 1
    counts.set(price, count)
    return count * price <= limit
  })
}

/** Returns at most `most` items, spread evenly over the prices. */
function thinOut(items: readonly Priced[], most: number): readonly Priced[] {
  if (items.length <= most) return items
  const step = items.length / most
  return Array.from({ length: most }, (_, index) => items[Math.floor(index * step)]).filter(
    (item) => item !== undefined,
  )
}

type Bounds = { target: number; limit: number; maxItems: number }

/**
 * Returns the items with the least sum from `target` to `limit`, or undefined. Keeps, for every sum, the fewest items
 * that make it, as a chain of the item added last and the chain before it.
 */
function* leastSum(
  items: readonly Priced[],
  { target, limit, maxItems }: Bounds,
): Generator<void, readonly Priced[] | undefined> {
  if (limit < target || limit > MOST_SUMS || maxItems < 1) return undefined
  // Marks a sum that no items make. No offer has this many items.
  const NONE = 65_535
  const counts = new Uint16Array(limit + 1).fill(NONE)
  const chainOf = new Int32Array(limit + 1).fill(-1)
  counts[0] = 0
  const chains: { item: number; before: number }[] = []
  let reached = 0
  let steps = 0
  for (const [index, { price }] of items.entries()) {
    const highestSum = Math.min(reached, target - 1, limit - price)
    for (let sum = highestSum; sum >= 0; sum -= 1) {
      const count = (counts[sum] ?? NONE) + 1
      if (count > maxItems || count >= (counts[sum + price] ?? NONE)) continue
      counts[sum + price] = count
      chainOf[sum + price] = chains.push({ item: index, before: chainOf[sum] ?? -1 }) - 1
    }
    reached = Math.min(limit, reached + price)
    steps += highestSum + 1
    if (counts[target] !== NONE || chains.length > MOST_CHAINS) break
    if (steps < SLICE_STEPS) continue
    steps = 0
    yield
  }
  const sum = counts.findIndex((count, at) => at >= target && count !== NONE)
  if (sum < 0) return undefined
  const chosen: Priced[] = []
  for (let at = chainOf[sum] ?? -1; at >= 0; at = chains[at]?.before ?? -1) {
    const item = items[chains[at]?.item ?? -1]
    if (item !== undefined) chosen.push(item)
  }
  return chosen
}
