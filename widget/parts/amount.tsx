import type { Currency } from '../../contract/money.ts'
import { CurrencyIcon } from '../ui/currency.tsx'
import { useRest } from './texts.ts'

/** An amount with the icon of its currency, used for every price, total and minimum. */
export function Amount({ minor, currency }: { minor: number; currency: Currency }) {
  const { money } = useRest()
  return (
    <>
      <CurrencyIcon currency={currency} />
      {money(minor, currency)}
    </>
  )
}
