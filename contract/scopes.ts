/** The rights of an API key. Kept apart from the schemas, so a command that names scopes does not load them. */
export const SCOPES = ['deposits:read', 'deposits:write', 'balance:read', 'webhooks:manage'] as const

/** A shop needs no other scopes to take deposits; the operator sets up its webhook. */
export const SHOP_SCOPES: readonly Scope[] = ['deposits:read', 'deposits:write']

export type Scope = (typeof SCOPES)[number]
