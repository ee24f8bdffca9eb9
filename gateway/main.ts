/** The gateway's process. What Node compiles is kept, so that it answers again soon after a restart. */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'

// Where the folder cannot be written, Node compiles anew each time.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tradetill'))
const { main } = await import('./gateway.ts')
await main()
// At once: a process that is killed keeps nothing.
flushCompileCache()
