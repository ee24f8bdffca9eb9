/**
 * `npm run bench -- pick`: how often proposed items match an amount exactly, in 1,000 random inventories for each of
 * three seeds, compared with a person's choice. Every inventory has up to ten items that add up to the amount exactly.
 * Also measures how long a proposal takes.
 */
import { draws, goalFor, greedy, runProposal, solvable } from '../widget/flow/test-picks.ts'
import { type Outcome, percentile95 } from './outcome.ts'

const INVENTORIES = 1_000
/** In at least this many inventories of a seed, the proposal must match the amount exactly. */
const LEAST_EXACT = 950
const SEEDS = [23, 1_042, 7_919]

export async function benchPick(): Promise<Outcome> {
  const runs = SEEDS.map((seed) => measureSeed(seed))
  for (const [index, { exact, byHand, worse, tookMs }] of runs.entries())
    console.log(
      `pick: seed ${SEEDS[index]}: exact in ${exact} of ${INVENTORIES}, by hand in ${byHand}; worse than by hand in ` +
        `${worse}; ${percentile95(tookMs).toFixed(1)} ms of CPU at the 95th percentile, the slowest ${Math.max(...tookMs).toFixed(0)} ms`,
    )
  const exact = Math.min(...runs.map((run) => run.exact))
  const byHand = Math.max(...runs.map((run) => run.byHand))
  const worse = Math.max(...runs.map((run) => run.worse))
  return {
    name: 'pick',
    ours: `${exact}exact`,
    floor: `${byHand}exact`,
    limit: `>=${LEAST_EXACT},0worse`,
    passed: exact >= LEAST_EXACT && worse === 0,
  }
}

function measureSeed(seed: number) {
  const draw = draws(seed)
  const run = { exact: 0, byHand: 0, worse: 0, tookMs: [] as number[] }
  for (let round = 0; round < INVENTORIES; round += 1) {
    const { items, target } = solvable(draw)
    const goal = goalFor(target)
    const before = process.cpuUsage()
    const { proposal } = runProposal(items, goal)
    const { user, system } = process.cpuUsage(before)
    run.tookMs.push((user + system) / 1_000)
    const total = proposal.kind === 'found' ? proposal.total : Number.POSITIVE_INFINITY
    const handTotal = greedy(items, goal)
    if (total === target) run.exact += 1
    if (handTotal === target) run.byHand += 1
    if (handTotal !== undefined && total > handTotal) run.worse += 1
  }
  return run
}
