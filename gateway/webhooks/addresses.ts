/** The addresses that webhooks may go to. Pure. ipaddr.js has the list of networks outside the public internet. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All public unicast addresses of IPv6 are in this range. */
const UNICAST_6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Parses a complete address. Returns undefined for the short, octal and hexadecimal forms that ipaddr.js accepts too.
 */
function readAddress(text: string): ReturnType<typeof ipaddr.parse> | undefined {
  return isIP(text) !== 0 && ipaddr.isValid(text) ? ipaddr.parse(text) : undefined
}

export function isPublicAddress(text: string): boolean {
  const address = readAddress(text)
  if (address === undefined || address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(UNICAST_6)
}

/**
 * Networks that an operator may allow. Link-local addresses are excluded, because a cloud's metadata service has one.
 */
const INSIDE = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'])

export const isInsideAddress = (text: string): boolean => INSIDE.has(readAddress(text)?.range() ?? '')

export const isLoopbackAddress = (text: string): boolean => readAddress(text)?.range() === 'loopback'
