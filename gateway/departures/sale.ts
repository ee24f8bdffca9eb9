/** The life of a sale. Pure. */
import { isPayable, mayFollow, type SaleReport } from '../../contract/sale-report.ts'
import type { MarketAccountKind, SaleState, SaleTable } from '../db/sale-tables.ts'

/**
 * State, money and times of one listing. Amounts are minor units of its currency. `SaleReport` explains `received`,
 * `refund` and `causer`.
 */
export type Sale = {
  state: SaleState
  price: bigint
  received: bigint | null
  refund: bigint
  causer: SaleTable['causer']
  steamTradeId: string | null
  soldAt: Date | null
  settlesAt: Date | null
  endedAt: Date | null
}

export const newSale = (price: bigint): Sale => ({
  state: 'listed',
  price,
  received: null,
  refund: 0n,
  causer: null,
  steamTradeId: null,
  soldAt: null,
  settlesAt: null,
  endedAt: null,
})

export const SALE_EDGES: Record<SaleState, readonly SaleState[]> = {
  listed: ['sold', 'delivered', 'settling', 'paid', 'refused', 'cancelled', 'reversed'],
  sold: ['delivered', 'settling', 'paid', 'refused', 'cancelled', 'reversed'],
  delivered: ['settling', 'paid', 'late', 'reversed'],
  settling: ['paid', 'late', 'reversed'],
  paid: ['reversed'],
  // According to the reports, the item was not given. Proof that it was given, or money, overrules this.
  refused: ['late', 'settling', 'paid'],
  cancelled: ['late', 'settling', 'paid'],
  // The item was given, but another report says that the sale failed.
  late: ['settling', 'paid', 'reversed'],
  reversed: [],
}

/**
 * Returns the sale after a report, or the same object if nothing changes. A report may come twice, late or out of
 * order.
 */
export function judgeSale(sale: Sale, report: SaleReport, at: Date): Sale {
  const changeTo = (state: SaleState, change: Partial<Sale> = {}): Sale => {
    if (state !== sale.state && !SALE_EDGES[sale.state].includes(state)) return sale
    const soldAt = sale.soldAt ?? (state === 'cancelled' ? null : at)
    const endedAt = isOver(state) ? (sale.state === state ? sale.endedAt : at) : null
    return { ...sale, ...change, state, soldAt, endedAt }
  }
  switch (report.kind) {
    case 'repriced':
      return sale.state === 'listed' && report.price > 0n ? { ...sale, price: report.price } : sale
    case 'unlisted':
      return sale.state === 'listed' ? changeTo('cancelled') : sale
    case 'sold':
      return sale.state === 'listed' ? changeTo('sold') : sale
    case 'refused':
      return sale.state === 'refused' ? sale : changeTo('refused')
    case 'delivered':
      return afterDelivery(sale, report, changeTo)
    case 'settling': {
      const { received, settlesAt } = report
      const isSame = sale.received === received && sale.settlesAt?.getTime() === settlesAt.getTime()
      if (sale.state === 'settling' && isSame) return sale
      return isPayable(received, sale.price) ? changeTo('settling', { received, settlesAt }) : sale
    }
    case 'paid': {
      const { received } = report
      const isNews = mayFollow(sale.state, 'paid') && isPayable(received, sale.price)
      return isNews ? changeTo('paid', { received }) : sale
    }
    case 'cancelled':
      if (sale.state === 'cancelled' || sale.state === 'late') return sale
      return changeTo(awaitsMoney(sale.state) ? 'late' : 'cancelled')
    case 'reversed': {
      const { causer, refund } = report
      const isNews = mayFollow(sale.state, 'reversed') && isPayable(refund, sale.price)
      return isNews ? changeTo('reversed', { causer, refund }) : sale
    }
    default:
      return report satisfies never
  }
}

type ChangeTo = (state: SaleState, change?: Partial<Sale>) => Sale

function afterDelivery(sale: Sale, { steamTradeId }: { steamTradeId: string }, changeTo: ChangeTo): Sale {
  if (sale.steamTradeId !== null) return sale
  if (sale.state === 'listed' || sale.state === 'sold') return changeTo('delivered', { steamTradeId })
  if (sale.state === 'refused' || sale.state === 'cancelled') return changeTo('late', { steamTradeId })
  return { ...sale, steamTradeId }
}

const awaitsMoney = (state: SaleState): boolean => state === 'delivered' || state === 'settling'

export function isOver(state: SaleState): boolean {
  return (
    state === 'paid' ||
    state === 'refused' ||
    state === 'cancelled' ||
    state === 'late' ||
    state === 'reversed'
  )
}

export type Position = Readonly<Record<MarketAccountKind, bigint>>

const NOTHING: Position = { settling: 0n, free: 0n, fees: 0n, sales: 0n }

/** Where the money of a sale is: an amount for each account of the market, debits negative. The amounts sum to zero. */
export function positionOf({ state, price, received, refund }: Sale): Position {
  if (state === 'reversed') return { ...NOTHING, free: -refund, sales: refund }
  if (received === null || (state !== 'settling' && state !== 'paid')) return NOTHING
  const fees = received - price
  return state === 'paid'
    ? { settling: 0n, free: -received, fees, sales: price }
    : { settling: -received, free: 0n, fees, sales: price }
}

export type MarketMovement = { debit: MarketAccountKind; credit: MarketAccountKind; amount: bigint }

const KINDS = ['settling', 'free', 'fees', 'sales'] as const

/** The postings that lead from one position to another. */
export function movementsBetween(before: Position, after: Position): MarketMovement[] {
  const remaining = new Map(KINDS.map((kind) => [kind, after[kind] - before[kind]]))
  const movements: MarketMovement[] = []
  for (const debit of KINDS) {
    for (const credit of KINDS) {
      const [toDebit, toCredit] = [-(remaining.get(debit) ?? 0n), remaining.get(credit) ?? 0n]
      const amount = toDebit < toCredit ? toDebit : toCredit
      if (amount <= 0n) continue
      movements.push({ debit, credit, amount })
      remaining.set(debit, amount - toDebit)
      remaining.set(credit, toCredit - amount)
    }
  }
  return movements
}
