import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import { percentOf } from '../../contract/money.ts'
import type { Endpoint } from '../../contract/webhooks.ts'
import { keysetPage } from '../kit/keyset-page.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { unsafeCommissionOf } from '../pricing/settings.ts'
import type { Mode } from '../stores/api-key.ts'
import { readBalances } from '../stores/balance-store.ts'
import { type KeyFacts, listKeys } from '../stores/keys.ts'
import { createStore, type NewStore, type StoreChanges, updateStore } from '../stores/service.ts'
import { changeStore as writeStore } from '../stores/store.ts'
import { allowedAddresses } from '../webhooks/address-store.ts'
import { listEndpoints } from '../webhooks/endpoints.ts'
import { formatAddress, withoutQuery } from '../webhooks/url.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'
import { atRiskOf, findStore } from './store.ts'
import { noStore } from './store-check.ts'
import { type StoreFilter, type StoreRow, selectStores } from './store-list-store.ts'

/** `webhookSecret`: shown only once; null unless the call made a new endpoint. */
export type UpdatedStore = { storeId: bigint; mode: Mode; webhookSecret: string | null }

/** Like the webhook secret, the API key is shown only once. */
export type FreshStore = UpdatedStore & { apiKey: string }

/** Registers a store with its first API key and, if it has a webhook URL, the secret that signs webhooks. */
export function addStore(deps: ActDeps, store: NewStore): Promise<Answer<FreshStore>> {
  const { webhookUrl, riskLimitUsdCents, ...settings } = store
  const argumentsOf = ({ storeId }: FreshStore) => ({
    storeId,
    ...settings,
    riskLimit: usd(riskLimitUsdCents),
    webhookUrl: webhookUrl && withoutQuery(webhookUrl),
  })
  return act(deps, { name: 'store add', argumentsOf }, async (tx) => {
    const created = await createStore({ ...storeDeps(deps), db: tx }, store)
    if (created.kind === 'refused') return refused('usage', sentence(created.reason))
    const { kind: _, ...data } = created
    return done({ ...data, mode: deps.config.mode }, `Store ${data.storeId} created.`)
  })
}

/** Changes the given settings of a store. Delivered trades keep the terms under which they were credited. */
export function changeStore(
  deps: ActDeps,
  { storeId, ...changes }: StoreChanges & { storeId: bigint },
): Promise<Answer<UpdatedStore>> {
  const { webhookUrl, riskLimitUsdCents, ...rest } = changes
  const riskLimit = riskLimitUsdCents === undefined ? undefined : usd(riskLimitUsdCents)
  const argumentsOf = () => ({
    storeId,
    ...rest,
    riskLimit,
    webhookUrl: webhookUrl && withoutQuery(webhookUrl),
  })
  return act(deps, { name: 'store update', argumentsOf }, async (tx) => {
    if ((await findStore(tx, storeId)) === undefined) return noStore(storeId)
    const unsafe = unsafeCommission(deps, changes.commissionBps)
    if (unsafe !== undefined) return refused('usage', unsafe)
    const updated = await updateStore({ ...storeDeps(deps), db: tx }, storeId, changes)
    if (updated.kind === 'refused') return refused('usage', sentence(updated.reason))
    const { webhookSecret } = updated
    return done({ storeId, mode: deps.config.mode, webhookSecret }, `Store ${storeId} updated.`)
  })
}

function unsafeCommission({ config }: ActDeps, commissionBps: number | null | undefined): string | undefined {
  const unsafe = unsafeCommissionOf(config, commissionBps)
  if (unsafe === undefined) return undefined
  const { games, leastBps, aboveLevel } = unsafe
  return `The commission is too small for ${games.join(', ')}: a pumped price would pay more than the item is worth. Set at least ${percentOf(leastBps)} percent. If you intend less, set TRADETILL_PRICE_ABOVE_LEVEL=${aboveLevel.join(',')}.`
}

export type SwitchedStore = { storeId: bigint; name: string; disabledAt: Date | null }

/** Disables the store: it opens no deposit, and its open deposits take no items. Trades under way continue. */
export const disableStore = (deps: ActDeps, storeId: bigint) => switchStore(deps, storeId, true)
export const enableStore = (deps: ActDeps, storeId: bigint) => switchStore(deps, storeId, false)

