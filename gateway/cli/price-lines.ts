import { MICROS_PER_CENT, percentOf } from '../../contract/money.ts'
import { counted } from '../kit/counted.ts'
import { durationText } from '../kit/duration.ts'
import { formatAmount } from '../operations/amount.ts'
import type { Coverage, FeedsAndHolds, PriceHoldView, PriceView } from '../operations/prices.ts'

const POPULARITY_TEXT = { sales7d: 'sold in 7 days', sales30d: 'sold in 30 days', listings: 'on sale' }

export function priceLines(price: PriceView): string[] {
  const sourceLines = price.sources.map((source) => {
    const level =
      source.levelUsdMicros === null
        ? 'no weekly level yet'
        : `weekly level ${dollars(source.levelUsdMicros)}`
    const popularity = `${source.popularity} ${POPULARITY_TEXT[source.popularityKind]}`
    return [source.source, dollars(source.usdMicros), level, popularity, ageText(source)].join('\t')
  })
  const nameLines = price.pricedAs === price.item ? [] : [`has the price of ${price.pricedAs}`]
  return [...nameLines, ...sourceLines, ...price.holds.map(holdLine), ...verdictText(price)]
}

function ageText({ asOf, ageSeconds, fresh }: PriceView['sources'][number]): string {
  if (!fresh && ageSeconds < 0) return `${asOf.toISOString()}, from the future`
  return `${asOf.toISOString()}${fresh ? '' : ', too old'}\t${durationText(Math.max(0, ageSeconds))} old`
}

function verdictText({ worthUsdMicros, credit, unavailable, verdict, commissionBps }: PriceView): string[] {
  if (unavailable !== null) return [`not accepted: ${VERDICT_TEXT[verdict]}`]
  if (worthUsdMicros === null || credit === null) return []
  const credited = formatAmount(credit.amountMinor, credit.currency)
  return [
    `worth ${dollars(worthUsdMicros)}, a shopper is credited ${credited} after ${percentOf(commissionBps)} % commission`,
  ]
}

export const priceListLines = ({ feeds, holds }: FeedsAndHolds): string[] => [
  ...feeds.map(({ source, feed, goodAt, failures, lastError }) => {
    const answeredText = goodAt === null ? 'never answered' : `answered ${goodAt.toISOString()}`
    const errorText = lastError === null ? '' : `\t${lastError}`
    const failureText = failures === 0 ? errorText : `\tfailed ${counted(failures, 'time')}: ${lastError}`
    return `${source}\t${feed}\t${answeredText}${failureText}`
  }),
  ...holds.map(holdLine),
]

const holdLine = ({ game, item, hold, usdMicros, since }: PriceHoldView): string => {
  const price = usdMicros === null ? '' : ` at ${dollars(usdMicros)}`
  return `${game}\t${item ?? 'the whole game'}\t${hold}${price} since ${since.toISOString()}`
}

const VERDICT_TEXT: Record<PriceView['verdict'], string> = {
  accepted: 'accepted',
  not_popular: 'it is rarely sold (notPopular)',
  no_price: 'no source has a recent price (noPrice)',
  in_dispute: 'its recent prices cannot be trusted (noPrice)',
  too_cheap: 'it is too cheap (tooCheap)',
  blocked: 'you blocked it (noPrice)',
}

export const coverageLines = ({ items, bands, losses }: Coverage): string[] => [
  ...bands.flatMap(
    ({ fromUsd, examples, accepted, not_popular, no_price, in_dispute, too_cheap, blocked }) => [
      [
        `from ${fromUsd} USD`,
        `${accepted} accepted`,
        `${not_popular} not popular`,
        `${no_price} without a recent price`,
        `${in_dispute} in dispute`,
        `${too_cheap} too cheap`,
        `${blocked} blocked`,
      ].join('\t'),
      ...examples.map(({ item, verdict }) => `\t${item}\t${VERDICT_TEXT[verdict]}`),
    ],
  ),
  `${counted(items, 'item has', 'items have')} a price from at least one source.`,
  ...losses.map(lossLine),
]

const lossLine = ({ item, sales, currency, resultMinor }: Coverage['losses'][number]): string => {
  const loss = formatAmount(-resultMinor, currency)
  return `! ${item}: sold ${counted(sales, 'time')} in 30 days, at a total loss of ${loss}. Raise the commission, override its price or block it.`
}

/** Rounds down to cents. */
const dollars = (micros: bigint): string => formatAmount(micros / MICROS_PER_CENT, 'USD')
