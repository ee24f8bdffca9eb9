/** Exchange rates. Pure. Sources send decimals as text; here they are integers times 10^8, never floats. */
import { type Currency, MICROS_PER_CENT } from '../../contract/money.ts'

const RATE_DIGITS = 8
const RATE_ONE = 10n ** BigInt(RATE_DIGITS)

/** The greatest age of a rate that prices an item. */
const MAX_AGE_MS = 48 * 3_600_000
/** The most that a rate may differ from the last accepted one of its source. */
const MAX_JUMP_PERCENT = 20n
/** The source that the others are compared with. */
export const REFERENCE_SOURCE = 'ecb'
/** open.er-api.com, which TRADETILL_PRICE_SOURCES calls `rates`. */
export const RATES_SOURCE = 'er-api'
/** The most that another source may differ from the reference. */
const MAX_APART_PERCENT = 3n
/**
 * Maximum age of the reference. It is not published on weekends and holidays: at Easter, four days in a row.
 */
export const REFERENCE_MAX_AGE_MS = 6 * 24 * 3_600_000

/** No rate of these currencies has left this range for decades. Outside it, a decimal point is probably misplaced. */
const PLAUSIBLE: Record<Currency, { from: bigint; to: bigint }> = {
  USD: { from: RATE_ONE, to: RATE_ONE },
  EUR: { from: RATE_ONE / 2n, to: RATE_ONE * 2n },
  BRL: { from: RATE_ONE, to: RATE_ONE * 50n },
}

/** `perUsd`: units of the currency for one dollar, times 10^8. */
export type Rate = { rateId: bigint; currency: Currency; perUsd: bigint }

export type RateAnswer = { kind: 'rate'; perUsd: bigint } | { kind: 'refused'; reason: RateRefusal }
/** `malformed`: not a plain decimal. `absurd`: outside the plausible range. `stale`: too old. */
export type RateRefusal = 'malformed' | 'absurd' | 'stale'

/** Parses a rate from a source or the database. Refuses an implausible or old one. */
export function readRate(
  currency: Currency,
  { perUsd, asOf, maxAgeMs = MAX_AGE_MS }: { perUsd: string; asOf: Date; maxAgeMs?: number },
  now: Date,
): RateAnswer {
  const value = parseDecimal(perUsd)
  if (value === undefined) return { kind: 'refused', reason: 'malformed' }
  const { from, to } = PLAUSIBLE[currency]
  if (value < from || value > to) return { kind: 'refused', reason: 'absurd' }
  if (now.getTime() - asOf.getTime() > maxAgeMs) return { kind: 'refused', reason: 'stale' }
  return { kind: 'rate', perUsd: value }
}

/**
 * True if the next rate of a source is too far from `known`, its last accepted rate. Must be called only while `known`
 * is recent.
 */
export const isJump = (known: bigint, next: bigint): boolean => isApart(known, next, MAX_JUMP_PERCENT)

function isApart(known: bigint, next: bigint, percent: bigint): boolean {
  const apart = known < next ? next - known : known - next
  return apart * 100n > known * percent
}

/** True if the reference is recent and contradicts the new rate. */
export function isContradicted(
  next: bigint,
  reference: { perUsd: string; asOf: Date } | undefined,
  now: Date,
): boolean {
  if (reference === undefined || now.getTime() - reference.asOf.getTime() > REFERENCE_MAX_AGE_MS) return false
  const referenceRate = parseDecimal(reference.perUsd)
  return referenceRate !== undefined && isApart(referenceRate, next, MAX_APART_PERCENT)
}

/**
 * Computes the units of a currency per dollar, from its units per euro and the dollars per euro. Undefined if either is
 * not a decimal, or if the dollars are zero.
 */
export function crossRate(perEuro: string, dollarsPerEuro: string): string | undefined {
  const [value, dollars] = [parseDecimal(perEuro), parseDecimal(dollarsPerEuro)]
  if (value === undefined || dollars === undefined || dollars === 0n) return undefined
  const digits = String((value * RATE_ONE) / dollars).padStart(RATE_DIGITS + 1, '0')
  return `${digits.slice(0, -RATE_DIGITS)}.${digits.slice(-RATE_DIGITS)}`
}

/** Returns the decimal times 10^8; undefined for any other text. */
function parseDecimal(text: string): bigint | undefined {
  const match = /^(\d{1,10})(?:\.(\d{1,8}))?$/.exec(text)
  if (match === null) return undefined
  return BigInt(match[1] ?? '') * RATE_ONE + BigInt((match[2] ?? '').padEnd(RATE_DIGITS, '0'))
}

/** Micros of a dollar → minor units of the currency, rounded down. All currencies here have two decimals. */
export function toMinorUnits(usdMicros: bigint, perUsd: bigint): bigint {
  return (usdMicros * perUsd) / (RATE_ONE * MICROS_PER_CENT)
}

/** A minimum sum in US cents → minor units of the currency, rounded up. */
export function minimumInMinorUnits(usdCents: number, perUsd: bigint): bigint {
  return (BigInt(usdCents) * perUsd + RATE_ONE - 1n) / RATE_ONE
}
