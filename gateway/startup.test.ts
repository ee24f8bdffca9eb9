import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tokenPlace } from './bots/service.ts'
import { readConfig } from './config.ts'
import { migrate } from './db/migrate.ts'
import { migrationFiles } from './db/schema-version.ts'
import { createSecretBox, fingerprintOf } from './kit/secret-box.ts'
import { startUp } from './startup.ts'
import { runCommand } from './testing/command.ts'
import { type TestDatabase, testDatabase } from './testing/database.ts'
import { startPooler } from './testing/pooler.ts'

const KEY = Buffer.alloc(32, 7)
const OTHER_KEY = Buffer.alloc(32, 8)
const LIVE = {
  TRADETILL_MODE: 'live',
  TRADETILL_PUBLIC_URL: 'https://pay.example',
  TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
}

let database: TestDatabase
let folder: string
let lines: string[]

beforeEach(async () => {
  lines = []
  database = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'tradetill-startup-'))
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

/** Runs the first part of a gateway's start. Rejects with the message for the operator. */
async function start(environment: Record<string, string> = {}) {
  const answer = readConfig({ DATABASE_URL: database.url, TRADETILL_DATA: folder, ...environment })
  if (answer.kind === 'refused') throw new Error(answer.problems.join())
  const { database: ready } = startUp(answer.config, undefined, (line) => lines.push(line))
  return (await ready).masterKey
}

const withKey = (key: Buffer, environment: Record<string, string> = {}) => ({
  ...environment,
  TRADETILL_MASTER_KEY: key.toString('hex'),
})

async function identity() {
  const { rows } = await sql<{ mode: string; key_fingerprint: string }>`
    select mode, key_fingerprint from till_identity`.execute(database.db)
  return rows
}

const emptyDatabase = () => sql`drop schema public cascade; create schema public`.execute(database.db)
const countTables = async () =>
  (await sql`select from pg_class where relnamespace = 'public'::regnamespace`.execute(database.db)).rows
    .length

describe('the first start of a gateway', () => {
  it('records the mode and the fingerprint of the key in an empty database, but never the key', async () => {
    await emptyDatabase()
    await start(withKey(KEY, LIVE))
    expect(await identity()).toEqual([{ mode: 'live', key_fingerprint: fingerprintOf(KEY) }])
    expect(fingerprintOf(KEY)).not.toContain(KEY.toString('hex'))
    const work = ['opening its database', ...migrationFiles().map(({ name }) => `applying ${name}`)]
    expect(lines).toEqual([
      ...work.map((message) => `gateway is busy: ${message}`),
      'gateway has its database',
    ])
    await expect(start(withKey(KEY, LIVE))).resolves.toEqual(KEY)
  })

  it('makes a key for a sandbox, and the next start uses the same key', async () => {
    const key = await start()
    expect(await identity()).toEqual([{ mode: 'sandbox', key_fingerprint: fingerprintOf(key) }])
    await expect(start()).resolves.toEqual(key)
  })

  it('gives the database to one of two gateways that start simultaneously in different modes', async () => {
    await emptyDatabase()
    const results = await Promise.allSettled([start(withKey(KEY, LIVE)), start(withKey(KEY))])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await identity()).toHaveLength(1)
  })
})

