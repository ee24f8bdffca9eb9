/** A till in memory. The rules for sales are the gateway's own. */
import type { MarketAccountKind } from '../../gateway/db/sale-tables.ts'
import {
  judgeSale,
  type MarketMovement,
  movementsBetween,
  newSale,
  positionOf,
  SALE_EDGES,
  type Sale,
} from '../../gateway/departures/sale.ts'
import type { Wish } from '../../vault/giving/judge.ts'
import type { Wishes, WishReport } from '../../vault/giving/till-line.ts'
import type { NumberedReport } from '../../vault/markets/record.ts'
import type { TillReport } from '../../vault/markets/reports.ts'
import { must } from '../simulation/violation.ts'
import type { SaleView, TillView, WishView } from './promises.ts'

type BookedSale = { market: string; assetId: string; sale: Sale }
type BookedWish = Wish & { report: WishReport | undefined }

/** The states of a sale after which its item may be listed again. */
const RELISTABLE = ['refused', 'cancelled', 'reversed']

export class ModelTill {
  /** Sales by market and the market's number of the listing. */
  readonly sales = new Map<string, BookedSale>()
  readonly wishes: BookedWish[] = []
  readonly balances: Record<MarketAccountKind, bigint> = { settling: 0n, free: 0n, fees: 0n, sales: 0n }
  #received = new Set<string>()
  #lastNumber = 0

  /** Adds a wish and returns its number. */
  wish(wish: Omit<Wish, 'id'>): string {
    const id = String(this.wishes.length + 1)
    this.wishes.push({ ...wish, id, report: undefined })
    return id
  }

  /** Whether an item is in an open wish, on sale or sold. */
  isTaken(assetId: string): boolean {
    const isWished = this.wishes.some(
      (wish) => stateOf(wish).isOpen && wish.assets.some((asset) => asset.assetId === assetId),
    )
    return isWished || this.assetsInSales().includes(assetId)
  }

  assetsInSales(): string[] {
    return [...this.sales.values()].flatMap(({ assetId, sale }) =>
      sale.state === 'listed' || sale.state === 'sold' ? [assetId] : [],
    )
  }

  openWishes(): Wish[] {
    return this.wishes.filter((wish) => stateOf(wish).isOpen)
  }

  reportWish(...[wishId, report]: Parameters<Wishes['report']>): { isOpen: boolean } {
    const wish = this.wishes.find(({ id }) => id === wishId)
    const isOpen = wish !== undefined && stateOf(wish).isOpen
    if (wish !== undefined) wish.report = report
    return { isOpen }
  }

  lastReported(): number {
    return this.#lastNumber
  }

  report(reports: readonly NumberedReport[]): void {
    for (const { n, part, at, report } of reports) {
      if (this.#received.has(`${n}/${part}`)) continue
      this.#received.add(`${n}/${part}`)
      this.#lastNumber = Math.max(this.#lastNumber, n)
      if (report.kind === 'listing') this.#list(report)
      else if (report.kind === 'report') this.#apply(report, at)
    }
  }

  view(): TillView {
    const sales = [...this.sales].map(([key, { market, assetId, sale }]): SaleView => {
      return { key, market, assetId, state: sale.state }
    })
    const wishes = this.wishes.map((wish): WishView => ({ ...wish, ...stateOf(wish) }))
    return { sales, wishes }
  }

  #list({ market, reference, listedAssetId, price }: Extract<TillReport, { kind: 'listing' }>): void {
    const key = `${market}/${reference}`
    if (this.sales.has(key)) return
    const live = [...this.sales].find(
      ([, { assetId, sale }]) => assetId === listedAssetId && !RELISTABLE.includes(sale.state),
    )
    must(live === undefined, 'I23', () => `${listedAssetId} is ${live?.[1].sale.state} at ${live?.[0]}`)
    this.sales.set(key, { market, assetId: listedAssetId, sale: newSale(price) })
  }

  #apply({ market, reference, report }: Extract<TillReport, { kind: 'report' }>, at: Date): void {
    const booked = this.sales.get(`${market}/${reference}`)
    must(booked !== undefined, 'I23', () => `${reference} is reported, but was never listed`)
    if (booked === undefined) return
    const { sale: before } = booked
    const after = judgeSale(before, report, at)
    if (after === before) return
    const isEdge = after.state === before.state || SALE_EDGES[before.state].includes(after.state)
    must(isEdge, 'I23', () => `${reference} went from ${before.state} to ${after.state}`)
    booked.sale = after
    for (const movement of movementsBetween(positionOf(before), positionOf(after))) this.#post(movement)
    this.#check(reference, after)
  }

  #post({ debit, credit, amount }: MarketMovement): void {
    this.balances[debit] -= amount
    this.balances[credit] += amount
  }

  #check(reference: string, { price, received }: Sale): void {
    must(received === null || received <= price, 'I23', () => `${reference} brought more than its price`)
    for (const kind of ['settling', 'free', 'fees', 'sales'] as const) {
      const sum = [...this.sales.values()].reduce((total, { sale }) => total + positionOf(sale)[kind], 0n)
      must(sum === this.balances[kind], 'I23', () => `the account ${kind} does not match its sales`)
    }
  }
}

function stateOf({ report }: BookedWish): Pick<WishView, 'state' | 'isOpen'> {
  if (report === undefined || 'waitsBecause' in report) return { state: 'waiting', isOpen: true }
  const { state } = report.giving
  const isOver = state === 'delivered' || state === 'refused' || state === 'ended'
  return { state: isOver ? state : 'under way', isOpen: !isOver }
}
