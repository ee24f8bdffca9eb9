import type { Payment } from '../../contract/widget-api.ts'
import { usePage } from '../page.tsx'

/** How far the picked items go towards what the store asks for. */
export function Target({ total, payment }: { total: number; payment: Payment }) {
  const { texts, money } = usePage()
  const { targetAmount: target, currency } = payment
  if (!target) return null
  const said = texts.targetReached(money(total, currency), money(target, currency))
  return (
    <div className="target">
      <p>
        <span>{texts.target}</span> <span>{said}</span>
      </p>
      <progress max={target} value={Math.min(total, target)} aria-label={texts.target}>
        {said}
      </progress>
    </div>
  )
}
