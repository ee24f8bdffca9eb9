/** The gateway's process. It caches the code that Node compiled, so it answers sooner after a restart. */
import { flushCompileCache } from 'node:module'
import { cacheCompiledCode } from './kit/compile-cache.ts'
import { connectPatiently } from './kit/connect-patiently.ts'

cacheCompiledCode()
connectPatiently()
const [{ readConfigOrExit }, { startUp }, { endOnUnhandled }] = await Promise.all([
  import('./config.ts'),
  import('./startup.ts'),
  import('./kit/unhandled.ts'),
])
const config = readConfigOrExit()
// The database is prepared while the rest of the code loads.
const startup = startUp(config)
endOnUnhandled(startup.log)
const { main } = await import('./gateway.ts')
await main(config, startup)
if (config.notifiesSystemd) {
  const { notifyReady } = await import('./kit/service-manager.ts')
  notifyReady()
}
// Write the cache now, because a process that is killed does not write it.
flushCompileCache()
