/** The share of a price that a market keeps. Pure. */
import type { Book } from './book.ts'
import { ALL_BP } from './price-policy.ts'

/**
 * The fee that sellers on these markets report, in hundredths of a percent. Used until the market has stated a fee or
 * what it pays for a sale.
 */
const ASSUMED_BP = 500n
/** The highest plausible fee: nobody would sell at a higher one, so a number above it is a lie or an error. */
const MOST_BP = 3_000n
/** Only this many of the latest sales count, because fees change. */
const MOST_SALES = 20

/**
 * The fee according to the payments for the latest sales; else the stated fee; else an assumption. The record drops less
 * than a cent of each payment, which can be a third of a cheap item's price. If this rounding alone explains why the
 * payments show a higher fee than the stated or assumed one, the stated or assumed fee counts.
 */
export function feeOf({ listings }: Pick<Book, 'listings'>, market: string, statedBp: bigint | null): bigint {
  const paid = listings
    .flatMap(({ market: soldOn, priceMinor, end }) =>
      soldOn === market && (end?.kind === 'paid' || end?.kind === 'settling')
        ? [{ priceMinor, receivedMinor: end.receivedMinor }]
        : [],
    )
    .slice(-MOST_SALES)
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n)
  const soldMinor = sum(paid.map(({ priceMinor }) => priceMinor))
  const knownBp = clamp(statedBp ?? ASSUMED_BP)
  if (soldMinor === 0n) return knownBp
  const keptMinor = soldMinor - sum(paid.map(({ receivedMinor }) => receivedMinor))
  const droppedTimesBp = keptMinor * ALL_BP - soldMinor * knownBp
  const isRounding = droppedTimesBp >= 0n && droppedTimesBp < BigInt(paid.length) * ALL_BP
  return isRounding ? knownBp : clamp((keptMinor * ALL_BP + soldMinor - 1n) / soldMinor)
}

function clamp(bp: bigint): bigint {
  if (bp < 0n) return 0n
  return bp > MOST_BP ? MOST_BP : bp
}
