/**
 * Resolves names for live mode by asking DNS servers directly. The system's look-up needs one of the process's few
 * threads: a few names with silent servers would hold up all other webhooks, and everything else that needs a thread.
 */
import dns, { type LookupAddress, type LookupAllOptions, type Resolver } from 'node:dns'

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/** Timeout of one question to one server. A server that does not answer is asked once more. */
const TIMEOUT_MS = 2_000
/**
 * How long to wait for one IP family after the answer for the other. Some servers ignore questions about IPv6, and
 * the stores whose names they serve must not get their webhooks late. Addresses that come later are neither checked nor
 * used.
 */
const OTHER_FAMILY_MS = 300
const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

type Family = 4 | 6
type Answers = Map<Family, LookupAddress[] | Error>

/** Returns a look-up that asks `servers`, by default the DNS servers of the system. */
export function createResolve({ servers }: { servers?: string[] | undefined } = {}): Resolve {
  return (hostname, _options, callback) => {
    // localhost never goes to public DNS (RFC 6761).
    if (/(^|\.)localhost\.?$/i.test(hostname)) return callback(null, LOOPBACK)
    // A resolver reads the system's servers only when it is made, and they may change while the till runs.
    const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    askBoth(resolver, hostname, (answers) => {
      const addresses = [...answers.values()].flatMap((answer) => (answer instanceof Error ? [] : answer))
      if (addresses.length > 0) return callback(null, addresses)
      // Many names have addresses of one family only, so fail only without any address.
      const ipv4Answer = answers.get(4)
      callback(ipv4Answer instanceof Error ? ipv4Answer : new Error('the name has no address'), [])
    })
  }
}

/** Calls `done` once, with the answers of both families, or of the first family if the other takes too long. */
function askBoth(resolver: Resolver, hostname: string, done: (answers: Answers) => void): void {
  const answers: Answers = new Map()
  let waiting: NodeJS.Timeout | undefined
  let isDone = false
  const end = (): void => {
    clearTimeout(waiting)
    if (!isDone) done(answers)
    isDone = true
  }
  const take = (family: Family) => (error: Error | null, addresses: string[]) => {
    answers.set(family, error ?? addresses.map((address) => ({ address, family })))
    if (answers.size === 2) end()
    else if (error === null && addresses.length > 0) waiting = setTimeout(end, OTHER_FAMILY_MS)
  }
  resolver.resolve4(hostname, take(4))
  resolver.resolve6(hostname, take(6))
}
