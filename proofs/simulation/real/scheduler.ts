/**
 * Decides who goes on. Everything asynchronous in a simulated process waits at a gate of this scheduler, so one
 * statement runs at a time; one that waits for a lock is seen to wait, and the others go on.
 */
import type pg from 'pg'
import type { Engine } from '../engine.ts'

export type Scheduler = {
  /** Runs a statement. Its result is handed over when the scheduler says so. */
  fly<T>(on: Taken, start: () => Promise<T>): Promise<T>
  /** Done before anything else happens: for what the scheduler itself must wait for. */
  meanwhile(work: () => Promise<void>): void
  /** Forgets the statement that waits on this backend; its answer reaches nobody. */
  abandon(pid: number): boolean
  /** Until nothing is left to happen. */
  run(): Promise<void>
}

type Taken = {
  pid: number
  /** Whether it may have to wait for a lock. */
  mayWait: boolean
  /** Whether its end may let go of locks. */
  releases: boolean
}

type Flight = Taken & {
  landed: Promise<void>
  handOver: (() => void) | undefined
  /** Backends that had to end first when it was last looked at. */
  blockers: readonly number[]
  mustLook: boolean
}

/** Nobody asks earlier whether a statement waits for a lock; the longer one, where none should wait, is to be safe. */
const PATIENCE_MS = 3
const LONG_PATIENCE_MS = 1_000

type Deps = {
  engine: Engine
  monitor: pg.ClientBase
  sawLockWait: () => void
  sawCrowd: () => void
  /** Anything but undefined ends the run. */
  failure: () => unknown
}

export function createScheduler({ engine, monitor, sawLockWait, sawCrowd, failure }: Deps): Scheduler {
  let flights: Flight[] = []
  const chores: (() => Promise<void>)[] = []

  async function hasLanded(flight: Flight): Promise<boolean> {
    for (;;) {
      await settledWithin(flight.landed, flight.mayWait ? PATIENCE_MS : LONG_PATIENCE_MS)
      if (flight.handOver !== undefined) return true
      const { rows } = await monitor.query<{ pids: number[] }>('select pg_blocking_pids($1) as pids', [
        flight.pid,
      ])
      flight.blockers = rows[0]?.pids ?? []
      if (flight.blockers.length === 0) continue
      sawLockWait()
      if (!flights.some((other) => isInLineOf(flight, other))) return false
      sawCrowd()
      await monitor.query('select pg_cancel_backend($1)', [flight.pid])
      await flight.landed
      return true
    }
  }

  /** Lets everything that can go on without the engine do so. */
  async function settle(): Promise<void> {
    await turn()
    for (;;) {
      const chore = chores.shift()
      if (chore !== undefined) {
        await chore()
        for (const flight of flights) flight.mustLook = true
        continue
      }
      const flight = flights.find(({ mustLook }) => mustLook)
      if (flight === undefined) return
      flight.mustLook = false
      if (!(await hasLanded(flight))) continue
      flights = flights.filter((other) => other !== flight)
      if (flight.releases) {
        for (const other of flights) other.mustLook ||= other.blockers.includes(flight.pid)
      }
      flight.handOver?.()
      await turn()
    }
  }

  return {
    fly: (on, start) =>
      new Promise((resolve, reject) => flights.push(takeOff(on, start(), { resolve, reject }))),
    meanwhile: (work) => {
      chores.push(work)
    },
    abandon(pid) {
      const before = flights.length
      flights = flights.filter((flight) => flight.pid !== pid)
      return flights.length < before
    },
    async run() {
      do {
        await settle()
        if (failure() !== undefined) throw failure()
      } while (engine.step())
    },
  }
}

type Hand<T> = { resolve(value: T): void; reject(error: unknown): void }

function takeOff<T>(on: Taken, answer: Promise<T>, { resolve, reject }: Hand<T>): Flight {
  const flight: Flight = {
    ...on,
    landed: answer.then(
      (value) => {
        flight.handOver = () => resolve(value)
      },
      (error: unknown) => {
        flight.handOver = () => reject(error)
      },
    ),
    handOver: undefined,
    blockers: [],
    mustLook: true,
  }
  return flight
}

/**
 * Whether a statement stands in the line of another that waits already. All that wait for one transaction go on at the
 * same moment when it ends, and the server does not say who comes first: the later one is cancelled, for a run to be
 * the same each time.
 */
const isInLineOf = (one: Flight, other: Flight): boolean =>
  other !== one &&
  other.blockers.length > 0 &&
  one.blockers.some((pid) => pid === other.pid || other.blockers.includes(pid))

function settledWithin(landed: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    landed.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Until every promise that can go on without the engine has done so. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
