import { isLoopback } from '../../contract/loopback.ts'

/**
 * Returns the URL of the store's first page, from a deposit's return address; null if a receipt must not link to it. A
 * receipt is shown to others, and the rest of the address can reveal the order or the shopper.
 */
export function storeAddress(returnUrl: string): string | null {
  const url = URL.parse(returnUrl)
  return url === null || !isSafe(url) ? null : `${url.origin}/`
}

/** Plain http is for a store on this machine, such as the demo store. */
const isSafe = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
