/** The till's books of sales in memory: its pure rules over a map, as its store has them over PostgreSQL. */

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
import type { News } from '../../vault/markets/record.ts'
import type { Told } from '../../vault/markets/reports.ts'
import { hold } from '../simulation/violation.ts'

export type BookedSale = { assetId: string; sale: Sale }

const FREED = ['refused', 'cancelled', 'reversed']

export class ModelTill {
  /** By market and the market's number of the listing. */
  readonly sales = new Map<string, BookedSale>()
  readonly balances: Record<MarketAccountKind, bigint> = { settling: 0n, free: 0n, fees: 0n, sales: 0n }
  #told = new Set<string>()
  #last = 0

  lastTold(): number {
    return this.#last
  }

  tell(news: readonly News[]): void {
    for (const { n, part, at, told } of news) {
      if (this.#told.has(`${n}/${part}`)) continue
      this.#told.add(`${n}/${part}`)
      this.#last = Math.max(this.#last, n)
      if (told.kind === 'listing') this.#list(told)
      else this.#report(told, at)
    }
  }

  #list({ market, reference, listedAssetId, price }: Extract<Told, { kind: 'listing' }>): void {
    const key = `${market}/${reference}`
    if (this.sales.has(key)) return
    const live = [...this.sales].find(
      ([, { assetId, sale }]) => assetId === listedAssetId && !FREED.includes(sale.state),
    )
    hold(live === undefined, 'I23', () => `${listedAssetId} is ${live?.[1].sale.state} at ${live?.[0]}`)
    this.sales.set(key, { assetId: listedAssetId, sale: newSale(price) })
  }

  #report({ market, reference, report }: Extract<Told, { kind: 'report' }>, at: Date): void {
    const booked = this.sales.get(`${market}/${reference}`)
    hold(booked !== undefined, 'I23', () => `${reference} is reported, and was never listed`)
    if (booked === undefined) return
    const { sale: before } = booked
    const after = judgeSale(before, report, at)
    if (after === before) return
    const isEdge = after.state === before.state || SALE_EDGES[before.state].includes(after.state)
    hold(isEdge, 'I23', () => `${reference} went from ${before.state} to ${after.state}`)
    booked.sale = after
    for (const movement of movementsBetween(positionOf(before), positionOf(after))) this.#post(movement)
    this.#check(reference, after)
  }

  #post({ debit, credit, amount }: MarketMovement): void {
    this.balances[debit] -= amount
    this.balances[credit] += amount
  }

  #check(reference: string, { price, received }: Sale): void {
    hold(received === null || received <= price, 'I23', () => `${reference} brought more than its price`)
    for (const kind of ['settling', 'free', 'fees', 'sales'] as const) {
      const sum = [...this.sales.values()].reduce((total, { sale }) => total + positionOf(sale)[kind], 0n)
      hold(sum === this.balances[kind], 'I23', () => `the account ${kind} is not what its sales say`)
    }
  }
}
