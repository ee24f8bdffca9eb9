/** Judges how safe the connection to a database address is. Parses the address as `pg` does. */
import { isLoopbackName } from './loopback.ts'

const ADVICE =
  'add ?sslmode=verify-full, with &sslrootcert=/path/to/ca.pem for a CA of your own, or set TRADETILL_PLAIN_DATABASE=1 if nobody else is on the network in between'

/**
 * Returns why somebody on the network between this machine and the database could read everything or pose as the
 * database, and what to do. The text continues a sentence that begins with the setting's name. Undefined for a Unix
 * socket, loopback and a verified server.
 */
export function unsafeDatabase(databaseUrl: string): string | undefined {
  // `pg` also takes the path of a socket, and a user without a host, which is not a URL.
  if (/^(?:socket:)?\//.test(databaseUrl)) return undefined
  const address = URL.canParse(databaseUrl) ? databaseUrl : databaseUrl.replace('@/', '@unnamed/')
  if (!URL.canParse(address)) return 'must be a URL with a host'
  const url = new URL(address)
  // The last value of a parameter counts, and a `host` parameter overrides the host of the URL.
  const parameter = (name: string) => url.searchParams.getAll(name).at(-1) || undefined
  const host = parameter('host') ?? decodeURIComponent(url.hostname)
  if (host.startsWith('/') || isThisMachine(host)) return undefined
  const sslmode = parameter('sslmode')
  // `verify-ca` without a CA of our own would accept any purchased certificate.
  const isVerified =
    sslmode === 'verify-full' || (sslmode === 'verify-ca' && parameter('sslrootcert') !== undefined)
  if (isVerified) return undefined
  const sslmodeProblem =
    sslmode === undefined ? 'has no sslmode' : 'has an sslmode that does not verify the server'
  return `leads to ${host || 'an unnamed host'} and ${sslmodeProblem}: ${ADVICE}`
}

/** Browsers keep names below localhost on the machine, but a resolver may ask other servers for them. */
const isThisMachine = (host: string): boolean => isLoopbackName(host) && !/\.localhost$/i.test(host)
