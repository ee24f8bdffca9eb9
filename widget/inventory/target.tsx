import type { Payment } from '../../contract/widget-api.ts'
import { selectedTotal } from '../flow/selectors.ts'
import type { Aim, Stand } from '../flow/state.ts'
import type { StandTexts } from '../i18n/stand.ts'
import { useStandTexts } from './texts.ts'

/** Progress of the picked items towards the amount that the shopper asked for, or else the store's target. */
export function Target({ stand, payment }: { stand: Stand; payment: Payment }) {
  const { texts, money } = useStandTexts()
  const { currency } = payment
  const target = stand.aim?.target ?? payment.targetAmount
  if (!target) return null
  const total = selectedTotal(stand)
  const label = target === payment.targetAmount ? texts.target : labelOf(stand.aim, texts)
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

/** An amount that had to be raised or lowered is not called the shopper's. */
function labelOf(aim: Aim | null, texts: StandTexts): string {
  if (aim === null || aim.asked === aim.target) return texts.pickTarget
  return aim.asked < aim.target ? texts.pickLeastTarget : texts.pickMostTarget
}
