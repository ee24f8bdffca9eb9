/** Errors that are not the call's fault: the database was away or overloaded. The same call may succeed in a moment. */
import { DatabaseSilent } from './connections.ts'
import { sqlState } from './sql-state.ts'

/** Network errors, as Node names them. */
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ENOENT',
])

/** Failed connections, a lack of resources (disk, memory, connections), and sessions that the server ends. */
const STATES = /^(?:08|53)...$|^57P0[1-5]$/
/** The server accepts no writes: after a failover, the address may lead to a replica for a while. */
const READ_ONLY = '25006'
const IO_ERROR = '58030'

/** The beginnings of the messages of `pg` errors that have no code. */
const MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]

export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseSilent) return true
  if (!(error instanceof Error)) return false
  // An AggregateError has one error for each address of a name.
  if (error instanceof AggregateError) return error.errors.some((cause) => isDatabaseAway(cause))
  if (isDatabaseAway(error.cause)) return true
  const code = sqlState(error)
  if (code === undefined) return MESSAGES.some((message) => error.message.startsWith(message))
  return (
    STATES.test(code) || code === READ_ONLY || code === IO_ERROR || (isOfSocket(error) && NETWORK.has(code))
  )
}

/** The system calls of sockets. A missing file has the code ENOENT too, but from another system call. */
const OF_SOCKETS: readonly unknown[] = ['connect', 'read', 'write', 'getaddrinfo']

const isOfSocket = (error: Error): boolean => 'syscall' in error && OF_SOCKETS.includes(error.syscall)
