import type { Payment } from '../../contract/widget-api.ts'
import { creditOf } from '../flow/split.ts'
import { formatDate } from '../i18n/format.ts'
import { MoneyRows } from '../parts/money-rows.tsx'
import { useModal } from './texts.ts'

/** When the money of the trade arrives; empty if all of it arrives immediately. */
export function PaymentMoney({ payment }: { payment: Payment }) {
  const { texts, money, language } = useModal()
  const split = creditOf(payment)
  if (split === null || split.until === null) return null
  const { currency } = payment
  const until = formatDate(split.until, language)
  const mayGrow = split.certainty === 'least' && split.now > 0
  const why = mayGrow ? texts.heldInPart(until) : texts.heldUntil(money(split.later, currency), until)
  return <MoneyRows split={split} currency={currency} why={why} />
}
