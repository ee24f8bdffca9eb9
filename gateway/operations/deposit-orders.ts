/** The orders of the list of deposits: by creation time, or by credit in one currency. */
export const DEPOSIT_ORDERS = ['newest', 'oldest', 'largest', 'smallest'] as const
export type DepositOrder = (typeof DEPOSIT_ORDERS)[number]

export const isByAmount = (order: DepositOrder | undefined): boolean =>
  order === 'largest' || order === 'smallest'
