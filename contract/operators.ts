/** The roles of operators. Each role may do everything that the roles before it may. */
export const OPERATOR_ROLES = [
  /** Sees everything except secrets. */
  'viewer',
  /** Also pauses bots, blocks prices, denies shoppers, and turns maintenance on and off. */
  'support',
  /** Also moves money and items, makes keys, and changes stores and limits. */
  'operator',
] as const

export type OperatorRole = (typeof OPERATOR_ROLES)[number]

export const mayAs = (role: OperatorRole, needed: OperatorRole): boolean =>
  OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed)
