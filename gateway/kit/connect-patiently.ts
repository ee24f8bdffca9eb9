import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'

/**
 * How long a connection to one of several addresses of a host may take before the next one is tried. By default, Node
 * gives each except the last only 250 ms, so a distant host is out of reach if its last address cannot be used, such as
 * an IPv6 address on a machine without IPv6. Three seconds are long enough to repeat a lost packet once.
 */
export const CONNECT_MS = 3_000

/** Call this first in each process. It applies to all connections, including those of libraries and of `fetch`. */
export const connectPatiently = (): void => setDefaultAutoSelectFamilyAttemptTimeout(CONNECT_MS)
