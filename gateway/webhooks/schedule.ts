/** The retry schedule of webhooks. Pure. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kit/duration.ts'
import type { SendResult } from './sender.ts'

/** The waits before the second, third … attempt; over 75 hours in total. */
const WAITS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/** How many times the till tries to deliver an event, including the first. */
export const ATTEMPTS = WAITS_MS.length + 1

/** The longest wait that a store may ask for by Retry-After. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR_MS
/** The longest wait between two attempts, with its spread. */
export const LONGEST_WAIT_MS = Math.round(1.1 * Math.max(...WAITS_MS))

type Failure = {
  /** Failed attempts so far, at least 1. */
  attempts: number
  /** From the answer's Retry-After. */
  retryAfterMs?: number | undefined
}

/**
 * Returns the milliseconds to wait after a failed attempt; undefined after the last one. `random` in [0, 1) spreads the
 * retries after an outage over a fifth of the wait, so they do not come in one burst.
 */
export function nextWaitMs({ attempts, retryAfterMs = 0 }: Failure, random: number): number | undefined {
  const waitMs = WAITS_MS[attempts - 1]
  if (waitMs === undefined) return undefined
  return Math.max(Math.round(waitMs * (0.9 + random / 5)), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS))
}

/** Reads a Retry-After header, which has seconds or a date. Returns milliseconds, or undefined if it has neither. */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}

/** Like `nextWaitMs`, with the Retry-After of the answer, if there was one. `now`: by the machine's clock. */
export function waitAfterMs(
  result: SendResult,
  { attempts, now }: { attempts: number; now: Date },
  random: number,
): number | undefined {
  const retryAfterMs = result.kind === 'answered' ? readRetryAfter(result.retryAfter, now) : undefined
  return nextWaitMs({ attempts, retryAfterMs }, random)
}
