import { useId } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { type PayBlock, payBlock, selectedTotal, shownInventory } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { reachOf } from './amounts.ts'
import { BackToOffer } from './back-to-offer.tsx'
import { useStandTexts } from './texts.ts'

type Props = { stand: Stand; payment: Payment; flow: Flow }

type PayHint = {
  block: PayBlock | null
  /** Why paying is off; null if it is on, if the inventory failed, or if the limit is unknown. */
  hint: string | null
  /** True if no picks can reach the minimum. */
  isOutOfReach: boolean
}

export function usePayHint(stand: Stand, payment: Payment): PayHint {
  const { texts, money } = useStandTexts()
  const block = payBlock(stand, payment)
  const reach = shortReach(stand)
  const isOutOfReach = reach !== null
  if (block === null) return { block, hint: null, isOutOfReach }
  if (block === 'loading') {
    const hint = stand.inventory.status === 'loading' ? texts.payBlocks.loading() : null
    return { block, hint, isOutOfReach }
  }
  if (reach !== null) {
    const format = (amount: number) => money(amount, payment.currency)
    return { block, hint: texts.outOfReach(format(reach.most), format(reach.least)), isOutOfReach }
  }
  const limit = block === 'aboveMaximum' ? payment.maxAmount : (shownInventory(stand)?.minPrice ?? null)
  if (limit === null) return { block, hint: null, isOutOfReach }
  const most = block === 'aboveMaximum' ? null : payment.maxAmount
  // Show the maximum before it is exceeded.
  const maximumHint = most === null ? '' : ` ${texts.atMost(money(most, payment.currency))}`
  const hint = `${texts.payBlocks[block](money(limit, payment.currency))}${maximumHint}`
  return { block, hint, isOutOfReach }
}

/** The most that one offer can be worth and the minimum, if the minimum is above it; null otherwise. */
function shortReach({ inventory }: Stand): { most: number; least: number } | null {
  if (inventory.status !== 'ready') return null
  const { items, maxItems, minPrice } = inventory.inventory
  const most = reachOf(items, maxItems)
  return most < minPrice ? { most, least: minPrice } : null
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
      // More items would not help.
      if (shortReach(stand) !== null) return texts.pay
      return texts.payMissing(format((shownInventory(stand)?.minPrice ?? total) - total))
    case 'aboveMaximum':
      return texts.payTooMuch(format(total - (payment.maxAmount ?? total)))
    case 'loading':
    case 'nothingPicked':
      return texts.pay
  }
}

export function PayButton({ stand, payment, flow }: Props) {
  const { texts } = useStandTexts()
  const face = usePayFace(stand, payment)
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
      <span id={faceId}>{face}</span>
    </button>
  )
}
