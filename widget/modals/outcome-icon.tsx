import type { FinalDepositStatus } from '../../contract/statuses.ts'

/** The outcomes with an icon, a title and a description. A payment that timed out has none of these. */
export type DrawnOutcome = Exclude<FinalDepositStatus, 'paymentTimeout'>

/**
 * `cancelled`: the offer was cancelled for the store, or on Steam but not by the till. Its deposit ends as
 * `tradeTimeout`.
 */
type Shape = DrawnOutcome | 'cancelled'

const SHAPES: Record<Shape, { tone: string; path: string }> = {
  succeeded: { tone: 'good', path: 'm20 33 9 9 16-19' },
  tradeTimeout: { tone: 'warn', path: 'M32 18v14l9 6' },
  tradeDeclined: { tone: 'bad', path: 'm22 22 20 20M42 22 22 42' },
  tradeCountered: { tone: 'bad', path: 'M22 27h19l-6-6M42 37H23l6 6' },
  tradeHasInvalidItems: { tone: 'warn', path: 'M32 20v14M32 42v.1' },
  cancelled: { tone: 'warn', path: 'M32 20v14M32 42v.1' },
}

export function OutcomeIcon({ shape }: { shape: Shape }) {
  const { tone, path } = SHAPES[shape]
  return (
    <svg className={`outcome-icon outcome-${tone}`} viewBox="0 0 64 64" aria-hidden="true">
      <circle cx="32" cy="32" r="27" />
      <path d={path} />
    </svg>
  )
}
