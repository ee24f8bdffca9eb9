import type { Currency } from './games.ts'
import type { Market } from './sandbox.ts'

/** The names of all items that anyone offers. */
export const offeredNames = ({ prices, world }: Market): Set<string> =>
  new Set([
    ...prices.names(),
    ...world().items.flatMap((item) => (item.status === 'on_sale' ? [item.name] : [])),
  ])

/**
 * The lowest price at which anyone offers the item, in the market's integer units, such as thousandths of a dollar
 * (`SCALES` in games.ts).
 */
export function lowestAsk({ prices, world }: Market, name: string, currency: Currency): number {
  const listed = world().items.filter(
    (item) => item.status === 'on_sale' && item.name === name && item.currency === currency,
  )
  return Math.min(prices.lowest(name, currency), ...listed.map(({ price }) => price))
}
