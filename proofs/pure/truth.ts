/** What the till believes, held against what Steam knows. */
import type { OfferState } from '../../gateway/steam/steam.ts'
import { type End, isDelivered } from '../../gateway/trades/trade.ts'
import { hold } from '../violation.ts'
import type { Book } from './book.ts'
import type { DepositRow, TradeRow } from './rows.ts'
import type { Steam } from './steam.ts'

/** A credit needs an exchange that brought these very items, and only one credit an exchange. */
export function checkCredit(steam: Steam, trades: readonly TradeRow[], row: TradeRow): void {
  const name = `trade ${row.trade.tradeId}`
  const tradeId = row.deliveredBy ?? ''
  const others = trades.filter((other) => other !== row && other.deliveredBy === tradeId)
  hold(others.length === 0, 'I6', () => `${name} and ${others[0]?.trade.tradeId} are credited for ${tradeId}`)
  const exchange = steam.exchanges.get(tradeId)
  hold(exchange !== undefined, 'I7', () => `${name} is credited for ${tradeId}, which Steam does not know`)
  if (exchange === undefined) return
  hold(exchange.offer.message === row.trade.secretCode, 'I7', () => `${name} is credited for another’s offer`)
  const arrived = exchange.items.every((item) => item.newAssetId !== null)
  hold(arrived, 'I7', () => `${name} is credited while its items are ${exchange.state}`)
}

/** What is told late by Steam may be seen late. */
const TOLD_WITHIN_MS = 120_000

/** Funds are released only of what stands on Steam. */
export function checkRelease(steam: Steam, row: TradeRow, nowMs: number): void {
  const exchange = steam.exchanges.get(row.deliveredBy ?? '')
  if (exchange === undefined || nowMs - exchange.changedAt < TOLD_WITHIN_MS) return
  const back = exchange.items.filter((item) => item.rolledBackAssetId !== null)
  const reversed = isDelivered(row.trade) ? row.trade.reversed : []
  const isSeen = back.every(({ asset }) => reversed.includes(asset.assetId))
  hold(isSeen, 'I7', () => `trade ${row.trade.tradeId} is released, but its items went back`)
}

export function checkReversal(steam: Steam, row: TradeRow, assetId: string): void {
  const exchange = steam.exchanges.get(row.deliveredBy ?? '')
  const item = exchange?.items.find(({ asset }) => asset.assetId === assetId)
  const isBack = item !== undefined && item.rolledBackAssetId !== null
  hold(isBack, 'I7', () => `trade ${row.trade.tradeId}: ${assetId} is taken back, but not on Steam`)
}

const TOLD: Record<End['state'], readonly OfferState[]> = {
  declined: ['declined'],
  countered: ['countered'],
  invalid: ['invalid', 'invalid_items', 'cancelled_by_second_factor', 'cancelled', 'reverted', 'accepted'],
  timed_out: ['cancelled', 'expired'],
}

/** Only Steam's word ends an offer that stood, and a bad end only when it was told twice. */
export function checkEnd(steam: Steam, row: TradeRow, end: End): void {
  const offerId = 'offerId' in row.trade ? row.trade.offerId : null
  const told = steam.offers.get(offerId ?? '')?.told
  const isSaid = TOLD[end.state].some((state) => told?.has(state))
  const name = `trade ${row.trade.tradeId}`
  hold(isSaid, 'I7', () => `${name} ended as ${end.reason}, which Steam never said`)
  if (end.reason !== 'invalid_items') return
  const isTwice = (told?.get('invalid_items') ?? 0) > 1
  hold(isTwice, 'I7', () => `${name} ended as ${end.reason} on one word of Steam`)
}

/** The sums of one trade and its deposit. */
export function checkTrade({ trade, deposit, held, reversed, total, live }: TradeRow): void {
  const name = `trade ${trade.tradeId}`
  const isSound = held >= 0n && reversed >= 0n && held + reversed <= total
  hold(isSound, 'I13', () => `${name}: held ${held} and reversed ${reversed} of ${total}`)
  const isOpen = ['intended', 'sending', 'unknown', 'active'].includes(trade.state)
  hold(live === isOpen, 'I8', () => `${name} is ${trade.state}, its assets are ${live ? 'taken' : 'free'}`)
  const delivered = deposit.trades.filter((row) => isDelivered(row.trade))
  const sums = delivered.reduce((sum, row) => sum + row.total, 0n)
  hold(
    sums === deposit.credited,
    'I13',
    () => `deposit ${deposit.number} is credited ${deposit.credited} of ${sums}`,
  )
  const parts = deposit.trades.reduce((sum, row) => sum + row.held, 0n)
  hold(
    parts === deposit.held,
    'I13',
    () => `deposit ${deposit.number} holds ${deposit.held}, its trades ${parts}`,
  )
  const isTold = deposit.status === 'created' || deposit.events.includes(deposit.status)
  hold(isTold, 'I9', () => `deposit ${deposit.number} is ${deposit.status} and did not tell`)
}

/** The faults are over for long enough: nobody waits any more. */
export function checkAlive(deposits: readonly DepositRow[]): void {
  for (const { number, status } of deposits) {
    hold(status !== 'created' && status !== 'pending', 'I12', () => `deposit ${number} is still ${status}`)
  }
}

type All = { steam: Steam; deposits: readonly DepositRow[]; trades: readonly TradeRow[]; book: Book }

/** Long after the faults: what every item is worth stands where the item is. */
export function checkRest({ steam, deposits, trades, book }: All): void {
  book.verify()
  for (const offer of steam.offers.values()) {
    hold(offer.state !== 'active', 'I12', () => `the offer of ${offer.message} still stands on Steam`)
  }
  const entries = Map.groupBy(book.entries, (entry) => entry.tradeId)
  for (const row of trades) checkSettled(steam, row, entries.get(row.trade.tradeId) ?? [])
  checkAlive(deposits)
}

function checkSettled(steam: Steam, row: TradeRow, entries: Book['entries']): void {
  const { trade } = row
  const name = `trade ${trade.tradeId} (${trade.state})`
  hold(row.dueAt === null, 'I12', () => `${name} is still due at ${row.dueAt?.toISOString()}`)
  const offer = steam.byMessage.get(trade.secretCode)
  const exchange = steam.exchanges.get(offer?.tradeId ?? '')
  let kept = 0n
  for (const item of exchange?.items ?? []) {
    const isOurs = item.newAssetId !== null && item.rolledBackAssetId === null
    if (isOurs) kept += row.prices.get(item.asset.assetId)?.price ?? 0n
  }
  const credited = row.deliveredBy === null ? 0n : row.total - row.reversed
  hold(kept === credited, 'I7', () => `${name}: the bot has items of ${kept}, credited are ${credited}`)
  const net = { held: 0n, available: 0n, loss: 0n, commission: 0n, items: 0n, paid_out: 0n }
  for (const entry of entries) {
    net[entry.debit] -= entry.amount
    net[entry.credit] += entry.amount
  }
  const settled = net.held + net.available + net.loss
  hold(
    net.held === 0n && settled === credited,
    'I13',
    () => `${name}: posted ${settled}, credited ${credited}`,
  )
}
