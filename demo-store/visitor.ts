/** The visitor and their settings. A demo has no passwords: a visitor chooses one of its shoppers. */
import type { IncomingMessage } from 'node:http'
import { CURRENCIES, type Currency } from './goods.ts'
import { LANGUAGES, type Language } from './texts.ts'

export const FIRST_SHOPPER = 'ember_guest'

export const SHOPPERS = [FIRST_SHOPPER, 'frost_byte', 'mira_sol'] as const

export type Visitor = { shopper: (typeof SHOPPERS)[number]; language: Language; currency: Currency }

const COOKIES = { shopper: 'ember_shopper', language: 'ember_language', currency: 'ember_currency' } as const
const VALUES = { shopper: SHOPPERS, language: LANGUAGES, currency: CURRENCIES }
const COOKIE_SECONDS = 30 * 24 * 60 * 60

export function visitorOf({ headers }: IncomingMessage): Visitor {
  const cookies = new Map(
    (headers.cookie ?? '').split(/; */, 50).map((pair) => {
      const [name = '', value = ''] = pair.split('=', 2)
      return [name, value]
    }),
  )
  const isRussian = headers['accept-language']?.toLowerCase().startsWith('ru') === true
  return {
    shopper: oneOf(SHOPPERS, cookies.get(COOKIES.shopper)) ?? FIRST_SHOPPER,
    language: oneOf(LANGUAGES, cookies.get(COOKIES.language)) ?? (isRussian ? 'ru' : 'en'),
    currency: oneOf(CURRENCIES, cookies.get(COOKIES.currency)) ?? 'USD',
  }
}

/** Returns the cookies for the fields of a settings form, without unknown values. */
export function settingsOf(form: URLSearchParams): string[] {
  const names = Object.keys(COOKIES) as (keyof typeof COOKIES)[]
  return names.flatMap((name) => {
    const value = oneOf(VALUES[name], form.get(name))
    return value === undefined
      ? []
      : [`${COOKIES[name]}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${COOKIE_SECONDS}`]
  })
}

export const oneOf = <T extends string>(
  values: readonly T[],
  wanted: string | null | undefined,
): T | undefined => values.find((value) => value === wanted)
