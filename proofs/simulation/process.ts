/** A simulated process. It does several things at once, can pause, has a wrong clock, and can die at any wait. */

import type { Random } from '../random.ts'
import type { Engine } from './engine.ts'
import type { Faults } from './faults.ts'

export type Sim = { engine: Engine; random: Random; faults: Faults }

export type Life = {
  name: string
  /** The number of its current life. A crash begins a new life, and work of earlier lives never continues. */
  life: number
  alive: boolean
  pausedUntil: number
  /** Called when the pause ends. */
  asleep: Set<() => void>
  /** The error of its clock, in milliseconds. */
  skewMs: number
}

/** Waits for the process's turn, for a random time in this range of milliseconds. */
export type Gate = (low: number, high: number) => Promise<void>

/** Thrown if the connection or the process of a job broke. The job is repeated. */
export class JobFailed extends Error {}

export const bornAs = (name: string): Life => ({
  name,
  life: 1,
  alive: true,
  pausedUntil: 0,
  asleep: new Set(),
  skewMs: 0,
})

const CRASH = 0.0004
const PAUSE = 0.0004
export const LONGEST_PAUSE_MS = 240_000

/** Resolves after this time, once the process runs; never if it dies before. Calls `crashed` if it dies here. */
export function waitForTurn(
  { engine, random, faults }: Sim,
  process: Life,
  { ms, crashed }: { ms: number; crashed: () => void },
): Promise<void> {
  const { life } = process
  return new Promise((resolve) => {
    const sleep = () => {
      const wake = () => {
        if (process.asleep.delete(wake)) turn()
      }
      process.asleep.add(wake)
      engine.at(process.pausedUntil, wake)
    }
    const turn = () => {
      if (!process.alive || process.life !== life) return
      if (process.pausedUntil > engine.now()) return sleep()
      if (faults.strike('crash', CRASH)) {
        process.alive = false
        return crashed()
      }
      if (faults.strike('paused lease holder', PAUSE)) {
        process.pausedUntil = engine.now() + random.between(5_000, LONGEST_PAUSE_MS)
        return sleep()
      }
      engine.stir()
      resolve()
    }
    engine.after(ms, turn)
  })
}

/** Ends a pause early. Work under way holds connections, so it continues now. */
export function rouse(process: Life): void {
  process.pausedUntil = 0
  for (const wake of [...process.asleep]) wake()
}

export function revive(process: Life): void {
  if (process.alive) return
  process.alive = true
  process.life += 1
  process.skewMs = 0
}
