/** The roles of operators. Each role may do everything that the roles before it may. */
export const OPERATOR_ROLES = [
  /** Sees everything except secrets. */
  'viewer',
  /** Also carries out acts of everyday support, such as pausing bots, blocking prices and denying shoppers. */
  'support',
  /** Also carries out all other acts, such as moving money and items, and changing stores. */
  'operator',
] as const

export type OperatorRole = (typeof OPERATOR_ROLES)[number]

export const mayAs = (role: OperatorRole, needed: OperatorRole): boolean =>
  OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed)

/** Acts of the console that are no commands: the command line cannot prove who types. */
export const ACTS_WITHOUT_COMMAND: readonly string[] = ['proposal approve']
