/** The payment that came with the page. */
import type { Payment } from '../../contract/widget-api.ts'

export type IncludedPayment = {
  payment: Payment
  /** When the page's first bytes arrived, in monotonic milliseconds: the page's code may have loaded much later. 0 if unknown. */
  atMs: number
}

/** Returns null if no payment of this deposit came with the page, or if it cannot be parsed. */
export function includedPayment(hash: string): IncludedPayment | null {
  try {
    const payment = JSON.parse(document.getElementById('payment')?.textContent ?? 'null') as Payment | null
    if (payment?.hash !== hash) return null
    const [page] = performance.getEntriesByType('navigation')
    return { payment, atMs: page instanceof PerformanceNavigationTiming ? page.responseStart : 0 }
  } catch {
    return null
  }
}
