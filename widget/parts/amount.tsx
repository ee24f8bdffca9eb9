import type { Currency } from '../../contract/money.ts'
import { CurrencyIcon } from '../ui/currency.tsx'
import { useRestTexts } from './texts.ts'

export function Amount({ minor, currency }: { minor: number; currency: Currency }) {
  const { money } = useRestTexts()
  return (
    <>
      <CurrencyIcon currency={currency} />
      {money(minor, currency)}
    </>
  )
}
