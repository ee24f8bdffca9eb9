/** The orders of a list of deposits: by when they were opened, or by their credit in one currency. */
export const DEPOSIT_ORDERS = ['newest', 'oldest', 'largest', 'smallest'] as const
export type DepositOrder = (typeof DEPOSIT_ORDERS)[number]

export const isByAmount = (order: DepositOrder | undefined): boolean =>
  order === 'largest' || order === 'smallest'
