/** The till with a role that owns no table, on a real database. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../config.ts'
import { publishEvents } from '../events/service.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { startUp } from '../startup.ts'
import { runCommand } from '../testing/command.ts'
import { createDatabase, dropDatabase, type TestDatabase, testDatabase } from '../testing/database.ts'
import { fakePrograms } from '../testing/fake-programs.ts'
import { captureLog } from '../testing/log.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, PROTECTION_DAYS, type Till, tillOn } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { createQueue } from './boss-queue.ts'
import { type Database, openDatabase } from './client.ts'
import { migrate, withMigrationLock } from './migrate.ts'
import { createSignals } from './pg-signals.ts'
import { grantApp, grantVault } from './roles.ts'

const NAME = randomBytes(4).toString('hex')
const [APP, VAULT, STRANGER] = [`app_${NAME}`, `vault_${NAME}`, `stranger_${NAME}`]
const ROLES = [APP, VAULT, STRANGER]

let owner: TestDatabase
let appUrl: string

beforeAll(async () => {
  owner = await testDatabase()
  for (const role of ROLES) await owner.pool.query(`create role ${role} login password 'secret'`)
  appUrl = asApp(owner.url)
})

afterAll(async () => {
  for (const role of ROLES) {
    await owner.pool.query(`drop owned by ${role}`)
    await owner.pool.query(`drop role ${role}`)
  }
  await owner.close()
})

function asRole(role: string, ownerUrl: string): string {
  const url = new URL(ownerUrl)
  url.username = role
  url.password = 'secret'
  return url.href
}

const asApp = (ownerUrl: string): string => asRole(APP, ownerUrl)

const grant = (ownerUrl: string, url: string) =>
  withMigrationLock(ownerUrl, {}, (client) => grantApp(client, url))

async function resultOf(url: string, sql: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(sql)
    return JSON.stringify(rows)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await client.end()
  }
}

describe('the role of the till', () => {
  let app: Database
  let till: Till
  let stop: () => Promise<void>

  beforeAll(async () => {
    await grant(owner.url, appUrl)
    app = openDatabase(appUrl, 10, 'sandbox')
    const captured = captureLog()
    const queue = await createQueue({ url: appUrl, log: captured.log })
    const signals = await createSignals({ url: appUrl, log: captured.log })
    stop = async () => {
      await queue.stop()
      await signals.close()
      await app.close()
    }
    till = await tillOn({ db: app.db, url: appUrl, queue, signals, ...captured, close: stop })
  })
  afterAll(() => stop())

  it('is enough for deposits until their trades are final or reversed, and for the check of the ledger', async () => {
    const store = await aStore(till)
    const { bot, session } = await aBot(till)
    const [kept, takenBack] = [
      await aDeposit(till, store, { game: 'cs' }),
      await aDeposit(till, store, { game: 'cs' }),
    ]
    await payFor(till, { bot, session }, kept)
    await payFor(till, { bot, session }, takenBack)
    const tradeOf = (depositId: bigint) =>
      till.db.selectFrom('trade').selectAll().where('deposit_id', '=', depositId).executeTakeFirstOrThrow()
    const { id, steam_trade_id: steamTradeId } = await tradeOf(takenBack.id)
    session.takeBack(String(steamTradeId))
    await jump(till, (PROTECTION_DAYS + 1) * 86_400)
    await tradeHandlers(till.deps).trade(bot, id)
    await tradeHandlers(till.deps).trade(bot, (await tradeOf(kept.id)).id)
    expect((await tradeOf(takenBack.id)).state).toBe('reversed')
    expect((await tradeOf(kept.id)).state).toBe('final')
    await publishEvents(till.deps)
    const events = await till.db.selectFrom('event').select('sequence').execute()
    expect(events.length).toBeGreaterThan(4)
    expect(events.filter(({ sequence }) => sequence === null)).toEqual([])
    expect(await verifyLedger(app.pool)).toEqual([])
  })

  it.each([
    ['change a table', 'alter table deposit add column x int', 'must be owner of table deposit'],
    ['drop a table', 'drop table outage', 'must be owner of table outage'],
    ['make a table', 'create table x (n int)', 'permission denied for schema public'],
    ['make an index', 'create index on deposit (id)', 'must be owner of table deposit'],
    [
      'switch a trigger off',
      'alter table ledger_entry disable trigger all',
      'must be owner of table ledger_entry',
    ],
    [
      'switch all triggers off',
      'set session_replication_role = replica',
      'permission denied to set parameter',
    ],
    ['become the owner', 'set role tradetill', 'permission denied to set role'],
    ['change the ledger', 'update ledger_entry set amount = 1', 'permission denied for table ledger_entry'],
    ['delete from the ledger', 'delete from ledger_entry', 'permission denied for table ledger_entry'],
    ['empty the ledger', 'truncate ledger_entry', 'permission denied for table ledger_entry'],
    ['change custody', 'update custody_entry set bot_id = 1', 'permission denied for table custody_entry'],
    ['delete a payout', 'delete from payout', 'permission denied for table payout'],
    ['change an act', "update operator_act set reason = ''", 'permission denied for table operator_act'],
    ['delete an act', 'delete from operator_act', 'permission denied for table operator_act'],
    [
      'change the payload of an event',
      "update event set payload = '{}'",
      'permission denied for table event',
    ],
    ['delete an event', 'delete from event', 'permission denied for table event'],
    ['change the list of migrations', 'delete from migration', 'permission denied for table migration'],
    [
      'change a function',
      'create or replace function till_now() returns timestamptz language sql as $$ select now() $$',
      'permission denied for schema public',
    ],
  ])('cannot %s', async (_what, sql, refusal) => {
    expect(await resultOf(appUrl, sql)).toContain(refusal)
  })

  it('gets rights on the tables of a later migration at the next grant', async () => {
    await owner.pool.query('create table later (n int)')
    expect(await resultOf(appUrl, 'select n from later')).toBe('permission denied for table later')
    await grant(owner.url, appUrl)
    expect(await resultOf(appUrl, 'select n from later')).toBe('[]')
  })
})

describe('a function that runs as the owner', () => {
  beforeAll(() =>
    withMigrationLock(owner.url, {}, async (client) => {
      await grantApp(client, appUrl)
      await grantVault(client, VAULT)
    }),
  )

  const mayCall = async (role: string, signature: string): Promise<unknown> => {
    const query = `select has_function_privilege($1, $2, 'execute') as may`
    return (await owner.pool.query(query, [role, signature])).rows[0]?.may
  }

  it('can be called by the role that needs it', async () => {
    expect(await mayCall(APP, 'begin_epoch(timestamptz, bigint)')).toBe(true)
    expect(await mayCall(VAULT, 'hold_open_wish(bigint)')).toBe(true)
  })

  it('cannot be called by the role of the vault if it begins an epoch', async () => {
    expect(await mayCall(VAULT, 'begin_epoch(timestamptz, bigint)')).toBe(false)
  })

  it('cannot be called by any other role of the server', async () => {
    const open = await owner.pool.query(
      `select proname from pg_proc where prosecdef and pronamespace = 'public'::regnamespace
         and has_function_privilege($1, oid, 'execute')`,
      [STRANGER],
    )
    expect(open.rows).toEqual([])
  })
})

describe('on a new database', () => {
  let empty: string

  beforeEach(async () => {
    empty = await createDatabase()
    const client = new pg.Client({ connectionString: empty })
    await client.connect()
    await client
      .query(
        'drop schema public cascade; drop schema pgboss cascade; create schema public; grant usage on schema public to public',
      )
      .finally(() => client.end())
    return () => dropDatabase(empty)
  })

  const start = async (environment: Record<string, string>) => {
    const answer = readConfig({ TRADETILL_MASTER_KEY: '7'.repeat(64), ...environment })
    if (answer.kind === 'refused') throw new Error(answer.problems.join())
    return startUp(answer.config, undefined, () => {}).database
  }

  it('a start migrates as the owner, and then uses the role of the till', async () => {
    const twoRoles = { DATABASE_URL: asApp(empty), TRADETILL_OWNER_DATABASE_URL: empty }
    const { url } = await start(twoRoles)
    expect(url).toBe(asApp(empty))
    expect(await resultOf(url, 'select count(*)::int as jobs from pgboss.job')).toBe('[{"jobs":0}]')
    expect(await resultOf(url, 'select mode from till_identity')).toBe('[{"mode":"sandbox"}]')
    // The owner is needed for migrations only.
    expect((await start({ DATABASE_URL: asApp(empty) })).url).toBe(url)
  })

  it('a start names the missing setting if the role of the till would have to migrate', async () => {
    await expect(start({ DATABASE_URL: asApp(empty) })).rejects.toThrow('TRADETILL_OWNER_DATABASE_URL')
  })

  it('no backup is made of a database that the till has left, and the doctor reports it', async () => {
    await start({ DATABASE_URL: asApp(empty), TRADETILL_OWNER_DATABASE_URL: empty })
    const programs = mkdtempSync(join(tmpdir(), 'tradetill-roles-'))
    onTestFinished(() => rmSync(programs, { recursive: true }))
    const { rows } = await owner.pool.query<{ version: string }>(
      "select current_setting('server_version') as version",
    )
    fakePrograms(programs, Number.parseInt(rows[0]?.version ?? '', 10))
    // As after a restore, if the owner's address still leads to the old database.
    const env = {
      DATABASE_URL: asApp(empty),
      TRADETILL_OWNER_DATABASE_URL: owner.url,
      TRADETILL_MASTER_KEY: '7'.repeat(64),
      TRADETILL_PUBLIC_URL: 'http://127.0.0.1:9',
      TRADETILL_POSTGRES_PROGRAMS: programs,
    }
    const backups = join(programs, 'backups')
    const { errors, code } = await runCommand(['backup', 'create', '--to', backups], { env })
    expect([code, errors, existsSync(backups)]).toEqual([
      4,
      expect.stringMatching(/^Nothing was backed up: .* lead to different databases\.\n$/),
      false,
    ])
    const { out } = await runCommand(['doctor'], { env })
    expect(out).toMatch(/^TO FIX +database\.owner: leads to another database than DATABASE_URL$/m)
  })

  it('a grant refuses the owner, and a role of another database', async () => {
    await migrate({ url: empty })
    await expect(grant(empty, appUrl)).rejects.toThrow('different databases')
    await expect(grant(empty, empty)).rejects.toThrow('can do what the owner can')
  })
})
