/** Stores, as the operator registers and sees them. */

import type { Currency } from '../../contract/money.ts'
import type { Balances } from '../../contract/store-api.ts'
import type { Endpoint } from '../../contract/webhooks.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { readBalances } from '../stores/balance-store.ts'
import { type KeyFacts, listKeys } from '../stores/keys.ts'
import { createStore, type NewStore, type StoreChanges, updateStore } from '../stores/service.ts'
import { allowedAddresses } from '../webhooks/address-store.ts'
import { listEndpoints } from '../webhooks/endpoints.ts'
import { formatAddress } from '../webhooks/url.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused } from './operation.ts'
import { findStore } from './store.ts'

/** The key and the secret are shown this once; without a webhook there is no secret. */
export type FreshStore = { storeId: bigint; apiKey: string; webhookSecret: string | null }

/** Registers a store with its first API key and, if it has an address for webhooks, the secret that signs them. */
export function addStore(deps: ActDeps, store: NewStore): Promise<Answer<FreshStore>> {
  const { webhookUrl, riskLimitUsdCents, ...settings } = store
  const recorded = ({ storeId }: FreshStore) => ({
    storeId,
    ...settings,
    riskLimit: { amountMinor: riskLimitUsdCents, currency: 'USD' },
    webhookUrl: withoutQuery(webhookUrl),
  })
  return act(deps, { name: 'store add', recorded }, async (tx) => {
    const created = await createStore({ ...storeDeps(deps), db: tx }, store)
    if (created.kind === 'refused') return refused('usage', sentence(created.reason))
    const { kind: _, ...data } = created
    return done(data, `Store ${data.storeId} created.`)
  })
}

export type UpdatedStore = { storeId: bigint; webhookSecret: string | null }

/** Gives a store other origins, its first endpoint another address, or its page another colour. */
export function changeStore(
  deps: ActDeps,
  { storeId, ...changes }: StoreChanges & { storeId: bigint },
): Promise<Answer<UpdatedStore>> {
  const { webhookUrl, ...rest } = changes
  const recorded = () => ({ storeId, ...rest, webhookUrl: withoutQuery(webhookUrl) })
  return act(deps, { name: 'store update', recorded }, async (tx) => {
    if ((await findStore(tx, storeId)) === undefined) return noStore(storeId)
    const updated = await updateStore({ ...storeDeps(deps), db: tx }, storeId, changes)
    if (updated.kind === 'refused') return refused('usage', sentence(updated.reason))
    return done({ storeId, webhookSecret: updated.webhookSecret }, `Store ${storeId} updated.`)
  })
}

type KeyView = Omit<KeyFacts, 'id'> & { keyId: string }
type EndpointView = Omit<Endpoint, 'id'> & { endpointId: string }

export type StoreView = {
  storeId: bigint
  name: string
  createdAt: Date
  origins: string[]
  creditMode: 'on_accept' | 'on_release'
  riskLimit: { amountMinor: bigint; currency: 'USD' }
  liability: 'operator' | 'store'
  accent: string | null
  keys: KeyView[]
  endpoints: EndpointView[]
  /** Where its webhooks may go, beside port 443 of public hosts. */
  addresses: { address: string; inside: boolean; allowedAt: Date }[]
  balances: { currency: Currency; availableMinor: bigint; heldMinor: bigint; reversedMinor: bigint }[]
}

/** A store with its keys, endpoints and balances; no secret is among them. */
export async function showStore({ db, clock }: FindDeps, storeId: bigint): Promise<Answer<StoreView>> {
  const store = await findStore(db, storeId)
  if (store === undefined) return noStore(storeId)
  return done({
    storeId,
    name: store.name,
    createdAt: store.created_at,
    origins: store.origins,
    creditMode: store.credit_mode,
    riskLimit: { amountMinor: store.risk_limit_usd_cents, currency: 'USD' },
    liability: store.liability,
    accent: store.accent,
    keys: (await listKeys(db, storeId, clock.now())).map(({ id, ...key }) => ({ keyId: id, ...key })),
    endpoints: (await listEndpoints(db, storeId)).map(({ id, ...rest }) => ({ endpointId: id, ...rest })),
    addresses: (await allowedAddresses(db, storeId)).map(({ inside, allowedAt, ...address }) => ({
      address: formatAddress(address),
      inside,
      allowedAt,
    })),
    balances: (await readBalances(db, storeId)).balances.map(minorUnits),
  })
}

const minorUnits = ({ currency, held, available, reversed }: Balances['balances'][number]) => ({
  currency,
  availableMinor: BigInt(available),
  heldMinor: BigInt(held),
  reversedMinor: BigInt(reversed),
})

const noStore = (storeId: bigint) => refused('not_found', `There is no store ${storeId}.`)

const storeDeps = ({ config: { masterKey, oldMasterKeys, mode }, clock }: ActDeps) => ({
  box: createSecretBox(masterKey, oldMasterKeys),
  mode,
  clock,
})

/** The query of an address may hold a secret. */
function withoutQuery(address: string | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(address)
  return url === null ? undefined : url.origin + url.pathname
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
