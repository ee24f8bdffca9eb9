import type { ServerResponse } from 'node:http'
import type { Faults } from './faults.ts'
import type { Incoming, Reply } from './http.ts'
import type { Quotas } from './quotas.ts'
import type { Platform } from './tokens.ts'
import type { Tour } from './tour.ts'
import type { Account, World } from './world/world.ts'

/** Delays an answer by this many milliseconds; Infinity delays it forever. */
export type Pause = (ms: number, response: ServerResponse) => Promise<void>

export type LogEntry = { method: string; host: string; path: string }

/**
 * A login that has begun: its account, and whether it was approved. `nextId`: the client id of the QR code that has
 * replaced this one.
 */
export type PendingLogin = {
  requestId: string
  platform: Platform
  steamId?: string
  isApproved: boolean
  nextId?: bigint
}

/** The state that the routes work on. `change` applies a pure function to the world and keeps the result. */
export type Sandbox = {
  url: string
  /** The sandbox's time in seconds: the clock's time plus the time by which people have advanced it. */
  nowS: () => number
  /** The clock's own time, in seconds. The codes of an authenticator depend on it. */
  clockS: () => number
  pause: Pause
  world: () => World
  change: <T>(step: (world: World, nowS: number) => { world: World; answer: T }) => T
  reset: () => void
  faults: Faults
  quotas: Quotas
  log: LogEntry[]
  /** How many requests Steam's hosts got since the last reset, by method, host and path. `*` replaces numbers. */
  counts: Map<string, number>
  /** Logins that have begun, by client id. */
  logins: Map<string, PendingLogin>
  tour: Tour
}

export type Route = (request: Incoming, sandbox: Sandbox) => Reply | undefined

/** The link with which others can send this account an offer. */
export function tradeLink({ accountId, token }: Account): string {
  return `https://steamcommunity.com/tradeoffer/new/?partner=${accountId}&token=${token}`
}

/** The most seconds that time can be ahead of the clock: a hundred years, so no advance leaves the range of dates. */
const MOST_AHEAD_S = 36_500 * 86_400

/** Advances the sandbox's time. Everything that is due by then happens. */
export function advance({ change }: Sandbox, seconds: number): void {
  change((world) => ({ world: aheadBy(world, world.aheadS + seconds), answer: undefined }))
}

/**
 * Advances the sandbox's time to at least this many seconds ahead, to match another clock. A repeated call does
 * nothing.
 */
export function bringAhead({ change }: Sandbox, aheadS: number): void {
  change((world) => ({ world: aheadBy(world, Math.max(world.aheadS, aheadS)), answer: undefined }))
}

const aheadBy = (world: World, aheadS: number): World => ({
  ...world,
  aheadS: Math.min(aheadS, MOST_AHEAD_S),
})
