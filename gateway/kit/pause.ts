/** Waits that can end early. */
import { setTimeout as delay } from 'node:timers/promises'

/** Resolves to true after `ms`, or to false as soon as `signal` aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<boolean> =>
  delay(ms, !signal.aborted, { signal }).catch(() => false)

/** Waits for the work, but no longer than `ms`: then resolves to undefined, and the work goes on. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), ms)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
