/** The people that may be signed in at this store. A demo has no passwords: a visitor chooses one of them. */
import type { IncomingMessage } from 'node:http'

export const FIRST_SHOPPER = 'ember_guest'

export const SHOPPERS = [FIRST_SHOPPER, 'frost_byte', 'mira_sol'] as const

export type Shopper = (typeof SHOPPERS)[number]

const COOKIE = 'ember_shopper'

export function shopperOf(request: IncomingMessage): Shopper {
  const chosen = /(?:^|;\s*)ember_shopper=([a-z_]{1,20})/.exec(request.headers.cookie ?? '')?.[1]
  return SHOPPERS.find((known) => known === chosen) ?? FIRST_SHOPPER
}

export const shopperCookie = (shopper: Shopper): string =>
  `${COOKIE}=${shopper}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000`
