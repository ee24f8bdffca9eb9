/** Which URLs a webhook may be sent to. Apart from the sender, so a check of a URL does not load the client for HTTP. */
import { isIP } from 'node:net'
import { isInsideAddress, isLoopbackAddress, isPublicAddress } from './addresses.ts'

/** A host and a port, as URLs are compared: lower case, an IPv6 address without brackets. */
export type Address = { host: string; port: number }

/** The operator's word for an address. */
export type Allowance = {
  /** Its name may lead to this machine, or into a private network. */
  inside: boolean
}

/** Undefined for an address that the operator has not named for the store. */
export type FindAllowance = (storeId: bigint, address: Address) => Promise<Allowance | undefined>

export type Reach = { mode: 'sandbox' | 'live'; allowance: Allowance | undefined }

const HTTPS_PORT = 443
/** URLs allow more, but a refusal repeats the name in a command that somebody may copy into a shell. */
const HOST_NAME = /^[\w.-]{1,253}$/

export function addressOf({ hostname, port, protocol }: URL): Address {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return { host, port: port === '' ? (protocol === 'https:' ? HTTPS_PORT : 80) : Number(port) }
}

/** Reads `host:port` as an operator types it. */
export function parseAddress(text: string): Address | undefined {
  const url = /:\d{1,5}$/.test(text) && !/[\s/?#@\\]/.test(text) ? URL.parse(`https://${text}`) : null
  return url === null || url.port === '0' ? undefined : addressOf(url)
}

export const formatAddress = ({ host, port }: Address): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** Whether the address is this machine or of a private network without any look-up. */
export const isInsideHost = (host: string): boolean => host === 'localhost' || isInsideAddress(host)

/**
 * Whether a socket may connect to an address. The sandbox follows names that the operator named to this machine; a
 * sandbox that strangers reach must not. Plain http never crosses the internet in live mode.
 */
export function mayConnect(address: string, { mode, allowance }: Reach, isSecure: boolean): boolean {
  if (isPublicAddress(address)) return isSecure || mode === 'sandbox'
  if (mode === 'sandbox' && allowance !== undefined && isLoopbackAddress(address)) return true
  return allowance?.inside === true && isInsideAddress(address)
}

/** Why a URL is never sent to, as far as it shows without a look-up of its name. */
export function refuseUrl(url: URL, reach: Reach): string | undefined {
  const { mode, allowance } = reach
  const isSecure = url.protocol === 'https:'
  const mayBePlain = mode === 'sandbox' || allowance?.inside === true
  if (!isSecure && !(mayBePlain && url.protocol === 'http:')) return 'the address must be https'
  const { host, port } = addressOf(url)
  if (isIP(host) === 0 && !HOST_NAME.test(host)) return 'the name of the host has characters that no name has'
  // A literal address is connected to without any lookup.
  if (isIP(host) !== 0 && !mayConnect(host, reach, isSecure)) return NOT_PUBLIC
  if (allowance !== undefined) return undefined
  if (mode === 'sandbox') return 'the operator has not named the address'
  return port === HTTPS_PORT ? undefined : `the port must be ${HTTPS_PORT}`
}

export const NOT_PUBLIC = 'the address is not public'

/** A reason with the command by which the operator allows the address, for the log. */
export function withCommand(reason: string, storeId: bigint, url: URL): string {
  const { host, port } = addressOf(url)
  if (isIP(host) === 0 && !HOST_NAME.test(host)) return reason
  const inside = reason === NOT_PUBLIC || isInsideHost(host) ? ' --inside' : ''
  const address = formatAddress({ host, port })
  return `${reason}; to allow it: store allow-address --id ${storeId} --address ${address}${inside}`
}
