/** The orders of a list of deposits, by when they were opened. */
export const DEPOSIT_ORDERS = ['newest', 'oldest'] as const
export type DepositOrder = (typeof DEPOSIT_ORDERS)[number]