function switchStore(deps: ActDeps, storeId: bigint, isOff: boolean): Promise<Answer<SwitchedStore>> {
  const namedAct = {
    name: isOff ? 'store disable' : 'store enable',
    needsReason: isOff,
    argumentsOf: () => ({ storeId }),
  }
  return act(deps, namedAct, async (tx) => {
    const store = await findStore(tx, storeId)
    if (store === undefined) return noStore(storeId)
    const { name } = store
    const label = `Store ${storeId} (${name})`
    if ((store.disabled_at !== null) === isOff) {
      const view = { storeId, name, disabledAt: store.disabled_at }
      return unchanged(view, `${label} was ${isOff ? 'disabled' : 'enabled'} already.`)
    }
    const disabledAt = isOff ? deps.clock.now() : null
    await writeStore(tx, storeId, { disabled_at: disabledAt })
    const data = { storeId, name, disabledAt }
    return isOff
      ? done(data, `${label} is disabled: it opens no deposit and takes no items. Trades under way go on.`)
      : done(data, `${label} is enabled.`)
  })
}

type UsdAmount = { amountMinor: bigint; currency: 'USD' }
const usd = (amountMinor: bigint): UsdAmount => ({ amountMinor, currency: 'USD' })

type ListedStore = Omit<StoreRow, 'riskLimitUsdCents' | 'atRiskUsdCents' | 'balances'> & {
  riskLimit: UsdAmount
  atRisk: UsdAmount
  balances: BalanceView[]
}

/** `next`: the `after` of the next page; null on the last page. */
export type StorePage = { stores: ListedStore[]; next: bigint | null }

/** Lists stores in the order of their numbers. */
export async function listStores({ db }: FindDeps, filter: StoreFilter): Promise<Answer<StorePage>> {
  const { rows, next } = await keysetPage(filter, (page) => selectStores(db, page), 'storeId')
  const stores = rows.map(({ riskLimitUsdCents, atRiskUsdCents, balances, ...row }) => ({
    ...row,
    riskLimit: usd(riskLimitUsdCents),
    atRisk: usd(atRiskUsdCents),
    balances: balances.map(minorUnits),
  }))
  return done({ stores, next })
}

type KeyView = Omit<KeyFacts, 'id'> & { keyId: string }
type EndpointView = Omit<Endpoint, 'id'> & { endpointId: string }

export type StoreView = {
  storeId: bigint
  name: string
  createdAt: Date
  origins: string[]
  creditMode: 'on_accept' | 'on_release'
  riskLimit: UsdAmount
  atRisk: UsdAmount
  liability: 'operator' | 'store'
  /** Null means the default of the settings. */
  commissionBps: number | null
  /** Null means all. */
  games: Game[] | null
  disabledAt: Date | null
  accent: string | null
  keys: KeyView[]
  endpoints: EndpointView[]
  /**
   * Addresses open to its webhooks in addition to port 443 of public hosts. `inside`: the name is allowed to
   * resolve to the operator's own network.
   */
  addresses: { address: string; inside: boolean; allowedAt: Date }[]
  balances: BalanceView[]
}

type BalanceView = { currency: Currency; availableMinor: bigint; heldMinor: bigint; reversedMinor: bigint }

/** Returns a store with its keys, endpoints and balances, without secrets. */
export async function showStore({ db, clock }: FindDeps, storeId: bigint): Promise<Answer<StoreView>> {
  const store = await findStore(db, storeId)
  if (store === undefined) return noStore(storeId)
  return done({
    storeId,
    name: store.name,
    createdAt: store.created_at,
    origins: store.origins,
    creditMode: store.credit_mode,
    riskLimit: usd(store.risk_limit_usd_cents),
    atRisk: usd(await atRiskOf(db, storeId)),
    liability: store.liability,
    commissionBps: store.commission_bps,
    games: store.games,
    disabledAt: store.disabled_at,
    accent: store.accent,
    keys: (await listKeys(db, storeId, clock.now())).map(({ id, ...key }) => ({ keyId: id, ...key })),
    endpoints: (await listEndpoints(db, storeId)).map(({ id, url, ...rest }) => ({
      endpointId: id,
      url: withoutQuery(url),
      ...rest,
    })),
    addresses: (await allowedAddresses(db, storeId)).map(({ inside, allowedAt, ...address }) => ({
      address: formatAddress(address),
      inside,
      allowedAt,
    })),
    balances: (await readBalances(db, storeId)).balances.map(minorUnits),
  })
}

type RawBalance = {
  currency: Currency
  held: string | number
  available: string | number
  reversed: string | number
}

const minorUnits = ({ currency, held, available, reversed }: RawBalance): BalanceView => ({
  currency,
  availableMinor: BigInt(available),
  heldMinor: BigInt(held),
  reversedMinor: BigInt(reversed),
})

const storeDeps = ({ config: { masterKey, oldMasterKeys, mode, webhookMode }, clock }: ActDeps) => ({
  box: createSecretBox(masterKey, oldMasterKeys),
  mode,
  webhookMode,
  clock,
})

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
