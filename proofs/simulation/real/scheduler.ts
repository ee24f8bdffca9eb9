/**
 * Decides which process continues. Everything asynchronous in a simulated process waits for this scheduler, so one
 * statement runs at a time. The scheduler notices a statement that waits for a lock, and lets the others continue.
 */
import type pg from 'pg'
import type { Engine } from '../engine.ts'

export type Scheduler = {
  /** Runs a statement. Resolves to its result when the scheduler passes it on. */
  execute<T>(statement: Statement, start: () => Promise<T>): Promise<T>
  /** Runs `work`, for which the engine must wait, before anything else happens. */
  beforeNextStep(work: () => Promise<void>): void
  /** Abandons the statement on this backend, and never passes on its result. Returns false if there is none. */
  abandon(pid: number): boolean
  /** Runs until no event is left. */
  run(): Promise<void>
}

type Statement = {
  /** The process id of the PostgreSQL backend that runs it. */
  pid: number
  /** Whether it may have to wait for a lock. */
  mayWait: boolean
  /** Whether its end may release locks. */
  releases: boolean
}

/** A statement that is running, or whose result is not yet passed on. */
type Flight = Statement & {
  /** Resolves when the server has answered. */
  landed: Promise<void>
  /** Passes the result on; undefined before the answer. */
  handOver: (() => void) | undefined
  /** The backends that blocked it at the last look. */
  blockers: readonly number[]
  mustCheck: boolean
}

/** Time before each check whether a statement waits for a lock. Longer for statements that should never wait. */
const PATIENCE_MS = 3
const LONG_PATIENCE_MS = 1_000

type Deps = {
  engine: Engine
  monitor: pg.ClientBase
  onLockWait: () => void
  /** Called before a statement is cancelled: see `waitsBehind`. */
  onCrowd: () => void
  /** Ends the run if it returns anything but undefined. */
  failure: () => unknown
}

export function createScheduler({ engine, monitor, onLockWait, onCrowd, failure }: Deps): Scheduler {
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
      onLockWait()
      if (!flights.some((other) => waitsBehind(flight, other))) return false
      onCrowd()
      await monitor.query('select pg_cancel_backend($1)', [flight.pid])
      await flight.landed
      return true
    }
  }

  /** Waits until everything that does not need the engine has run. */
  async function settle(): Promise<void> {
    await turn()
    for (;;) {
      const chore = chores.shift()
      if (chore !== undefined) {
        await chore()
        for (const flight of flights) flight.mustCheck = true
        continue
      }
      const flight = flights.find(({ mustCheck }) => mustCheck)
      if (flight === undefined) return
      flight.mustCheck = false
      if (!(await hasLanded(flight))) continue
      flights = flights.filter((other) => other !== flight)
      if (flight.releases) {
        for (const other of flights) other.mustCheck ||= other.blockers.includes(flight.pid)
      }
      flight.handOver?.()
      await turn()
    }
  }

  return {
    execute: (statement, start) =>
      new Promise((resolve, reject) => flights.push(startFlight(statement, start(), { resolve, reject }))),
    beforeNextStep: (work) => {
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

type Settler<T> = { resolve(value: T): void; reject(error: unknown): void }

function startFlight<T>(statement: Statement, answer: Promise<T>, { resolve, reject }: Settler<T>): Flight {
  const flight: Flight = {
    ...statement,
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
    mustCheck: true,
  }
  return flight
}

/**
 * Whether `one` waits for `other` while `other` waits too, or whether both wait for the same transaction. The two could
 * deadlock, or continue in an order that the server does not guarantee. So the later one is cancelled, to make runs
 * repeatable.
 */
const waitsBehind = (one: Flight, other: Flight): boolean =>
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

/** Resolves once every promise that does not need the engine has settled. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
