/** Checks that a store sends shoppers back only to its registered origins. */

/**
 * Parses `https://host[:port]`, with or without a slash at the end. Returns undefined for anything else. Sandbox mode
 * also allows http, for stores on the same machine.
 */
export function parseOrigin(text: string, mode: 'sandbox' | 'live'): string | undefined {
  const url = URL.parse(text)
  if (url === null || !isHttp(url) || url.origin !== text.replace(/\/$/, '')) return undefined
  return url.protocol === 'http:' && mode === 'live' ? undefined : url.origin
}

/**
 * Returns whether `text` is an absolute http(s) URL whose origin is in `origins`. Refuses what browsers and parsers may
 * read differently: control characters, spaces, backslashes, user names, and letters that are normalised to
 * others.
 */
export function isAllowedUrl(text: string, origins: readonly string[]): boolean {
  if (!/^https?:\/\/[^/]/i.test(text) || hasMisreadCharacter(text)) return false
  const url = URL.parse(text)
  if (url === null || !isHttp(url) || url.username !== '' || url.password !== '') return false
  return /^[\w.:[\]-]+$/.test(authorityOf(text)) && origins.includes(url.origin)
}

/**
 * Returns an address that a deposit keeps, or the store's first page once the store has given up the origin of the
 * address. The shopper always gets a way back, but none to a site that may belong to somebody else by now.
 */
export const wayBack = (url: string, origins: readonly string[]): string =>
  isAllowedUrl(url, origins) || origins[0] === undefined ? url : `${origins[0]}/`

/** Whether the text has a space, a backslash or an invisible character, which a URL needs in encoded form. */
export const hasMisreadCharacter = (text: string): boolean => /[\p{Cc}\p{Cf}\s\\]/u.test(text)

function isHttp(url: URL): boolean {
  return url.protocol === 'https:' || url.protocol === 'http:'
}

function authorityOf(text: string): string {
  return text.replace(/^https?:\/\//i, '').split(/[/?#]/)[0] ?? ''
}
