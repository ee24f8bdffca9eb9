/** The rights of an API key. Kept apart from the schemas, so a command that uses scopes does not load the schemas. */
export const SCOPES = ['deposits:read', 'deposits:write', 'balance:read', 'webhooks:manage'] as const

/** An API key has these unless others are given. They are enough to take deposits if the operator adds the webhook. */
export const DEFAULT_SCOPES: readonly Scope[] = ['deposits:read', 'deposits:write']

export type Scope = (typeof SCOPES)[number]
