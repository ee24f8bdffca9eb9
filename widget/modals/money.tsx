import type { Payment } from '../../contract/widget-api.ts'
import { creditOf, heldByOf } from '../flow/split.ts'
import { formatDate } from '../i18n/format.ts'
import { MoneyRows } from '../parts/money-rows.tsx'
import { useModalTexts } from './texts.ts'

type Props = {
  payment: Payment
  /** The amount that the page expected to arrive now, in minor units; null if it does not know. */
  expected?: number | null
}

/** When the money of the trade arrives, and why not sooner. Empty once all of it has arrived. */
export function PaymentMoney({ payment, expected = null }: Props) {
  const { texts, money, language } = useModalTexts()
  const difference = useDifference(payment, expected)
  const split = creditOf(payment)
  if (split === null) return null
  const { currency } = payment
  // Show the note only while the offer is open: after that, nobody expects the total to change.
  const rowProps = {
    split,
    currency,
    ...(payment.status === 'pending' && { note: `${texts.amountFixed}${difference}` }),
  }
  if (split.until === null) {
    if (payment.status !== 'pending') return null
    return <MoneyRows {...rowProps} why={texts.nothingHeld} />
  }
  const date = formatDate(split.until, language)
  const until = payment.status === 'pending' ? texts.atTheLatest(date) : date
  const held = [money(split.later, currency), until] as const
  const byLimit = split.certainty === 'least' ? texts.heldByLimitAtMost : texts.heldByLimit
  return (
    <MoneyRows {...rowProps} why={(heldByOf(payment) === 'limit' ? byLimit : texts.heldUntil)(...held)} />
  )
}

/**
 * Says that the offer brings more or less now than the page expected: the forecast is rounded down, and other payments
 * use the same limit.
 */
function useDifference(payment: Payment, expected: number | null): string {
  const { texts, money } = useModalTexts()
  const now = creditOf(payment)?.now ?? null
  if (payment.status !== 'pending' || expected === null || now === null || now === expected) return ''
  if (now > expected) return ` ${texts.moreNow(money(now - expected, payment.currency))}`
  // Only a limit can leave less for now than expected, because other payments use it too.
  if (heldByOf(payment) !== 'limit') return ''
  return ` ${texts.lessNow(money(expected - now, payment.currency))}`
}
