import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { type PayBlock, payBlock, shownInventory } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { usePage } from '../page.tsx'
import { BackToOffer } from './back-to-offer.tsx'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** Why paying is off, as a sentence; null when it is on, or when the limit is not known. */
export function usePayHint(stand: Stand, payment: Payment): { block: PayBlock | null; hint: string | null } {
  const { texts, money } = usePage()
  const block = payBlock(stand, payment)
  if (block === null) return { block, hint: null }
  if (block === 'loading') {
    return { block, hint: stand.inventory.status === 'loading' ? texts.payBlocks.loading() : null }
  }
  const limit = block === 'aboveMaximum' ? payment.maxAmount : (shownInventory(stand)?.minPrice ?? null)
  if (limit === null) return { block, hint: null }
  const most = block === 'aboveMaximum' ? null : payment.maxAmount
  // Told before it is exceeded.
  const told = most === null ? '' : ` ${texts.atMost(money(most, payment.currency))}`
  return { block, hint: `${texts.payBlocks[block](money(limit, payment.currency))}${told}` }
}

export function PayButton({ stand, payment, flow }: Props) {
  const { texts } = usePage()
  const open = payment.status === 'created'
  if (payment.status === 'pending') return <BackToOffer flow={flow} />
  return (
    <button
      type="button"
      className="button primary pay"
      disabled={!open || payBlock(stand, payment) !== null}
      onClick={() => flow.dispatch({ type: 'payPressed' })}
    >
      {texts.pay}
    </button>
  )
}
