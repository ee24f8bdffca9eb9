/** Formats sales for a person or a spreadsheet. */
import { decimalOf } from '../../contract/money.ts'
import { counted } from '../kit/counted.ts'
import { formatAmount } from '../operations/amount.ts'
import { csvLines } from '../operations/csv.ts'
import type { MarketList } from '../operations/markets.ts'
import type { SalesReport, SaleView, SoldItems } from '../operations/sales.ts'

const COLUMNS = [
  ...['soldAt', 'state', 'market', 'reference', 'game', 'marketHashName', 'item', 'depositId', 'currency'],
  ...['price', 'received', 'refund', 'cost', 'costCurrency', 'result'],
] as const

const rowOf = (sale: SaleView) => {
  const amount = (minor: bigint | null) => (minor === null ? '' : decimalOf(minor, sale.currency))
  return {
    ...sale,
    price: amount(sale.priceMinor),
    received: amount(sale.receivedMinor),
    refund: amount(sale.refundMinor),
    cost: decimalOf(sale.costMinor, sale.costCurrency),
    result: amount(sale.resultMinor),
  }
}

export const saleCsvLines = ({ sales }: SalesReport): string[] => csvLines(COLUMNS, sales.map(rowOf))

/** States of a sale that failed or was reversed. An amount that is null there shows as `none`, not as `open`. */
const ENDED: readonly SaleView['state'][] = ['refused', 'cancelled', 'late', 'reversed']

export function saleLines({ sales, totals, markets, isCut }: SalesReport): string[] {
  const amount = (minor: bigint | null, { currency }: { currency: SaleView['currency'] }) =>
    minor === null ? 'open' : formatAmount(minor, currency)
  const saleAmount = (minor: bigint | null, sale: SaleView) =>
    minor === null && ENDED.includes(sale.state) ? 'none' : amount(minor, sale)
  return [
    ...sales.map((sale) =>
      [
        sale.soldAt.toISOString(),
        sale.state,
        `${sale.market} ${sale.reference}`,
        sale.marketHashName,
        `item ${sale.item}`,
        `deposit ${sale.depositId}`,
        `price ${amount(sale.priceMinor, sale)}`,
        sale.state === 'reversed'
          ? `refund ${amount(sale.refundMinor, sale)}`
          : `received ${saleAmount(sale.receivedMinor, sale)}`,
        `cost ${formatAmount(sale.costMinor, sale.costCurrency)}`,
        `result ${saleAmount(sale.resultMinor, sale)}`,
      ].join('\t'),
    ),
    ...(isCut ? ['There are more: choose a shorter period.'] : []),
    ...totals.map((total) =>
      [
        `${total.by} ${total.name}`,
        counted(total.sales, 'sale'),
        `brought ${amount(total.broughtMinor, total)}`,
        `fees ${amount(total.feesMinor, total)}`,
        `result ${amount(total.resultMinor, total)}`,
      ].join('\t'),
    ),
    ...markets.map((books) => {
      const { freeDifferenceMinor, freeMayBeRounding, settlingDifferenceMinor, settlingMayBeRounding } = books
      const freeDifference = differenceText(freeDifferenceMinor, freeMayBeRounding, books)
      const settlingDifference = differenceText(settlingDifferenceMinor, settlingMayBeRounding, books)
      return [
        `${books.market} now`,
        `free ${amount(books.freeMinor, books)}${freeDifference}`,
        `settling ${amount(books.settlingMinor, books)}${settlingDifference}`,
      ].join('\t')
    }),
  ]
}

function differenceText(
  minor: bigint | null,
  mayBeRounding: boolean,
  { currency }: { currency: SaleView['currency'] },
): string {
  if (minor === null) return ' (not reported by the market)'
  if (minor === 0n) return ''
  if (mayBeRounding) return ` (the market says ${formatAmount(minor, currency)} more, which may be rounding)`
  const difference =
    minor > 0n ? `${formatAmount(minor, currency)} MORE` : `${formatAmount(-minor, currency)} LESS`
  return ` (THE MARKET SAYS ${difference})`
}

export const soldLines = ({ sold, refused }: SoldItems): string[] => [
  ...refused.map(({ line, message }) => `line ${line} ${message}`),
  `${sold.length} recorded as sold.`,
]

export const marketLines = ({ markets, needs, unlisted }: MarketList): string[] => [
  ...needs.map(({ kind, about, text, since }) =>
    ['needs you', kind, text, ...(about === '' ? [] : [about]), `since ${since.toISOString()}`].join('\t'),
  ),
  ...markets.map(({ market, offSince, listed, unpaid, waiting }) =>
    [
      market,
      offSince === null ? 'on' : `off since ${offSince.toISOString()}`,
      `${listed} listed, ${unpaid} sold but not paid`,
      ...(waiting === 0 ? [] : [`${waiting} reported but not booked`]),
    ].join('\t'),
  ),
  ...unlisted.map(({ market, account, appId, reason, items, detail, saidAt }) =>
    [
      'not on sale',
      `${market} account ${account}`,
      ...(appId === null ? [] : [`app ${appId}`]),
      ...(items === null ? [] : [counted(items, 'item')]),
      reason,
      items === null ? detail : `such as ${detail}`,
      `at ${saidAt.toISOString()}`,
    ].join('\t'),
  ),
]
