/** How a person reads what is known of Steam accounts. */
import { formatAmount } from '../operations/amount.ts'
import type { ShopperList, ShopperView } from '../operations/shoppers.ts'
import { wordsOf } from './deposit-lines.ts'

const openText = ({ tradeId, depositId, offerId }: ShopperView['openTrades'][number]): string => {
  const offer = offerId === null ? '' : `, offer ${offerId}`
  return `open: trade ${tradeId} of deposit ${depositId}${offer}`
}

const carefulText = ({ since, reversals, tradeId }: Omit<ShopperList['onRelease'][number], 'steamId'>) => {
  const times = reversals === 1 ? 'once' : `${reversals} times`
  return `credited on release since ${since.toISOString()}: took items back ${times}, last of trade ${tradeId}`
}

export const shopperListLines = ({ shoppers, onRelease }: ShopperList): string[] => [
  ...shoppers.map(({ steamId, reason, deniedAt, openTrades }) =>
    [steamId, `denied since ${deniedAt.toISOString()}`, reason, ...openTrades.map(openText)].join('\t'),
  ),
  ...onRelease.map(({ steamId, ...careful }) => [steamId, carefulText(careful)].join('\t')),
]

export function shopperLines({
  steamId,
  name,
  isBot,
  denied,
  history,
  money,
  deposits,
  onRelease,
  openTrades,
}: ShopperView): string[] {
  const { trades, open, delivered, reversed, declined, stores, firstAt, lastAt } = history
  return [
    `shopper ${steamId}${name === null ? '' : ` (${name})`}${isBot ? ', A BOT OF THIS TILL' : ''}`,
    ...(denied === null ? [] : [`  DENIED since ${denied.deniedAt.toISOString()}: ${denied.reason}`]),
    `  ${trades} offers, ${delivered} delivered to ${stores} stores, ${reversed} taken back, ${declined} declined or not accepted, ${open} open`,
    ...(firstAt === null ? [] : [`  first ${firstAt.toISOString()}, last ${lastAt?.toISOString()}`]),
    ...money.map(({ currency, creditedMinor, reversedMinor, heldMinor }) => {
      const [credited, back, held] = [creditedMinor, reversedMinor, heldMinor].map((amount) =>
        formatAmount(amount, currency),
      )
      return `  credited ${credited}, taken back ${back}, held ${held}`
    }),
    ...(onRelease === null ? [] : [`  ${carefulText(onRelease)}`]),
    ...openTrades.map((trade) => `  ${openText(trade)}`),
    ...deposits.map((row) => wordsOf(row).join('\t')),
  ]
}
