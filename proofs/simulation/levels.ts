import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Core } from '../../gateway/trades/core.ts'
import { type Fault, PURE_FAULTS, REAL_FAULTS } from './faults.ts'
import type { Outcome } from './outcome.ts'
import { runPure } from './pure/run.ts'
import type { Reads } from './real/reads.ts'
import { prepareDatabase, runReal } from './real/run.ts'
import { openSessions } from './real/sessions.ts'

export type LevelName = 'pure' | 'real'

type Rules = {
  /** The faults that the level's seeds must meet together. */
  faults: readonly Fault[]
  /** Deposits per seed. */
  deposits: number
  /** A result is kept only for a run of at least this many seeds. Shorter runs are trials. */
  fewestToKeep: number
  /** Seeds that one thread runs at a time. On the real level, each needs its own server. */
  seedsAtOnce: number
}

export const LEVELS: Record<LevelName, Rules> = {
  pure: { faults: PURE_FAULTS, deposits: 100, fewestToKeep: 1_000, seedsAtOnce: 1 },
  real: { faults: REAL_FAULTS, deposits: 20, fewestToKeep: 100, seedsAtOnce: 2 },
}

/** Written by `npm run prove -- simulate --level real --choose`. */
export const CHOSEN_SEEDS_FILE = join(import.meta.dirname, 'real/seeds.json')

/** The fewest seeds of the real level that together met every fault when they were chosen. */
export const chosenSeeds = (): number[] =>
  z.array(z.number()).parse(JSON.parse(readFileSync(CHOSEN_SEEDS_FILE, 'utf8')))

/** `reads`: on the real level only. */
type SeedOptions = { core?: Core; reads?: Reads; keepTrace?: boolean }

export type RunSeed = (seed: number, options?: SeedOptions) => Promise<Outcome>

export const runPureSeed: RunSeed = async (seed, options = {}) =>
  runPure({ seed, deposits: LEVELS.pure.deposits, ...options })

/** Gives each running seed one of the migrated databases, which are on separate servers. Their data is deleted. */
export async function realSeeds(urls: readonly string[]): Promise<RunSeed> {
  await Promise.all(urls.map(prepareDatabase))
  const freeSessions = urls.map(openSessions)
  return async (seed, options = {}) => {
    const sessions = freeSessions.pop()
    if (sessions === undefined) throw new Error(`only ${urls.length} seeds can run at a time`)
    try {
      return await runReal({ sessions, seed, deposits: LEVELS.real.deposits, ...options })
    } finally {
      freeSessions.push(sessions)
    }
  }
}

/** At most this many seeds run until every fault is met. After that, a fault counts as unmet. */
const MOST_SEEDS = 50

/** Runs the seeds `first`, then others one at a time until every fault is met. Stops when a promise is broken. */
export async function runUntilMet(
  level: LevelName,
  run: RunSeed,
  first: readonly number[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const others = Array.from({ length: MOST_SEEDS }, (_, index) => index + 1)
  for (const seed of new Set([...first, ...others])) {
    const isMet = outcomes.length >= first.length && unmet(level, outcomes).length === 0
    if (isMet || outcomes.length >= MOST_SEEDS) break
    const outcome = await run(seed)
    outcomes.push(outcome)
    if (outcome.violation !== undefined) break
  }
  return outcomes
}

/** Returns the faults of a level that none of its seeds met. */
export function unmet(level: LevelName, outcomes: readonly Pick<Outcome, 'faults'>[]): Fault[] {
  return LEVELS[level].faults.filter((fault) => !outcomes.some(({ faults }) => (faults.get(fault) ?? 0) > 0))
}
