/** A simulated process. It does several things at once, can pause, can have a wrong clock, and can die at any wait. */

import type { Random } from '../random.ts'
import type { Engine } from './engine.ts'
import type { Faults } from './faults.ts'

export type Sim = { engine: Engine; random: Random; faults: Faults }

export type Restartable = {
  name: string
  /** The number of its current run. After a crash it begins a new run. Work of earlier runs never continues. */
  run: number
  isAlive: boolean
  pausedUntil: number
  /** Functions to call when its pause ends. */
  wakers: Set<() => void>
  /** The error of its clock, in milliseconds. */
  skewMs: number
}

/** Waits for a random time in this range of milliseconds, and then until the process runs. */
export type Gate = (low: number, high: number) => Promise<void>

/** Thrown if a job lost its connection or its process. The job is repeated. */
export class JobFailed extends Error {}

export const newRestartable = (name: string): Restartable => ({
  name,
  run: 1,
  isAlive: true,
  pausedUntil: 0,
  wakers: new Set(),
  skewMs: 0,
})

/** The probabilities of a crash and of a pause, per wait. */
const CRASH = 0.0004
const PAUSE = 0.0004
export const LONGEST_PAUSE_MS = 240_000

/** Resolves after `ms`, once the process runs. Never resolves if the process dies first. Dying here calls `onCrash`. */
export function waitForTurn(
  { engine, random, faults }: Sim,
  process: Restartable,
  { ms, onCrash }: { ms: number; onCrash: () => void },
): Promise<void> {
  const { run } = process
  return new Promise((resolve) => {
    const sleep = () => {
      const wake = () => {
        if (process.wakers.delete(wake)) turn()
      }
      process.wakers.add(wake)
      engine.at(process.pausedUntil, wake)
    }
    const turn = () => {
      if (!process.isAlive || process.run !== run) return
      if (process.pausedUntil > engine.now()) return sleep()
      if (faults.strike('crash', CRASH)) {
        process.isAlive = false
        return onCrash()
      }
      if (faults.strike('paused lease holder', PAUSE)) {
        process.pausedUntil = engine.now() + random.between(5_000, LONGEST_PAUSE_MS)
        return sleep()
      }
      engine.noteResumed()
      resolve()
    }
    engine.after(ms, turn)
  })
}

/** Ends a pause early: work under way continues at once. */
export function endPause(process: Restartable): void {
  process.pausedUntil = 0
  for (const wake of [...process.wakers]) wake()
}

export function revive(process: Restartable): void {
  if (process.isAlive) return
  process.isAlive = true
  process.run += 1
  process.skewMs = 0
}