describe('a database of version 0.2.0', () => {
  beforeEach(async () => {
    await emptyDatabase()
    const baselineFolder = join(folder, 'migrations')
    mkdirSync(baselineFolder)
    const name = '0001_baseline.sql'
    cpSync(join(import.meta.dirname, 'db/migrations', name), join(baselineFolder, name))
    await migrate({ url: database.url, folder: baselineFolder })
    const steamId = '76561198000000001'
    const sealed = createSecretBox(KEY).seal('token', tokenPlace(steamId))
    await sql`insert into bot (steam_id, name, level, avatar_url, profile_url, refresh_token, history_at)
      values (${steamId}, 'Bot', 1, '/a', '/p', ${sealed}, now())`.execute(database.db)
  })

  it('receives a mode and a key fingerprint at the first start of a later version', async () => {
    await start(withKey(KEY, LIVE))
    expect(await identity()).toEqual([{ mode: 'live', key_fingerprint: fingerprintOf(KEY) }])
  })

  it.each([
    ['another key', withKey(OTHER_KEY, LIVE), 'the key of these settings opens none of them'],
    ['no key yet, as in a shell with DATABASE_URL alone', {}, 'these settings have none'],
  ])('refuses settings with %s: nothing is migrated, and no key is made', async (_what, settings, reason) => {
    await expect(start(settings)).rejects.toThrow(
      `The secrets in this database are sealed with a master key, and ${reason}. Set TRADETILL_MASTER_KEY_FILE`,
    )
    const { rows } = await sql<{ name: string }>`select name from migration`.execute(database.db)
    expect(rows).toEqual([{ name: '0001_baseline.sql' }])
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
  })

  it('is accepted if the key opens one of its secrets: a command may have sealed the others with another key', async () => {
    const sealed = createSecretBox(OTHER_KEY).seal('secret', 'webhook_endpoint:1:secret')
    await sql`insert into store (name, origins, risk_limit_usd_cents) values ('Ember', '{https://x}', 0)`.execute(
      database.db,
    )
    await sql`insert into webhook_endpoint (store_id, url, secret) select id, 'https://x/', ${sealed} from store`.execute(
      database.db,
    )
    await expect(start(withKey(KEY, LIVE))).resolves.toEqual(KEY)
  })
})

describe('a database of another till', () => {
  beforeEach(() => start(withKey(KEY, LIVE)))

  it.each([
    [
      'another mode',
      withKey(KEY),
      'This database belongs to a till in live mode, and these settings are for sandbox mode. Set TRADETILL_MODE=live, or DATABASE_URL to another database.',
    ],
    [
      'nothing but DATABASE_URL',
      {},
      'This database belongs to a till in live mode, and these settings are for sandbox mode.',
    ],
    [
      'another key',
      withKey(OTHER_KEY, LIVE),
      `This database belongs to the master key with the fingerprint ${fingerprintOf(KEY).slice(0, 8)}…, and these settings have ${fingerprintOf(OTHER_KEY).slice(0, 8)}…. Set TRADETILL_MASTER_KEY_FILE or TRADETILL_MASTER_KEY`,
    ],
  ])('refuses settings with %s before anything is written', async (_what, settings, reason) => {
    // A start that went on would now apply these migrations.
    await sql`delete from migration where name <> '0001_baseline.sql'`.execute(database.db)
    const before = await countTables()
    await expect(start(settings)).rejects.toThrow(reason)
    expect(await countTables()).toBe(before)
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
  })
})

describe('another master key', () => {
  const withBoth = (key: Buffer, old: Buffer) => {
    const file = join(folder, `old-keys-of-${key[0]}`)
    writeFileSync(file, `${old.toString('base64')}\n`)
    return withKey(key, { TRADETILL_OLD_MASTER_KEYS_FILE: file })
  }
  beforeEach(() => start(withKey(KEY)))

  it('is accepted together with the former key, and both keys are needed from then on', async () => {
    await expect(start(withBoth(OTHER_KEY, KEY))).resolves.toEqual(OTHER_KEY)
    await expect(start(withKey(KEY))).rejects.toThrow(
      `seal with the master key ${fingerprintOf(OTHER_KEY).slice(0, 8)}…, and these settings do not have it. Set TRADETILL_MASTER_KEY_FILE or TRADETILL_MASTER_KEY to it`,
    )
    await expect(start(withKey(OTHER_KEY))).rejects.toThrow(
      `may be sealed with the master key ${fingerprintOf(KEY).slice(0, 8)}…, and these settings do not have it. Put it on a line of TRADETILL_OLD_MASTER_KEYS_FILE`,
    )
    // A gateway with the former settings still starts if it has the new key as an old one.
    await expect(start(withBoth(KEY, OTHER_KEY))).resolves.toEqual(KEY)
    await expect(start(withKey(KEY))).rejects.toThrow('and these settings do not have it')
    await expect(start(withBoth(OTHER_KEY, KEY))).resolves.toEqual(OTHER_KEY)
    await expect(start(withBoth(Buffer.alloc(32, 9), Buffer.alloc(32, 10)))).rejects.toThrow(
      `belongs to the master key with the fingerprint ${fingerprintOf(OTHER_KEY).slice(0, 8)}`,
    )
  })

  it('is accepted alone after `key-ring forget`, as nothing sealed with the former key is left', async () => {
    await expect(start(withKey(OTHER_KEY))).rejects.toThrow('belongs to the master key')
    const env = withKey(OTHER_KEY, { DATABASE_URL: database.url, TRADETILL_DATA: folder })
    expect(await runCommand(['key-ring', 'forget', '--reason', 'lost'], { env })).toMatchObject({ code: 0 })
    await expect(start(withKey(OTHER_KEY))).resolves.toEqual(OTHER_KEY)
    await expect(start(withKey(KEY))).rejects.toThrow('belongs to the master key')
  })
})

