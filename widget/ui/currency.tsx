/** A coin with the symbol of its currency. The amount next to it names the currency as text. */
import './currency.css'
import type { Currency } from '../../contract/money.ts'

/** Drawn, because not every font has every symbol. The requirements include roubles, but no amount uses them yet. */
const SYMBOLS: Record<Currency | 'RUB', string> = {
  USD: 'M15 8.6c-.6-1-1.7-1.6-3-1.6-1.8 0-3.1 1-3.1 2.4 0 3.4 6.3 1.7 6.3 5.1 0 1.5-1.4 2.5-3.2 2.5-1.5 0-2.7-.7-3.3-1.8M12 5.3v13.4',
  EUR: 'M15.5 8.3A4.5 4.5 0 0 0 8.5 12a4.5 4.5 0 0 0 7 3.7M6.8 11h6M6.8 13.2h5.4',
  BRL: 'M7 16.5v-9h2.2a2.4 2.4 0 0 1 0 4.9H7m2.6 0 2 4.1M17.8 9.4c-.4-.6-1-.9-1.8-.9-1.1 0-1.9.6-1.9 1.5 0 2.1 3.9 1.1 3.9 3.3 0 1-.9 1.6-2 1.6-.9 0-1.7-.4-2-1.1M16 7.2v9.5',
  RUB: 'M9.5 17.5v-11h3.3a3.2 3.2 0 0 1 0 6.4H7.8M7.8 15.3h5.4',
}

export function CurrencyIcon({ currency }: { currency: keyof typeof SYMBOLS }) {
  return (
    <svg className="coin" viewBox="0 0 24 24" data-currency={currency} aria-hidden="true">
      <circle cx="12" cy="12" r="10.5" />
      <path d={SYMBOLS[currency]} />
    </svg>
  )
}
