/** Which addresses a webhook may be sent to, pure. */
import { BlockList, isIP } from 'node:net'

/** Networks that are not the public internet (IANA special-purpose registries), and ways to write them in IPv6. */
const FORBIDDEN_4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

/** Only 2000::/3 is public unicast in IPv6; these are its exceptions. */
const FORBIDDEN_6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const forbidden = new BlockList()
for (const [network, prefix] of FORBIDDEN_4) forbidden.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of FORBIDDEN_6) forbidden.addSubnet(network, prefix, 'ipv6')

const unicast6 = new BlockList()
unicast6.addSubnet('2000::', 3, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !forbidden.check(address, 'ipv4')
  return family === 6 && unicast6.check(address, 'ipv6') && !forbidden.check(address, 'ipv6')
}

export function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
