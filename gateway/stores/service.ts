import { randomBytes } from 'node:crypto'
import type { Db } from '../db/client.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { createApiKey, type Mode, type ParsedApiKey, sameSecret } from './api-key.ts'
import { parseOrigin } from './origins.ts'

export type NewStore = {
  name: string
  /** `https://host[:port]`, at least one. */
  origins: string[]
  webhookUrl?: string
  /** Most that may be credited while Steam can still take it back; 0 holds everything. */
  riskLimitUsdCents: bigint
}

export type CreatedStore =
  /** The key and the secret are shown this once. */
  { kind: 'created'; storeId: bigint; apiKey: string; webhookSecret: string } | Refused

type Refused = { kind: 'refused'; reason: string }

/** A store that has proved itself with its API key. */
export type StoreAccount = { id: bigint; name: string; origins: string[] }

type Deps = { db: Db; box: SecretBox; mode: Mode }

/** Registers a store with its first API key and the secret that signs its webhooks. */
export async function createStore({ db, box, mode }: Deps, store: NewStore): Promise<CreatedStore> {
  const addresses = checkAddresses(store, mode)
  if (addresses.kind === 'refused') return addresses
  const { origins } = addresses
  if (store.name.length < 1 || store.name.length > 80) {
    return { kind: 'refused', reason: 'the name must have 1 to 80 characters' }
  }
  const apiKey = createApiKey(mode)
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`
  const storeId = await db.transaction().execute(async (tx) => {
    const { id } = await tx
      .insertInto('store')
      .values({
        name: store.name,
        origins,
        webhook_url: store.webhookUrl ?? null,
        webhook_secret: null,
        risk_limit_usd_cents: store.riskLimitUsdCents,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const sealed = box.seal(webhookSecret, secretPlace(id))
    await tx.updateTable('store').set({ webhook_secret: sealed }).where('id', '=', id).execute()
    await tx
      .insertInto('api_key')
      .values({ id: apiKey.id, store_id: id, secret_sha256: apiKey.secretSha256, revoked_at: null })
      .execute()
    return id
  })
  return { kind: 'created', storeId, apiKey: apiKey.key, webhookSecret }
}

export type StoreAddresses = Pick<NewStore, 'origins' | 'webhookUrl'>

/** Gives a store other addresses; its key, its secret and its deposits stay. Without a webhook none is sent. */
export async function updateStore(
  { db, mode }: Pick<Deps, 'db' | 'mode'>,
  storeId: bigint,
  store: StoreAddresses,
): Promise<{ kind: 'updated' } | Refused> {
  const addresses = checkAddresses(store, mode)
  if (addresses.kind === 'refused') return addresses
  const { numUpdatedRows } = await db
    .updateTable('store')
    .set({ origins: addresses.origins, webhook_url: store.webhookUrl ?? null })
    .where('id', '=', storeId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 0n
    ? { kind: 'refused', reason: `there is no store ${storeId}` }
    : { kind: 'updated' }
}

function checkAddresses(store: StoreAddresses, mode: Mode): { kind: 'valid'; origins: string[] } | Refused {
  const origins = store.origins.map(parseOrigin)
  if (origins.length === 0 || origins.length > 20 || !origins.every((origin) => origin !== undefined)) {
    return {
      kind: 'refused',
      reason: 'every origin must have the form https://host[:port], at most 20 of them',
    }
  }
  if (store.webhookUrl !== undefined && !isWebhookUrl(store.webhookUrl, mode)) {
    return { kind: 'refused', reason: 'the webhook must be an https address' }
  }
  return { kind: 'valid', origins }
}

/** Opens a store's sealed webhook secret. */
export function openWebhookSecret(box: SecretBox, storeId: bigint, sealed: Buffer): string {
  return box.open(sealed, secretPlace(storeId))
}

/** The store of an API key; undefined if the key is unknown, wrong or revoked. */
export async function findStoreByKey(db: Db, key: ParsedApiKey): Promise<StoreAccount | undefined> {
  const row = await db
    .selectFrom('api_key')
    .innerJoin('store', 'store.id', 'api_key.store_id')
    .select(['store.id', 'store.name', 'store.origins', 'api_key.secret_sha256'])
    .where('api_key.id', '=', key.id)
    .where('api_key.revoked_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined || !sameSecret(row.secret_sha256, key.secretSha256)) return undefined
  return { id: row.id, name: row.name, origins: row.origins }
}

function secretPlace(storeId: bigint): string {
  return `store:${storeId}:webhook_secret`
}

function isWebhookUrl(text: string, mode: Mode): boolean {
  const url = URL.parse(text)
  const secure = url?.protocol === 'https:' || (mode === 'sandbox' && url?.protocol === 'http:')
  return url !== null && secure && url.username === '' && url.password === ''
}
