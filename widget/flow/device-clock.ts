/** Times of the server, converted to the clock of the shopper's device. Pure. */
import type { Payment } from '../../contract/widget-api.ts'

/** A smaller difference between two clocks is ignored: the time that the answer took may explain it. */
const TOLERANCE_MS = 10_000

export type Convert = (iso: string) => string

/**
 * Returns a function that converts a time of the server to this device's clock, with which the shopper compares it.
 * `sentMs`: when the server sent the answer, by its own clock; NaN if unknown. `arrivedMs`: when the answer arrived, by
 * the device's clock.
 */
export function deviceClock(sentMs: number, arrivedMs: number): Convert {
  const aheadMs = arrivedMs - sentMs
  const isWrong = Math.abs(aheadMs) > TOLERANCE_MS
  return (iso) => {
    const serverMs = Date.parse(iso)
    return isWrong && !Number.isNaN(serverMs) ? new Date(serverMs + aheadMs).toISOString() : iso
  }
}

/** Converts the only time that the page shows without its date. */
export function inDeviceTime<T extends Partial<Payment>>(body: T, convert: Convert): T {
  const { nextOfferAt } = body
  return nextOfferAt === undefined ? body : { ...body, nextOfferAt: convert(nextOfferAt) }
}
