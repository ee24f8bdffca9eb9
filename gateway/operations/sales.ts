/** Sales of items on outside markets and their results. */

import { GAME_FACTS, GAMES, type Game } from '../../contract/games.ts'
import { CURRENCIES, type Currency } from '../../contract/money.ts'
import { moveItem } from '../bots/items.ts'
import type { Tx } from '../db/client.ts'
import {
  type ListedSale,
  type LosingItem,
  type MarketBooks,
  selectLosingItems,
  selectMarketBooks,
  selectSales,
} from '../departures/sale-list-store.ts'
import { currentSaleOf, lockItem, lockSale } from '../departures/sale-store.ts'
import { recordHandSale } from '../departures/sales.ts'
import { isRealDay } from '../kit/real-day.ts'
import { act } from './act.ts'
import { parseAmount } from './amount.ts'
import {
  type ActDeps,
  type Answer,
  done,
  type FindDeps,
  type Refused,
  refused,
  unchanged,
} from './operation.ts'

export type SaleView = Omit<ListedSale, 'price' | 'received' | 'refund' | 'cost' | 'result'> & {
  game: string
  priceMinor: bigint
  /**
   * The amount that the market pays or paid. Null before the market's report, and for a sale that failed, was reversed
   * or is late.
   */
  receivedMinor: bigint | null
  refundMinor: bigint
  costMinor: bigint
  resultMinor: bigint | null
}

/**
 * `name`: of the market or game, or the week's Monday. `sales`: how many are settling, paid, late or reversed; the others
 * have no amount. `broughtMinor`: what the markets paid, are still settling, or paid although a sale was reversed.
 */
export type SaleTotal = {
  by: 'market' | 'game' | 'week'
  name: string
  currency: Currency
  sales: number
  broughtMinor: bigint
  feesMinor: bigint
  resultMinor: bigint
}

/**
 * Each difference is the balance that the market reports minus the balance in the books; null without a report. The
 * flag after it says whether it may be rounding.
 * `settlingMinor`: money that the market still keeps back. `freeMinor`: money that it would pay out. `saidAt`: time of
 * the report.
 */
export type MarketBooksView = {
  market: string
  currency: Currency
  settlingMinor: bigint
  freeMinor: bigint
  feesMinor: bigint
  saidAt: Date | null
  settlingDifferenceMinor: bigint | null
  settlingMayBeRounding: boolean
  freeDifferenceMinor: bigint | null
  freeMayBeRounding: boolean
}

export type SalesReport = {
  sales: SaleView[]
  totals: SaleTotal[]
  markets: MarketBooksView[]
  /** Whether the period has more sales than are shown. */
  isCut: boolean
}

const MOST_SALES = 20_000

/** Lists the first `MOST_SALES` sales of the period with results and totals, and the current books of the markets. */
export async function reportSales(
  { db }: FindDeps,
  { from, to }: { from: Date; to: Date },
): Promise<Answer<SalesReport>> {
  if (from >= to) return refused('usage', 'The period must begin before it ends.')
  const rows = await selectSales(db, { from, to, limit: MOST_SALES + 1 })
  const sales = rows.slice(0, MOST_SALES).map(viewOf)
  const markets = (await selectMarketBooks(db)).map(booksOf)
  return done({ sales, totals: totalsOf(sales), markets, isCut: rows.length > MOST_SALES })
}

function viewOf({ price, received, refund, cost, result, ...sale }: ListedSale): SaleView {
  return {
    ...sale,
    game: gameOf(sale.appId),
    priceMinor: price,
    // A reversed or late sale still has what the market promised before.
    receivedMinor: sale.state === 'settling' || sale.state === 'paid' ? received : null,
    refundMinor: refund,
    costMinor: cost,
    resultMinor: result,
  }
}

const LOSS_PERIOD_MS = 30 * 86_400_000
const MOST_LOSSES = 20

/** Returns up to 20 items of a game whose sales in the last 30 days brought less than their cost, worst first. */
export function losingItems({ db, clock }: FindDeps, game: Game): Promise<LosingItem[]> {
  const to = clock.now()
  const from = new Date(to.getTime() - LOSS_PERIOD_MS)
  return selectLosingItems(db, { appId: GAME_FACTS[game].appId, from, to, limit: MOST_LOSSES })
}

const gameOf = (appId: number): string =>
  GAMES.find((game) => GAME_FACTS[game].appId === appId) ?? String(appId)

