/**
 * Asks DNS itself for the names of live stores. The system's look-up runs on a handful of threads of the process: a few
 * names whose servers never answer would hold up the webhooks of everybody else, and all else that needs a thread.
 */
import { type LookupAddress, type LookupAllOptions, Resolver } from 'node:dns'

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/** Of one question to one server; it is asked twice. */
const TIMEOUT_MS = 2_000
/**
 * So long the addresses of one family wait for those of the other: there are servers that drop the questions for IPv6,
 * and no store of theirs shall be told late. What comes later was not judged, and is not connected to either.
 */
const OTHER_FAMILY_MS = 300
const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

type Family = 4 | 6
type Answers = Map<Family, LookupAddress[] | Error>

/** `servers`: those of the system by default. */
export function createResolve({ servers }: { servers?: string[] | undefined } = {}): Resolve {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return (hostname, _options, callback) => {
    // Never the public's to answer (RFC 6761).
    if (/(^|\.)localhost\.?$/i.test(hostname)) return callback(null, LOOPBACK)
    askBoth(resolver, hostname, (answers) => {
      const found = [...answers.values()].flatMap((answer) => (answer instanceof Error ? [] : answer))
      if (found.length > 0) return callback(null, found)
      // A name often has addresses of one family only: the other's refusal counts when there are none at all.
      const four = answers.get(4)
      callback(four instanceof Error ? four : new Error('the name has no address'), [])
    })
  }
}

/** Calls `done` once, with the answers of both families, or with those of one that the other kept waiting. */
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
