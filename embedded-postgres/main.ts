/** A gateway with a PostgreSQL of its own, in one process. With DATABASE_URL it is the gateway alone. */
import { flushCompileCache } from 'node:module'
import { keepCompiled } from '../gateway/kit/compiled.ts'

keepCompiled()
const [{ readConfigOrExit }, { begin }, { ownDatabase }] = await Promise.all([
  import('../gateway/config.ts'),
  import('../gateway/beginning.ts'),
  import('./own-database.ts'),
])
const config = readConfigOrExit()
// The database takes as long as the rest of the code, so both begin together.
const begun = config.databaseUrl === undefined ? begin(config, ownDatabase(config.dataDir)) : begin(config)
const { main } = await import('../gateway/gateway.ts')
await main(config, begun)
// At once: a process that is killed keeps nothing.
flushCompileCache()
