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

/** Metadata services within those networks: of Alibaba Cloud, AWS and Google Cloud. They hand out a machine's keys. */
const METADATA = new Set(
  ['100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map((text) => ipaddr.parse(text).toNormalizedString()),
)

export function isInsideAddress(text: string): boolean {
  const address = readAddress(text)
  return address !== undefined && INSIDE.has(address.range()) && !METADATA.has(address.toNormalizedString())
}

export const isLoopbackAddress = (text: string): boolean => readAddress(text)?.range() === 'loopback'
