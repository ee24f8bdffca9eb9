/** Which URLs a webhook may be sent to. Apart from the sender, so a check of a URL does not load the client for HTTP. */
import { isIP } from 'node:net'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

export const mayConnect = (address: string, mode: 'sandbox' | 'live'): boolean =>
  isPublicAddress(address) || (mode === 'sandbox' && isLoopbackAddress(address))

/** Why a URL is never sent to, as far as it shows without a look-up of its name. */
export function refuseUrl(url: URL, mode: 'sandbox' | 'live'): string | undefined {
  const secure = url.protocol === 'https:'
  if (!secure && !(mode === 'sandbox' && url.protocol === 'http:')) return 'the address must be https'
  // A literal address is connected to without any lookup.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !mayConnect(host, mode)) return 'the address is not public'
  return undefined
}
