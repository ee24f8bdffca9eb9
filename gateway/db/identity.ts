/**
 * Which till a database belongs to: its mode and its master key. The first gateway that starts on it writes this down, and
 * everything that opens it later compares. Works before any migration has run.
 */
import type pg from 'pg'
import { fingerprintOf } from '../master-key.ts'

type Client = Pick<pg.Client, 'query'>

type Mode = 'sandbox' | 'live'

export type Identity = { mode: Mode; keyFingerprint: string }

/** The settings that count. A sandbox has no key before its first start. */
export type Claim = { mode: Mode; masterKey: Buffer | undefined }

export type Ownership = { kind: 'own'; masterKey: Buffer } | { kind: 'foreign'; reason: string }

/** Opens a sealed secret; throws if the key is another one. */
type Open = (sealed: Buffer, place: string) => unknown

const FINGERPRINT_LETTERS = 8
/** PostgreSQL's code for a table that does not exist. */
const NO_TABLE = '42P01'

/** Undefined before the first start of a gateway. */
export async function readIdentity(client: Client): Promise<Identity | undefined> {
  const rows = await rowsIfThere<{ mode: Mode; key_fingerprint: string }>(
    client,
    'select mode, key_fingerprint from till_identity',
  )
  const [row] = rows
  return row && { mode: row.mode, keyFingerprint: row.key_fingerprint }
}

/** Writes down whose database this is, unless that is known. */
export async function claimDatabase(client: Client, { mode, keyFingerprint }: Identity): Promise<void> {
  await client.query(
    'insert into till_identity (mode, key_fingerprint) values ($1, $2) on conflict do nothing',
    [mode, keyFingerprint],
  )
}

/** Whether the database is that of these settings, and why not. */
export function ownershipOf(known: Identity, { mode, masterKey }: Claim): Ownership {
  if (known.mode !== mode) {
    return foreign(
      `This database belongs to a till in ${known.mode} mode, and these settings are for ${mode} mode. Set TRADETILL_MODE=${known.mode}, or DATABASE_URL to another database.`,
    )
  }
  const fingerprint = masterKey && fingerprintOf(masterKey)
  if (masterKey !== undefined && fingerprint === known.keyFingerprint) return { kind: 'own', masterKey }
  const has = fingerprint === undefined ? 'have none' : `have ${begin(fingerprint)}`
  return foreign(
    `This database belongs to the master key with the fingerprint ${begin(known.keyFingerprint)}, and these settings ${has}. ${KEY_ADVICE}`,
  )
}

const foreign = (reason: string): Ownership => ({ kind: 'foreign', reason })

const KEY_ADVICE =
  'Set TRADETILL_MASTER_KEY_FILE or TRADETILL_MASTER_KEY to the key of that till, or DATABASE_URL to another database.'

const begin = (fingerprint: string): string => `${fingerprint.slice(0, FINGERPRINT_LETTERS)}…`

/** The oldest ones. Later ones may be of a shell that had another key. */
const SAMPLED = 20

/**
 * Why a database of a version that wrote down nothing must be left alone: none of the secrets in it opens. `open` is
 * undefined where the settings have no key yet.
 */
export async function foreignSecretsOf(client: Client, open: Open | undefined): Promise<string | undefined> {
  const sealed = await rowsIfThere<{ secret: Buffer; place: string }>(
    client,
    `(select secret, 'webhook_endpoint:' || id || ':secret' as place from webhook_endpoint
       where length(secret) > 0 order by id limit ${SAMPLED})
     union all
     (select refresh_token, 'bot:' || steam_id || ':refresh_token' from bot
       where length(refresh_token) > 0 order by id limit ${SAMPLED})`,
  )
  if (sealed.length === 0) return undefined
  if (open !== undefined && sealed.some(({ secret, place }) => opens(() => open(secret, place))))
    return undefined
  const has = open === undefined ? 'these settings have none' : 'that of these settings opens none of them'
  return `The secrets in this database are sealed with a master key, and ${has}. ${KEY_ADVICE}`
}

function opens(open: () => unknown): boolean {
  try {
    open()
    return true
  } catch {
    return false
  }
}

async function rowsIfThere<R extends pg.QueryResultRow>(client: Client, sql: string): Promise<R[]> {
  try {
    return (await client.query<R>(sql)).rows
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NO_TABLE) return []
    throw error
  }
}