/** Returns the Monday of the date's week, in UTC. */
function weekOf(date: Date): string {
  const day = new Date(date)
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return day.toISOString().slice(0, 10)
}

function totalsOf(sales: readonly SaleView[]): SaleTotal[] {
  const totals = new Map<string, SaleTotal>()
  for (const sale of sales) {
    const { currency, market, game, soldAt, resultMinor, receivedMinor, refundMinor, priceMinor, state } =
      sale
    if (resultMinor === null && state !== 'settling' && state !== 'paid') continue
    const names = { market, game, week: weekOf(soldAt) } as const
    for (const by of ['market', 'game', 'week'] as const) {
      const key = `${by} ${names[by]} ${currency}`
      const total = totals.get(key) ?? { by, name: names[by], currency, ...NONE }
      totals.set(key, {
        ...total,
        sales: total.sales + 1,
        broughtMinor: total.broughtMinor + (receivedMinor ?? refundMinor),
        feesMinor: total.feesMinor + (receivedMinor === null ? 0n : priceMinor - receivedMinor),
        resultMinor: total.resultMinor + (resultMinor ?? 0n),
      })
    }
  }
  const order = ['market', 'game', 'week']
  return [...totals.values()].sort(
    (a, b) => order.indexOf(a.by) - order.indexOf(b.by) || (a.name < b.name ? -1 : 1),
  )
}

const NONE = { sales: 0, broughtMinor: 0n, feesMinor: 0n, resultMinor: 0n }

function booksOf({ settling, free, fees, ...books }: MarketBooks): MarketBooksView {
  const { market, currency, reportedSettling, reportedFree, settlingSales, freeSales, saidAt } = books
  const settlingDifferenceMinor = reportedSettling === null ? null : reportedSettling - settling
  const freeDifferenceMinor = reportedFree === null ? null : reportedFree - free
  return {
    market,
    currency,
    settlingMinor: settling,
    freeMinor: free,
    feesMinor: fees,
    saidAt,
    settlingDifferenceMinor,
    settlingMayBeRounding: mayBeRounding(settlingDifferenceMinor, settlingSales),
    freeDifferenceMinor,
    freeMayBeRounding: mayBeRounding(freeDifferenceMinor, freeSales),
  }
}

/**
 * Markets count in thousandths, and the books drop what is less than a minor unit of each sale. So a market may have
 * more than the books, by less than one minor unit for each sale.
 */
const mayBeRounding = (differenceMinor: bigint | null, sales: number): boolean =>
  differenceMinor !== null && differenceMinor > 0n && differenceMinor < sales

export type SoldItem = { item: string; market: string; reference: string }
/** `line`: number of the line in the input. */
export type SoldItems = { sold: SoldItem[]; refused: { line: number; message: string }[] }

/** Columns of a line of `items sold`, in order. */
export const SOLD_COLUMNS = [
  'item',
  'market',
  'reference',
  'price',
  'received',
  'currency',
  'soldAt',
] as const

const MOST_CELL_CHARACTERS = 200

/**
 * Records sales that the operator made elsewhere, from lines of CSV, one act for each line. A refused line does not
 * stop the others.
 */
export async function recordSold(deps: ActDeps, lines: AsyncIterable<string>): Promise<Answer<SoldItems>> {
  const data: SoldItems = { sold: [], refused: [] }
  let firstRefusal: Refused | undefined
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() === '' || text.startsWith(`${SOLD_COLUMNS[0]},`)) continue
    const answer = await recordOneSold(deps, text)
    if (answer.kind !== 'refused') {
      data.sold.push(answer.data)
      continue
    }
    firstRefusal ??= refused(answer.refusal, answer.message)
    data.refused.push({ line, message: answer.message })
  }
  const message = `${data.sold.length} recorded as sold.`
  if (firstRefusal === undefined) return done(data, message)
  return { ...firstRefusal, message: `${data.refused.length} not recorded.`, data }
}

type SoldLine = SoldItem & {
  tradeId: bigint
  assetId: string
  price: bigint
  received: bigint
  currency: Currency
  soldAt: Date | undefined
}

const ITEM = /^(\d{1,18})-(\d{1,20})$/
const MARKET = /^[a-z0-9][a-z0-9.-]{0,39}$/
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/

const isDate = (text: string): boolean =>
  DATE.test(text) && isRealDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))

