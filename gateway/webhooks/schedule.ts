/** When a webhook that was not taken is sent again, pure. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Waits before the second, third … attempt: three days in all. */
const WAITS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  4 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
]

/**
 * The wait after `attempts` failed attempts, or undefined when there is no further one. `random` in [0, 1)
 * spreads the retries of an outage over the second half of the wait, so that they do not come in one burst.
 */
export function nextWaitMs(attempts: number, random: number): number | undefined {
  const wait = WAITS_MS[attempts - 1]
  return wait === undefined ? undefined : Math.round(wait * (0.5 + random / 2))
}
