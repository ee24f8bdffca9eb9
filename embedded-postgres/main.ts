/** Starts a gateway and a PostgreSQL of its own with one command; with DATABASE_URL, the gateway alone. */
import { flushCompileCache } from 'node:module'
import { cacheCompiledCode } from '../gateway/kit/compile-cache.ts'

cacheCompiledCode()
const [{ readConfigOrExit }, { startUp }, { endOnUnhandled }, { ownDatabase }] = await Promise.all([
  import('../gateway/config.ts'),
  import('../gateway/startup.ts'),
  import('../gateway/kit/unhandled.ts'),
  import('./own-database.ts'),
])
const config = readConfigOrExit()
// Preparing the database takes as long as loading the rest of the code, so both run at the same time.
const startup = config.databaseUrl === undefined ? startUp(config, ownDatabase(config)) : startUp(config)
endOnUnhandled(startup.log)
const { main } = await import('../gateway/gateway.ts')
await main(config, startup)
// Write the cache now, because a killed process does not.
flushCompileCache()
