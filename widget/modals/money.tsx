import type { Payment } from '../../contract/widget-api.ts'
import { creditOf, heldByOf } from '../flow/split.ts'
import { formatDate } from '../i18n/format.ts'
import { MoneyRows } from '../parts/money-rows.tsx'
import { useModal } from './texts.ts'

/** When the money of the trade comes, and why. Empty once all of it has come. */
export function PaymentMoney({ payment }: { payment: Payment }) {
  const { texts, money, language } = useModal()
  const split = creditOf(payment)
  if (split === null) return null
  const { currency } = payment
  if (split.until === null) {
    if (payment.status !== 'pending') return null
    return <MoneyRows split={split} currency={currency} why={texts.nothingHeld} />
  }
  const held = [money(split.later, currency), formatDate(split.until, language)] as const
  const byLimit = split.certainty === 'least' ? texts.heldByLimitAtMost : texts.heldByLimit
  const why = (heldByOf(payment) === 'limit' ? byLimit : texts.heldUntil)(...held)
  return <MoneyRows split={split} currency={currency} why={why} />
}
