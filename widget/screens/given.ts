/** The payment that came with the page. */
import type { Payment } from '../../contract/widget-api.ts'

export type Given = {
  payment: Payment
  /** When it was true, in monotonic milliseconds: the code of the page may have come much later. */
  atMs: number
}

/** Null if none of this deposit came, or if it cannot be read. */
export function givenPayment(hash: string): Given | null {
  try {
    const payment = JSON.parse(document.getElementById('payment')?.textContent ?? 'null') as Payment | null
    if (payment?.hash !== hash) return null
    const [page] = performance.getEntriesByType('navigation')
    return { payment, atMs: page instanceof PerformanceNavigationTiming ? page.responseStart : 0 }
  } catch {
    return null
  }
}
