/** Stores as the operator registers them. */
import { SCOPES } from '../../contract/store-api.ts'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { addEndpoint, isWebhookUrl } from '../webhooks/endpoints.ts'
import type { Mode } from './api-key.ts'
import { addKey } from './keys.ts'
import { parseOrigin } from './origins.ts'

export type NewStore = {
  name: string
  /** `https://host[:port]`, at least one. */
  origins: string[]
  webhookUrl?: string
  /** Most that may be credited while Steam can still take it back; 0 holds everything. */
  riskLimitUsdCents: bigint
  creditMode?: 'on_accept' | 'on_release'
  /** Who bears what is taken back after it was credited. */
  liability?: 'operator' | 'store'
  /** Colour of the main things on the shoppers' page, as `#rrggbb`; null is the page's own. */
  accent?: string | null
}

export type CreatedStore =
  /** The key and the secret are shown this once; without a webhook there is no secret. */
  { kind: 'created'; storeId: bigint; apiKey: string; webhookSecret: string | null } | Refused

type Refused = { kind: 'refused'; reason: string }

type Deps = { db: Db; box: SecretBox; mode: Mode; clock: Clock }

/** Registers a store with its first API key and, if it has an address for webhooks, the secret that signs them. */
export async function createStore(deps: Deps, store: NewStore): Promise<CreatedStore> {
  const { db, mode } = deps
  const addresses = checkAddresses(store, mode)
  if (addresses.kind === 'refused') return addresses
  if (store.name.length < 1 || store.name.length > 80) {
    return { kind: 'refused', reason: 'the name must have 1 to 80 characters' }
  }
  const accent = accentOf(store)
  if (accent.kind === 'refused') return accent
  return inTransaction(db, async (tx) => {
    const { id: storeId } = await tx
      .insertInto('store')
      .values({
        name: store.name,
        origins: addresses.origins,
        risk_limit_usd_cents: store.riskLimitUsdCents,
        ...(store.creditMode && { credit_mode: store.creditMode }),
        ...(store.liability && { liability: store.liability }),
        ...accent.set,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const url = store.webhookUrl
    const endpoint = url === undefined ? null : await addEndpoint(tx, deps, { storeId, url })
    const apiKey = await addKey(tx, deps, { storeId, name: 'first key', scopes: SCOPES })
    return { kind: 'created', storeId, apiKey, webhookSecret: endpoint?.secret ?? null }
  })
}

type StoreAddresses = Pick<NewStore, 'origins' | 'webhookUrl'>

/** What may change of a store; a colour may change alone. */
export type StoreChanges = StoreAddresses & Pick<NewStore, 'accent'>

/**
 * Gives a store other origins and, where one is given, its oldest webhook endpoint another address, or another colour;
 * keys, secrets and deposits stay.
 */
export async function updateStore(
  deps: Deps,
  storeId: bigint,
  store: StoreChanges,
): Promise<{ kind: 'updated'; webhookSecret: string | null } | Refused> {
  const accent = accentOf(store)
  if (accent.kind === 'refused') return accent
  const colourAlone =
    store.accent !== undefined && store.origins.length === 0 && store.webhookUrl === undefined
  const addresses = colourAlone ? undefined : checkAddresses(store, deps.mode)
  if (addresses?.kind === 'refused') return addresses
  return inTransaction(deps.db, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('store')
      .set({ ...accent.set, ...(addresses && { origins: addresses.origins }) })
      .where('id', '=', storeId)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return { kind: 'refused', reason: `there is no store ${storeId}` }
    const url = store.webhookUrl
    if (url === undefined) return { kind: 'updated', webhookSecret: null }
    const oldest = await tx
      .selectFrom('webhook_endpoint')
      .select('id')
      .where('store_id', '=', storeId)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    if (oldest === undefined) {
      const { secret } = await addEndpoint(tx, deps, { storeId, url })
      return { kind: 'updated', webhookSecret: secret }
    }
    const change = { url, state: 'enabled' as const, disabled_reason: null }
    await tx.updateTable('webhook_endpoint').set(change).where('id', '=', oldest.id).execute()
    return { kind: 'updated', webhookSecret: null }
  })
}

const COLOUR = /^#[0-9a-f]{6}$/

function accentOf({
  accent,
}: Pick<NewStore, 'accent'>): { kind: 'valid'; set: { accent?: string | null } } | Refused {
  if (accent === undefined || accent === null) {
    return { kind: 'valid', set: accent === null ? { accent } : {} }
  }
  const lower = accent.toLowerCase()
  return COLOUR.test(lower)
    ? { kind: 'valid', set: { accent: lower } }
    : { kind: 'refused', reason: 'the accent must be a colour in the form #3366cc' }
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
