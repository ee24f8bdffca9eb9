/** The gateway's process. What Node compiles is kept, so that it answers again soon after a restart. */
import { flushCompileCache } from 'node:module'
import { keepCompiled } from './kit/compiled.ts'

keepCompiled()
const [{ readConfigOrExit }, { begin }] = await Promise.all([import('./config.ts'), import('./beginning.ts')])
const config = readConfigOrExit()
// The database takes as long as the rest of the code, so both begin together.
const begun = begin(config)
const { main } = await import('./gateway.ts')
await main(config, begun)
// At once: a process that is killed keeps nothing.
flushCompileCache()
