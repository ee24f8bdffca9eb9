/**
 * Which till a database belongs to: its mode and its master key. The first gateway that starts on the database records
 * both. Later starts and commands compare their settings with this record, which can be read before any migration too.
 */
import type pg from 'pg'
import { fingerprintOf } from '../kit/secret-box.ts'

type Client = Pick<pg.Client, 'query'>

type Mode = 'sandbox' | 'live'

export type Identity = { mode: Mode; keyFingerprint: string; oldFingerprints: string[] }

/** The settings to compare. A sandbox has no key before its first start. */
export type Claim = { mode: Mode; masterKey: Buffer | undefined; oldMasterKeys: readonly Buffer[] }

export type Ownership =
  /** `isNew`: no gateway has started with this key yet, but the settings have all keys that the database needs. */
  { kind: 'own'; masterKey: Buffer; isNew: boolean } | { kind: 'foreign'; reason: string }

/** Decrypts a secret; throws if the key differs. */
type Open = (sealed: Buffer, place: string) => unknown

const FINGERPRINT_LETTERS = 8

/** Undefined before the first start of a gateway. */
export async function readIdentity(client: Client): Promise<Identity | undefined> {
  // Selects all columns, because old_fingerprints is newer than the table.
  const rows = await rowsIfThere<{ mode: Mode; key_fingerprint: string; old_fingerprints?: string[] }>(
    client,
    'till_identity',
    'select * from till_identity',
  )
  const [row] = rows
  return (
    row && {
      mode: row.mode,
      keyFingerprint: row.key_fingerprint,
      oldFingerprints: row.old_fingerprints ?? [],
    }
  )
}

/** Records which till owns the database, unless that is recorded already. */
export async function claimDatabase(
  client: Client,
  { mode, keyFingerprint }: Omit<Identity, 'oldFingerprints'>,
): Promise<void> {
  await client.query(
    'insert into till_identity (mode, key_fingerprint) values ($1, $2) on conflict do nothing',
    [mode, keyFingerprint],
  )
}

/** Records a new key, which encrypts from now on. Existing secrets may still need the previous key. */
export async function recordKey(client: Client, keyFingerprint: string): Promise<void> {
  await client.query(
    `update till_identity set key_fingerprint = $1,
       old_fingerprints = array_append(array_remove(old_fingerprints, $1), key_fingerprint)
     where key_fingerprint <> $1`,
    [keyFingerprint],
  )
}

export function ownershipOf(identity: Identity, { mode, masterKey, oldMasterKeys }: Claim): Ownership {
  if (identity.mode !== mode) {
    return foreign(
      `This database belongs to a till in ${identity.mode} mode, and these settings are for ${mode} mode. Set TRADETILL_MODE=${identity.mode}, or DATABASE_URL to another database.`,
    )
  }
  const fingerprint = masterKey && fingerprintOf(masterKey)
  const recordedFingerprints = [identity.keyFingerprint, ...identity.oldFingerprints]
  const inSettings = [fingerprint, ...oldMasterKeys.map(fingerprintOf)]
  const missing = recordedFingerprints.filter((key) => !inSettings.includes(key))
  if (masterKey !== undefined && fingerprint !== undefined && missing.length === 0) {
    return { kind: 'own', masterKey, isNew: !recordedFingerprints.includes(fingerprint) }
  }
  if (
    fingerprint !== undefined &&
    missing.includes(identity.keyFingerprint) &&
    missing.length < recordedFingerprints.length
  ) {
    return foreign(
      `Gateways on this database seal with the master key ${shortened(identity.keyFingerprint)}, and these settings do not have it. ${CURRENT_KEY_ADVICE}`,
    )
  }
  if (fingerprint !== undefined && missing.length < recordedFingerprints.length) {
    return foreign(
      `Secrets in this database may be sealed with the master key ${missing.map(shortened).join(', ')}, and these settings do not have it. ${RING_ADVICE}`,
    )
  }
  const keysText = fingerprint === undefined ? 'have none' : `have ${shortened(fingerprint)}`
  return foreign(
    `This database belongs to the master key with the fingerprint ${shortened(identity.keyFingerprint)}, and these settings ${keysText}. ${KEY_ADVICE}`,
  )
}

const foreign = (reason: string): Ownership => ({ kind: 'foreign', reason })

const KEY_ADVICE =
  'Set TRADETILL_MASTER_KEY_FILE or TRADETILL_MASTER_KEY to the key of that till, or DATABASE_URL to another database.'

const CURRENT_KEY_ADVICE =
  'Set TRADETILL_MASTER_KEY_FILE or TRADETILL_MASTER_KEY to it, and put the key of these settings on a line of TRADETILL_OLD_MASTER_KEYS_FILE.'

const RING_ADVICE =
  'Put it on a line of TRADETILL_OLD_MASTER_KEYS_FILE until tradetill key-ring rotate has sealed everything with the new key.'

/** The first letters of a fingerprint, by which a person can compare it. */
export const shortened = (fingerprint: string): string => `${fingerprint.slice(0, FINGERPRINT_LETTERS)}…`

/** How many of the oldest secrets of each table to try. A command with another key may have written later ones. */
const SAMPLED = 20

/**
 * Returns why a database without a record must be left alone: none of the tried secrets can be decrypted. Otherwise
 * undefined. `open` is undefined if the settings have no key yet.
 */
export async function foreignSecretsOf(client: Client, open: Open | undefined): Promise<string | undefined> {
  const sealed = await rowsIfThere<{ secret: Buffer; place: string }>(
    client,
    'webhook_endpoint',
    `(select secret, 'webhook_endpoint:' || id || ':secret' as place from webhook_endpoint
       where length(secret) > 0 order by id limit ${SAMPLED})
     union all
     (select refresh_token, 'bot:' || steam_id || ':refresh_token' from bot
       where length(refresh_token) > 0 order by id limit ${SAMPLED})`,
  )
  if (sealed.length === 0) return undefined
  if (open !== undefined && sealed.some(({ secret, place }) => canOpen(() => open(secret, place))))
    return undefined
  const keysText =
    open === undefined ? 'these settings have none' : 'the key of these settings opens none of them'
  return `The secrets in this database are sealed with a master key, and ${keysText}. ${KEY_ADVICE}`
}

function canOpen(open: () => unknown): boolean {
  try {
    open()
    return true
  } catch {
    return false
  }
}

/** First checks that the table exists, because PostgreSQL logs an error for a missing table. */
async function rowsIfThere<R extends pg.QueryResultRow>(
  client: Client,
  table: string,
  sql: string,
): Promise<R[]> {
  const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    table,
  ])
  return rows[0]?.there ? (await client.query<R>(sql)).rows : []
}
