/** Currencies a deposit may be in. */
export const CURRENCIES = ['USD', 'EUR', 'BRL'] as const

export type Currency = (typeof CURRENCIES)[number]

/** Digits after the decimal point of an amount in each currency (ISO 4217). */
export const CURRENCY_EXPONENT: Record<Currency, number> = { USD: 2, EUR: 2, BRL: 2 }

/** The causes of movements in a store's statement. */
export const MOVEMENT_CAUSES = [
  /** A delivered trade was credited. */
  'delivered',
  /** Held credit became available: Steam's protection ended, or an operator released it. */
  'released',
  /** Delivered items went back to the shopper, as Steam or an operator reported. */
  'reversed',
  /** An operator paid the store. */
  'paid_out',
  /** A recorded payout did not happen, so its amount is available again. */
  'payout_voided',
  /** A credit or debit by an operator. */
  'adjusted',
  /** An operator gave up what the store owes. */
  'written_off',
] as const
