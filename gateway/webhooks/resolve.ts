/**
 * Asks DNS itself for the names of live stores. The system's look-up runs on a handful of threads of the process: a few
 * names whose servers never answer would hold up the webhooks of everybody else, and all else that needs a thread.
 */
import { type LookupAddress, Resolver } from 'node:dns'
import type { Resolve } from './sender.ts'

/** Of one question to one server; it is asked twice. */
const TIMEOUT_MS = 2_000
const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** `servers`: those of the system by default. */
export function createResolve({ servers }: { servers?: string[] } = {}): Resolve {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const ask = (hostname: string, family: 4 | 6): Promise<LookupAddress[] | Error> =>
    new Promise((resolve) => {
      const done = (error: Error | null, addresses: string[]): void =>
        resolve(error ?? addresses.map((address) => ({ address, family })))
      if (family === 4) resolver.resolve4(hostname, done)
      else resolver.resolve6(hostname, done)
    })
  return (hostname, _options, callback) => {
    // Never the public's to answer (RFC 6761).
    if (/(^|\.)localhost\.?$/i.test(hostname)) return callback(null, LOOPBACK)
    // A name often has addresses of one family only: the other's refusal counts when there are none at all.
    Promise.all([ask(hostname, 4), ask(hostname, 6)]).then(([four, six]) => {
      const found = [four, six].flatMap((answer) => (answer instanceof Error ? [] : answer))
      if (found.length > 0) return callback(null, found)
      callback(four instanceof Error ? four : new Error('the name has no address'), [])
    })
  }
}
