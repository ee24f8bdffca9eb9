import { useId } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import {
  isDeadEnd,
  type PayBlock,
  payBlock,
  reachOf,
  selectedTotal,
  shownInventory,
} from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { BackToOffer } from './back-to-offer.tsx'
import { useStandTexts } from './texts.ts'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** `hint` says why paying is off; null if it is on, if the inventory failed, or if the limit is unknown. */
export function usePayHint(stand: Stand, payment: Payment): { block: PayBlock | null; hint: string | null } {
  const { texts, money } = useStandTexts()
  const block = payBlock(stand, payment)
  if (block === null) return { block, hint: null }
  if (block === 'loading') {
    return { block, hint: stand.inventory.status === 'loading' ? texts.payBlocks.loading() : null }
  }
  const format = (amount: number) => money(amount, payment.currency)
  const inventory = shownInventory(stand)
  const limit = block === 'aboveMaximum' ? payment.maxAmount : (inventory?.minPrice ?? null)
  if (limit === null || inventory === null) return { block, hint: null }
  if (isDeadEnd(block)) {
    const reach = reachOf(inventory.items, inventory.maxItems)
    const most = block === 'outOfReach' ? reach : (payment.maxAmount ?? reach)
    return { block, hint: texts.payBlocks[block](format(limit), format(most)) }
  }
  const most = block === 'aboveMaximum' ? null : payment.maxAmount
  // Show the maximum before it is exceeded.
  const maximumHint = most === null ? '' : ` ${texts.atMost(format(most))}`
  return { block, hint: `${texts.payBlocks[block](format(limit))}${maximumHint}` }
}

/** The button's text, such as the amount that it adds, or what is missing. */
function usePayFace(stand: Stand, payment: Payment): string {
  const { texts, money } = useStandTexts()
  const total = selectedTotal(stand)
  const format = (amount: number) => money(amount, payment.currency)
  switch (payBlock(stand, payment)) {
    case null:
      return texts.payAmount(format(total))
    case 'belowMinimum':
      return texts.payMissing(format((shownInventory(stand)?.minPrice ?? total) - total))
    case 'aboveMaximum':
      return texts.payTooMuch(format(total - (payment.maxAmount ?? total)))
    case 'loading':
    case 'nothingPicked':
    case 'minimumAboveMaximum':
    case 'outOfReach':
      return texts.pay
  }
}

export function PayButton({ stand, payment, flow }: Props) {
  const { texts } = useStandTexts()
  const [label, amount] = usePayFace(stand, payment).split(' · ')
  const faceId = useId()
  const isOpen = payment.status === 'created'
  if (payment.status === 'pending') return <BackToOffer flow={flow} />
  return (
    <button
      type="button"
      className="button primary pay"
      data-next-step
      // Not disabled: a closing dialog gives this button the focus, and browsers focus no disabled button.
      aria-disabled={!isOpen || payBlock(stand, payment) !== null}
      aria-label={texts.pay}
      aria-describedby={faceId}
      onClick={() => flow.dispatch({ kind: 'payPressed' })}
    >
      <span id={faceId}>
        <span className="pay-label">{label}</span>
        {amount !== undefined && (
          <>
            <span className="pay-dot"> · </span>
            <span className="pay-amount">{amount}</span>
          </>
        )}
      </span>
    </button>
  )
}
