/** Gives a command its settings, database and operator. Each is read only when the command asks for it. */
import { userInfo } from 'node:os'
import type pg from 'pg'
import type { Config } from '../config.ts'
import type { Identity } from '../db/identity.ts'
import { systemClock } from '../kit/clock.ts'
import type { ActDeps, ConfigWithKey, FindDeps, StandaloneDeps } from '../operations/operation.ts'
import { Refusal, type Terminal } from './terminal.ts'

export type Surroundings = {
  /** Environment variables; undefined means those of the process. */
  env?: Record<string, string | undefined> | undefined
  terminal: Terminal
}

export type Session = {
  /** The unchecked environment, for commands that examine wrong settings. */
  env: Surroundings['env']
  terminal: Terminal
  config(): Promise<Config>
  /** Dependencies of an operation that only reads. */
  findDeps(): Promise<FindDeps>
  /** Dependencies of an act. `statementMs`: how long each statement may take, if the usual time is too short. */
  actDeps(flags: { by?: string; reason?: string }, statementMs?: number): Promise<ActDeps>
  /** Like `actDeps`, for a database whose master key is not in the settings. */
  actDepsWithoutMasterKey(flags: { by?: string; reason?: string }): Promise<ActDeps>
  /** Dependencies of a backup or a migration. */
  standaloneDeps(): Promise<StandaloneDeps>
  /** For plain SQL, without the query builder, which is slow to load. */
  pool(): Promise<pg.Pool>
  close(): Promise<void>
}

const CONNECT_MS = 10_000
/** docs/scaling.md counts the connections of commands. */
const MOST_CONNECTIONS = 2

/**
 * Creates a session that opens nothing in advance. Its methods reject with a Refusal if the settings are wrong, or if
 * the database that they need cannot be used.
 */
export function createSession({ env, terminal }: Surroundings): Session {
  const closers: (() => Promise<unknown>)[] = []
  const settings = async () => (await import('./settings.ts')).settingsWithDatabase(env)
  const find = async (configFor: typeof ownConfig = ownConfig, statementMs?: number): Promise<FindDeps> => {
    const { config, url } = await settings()
    const [{ openPool }, { openClock }] = await Promise.all([
      import('../db/client.ts'),
      import('../clock/service.ts'),
    ])
    const { mode } = config
    const { db, pool, close } = openPool({
      url,
      size: MOST_CONNECTIONS,
      mode,
      ...(statementMs !== undefined && { statementMs }),
    })
    closers.push(close)
    await requireReachable(pool)
    return { config: await configFor(pool, config), db, clock: await openClock(db, mode) }
  }
  return {
    env,
    terminal,
    config: async () => (await settings()).config,
    findDeps: () => find(),
    actDeps: async (flags, statementMs) => actOf(await find(ownConfig, statementMs), flags),
    actDepsWithoutMasterKey: async (flags) => actOf(await find(foreignConfig), flags),
    async standaloneDeps() {
      const { config, url } = (await import('./settings.ts')).settingsOf(env)
      const now = systemClock.now()
      if (url === undefined) return { config, url, now }
      const pool = await openSmallPool(url)
      try {
        if (config.databaseUrl !== undefined) await requireReachable(pool)
        // A killed gateway leaves the address of its embedded database behind.
        else if (await isRefused(pool)) return { config, url: undefined, now }
        return { config, url, now }
      } finally {
        await pool.end()
      }
    },
    async pool() {
      const { config, url } = await settings()
      const pool = await openSmallPool(url)
      closers.push(() => pool.end())
      await requireReachable(pool)
      await ownConfig(pool, config)
      return pool
    },
    async close() {
      for (const end of closers) await end()
    },
  }
}

const actOf = (deps: FindDeps, { by, reason }: { by?: string; reason?: string }): ActDeps => ({
  ...deps,
  operator: by ?? deps.config.operator ?? userName(),
  reason: reason ?? null,
})

/** Opens a pool of one connection. */
export async function openSmallPool(url: string): Promise<pg.Pool> {
  const { default: postgres } = await import('pg')
  const pool = new postgres.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_MS })
  // Without a listener, the loss of an idle connection would end the process. The pool replaces it for the next query.
  pool.on('error', () => {})
  return pool
}

/** Refuses the command if the database does not answer. */
async function requireReachable(pool: pg.Pool): Promise<void> {
  try {
    const { ping } = await import('../db/ping.ts')
    await ping(pool)
  } catch (error) {
    const detail = error instanceof Error && error.message !== '' ? error.message : String(error)
    throw new Refusal('unreachable', `The database cannot be reached: ${detail}`)
  }
}

/** True if nothing listens at the address of the database. */
async function isRefused(pool: pg.Pool): Promise<boolean> {
  const [{ ping }, { sqlState }] = await Promise.all([import('../db/ping.ts'), import('../db/sql-state.ts')])
  return ping(pool).then(
    () => false,
    (error: unknown) => sqlState(error) === 'ECONNREFUSED',
  )
}

/** Refuses a database whose tables the role may not read, such as one that was restored without its rights. */
async function identityOf(pool: pg.Pool): Promise<Identity | undefined> {
  const [{ readIdentity }, { DENIED, sqlState }] = await Promise.all([
    import('../db/identity.ts'),
    import('../db/sql-state.ts'),
  ])
  try {
    return await readIdentity(pool)
  } catch (error) {
    if (sqlState(error) !== DENIED) throw error
    throw new Refusal(
      'conflict',
      'The role of DATABASE_URL may not read the tables yet. Start a gateway with TRADETILL_OWNER_DATABASE_URL: it grants the role its rights.',
    )
  }
}

/** Refuses a database of another mode, master key or version before reading anything else from it. */
async function ownConfig(pool: pg.Pool, config: Config): Promise<ConfigWithKey> {
  const [{ ownershipOf }, schema] = await Promise.all([
    import('../db/identity.ts'),
    import('../db/schema-version.ts'),
  ])
  const identity = await identityOf(pool)
  const ownership = identity && ownershipOf(identity, config)
  if (ownership?.kind === 'foreign') throw new Refusal('conflict', ownership.reason)
  const judgement = schema.judgeSchema(schema.migrationFiles(), await schema.readApplied(pool))
  if (judgement.kind === 'refused') throw new Refusal('conflict', judgement.reason)
  if (ownership === undefined || judgement.missing.length > 0) throw NOT_STARTED
  if (ownership.isNew) {
    throw new Refusal('conflict', 'No gateway has started with this master key yet. Start one first.')
  }
  return { ...config, masterKey: ownership.masterKey }
}

const NOT_STARTED = new Refusal(
  'conflict',
  'No gateway of this version has started on this database yet. Start one first.',
)

/** Returns the settings for a database with another master key. Its mode and schema must match. */
async function foreignConfig(pool: pg.Pool, config: Config): Promise<ConfigWithKey> {
  const schema = await import('../db/schema-version.ts')
  const identity = await identityOf(pool)
  const judgement = schema.judgeSchema(schema.migrationFiles(), await schema.readApplied(pool))
  if (judgement.kind === 'refused') throw new Refusal('conflict', judgement.reason)
  if (identity === undefined || judgement.missing.length > 0) throw NOT_STARTED
  const { mode, masterKey } = config
  if (identity.mode !== mode) throw new Refusal('conflict', `This database is in ${identity.mode} mode.`)
  if (masterKey === undefined)
    throw new Refusal('usage', 'Set TRADETILL_MASTER_KEY_FILE to the new master key.')
  return { ...config, masterKey }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    throw new Refusal('usage', 'This machine has no name for its user: give your name with --by NAME.')
  }
}
