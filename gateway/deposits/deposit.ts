/** The life cycle of a deposit. Pure. */
import type { Game } from '../../contract/games.ts'
import type { DepositStatus, FinalDepositStatus } from '../../contract/statuses.ts'

/** Suffix of a reason: the offer ended before a person could have read it. */
export const AT_ONCE = '_at_once'

/** Why a deposit ended without items, for its store and its receipt. receipts/texts.ts has a sentence for each. */
export const END_REASONS = [
  'expired',
  'cancelled_by_store',
  'declined',
  `declined${AT_ONCE}`,
  'countered',
  'deadline',
  'cancelled_elsewhere',
  `cancelled_elsewhere${AT_ONCE}`,
  'cancelled_by_second_factor',
  'needs_confirmation',
  'invalid',
  'invalid_items',
  'exchange_failed',
  'exchange_taken_back',
  'escrow',
  'unresolved',
  'bot_retired',
  'ended_by_operator',
] as const

export type EndReason = (typeof END_REASONS)[number]

export const isEndReason = (reason: string): reason is EndReason =>
  END_REASONS.some((known) => known === reason)

/** The games of a deposit: those that the call asks for and the store may use; null for all. */
export function acceptedGames(
  allowed: readonly Game[] | null,
  named: readonly Game[] | undefined,
): Game[] | null {
  if (named === undefined) return allowed === null ? null : [...allowed]
  return named.filter((game) => allowed === null || allowed.includes(game))
}

/** How long a deposit waits for a trade, unless the store sets another time. */
export const DEFAULT_DEPOSIT_LIFE_MS = 60 * 60_000

/** Statuses that a deposit can move to. A final status stays, unless the items turn out to have been delivered. */
export const DEPOSIT_EDGES: Record<DepositStatus, readonly DepositStatus[]> = {
  created: ['pending', 'succeeded', 'paymentTimeout'],
  pending: ['succeeded', 'tradeTimeout', 'tradeDeclined', 'tradeCountered', 'tradeHasInvalidItems'],
  succeeded: [],
  paymentTimeout: ['succeeded'],
  tradeTimeout: ['succeeded'],
  tradeDeclined: ['succeeded'],
  tradeCountered: ['succeeded'],
  tradeHasInvalidItems: ['succeeded'],
}

export type DepositCause =
  | { kind: 'offer_opened' }
  | { kind: 'trade_ended'; status: Exclude<FinalDepositStatus, 'succeeded' | 'paymentTimeout'> }
  | { kind: 'delivered' }
  /** The store cancels the deposit before there is an offer. A cancel after that causes `trade_ended`. */
  | { kind: 'cancelled_by_store' }
  /** A check of the expiry. `isStopped`: a trade is open, Steam is down or maintenance lasts, so nothing expires. */
  | { kind: 'time_passed'; now: Date; isStopped: boolean }

/** Returns the status that a cause moves a deposit to; null if nothing changes. */
export function decideDeposit(
  { status, expiresAt }: { status: DepositStatus; expiresAt: Date },
  cause: DepositCause,
): Exclude<DepositStatus, 'created'> | null {
  const to = targetOf(cause, expiresAt)
  return to !== null && DEPOSIT_EDGES[status].includes(to) ? to : null
}

function targetOf(cause: DepositCause, expiresAt: Date): Exclude<DepositStatus, 'created'> | null {
  switch (cause.kind) {
    case 'offer_opened':
      return 'pending'
    case 'trade_ended':
      return cause.status
    case 'delivered':
      return 'succeeded'
    case 'cancelled_by_store':
      return 'paymentTimeout'
    case 'time_passed':
      return cause.now >= expiresAt && !cause.isStopped ? 'paymentTimeout' : null
    default:
      return cause satisfies never
  }
}
