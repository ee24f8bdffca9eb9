/** The rights of an API key. Apart from the schemas, so a command that names scopes does not build them. */
export const SCOPES = ['deposits:read', 'deposits:write', 'balance:read', 'webhooks:manage'] as const

/** A shop needs no others to take deposits; the operator gives it its webhook. */
export const SHOP_SCOPES: readonly Scope[] = ['deposits:read', 'deposits:write']

export type Scope = (typeof SCOPES)[number]
