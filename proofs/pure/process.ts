/** Processes that do several things at once, stand still, and die at any moment. */

import type { Sim } from './steam.ts'

/** Each number that it yields is how many milliseconds it waits. */
export type Task<T = void> = Generator<number, T, void>

/** Something that belongs to the day's work of a process went wrong; the job is tried again. */
export class JobFailed extends Error {}

export type Process = {
  name: string
  /** Each life after a crash is another one: what an earlier one was about is forgotten. */
  life: number
  alive: boolean
  pausedUntil: number
  /** How far its clock is off. */
  skewMs: number
  /** The leases it believes to hold: epoch and end by its own count. */
  leases: Map<number, { epoch: bigint; endsAt: number }>
}

const CRASH = 0.0004
const PAUSE = 0.0004

export function createProcess(name: string): Process {
  return { name, life: 1, alive: true, pausedUntil: 0, skewMs: 0, leases: new Map() }
}

/** Runs a task in a process until it ends, fails, or the process dies. */
export function run(sim: Sim, process: Process, task: Task, failed: () => void = () => {}): void {
  const { engine, random, faults } = sim
  const { life } = process
  const resume = () => {
    if (!process.alive || process.life !== life) return
    if (process.pausedUntil > engine.now()) return engine.at(process.pausedUntil, resume)
    if (faults.strike('crash', CRASH)) return crash(sim, process)
    if (faults.strike('paused lease holder', PAUSE)) {
      process.pausedUntil = engine.now() + random.between(5_000, 240_000)
      return engine.at(process.pausedUntil, resume)
    }
    try {
      const step = task.next()
      if (step.done !== true) engine.after(step.value, resume)
    } catch (error) {
      if (!(error instanceof JobFailed)) throw error
      failed()
    }
  }
  resume()
}

function crash({ engine, random }: Sim, process: Process): void {
  process.alive = false
  process.leases.clear()
  engine.after(random.between(500, 60_000), () => {
    if (process.alive) return
    process.alive = true
    process.life += 1
    process.skewMs = 0
  })
}

export const timeOf = ({ engine }: Sim, process: Process): Date => new Date(engine.now() + process.skewMs)