/** Returns the sale of a line, or the rest of a sentence that says what is wrong with the line. */
function readLine(text: string): SoldLine | string {
  const cells = text.split(',').map((cell) => cell.trim().replaceAll('"', ''))
  const [item = '', market = '', reference = '', price = '', received = '', currency = '', soldAt = ''] =
    cells
  if (
    cells.length < 6 ||
    cells.length > SOLD_COLUMNS.length ||
    cells.some(({ length }) => length > MOST_CELL_CHARACTERS)
  )
    return `must have the columns ${SOLD_COLUMNS.join(',')}, the last of which may be left out`
  const [, trade, assetId = ''] = ITEM.exec(item) ?? []
  if (trade === undefined) return 'must begin with an item, as items list shows it'
  if (!MARKET.test(market)) return 'must name the market in lower case, such as market.csgo.com'
  if (reference === '' || reference.length > 128) return 'must have a reference of 1 to 128 characters'
  const knownCurrency = CURRENCIES.find((each) => each === currency)
  if (knownCurrency === undefined) return `must be in one of ${CURRENCIES.join(', ')}`
  const [priceMinor, receivedMinor] = [
    parseAmount(price, knownCurrency),
    parseAmount(received, knownCurrency),
  ]
  if (
    priceMinor === undefined ||
    receivedMinor === undefined ||
    priceMinor <= 0n ||
    receivedMinor > priceMinor
  )
    return 'must have a price and the amount received, both with decimals; the amount may not exceed the price'
  if (soldAt !== '' && !isDate(soldAt)) return 'must have a date such as 2026-11-21, or none'
  return {
    item,
    market,
    reference,
    tradeId: BigInt(trade),
    assetId,
    price: priceMinor,
    received: receivedMinor,
    currency: knownCurrency,
    soldAt: soldAt === '' ? undefined : new Date(soldAt),
  }
}

const termsOf = ({ price, received, currency, soldAt }: SoldLine) => ({
  priceMinor: price,
  receivedMinor: received,
  currency,
  soldAt: soldAt ?? null,
})

function recordOneSold(deps: ActDeps, text: string): Promise<Answer<SoldItem>> {
  const line = readLine(text)
  const namedAct = {
    name: 'items sold',
    needsReason: true,
    argumentsOf: (sold: SoldItem) => (typeof line === 'string' ? sold : { ...sold, ...termsOf(line) }),
  }
  return act(deps, namedAct, async (tx) =>
    typeof line === 'string' ? refused('usage', line) : sellOne(tx, deps, line),
  )
}

async function sellOne(tx: Tx, { clock }: ActDeps, line: SoldLine): Promise<Answer<SoldItem>> {
  const { item, market, reference, tradeId, assetId, price, received, currency } = line
  const soldItem = { item, market, reference }
  const custody = await lockItem(tx, line)
  if (custody === undefined) return refused('not_found', 'names an item that no bot ever held')
  const knownSale = await lockSale(tx, market, reference)
  if (knownSale !== undefined) {
    const { sale } = knownSale
    const isSame =
      knownSale.tradeId === tradeId &&
      knownSale.assetId === assetId &&
      knownSale.currency === currency &&
      sale.price === price &&
      sale.received === received
    return isSame
      ? unchanged(soldItem, 'It was recorded before.')
      : refused('conflict', `names ${reference} on ${market}, which is another sale`)
  }
  if (custody.isProtected)
    return refused(
      'conflict',
      'names an item of a held trade: it cannot have left before Steam’s protection ends, and after that, run trade release first',
    )
  if (custody.moved === 'back') return refused('conflict', 'names an item that went back to its shopper')
  const currentSale = await currentSaleOf(tx, custody)
  if (currentSale !== undefined)
    return refused(
      'conflict',
      `names an item of another sale: ${currentSale.reference} on ${currentSale.market}, ${currentSale.state}`,
    )
  if (custody.moved === 'in') await moveItem({ db: tx, clock }, item)
  const soldAt = line.soldAt ?? clock.now()
  if (soldAt > clock.now()) return refused('usage', 'must not have a date in the future')
  const { appId } = custody
  const subject = {
    market,
    reference,
    tradeId,
    assetId,
    appId,
    listedAssetId: null,
    currency,
    isByHand: true,
  }
  await recordHandSale(tx, { ...subject, price, received, soldAt })
  return done(soldItem)
}
