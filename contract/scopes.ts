/** The rights of an API key. Apart from the schemas, so a command that names scopes does not build them. */
export const SCOPES = ['deposits:read', 'deposits:write', 'balance:read', 'webhooks:manage'] as const

export type Scope = (typeof SCOPES)[number]
