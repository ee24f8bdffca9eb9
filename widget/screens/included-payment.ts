/** The payment that came with the page. */
import type { Payment } from '../../contract/widget-api.ts'
import { deviceClock, inDeviceTime } from '../flow/device-clock.ts'

export type IncludedPayment = {
  payment: Payment
  /**
   * When the page's first bytes arrived, in monotonic milliseconds: the page's code may have loaded much later. 0 if
   * unknown.
   */
  atMs: number
}

/** Returns null if no payment of this deposit came with the page, or if it cannot be parsed. */
export function includedPayment(hash: string): IncludedPayment | null {
  try {
    const element = document.getElementById('payment')
    const payment = JSON.parse(element?.textContent ?? 'null') as Payment | null
    if (payment?.hash !== hash) return null
    const [page] = performance.getEntriesByType('navigation')
    const atMs = page instanceof PerformanceNavigationTiming ? page.responseStart : 0
    // Scripts cannot read the page's Date header, so the document repeats it.
    const sentMs = Number(element?.dataset.sentAt)
    return { payment: inDeviceTime(payment, deviceClock(sentMs, performance.timeOrigin + atMs)), atMs }
  } catch {
    return null
  }
}
