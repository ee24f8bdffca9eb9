/** Which URLs a webhook may be sent to. Separate from the sender, so checking a URL does not load the HTTP client. */
import { isIP } from 'node:net'
import { isInsideAddress, isLoopbackAddress, isPublicAddress } from './addresses.ts'

/** A normalised host and port. The host is in lower case, and an IPv6 address has no brackets. */
export type Address = { host: string; port: number }

/** An operator's permission for an address. */
export type Allowance = {
  /** The name may resolve to this machine, or to a private network. */
  inside: boolean
}

/** Resolves to undefined if the operator has not allowed the address for the store. */
export type FindAllowance = (storeId: bigint, address: Address) => Promise<Allowance | undefined>

/** The facts that decide which addresses a webhook may reach. */
export type Reach = { mode: 'sandbox' | 'live'; allowance: Allowance | undefined }

const HTTPS_PORT = 443
/**
 * URLs allow more characters, but a refusal contains a command with the name, and people may copy the command into a
 * shell.
 */
const HOST_NAME = /^[\w.-]{1,253}$/

export function addressOf({ hostname, port, protocol }: URL): Address {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return { host, port: port === '' ? (protocol === 'https:' ? HTTPS_PORT : 80) : Number(port) }
}

/** Returns the URL for people to read, without its query, which may hold a secret; '' if the text is not a URL. */
export function withoutQuery(text: string): string {
  const url = URL.parse(text)
  return url === null ? '' : url.origin + url.pathname
}

/** Parses `host:port` as an operator types it. Returns undefined for any other text. */
export function parseAddress(text: string): Address | undefined {
  const url = /:\d{1,5}$/.test(text) && !/[\s/?#@\\]/.test(text) ? URL.parse(`https://${text}`) : null
  return url === null || url.port === '0' ? undefined : addressOf(url)
}

export const formatAddress = ({ host, port }: Address): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** True if the host itself is an address, or `localhost`, inside the network. */
export const isInsideHost = (host: string): boolean => host === 'localhost' || isInsideAddress(host)

/**
 * True if a socket may connect to an address. In the sandbox, an allowed name may always lead to this machine. A
 * sandbox that others can reach has the mode `live` here. In live mode, plain http never crosses the internet.
 */
export function mayConnect(address: string, { mode, allowance }: Reach, isSecure: boolean): boolean {
  if (isPublicAddress(address)) return isSecure || mode === 'sandbox'
  if (mode === 'sandbox' && allowance !== undefined && isLoopbackAddress(address)) return true
  return allowance?.inside === true && isInsideAddress(address)
}

/** Returns why a URL is refused, before its name is looked up; undefined if it is not refused. */
export function refuseUrl(url: URL, reach: Reach): string | undefined {
  const { mode, allowance } = reach
  const isSecure = url.protocol === 'https:'
  const mayBePlain = mode === 'sandbox' || allowance?.inside === true
  if (!isSecure && !(mayBePlain && url.protocol === 'http:')) return NOT_HTTPS
  const { host, port } = addressOf(url)
  if (isIP(host) === 0 && !HOST_NAME.test(host)) return 'the host name has characters that are not allowed'
  // A literal address is used without a look-up.
  if (isIP(host) !== 0 && !mayConnect(host, reach, isSecure)) return whyNotConnected(reach, isSecure)
  if (allowance !== undefined) return undefined
  if (mode === 'sandbox') return 'the operator has not allowed the address'
  return port === HTTPS_PORT ? undefined : `the port must be ${HTTPS_PORT}`
}

const NOT_PUBLIC = 'the address is not public'
const NOT_HTTPS = 'the address must be https'

/** Why `mayConnect` is false. */
export const whyNotConnected = ({ allowance }: Reach, isSecure: boolean): string =>
  isSecure || allowance?.inside !== true ? NOT_PUBLIC : 'plain http must stay inside the network'

/**
 * Returns the reason with the command that allows the address. Leaves the command out if no command allows it, or if
 * the name could run in a shell.
 */
export function withCommand(
  reason: string,
  { storeId, url, allowance }: { storeId: bigint; url: URL; allowance: Allowance | undefined },
): string {
  const { host, port } = addressOf(url)
  const isName = isIP(host) === 0
  if (allowance?.inside === true || (isName && !HOST_NAME.test(host))) return reason
  const isPlain = reason === NOT_HTTPS
  if (isPlain && url.protocol !== 'http:') return reason
  const canBeInside = isName || isInsideAddress(host)
  if ((isPlain || reason === NOT_PUBLIC) && !canBeInside) return reason
  const inside = isPlain || reason === NOT_PUBLIC || isInsideHost(host) ? ' --inside' : ''
  const effect = isPlain ? 'to allow plain http inside your network' : 'to allow it'
  const address = formatAddress({ host, port })
  return `${reason}; ${effect}: store allow-address --store ${storeId} --address ${address}${inside}`
}