it.each([
  ['0.1.0', 'starts'],
  ['99.0.0', 'is refused'],
])(
  'on the schema of a later version that allows version %s and later, the gateway %s',
  async (oldestVersion, outcome) => {
    const key = await start()
    await sql`insert into migration (name, sha256, oldest_version)
    values ('0999_later.sql', '', ${oldestVersion})`.execute(database.db)
    const started = start()
    if (outcome === 'starts') await expect(started).resolves.toEqual(key)
    else
      await expect(started).rejects.toThrow('0999_later.sql. A later version made it. Start version 99.0.0')
  },
)

it.each(['127.0.0.1', 'localhost'])(
  'a gateway that finds no database at %s reports it, and makes no key',
  async (host) => {
    const unreachable = start({ DATABASE_URL: `postgres://till:secret@${host}:9/till` })
    await expect(unreachable).rejects.toThrow(
      /^The database cannot be reached: .*ECONNREFUSED.*\. Check DATABASE_URL\.$/,
    )
    await expect(unreachable).rejects.not.toThrow('secret')
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
  },
)

it('a sandbox whose key is gone is refused, and no new key is made', async () => {
  await start()
  rmSync(join(folder, 'master.key'))
  await expect(start()).rejects.toThrow('and these settings have none.')
  expect(existsSync(join(folder, 'master.key'))).toBe(false)
})

describe('the check of the database server before anything is written', () => {
  const throughPooler = async (mode: 'transaction' | 'session', work: (url: string) => Promise<unknown>) => {
    const pooler = await startPooler(database.url, mode)
    await work(pooler.url).finally(pooler.close)
  }

  it('refuses a pooler in transaction mode, and names the setting', async () => {
    await emptyDatabase()
    await throughPooler('transaction', async (url) => {
      const refused = start(withKey(KEY, { DATABASE_URL: url }))
      await expect(refused).rejects.toThrow(/^DATABASE_URL leads to a pooler .*pool_mode=transaction/)
      const owned = start(withKey(KEY, { TRADETILL_OWNER_DATABASE_URL: url }))
      await expect(owned).rejects.toThrow(/^TRADETILL_OWNER_DATABASE_URL leads to a pooler /)
    })
    expect(await countTables()).toBe(0)
  })

  it('accepts a pooler in session mode', async () => {
    await throughPooler('session', async (url) => {
      await expect(start(withKey(KEY, { DATABASE_URL: url }))).resolves.toEqual(KEY)
    })
  })

  it('refuses a read-only database', async () => {
    await emptyDatabase()
    const name = new URL(database.url).pathname.slice(1)
    await sql.raw(`alter database ${name} set default_transaction_read_only = on`).execute(database.db)
    await expect(start(withKey(KEY))).rejects.toThrow(
      /^DATABASE_URL leads to a database that takes no writes/,
    )
    expect(await countTables()).toBe(0)
  })
})
