import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'

/**
 * How long a connection to one of several addresses of a host may take before the next one is tried. By default, Node
 * aborts each but the last after 250 ms. A distant host would then never be reached if its last address cannot be
 * reached, as IPv6 from a machine without it. This is long enough to repeat a lost packet once.
 */
export const CONNECT_MS = 3_000

/** Call this first in each process. It applies to all connections, also to those of libraries and of `fetch`. */
export const connectPatiently = (): void => setDefaultAutoSelectFamilyAttemptTimeout(CONNECT_MS)
