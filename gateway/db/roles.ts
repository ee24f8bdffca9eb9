/**
 * The roles on the till's database. The owner migrates. The gateway can use another role, which cannot change the
 * schema, and can only append to append-only tables, even if their triggers were missing. The vault has a role with few
 * rights.
 */
import { randomInt } from 'node:crypto'
import pg from 'pg'
import { withClient } from './with-client.ts'

type Client = Pick<pg.Client, 'query'>

/** The schemas of the till and of its queue. */
const SCHEMAS = ['public', 'pgboss'] as const
const APPEND_ONLY = [
  'ledger_entry',
  'custody_entry',
  'payout',
  'payout_void',
  'adjustment',
  'operator_act',
  'epoch',
  'market_entry',
] as const
/** Functions that run as the owner. By default, every role of the server may call them. */
const AS_OWNER = ['begin_epoch(timestamptz, bigint)', 'hold_open_wish(bigint)'] as const

type App = { role: string; isSameDatabase: boolean; mayDoAll: boolean }

export const TWO_DATABASES = 'DATABASE_URL and TRADETILL_OWNER_DATABASE_URL lead to different databases.'

/**
 * Grants the role of `url` the rights that the till needs on all present tables. The owner calls this after each
 * migration. Throws if the role can do what the owner can, or if `url` leads to another database.
 */
export async function grantApp(owner: Client, url: string): Promise<void> {
  const { role, isSameDatabase, mayDoAll } = await readApp(owner, url)
  if (!isSameDatabase) throw new Error(TWO_DATABASES)
  if (mayDoAll) {
    throw new Error(
      'The role of DATABASE_URL can do what the owner can: it must be neither the owner, nor a member of the owner, nor a superuser. See "Two roles" in docs/operating.md.',
    )
  }
  await owner.query('begin')
  for (const statement of grantsFor(pg.escapeIdentifier(role))) await owner.query(statement)
  await owner.query('commit')
}

function grantsFor(role: string): string[] {
  const schemaGrants = SCHEMAS.flatMap((schema) => [
    `grant usage on schema ${schema} to ${role}`,
    `grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
    `grant usage, select on all sequences in schema ${schema} to ${role}`,
    `grant execute on all functions in schema ${schema} to ${role}`,
  ])
  return [
    ...schemaGrants,
    `revoke update, delete, truncate on ${APPEND_ONLY.join(', ')} from ${role}`,
    // An event gets its sequence after its commit.
    `revoke update, delete, truncate on event from ${role}`,
    `grant update (sequence) on event to ${role}`,
    `revoke insert, update, delete, truncate on migration from ${role}`,
    // Only the vault records its own actions.
    `revoke insert, update, delete, truncate on vault_deed, vault_told, vault_need, vault_unlisted from ${role}`,
    `grant update (answer, answered_at) on vault_told to ${role}`,
    'revoke create on schema public from public',
    `revoke execute on function ${AS_OWNER.join(', ')} from public`,
  ]
}

export const VAULT_ROLE = 'tradetill_vault'

/**
 * Grants the vault's role its rights: it reads what it must give and may sell, and records its actions, its sales, and
 * what needs a person. Does nothing if the role does not exist. Call it when you call `grantApp`.
 */
export async function grantVault(owner: Client, name = VAULT_ROLE): Promise<void> {
  const { rowCount } = await owner.query('select from pg_roles where rolname = $1', [name])
  if (rowCount === 0) return
  const role = pg.escapeIdentifier(name)
  await owner.query('begin')
  for (const statement of [
    `grant usage on schema public to ${role}`,
    `revoke all on all tables in schema public from ${role}`,
    `grant select on wish, wish_item to ${role}`,
    `grant execute on function hold_open_wish(bigint) to ${role}`,
    `grant select (id, steam_id) on bot to ${role}`,
    `grant select, insert, update on vault_deed to ${role}`,
    `grant select, insert (n, part, at, market, reference, told) on vault_told to ${role}`,
    `grant select, insert, update on market_balance to ${role}`,
    `grant select, insert, update, delete on vault_need to ${role}`,
    `grant select, insert, delete on vault_unlisted to ${role}`,
    `grant select on market_off, item_cost to ${role}`,
    // The vault of a sandbox follows the till's clock.
    `grant select on till_clock to ${role}`,
  ])
    await owner.query(statement)
  await owner.query('commit')
}

/** Signs in with the gateway's role. */
async function readApp(owner: Client, url: string): Promise<App> {
  const { rows: owners } = await owner.query<{ name: string }>('select current_user as name')
  return withClient(url, async (app) => {
    const { rows } = await app.query<Omit<App, 'isSameDatabase'>>(
      `select current_user as role,
         (select rolsuper from pg_roles where rolname = current_user) or exists (
           select from pg_roles where rolname = $1 and pg_has_role(current_user, oid, 'member')) as "mayDoAll"`,
      [owners[0]?.name],
    )
    const [answer] = rows
    if (answer === undefined) throw new Error('the database returned no role')
    return { ...answer, isSameDatabase: await isSameDatabase(owner, app) }
  })
}

/** Returns whether both addresses lead to one database. After a restore, one of them may still lead to the old one. */
export const leadToOneDatabase = (ownerUrl: string, url: string): Promise<boolean> =>
  withClient(ownerUrl, (owner) => withClient(url, (app) => isSameDatabase(owner, app)))

/** Advisory locks count within one database only. */
async function isSameDatabase(owner: Client, app: Client): Promise<boolean> {
  const key = randomInt(2 ** 47)
  await owner.query('select pg_advisory_lock($1)', [key])
  try {
    const { rows } = await app.query<{ free: boolean }>('select pg_try_advisory_xact_lock($1) as free', [key])
    return rows[0]?.free === false
  } finally {
    await owner.query('select pg_advisory_unlock($1)', [key])
  }
}
