/** The worth of a trade's items and of its lost credit. Pure. Amounts are minor units. */

type Worth = { price: bigint; gross: bigint }

export function worthOf(
  items: ReadonlyMap<string, Worth>,
  assetIds: readonly string[],
): { total: bigint; gross: bigint } {
  let [total, gross] = [0n, 0n]
  for (const assetId of assetIds) {
    const worth = items.get(assetId)
    if (worth === undefined) throw new Error(`asset ${assetId} is not part of this trade`)
    total += worth.price
    gross += worth.gross
  }
  return { total, gross }
}

/**
 * `total`: the entire credit. `atRisk`: the part given before the protection ended. `held`: the part held now.
 * `reversed`: what reversals have taken.
 */
type Credit = { total: bigint; held: bigint; reversed: bigint; atRisk: bigint }

/**
 * Credit at risk that reversals took: the reversed amount without the part that was taken from held credit. Only for a
 * trade whose credit is not released yet.
 */
export const lostOf = ({ total, held, reversed, atRisk }: Credit): bigint =>
  reversed - (total - atRisk - held)
