/** Which items are proposed for an amount. */
import { describe, expect, it } from 'vitest'
import type { Goal, Proposal } from './pick.ts'
import { drawInventory, draws, goalFor, greedy, type Priced, runProposal, solvable } from './test-picks.ts'

/** Returns the value of a proposal after checking its limits. */
function totalOf(items: readonly Priced[], goal: Goal, proposal: Proposal): number {
  if (proposal.kind !== 'found') throw new Error(`nothing was found: ${proposal.kind}`)
  const prices = new Map(items.map(({ id, price }) => [id, price]))
  expect(new Set(proposal.ids).size).toBe(proposal.ids.length)
  expect(proposal.ids.length).toBeLessThanOrEqual(goal.maxItems)
  const total = proposal.ids.reduce((sum, id) => sum + (prices.get(id) ?? Number.NaN), 0)
  expect(proposal.total).toBe(total)
  expect(total).toBeGreaterThanOrEqual(goal.target)
  return total
}

/** Tries all choices, and returns the least total that reaches the target; undefined if no choice does. */
function leastOfAll(items: readonly Priced[], { target, maxItems }: Goal): number | undefined {
  let least: number | undefined
  for (let mask = 1; mask < 1 << items.length; mask += 1) {
    const chosen = items.filter((_, index) => mask & (1 << index))
    const total = chosen.reduce((sum, { price }) => sum + price, 0)
    if (chosen.length <= maxItems && total >= target && total < (least ?? Number.POSITIVE_INFINITY))
      least = total
  }
  return least
}

describe('items for an amount', () => {
  it('match it exactly in at least 950 of 1,000 inventories that have a match of up to ten items', () => {
    const draw = draws(23)
    let exact = 0
    for (let round = 0; round < 1_000; round += 1) {
      const { items, target } = solvable(draw)
      const goal = goalFor(target)
      if (totalOf(items, goal, runProposal(items, goal).proposal) === target) exact += 1
    }
    expect(exact).toBeGreaterThanOrEqual(950)
  })

  it.each([40_000_000, 20_000, 500])(
    'never total more than the greedy choice, even if the search may take only %i steps',
    (mostSteps) => {
      const draw = draws(mostSteps)
      let compared = 0
      for (let round = 0; round < 150; round += 1) {
        const items = drawInventory(1 + draw(400), draw)
        const goal = goalFor(1 + draw(20_000), { maxItems: 1 + draw(50) })
        const { proposal } = runProposal(items, goal, mostSteps)
        const greedyTotal = greedy(items, goal)
        if (greedyTotal === undefined) continue
        compared += 1
        expect(totalOf(items, goal, proposal)).toBeLessThanOrEqual(greedyTotal)
      }
      expect(compared).toBeGreaterThan(50)
    },
  )

  it('are the best of all choices, for inventories small enough to try all', () => {
    const draw = draws(7)
    for (let round = 0; round < 200; round += 1) {
      const items = drawInventory(1 + draw(9), draw)
      const goal = goalFor(1 + draw(4_000), { maxItems: 1 + draw(6) })
      const least = leastOfAll(items, goal)
      const { proposal } = runProposal(items, goal)
      if (least === undefined) expect(proposal.kind).toBe('short')
      else expect(totalOf(items, goal, proposal)).toBe(least)
    }
  })

  it('match an amount that needs 255 items if an offer can have 256 items', () => {
    const fours = Array.from({ length: 300 }, (_, index) => ({ id: `${index}`, price: 4 }))
    const items = [{ id: 'six', price: 6 }, ...fours]
    const goal = goalFor(255 * 4, { maxItems: 256 })
    expect(totalOf(items, goal, runProposal(items, goal).proposal)).toBe(255 * 4)
  })

  it('are the same for the same items in any order', () => {
    const draw = draws(11)
    for (let round = 0; round < 50; round += 1) {
      const items = drawInventory(200, draw)
      const goal = goalFor(500 + draw(9_000))
      const first = runProposal(items, goal).proposal
      expect(runProposal(items.toReversed(), goal).proposal).toEqual(first)
      expect(runProposal(items, goal).proposal).toEqual(first)
    }
  })

  it('are searched for in slices, within the allowed number of steps, even among 10,000 items', () => {
    // Even prices never add up to an odd amount, so the search cannot end early.
    const items = Array.from({ length: 10_000 }, (_, index) => ({ id: `${index}`, price: 2 * (index + 50) }))
    const goal = goalFor(400_001)
    // The allowed steps fill 20 slices.
    const { proposal, slices } = runProposal(items, goal, 3_000_000)
    expect(totalOf(items, goal, proposal)).toBe(400_002)
    expect(slices).toBeLessThanOrEqual(21)
    expect(runProposal(items, goalFor(9_999), 3_000_000).slices).toBeGreaterThan(3)
  })

  const threeItems = [700, 500, 300].map((price, id) => ({ id: String(id), price }))

  it('are not found if even the most valuable items that fit into one offer are worth less', () => {
    expect(runProposal(threeItems, goalFor(1_501)).proposal).toEqual({ kind: 'short', reach: 1_500 })
    expect(runProposal(threeItems, goalFor(1_300, { maxItems: 2 })).proposal).toEqual({
      kind: 'short',
      reach: 1_200,
    })
    expect(runProposal([], goalFor(1)).proposal).toEqual({ kind: 'short', reach: 0 })
  })

  it('are not found if every choice exceeds the deposit’s maximum', () => {
    expect(runProposal(threeItems, goalFor(600, { mostTotal: 650 })).proposal).toEqual({ kind: 'none' })
    expect(runProposal(threeItems, goalFor(600, { mostTotal: 700 })).proposal).toMatchObject({ ids: ['0'] })
  })

  it('are found for an amount above the largest sum that the search keeps', () => {
    const huge = [{ id: 'a', price: 9_000_000_000 }]
    expect(runProposal(huge, goalFor(5_000_000_000)).proposal).toMatchObject({ ids: ['a'] })
  })
})
