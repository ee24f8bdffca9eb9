/**
 * The proxies that are trusted to report a caller's address. If every caller were trusted, each could claim any
 * address.
 */
import ipaddr from 'ipaddr.js'

export type TrustedProxies =
  /** `none`: callers connect directly. */
  { kind: 'proxies'; proxies: string[] } | { kind: 'none' } | { kind: 'refused'; reason: string }

/** Ranges that the web server knows by name. */
const NAMED_RANGES = new Set(['loopback', 'linklocal', 'uniquelocal'])
/** The fewest fixed bits that a range may have. A wider range is not plausible for proxies. */
const LEAST_BITS = { ipv4: 8, ipv6: 16 }
/** fc00::/7 is wide, but private. */
const LEAST_PRIVATE_BITS = 7

const ADVICE =
  'give the addresses of your proxies, such as 127.0.0.1 or 10.0.0.0/24, or the word none if callers connect directly'

/** Reads a list of addresses, ranges (`10.0.0.0/24`) and named ranges, separated by commas. */
export function readTrustedProxies(text: string): TrustedProxies {
  const entries = text.split(',').map((entry) => entry.trim())
  if (entries.length === 1 && entries[0] === 'none') return { kind: 'none' }
  for (const entry of entries) {
    const reason = refusalOf(entry)
    if (reason !== undefined) return { kind: 'refused', reason: `${reason}: ${ADVICE}` }
  }
  return { kind: 'proxies', proxies: entries }
}

function refusalOf(entry: string): string | undefined {
  if (NAMED_RANGES.has(entry)) return undefined
  if (entry === 'none') return 'has the word none among other entries'
  const range = rangeOf(entry)
  if (range === undefined)
    return `has ${JSON.stringify(entry.slice(0, 60))}, which is not an address or a range`
  const [address, bits] = range
  const leastBits = address.range() === 'uniqueLocal' ? LEAST_PRIVATE_BITS : LEAST_BITS[address.kind()]
  if (bits < leastBits) return `has ${entry}, which is so wide that callers would count as proxies`
  return address.range() === 'unspecified' ? `has ${entry}, which is nobody's address` : undefined
}

type Range = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/** IPv4 written as IPv6 counts as IPv4. Undefined for anything but a plain address or CIDR range. */
function rangeOf(entry: string): Range | undefined {
  if (!/^[\da-f.:]+(?:\/\d{1,3})?$/i.test(entry)) return undefined
  const isRange = entry.includes('/')
  if (isRange ? !ipaddr.isValidCIDR(entry) : !ipaddr.isValid(entry)) return undefined
  const [address, bits] = isRange ? ipaddr.parseCIDR(entry) : rangeOfAddress(ipaddr.parse(entry))
  // Short forms of IPv4, such as 10.1, mean different addresses to different readers.
  if (address.kind() === 'ipv4' && !/^(?:\d+\.){3}\d+(?:\/|$)/.test(entry)) return undefined
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return [address.toIPv4Address(), Math.max(0, bits - 96)]
  }
  return [address, bits]
}

const rangeOfAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): Range => [
  address,
  address.kind() === 'ipv4' ? 32 : 128,
]
