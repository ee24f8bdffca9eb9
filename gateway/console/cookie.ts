/** The two halves of a session's secret. */
import { randomBytes } from 'node:crypto'

/**
 * A cookie belongs to a host with all its ports. So another server on the host receives it, and on localhost that
 * server can set a Secure cookie even without TLS. The cookie alone therefore opens nothing: the page keeps the other
 * half where only its own origin can read it.
 */
const COOKIE_NAME = '__Host-console'
const HALF = /^[\w-]{43}$/
/** The longest life of a session. */
const MOST_SESSION_S = 12 * 60 * 60

export type Halves = { cookie: string; page: string }

const newHalf = (): string => randomBytes(32).toString('base64url')

export const newHalves = (): Halves => ({ cookie: newHalf(), page: newHalf() })

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

export const setCookie = (cookie: string): string =>
  `${COOKIE_NAME}=${cookie}; ${ATTRIBUTES}; Max-Age=${MOST_SESSION_S}`
export const CLEAR_COOKIE = `${COOKIE_NAME}=; ${ATTRIBUTES}; Max-Age=0`

type Headers = Record<string, string | string[] | undefined>

/**
 * Returns undefined unless both halves are there. If there are two cookies with this name, another port of the host
 * must have planted one, so neither counts.
 */
export function readHalves(headers: Headers): Halves | undefined {
  const sessionCookies = String(headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${COOKIE_NAME}=`))
  const cookie = sessionCookies[0]?.slice(COOKIE_NAME.length + 1)
  const page = headers['x-console-session']
  const isWhole = sessionCookies.length === 1 && cookie !== undefined && typeof page === 'string'
  return isWhole && HALF.test(cookie) && HALF.test(page) ? { cookie, page } : undefined
}
