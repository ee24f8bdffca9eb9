/** Which addresses a webhook may be sent to. Pure: ipaddr.js has the networks that are not the public internet. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The public unicast of IPv6. The rest is reserved, or another way to write an address of IPv4. */
const UNICAST_6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Undefined for everything but a whole address: ipaddr.js also reads short, octal and hexadecimal ones. */
function readAddress(text: string): ReturnType<typeof ipaddr.parse> | undefined {
  return isIP(text) !== 0 && ipaddr.isValid(text) ? ipaddr.parse(text) : undefined
}

export function isPublicAddress(text: string): boolean {
  const address = readAddress(text)
  if (address === undefined || address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(UNICAST_6)
}

/** Networks that an operator may allow. Link-local ones are missing: the metadata service of a cloud is there. */
const INSIDE = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'])

export const isInsideAddress = (text: string): boolean => INSIDE.has(readAddress(text)?.range() ?? '')

export const isLoopbackAddress = (text: string): boolean => readAddress(text)?.range() === 'loopback'
