/** What the address of a database says about the way there. Read as `pg` reads it. */
import { isLoopbackName } from '../kit/loopback.ts'

export type Way =
  /** A socket or loopback: nobody is in between. */
  | { kind: 'here' }
  | { kind: 'verified' }
  /** Somebody in between could read, or be the database. */
  | { kind: 'open'; host: string; sslmode: string | undefined }

export function wayTo(databaseUrl: string): Way {
  const url = new URL(databaseUrl)
  // The last one counts, and a host among the parameters counts before the one in front.
  const parameter = (name: string) => url.searchParams.getAll(name).at(-1) || undefined
  const host = parameter('host') ?? decodeURIComponent(url.hostname)
  if (host.startsWith('/') || isThisMachine(host)) return { kind: 'here' }
  const sslmode = parameter('sslmode')
  // `verify-ca` without a CA of one's own would take any certificate that anybody bought.
  const isVerified =
    sslmode === 'verify-full' || (sslmode === 'verify-ca' && parameter('sslrootcert') !== undefined)
  return isVerified ? { kind: 'verified' } : { kind: 'open', host, sslmode }
}

/** Only browsers keep names below localhost on the machine: a resolver may ask others for them. */
const isThisMachine = (host: string): boolean => isLoopbackName(host) && !/\.localhost$/i.test(host)
