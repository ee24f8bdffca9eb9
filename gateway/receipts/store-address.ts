/** Where a receipt links to its store. Pure. */
import { isLoopback } from '../kit/loopback.ts'

/** A placeholder of a return address, as `URL` writes its brace. */
const PLACEHOLDER = '%7B'

/**
 * Returns the store's address from the return address of a deposit; null if a receipt must not link to it. A receipt is
 * shown to others, so the result has no query and no fragment, and no path that contains the order's id.
 */
export function storeAddress(returnUrl: string, externalId: string): string | null {
  const url = URL.parse(returnUrl)
  if (url === null || !isSafe(url)) return null
  const { origin, pathname } = url
  const isOfOrder = [PLACEHOLDER, externalId, encodeURIComponent(externalId)].some((part) =>
    pathname.includes(part),
  )
  return `${origin}${isOfOrder ? '/' : pathname}`
}

/** Plain http is for a store on this machine, such as the demo store. */
const isSafe = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
