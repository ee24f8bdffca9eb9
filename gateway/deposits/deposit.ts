/** The life of a deposit, pure. */
import type { DepositStatus } from '../../contract/statuses.ts'

/** How long a deposit waits for a trade. */
export const DEPOSIT_LIFE_MS = 60 * 60_000

/** Statuses that a deposit may move to; final ones stay, except by proof that the items were delivered. */
const EDGES: Record<DepositStatus, readonly DepositStatus[]> = {
  created: ['pending', 'succeeded', 'paymentTimeout'],
  pending: ['succeeded', 'tradeTimeout', 'tradeDeclined', 'tradeCountered', 'tradeHasInvalidItems'],
  succeeded: [],
  paymentTimeout: ['succeeded'],
  tradeTimeout: ['succeeded'],
  tradeDeclined: ['succeeded'],
  tradeCountered: ['succeeded'],
  tradeHasInvalidItems: ['succeeded'],
}

export function mayMove(from: DepositStatus, to: DepositStatus): boolean {
  return EDGES[from].includes(to)
}
