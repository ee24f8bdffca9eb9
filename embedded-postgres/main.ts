/** Starts a gateway and a PostgreSQL of its own with one command; with DATABASE_URL, the gateway alone. */
import { flushCompileCache } from 'node:module'
import { cacheCompiledCode } from '../gateway/kit/compile-cache.ts'
import { connectPatiently } from '../gateway/kit/connect-patiently.ts'

cacheCompiledCode()
connectPatiently()
const [{ readConfigOrExit }, { startUp }, { endOnUnhandled }, { ownDatabase }] = await Promise.all([
  import('../gateway/config.ts'),
  import('../gateway/startup.ts'),
  import('../gateway/kit/unhandled.ts'),
  import('./own-database.ts'),
])
const config = readConfigOrExit()
// Prepare the database while the rest of the code loads.
const startup = config.databaseUrl === undefined ? startUp(config, ownDatabase(config)) : startUp(config)
endOnUnhandled(startup.log)
const { main } = await import('../gateway/gateway.ts')
await main(config, startup)
// Write the cache now, because a killed process does not.
flushCompileCache()
