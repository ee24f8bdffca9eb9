import type { Payment } from '../../contract/widget-api.ts'
import { selectedTotal } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { useStandTexts } from './texts.ts'

/** Progress of the picked items towards the amount that the shopper asked for, or else the store's target. */
export function Target({ stand, payment }: { stand: Stand; payment: Payment }) {
  const { texts, money } = useStandTexts()
  const { currency } = payment
  const target = stand.aim?.target ?? payment.targetAmount
  if (!target) return null
  const total = selectedTotal(stand)
  const label = target === payment.targetAmount ? texts.target : texts.pickTarget
  const progressText = texts.targetReached(money(total, currency), money(target, currency))
  return (
    <div className="target">
      <p>
        <span>{label}</span> <span>{progressText}</span>
      </p>
      <progress max={target} value={Math.min(total, target)} aria-label={label}>
        {progressText}
      </progress>
    </div>
  )
}
