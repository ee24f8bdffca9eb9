import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { selectedTotal } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { usePage } from '../page.tsx'
import { Amount } from '../ui/currency.tsx'
import { PayButton, usePayHint } from './pay.tsx'
import { Money } from './summary.tsx'
import { Target } from './target.tsx'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** The phone's bar: count, price, and what is still missing. */
export function BottomBar({ stand, payment, flow }: Props) {
  const { texts } = usePage()
  const { block, hint } = usePayHint(stand, payment)
  if (payment.status === 'pending')
    return (
      <aside className="bottom-bar" aria-label={texts.summary}>
        <div className="bottom-row">
          <PayButton stand={stand} payment={payment} flow={flow} />
        </div>
      </aside>
    )
  // Nothing was done wrong yet.
  const isQuiet = block === 'loading' || block === 'noItems'
  return (
    <aside className="bottom-bar" aria-label={texts.summary}>
      {hint !== null && <p className={isQuiet ? 'bottom-hint bottom-hint-quiet' : 'bottom-hint'}>{hint}</p>}
      <Target total={selectedTotal(stand)} payment={payment} />
      {stand.selection.length > 0 && <Money stand={stand} payment={payment} folded />}
      <div className="bottom-row">
        <div className="bottom-sum">
          <strong>
            <Amount minor={selectedTotal(stand)} currency={payment.currency} />
          </strong>
          <span>
            {texts.selectedCount(stand.selection.length)}
            {stand.selection.length > 0 && (
              <button
                type="button"
                className="link"
                aria-label={texts.clearAll}
                onClick={() => flow.dispatch({ type: 'selectionCleared' })}
              >
                {texts.clear}
              </button>
            )}
          </span>
        </div>
        <PayButton stand={stand} payment={payment} flow={flow} />
      </div>
    </aside>
  )
}
