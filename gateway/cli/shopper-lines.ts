import type { ShopperList, ShopperView } from '../operations/shoppers.ts'
import { cellsOf } from './deposit-lines.ts'
import { onReleaseText, recordLines } from './shopper-record-lines.ts'

const openText = ({ tradeId, depositId, offerId }: ShopperView['openTrades'][number]): string => {
  const offer = offerId === null ? '' : `, offer ${offerId}`
  return `open: trade ${tradeId} of deposit ${depositId}${offer}`
}

export const shopperListLines = ({ shoppers, onRelease }: ShopperList): string[] => [
  ...shoppers.map(({ steamId, reason, deniedAt, openTrades }) =>
    [steamId, `denied since ${deniedAt.toISOString()}`, reason, ...openTrades.map(openText)].join('\t'),
  ),
  ...onRelease.map(({ steamId, ...rest }) => [steamId, onReleaseText(rest)].join('\t')),
]

export const shopperLines = ({ deposits, openTrades, ...record }: ShopperView): string[] => [
  ...recordLines(record),
  ...openTrades.map((trade) => `  ${openText(trade)}`),
  ...deposits.map((row) => cellsOf(row).join('\t')),
]
