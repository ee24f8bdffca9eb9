/** Currencies a deposit may be in. */
export const CURRENCIES = ['USD', 'EUR', 'BRL'] as const

export type Currency = (typeof CURRENCIES)[number]

/** Digits after the decimal point of each currency's minor unit (ISO 4217). */
export const CURRENCY_EXPONENT: Record<Currency, number> = { USD: 2, EUR: 2, BRL: 2 }

/** The causes of movements in a store's statement. */
export const MOVEMENT_CAUSES = [
  'delivered',
  'released',
  'reversed',
  'paid_out',
  'payout_voided',
  'adjusted',
  'written_off',
] as const
