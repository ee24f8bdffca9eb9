/** Judges how safe the connection to a database address is. Parses the address as `pg` does. */
import { isLoopbackName } from '../kit/loopback.ts'

export type Safety =
  /** Over a Unix socket or loopback: no network in between. */
  | { kind: 'local' }
  /** Encrypted, with a checked certificate. */
  | { kind: 'verified' }
  /** Someone on the network in between could read everything, or pose as the database. */
  | { kind: 'unverified'; host: string; sslmode: string | undefined }

export function safetyOf(databaseUrl: string): Safety {
  const url = new URL(databaseUrl)
  // The last value of a parameter counts, and a `host` parameter overrides the host of the URL.
  const parameter = (name: string) => url.searchParams.getAll(name).at(-1) || undefined
  const host = parameter('host') ?? decodeURIComponent(url.hostname)
  if (host.startsWith('/') || isThisMachine(host)) return { kind: 'local' }
  const sslmode = parameter('sslmode')
  // `verify-ca` without a CA of our own would accept any purchased certificate.
  const isVerified =
    sslmode === 'verify-full' || (sslmode === 'verify-ca' && parameter('sslrootcert') !== undefined)
  return isVerified ? { kind: 'verified' } : { kind: 'unverified', host, sslmode }
}

/** Browsers keep names below localhost on the machine, but a resolver may ask other servers for them. */
const isThisMachine = (host: string): boolean => isLoopbackName(host) && !/\.localhost$/i.test(host)
