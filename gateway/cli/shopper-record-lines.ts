import { NOBODY } from '../../contract/steam-id.ts'
import { counted } from '../kit/counted.ts'
import { formatAmount } from '../operations/amount.ts'
import type { ShopperRecord } from '../operations/shoppers.ts'

/** Names the account of a trade or deposit: the number of an erased account belongs to nobody. */
export const accountText = (steamId: string): string => (steamId === NOBODY ? 'erased' : steamId)

export const onReleaseText = ({ since, reversals, tradeId }: NonNullable<ShopperRecord['onRelease']>) => {
  const times = reversals === 1 ? 'once' : `${reversals} times`
  return `credited on release since ${since.toISOString()}: took items back ${times}, last in trade ${tradeId}`
}

export function recordLines({
  steamId,
  name,
  isBot,
  denied,
  history,
  money,
  onRelease,
}: ShopperRecord): string[] {
  const { trades, open, delivered, reversed, declined, stores, firstAt, lastAt } = history
  return [
    `shopper ${steamId}${name === null ? '' : ` (${name})`}${isBot ? ', A BOT OF THIS TILL' : ''}`,
    ...(denied === null ? [] : [`  DENIED since ${denied.deniedAt.toISOString()}: ${denied.reason}`]),
    `  ${counted(trades, 'trade')}, ${delivered} delivered (for ${counted(stores, 'store')}), ${reversed} taken back, ${declined} declined or not accepted, ${open} open`,
    ...(firstAt === null ? [] : [`  first ${firstAt.toISOString()}, last ${lastAt?.toISOString()}`]),
    ...money.map(({ currency, creditedMinor, reversedMinor, heldMinor }) => {
      const [credited, back, held] = [creditedMinor, reversedMinor, heldMinor].map((amount) =>
        formatAmount(amount, currency),
      )
      return `  credited ${credited}, taken back ${back}, held ${held}`
    }),
    ...(onRelease === null ? [] : [`  ${onReleaseText(onRelease)}`]),
  ]
}
