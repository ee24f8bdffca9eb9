import type { Game } from '../../contract/games.ts'
import { DEFAULT_SCOPES, type Scope } from '../../contract/scopes.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { parseOrigin } from '../deposits/origins.ts'
import type { Clock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { allowAddress, allowanceFinder } from '../webhooks/address-store.ts'
import { enableByOperator } from '../webhooks/endpoint-store.ts'
import { addEndpoint, listEndpoints, moveEndpoint, parseWebhookUrl } from '../webhooks/endpoints.ts'
import { addressOf, isInsideHost, refuseUrl } from '../webhooks/url.ts'
import type { Mode } from './api-key.ts'
import { addKey } from './keys.ts'
import { changeStore, insertStore } from './store.ts'

export type NewStore = {
  name: string
  /** `https://host[:port]`, at least one. */
  origins: string[]
  webhookUrl?: string | undefined
  /** The most credit at risk, in US cents; 0 holds all credit for trades that Steam can still reverse. */
  riskLimitUsdCents: bigint
  /** `on_accept`, the default: credit within the limit is available at once; `on_release`: after Steam's protection. */
  creditMode?: 'on_accept' | 'on_release' | undefined
  /** The party that bears a reversal of available credit: the operator by default. */
  liability?: 'operator' | 'store' | undefined
  /** Main colour of the shoppers' page, as `#rrggbb`; null for the default. */
  accent?: string | null | undefined
  /** Scopes of the first key; `DEFAULT_SCOPES` if undefined. */
  scopes?: readonly Scope[] | undefined
}

export type CreatedStore =
  /** The key and the secret are shown only once. `webhookSecret`: null without a webhook. */
  { kind: 'created'; storeId: bigint; apiKey: string; webhookSecret: string | null } | Refused

type Refused = { kind: 'refused'; reason: string }

/** `webhookMode`: the rules for addresses of webhooks. `mode`: those for origins, and the mode of keys. */
type Deps = { db: Db | Tx; box: SecretBox; mode: Mode; webhookMode: Mode; clock: Clock }
type Modes = Pick<Deps, 'mode' | 'webhookMode'>

/** Registers a store with its first API key and, if it has a webhook, the secret that signs it. */
export async function createStore(deps: Deps, store: NewStore): Promise<CreatedStore> {
  const { db } = deps
  const addresses = checkAddresses(store, deps)
  if (addresses.kind === 'refused') return addresses
  if (!isName(store.name)) return INVALID_NAME
  if (!isColour(store.accent)) return INVALID_COLOUR
  return inTransaction(db, async (tx) => {
    const storeId = await insertStore(tx, {
      name: store.name,
      origins: addresses.origins,
      risk_limit_usd_cents: store.riskLimitUsdCents,
      ...(store.creditMode && { credit_mode: store.creditMode }),
      ...(store.liability && { liability: store.liability }),
      ...accentColumn(store.accent),
    })
    const url = store.webhookUrl
    if (url !== undefined) await openAddress(tx, deps, { storeId, url })
    const endpoint = url === undefined ? null : await addEndpoint(tx, deps, { storeId, url })
    const scopes = [...new Set(store.scopes ?? DEFAULT_SCOPES)]
    const apiKey = await addKey(tx, deps, { storeId, name: 'first key', scopes, lifetimeS: null })
    return { kind: 'created', storeId, apiKey, webhookSecret: endpoint?.secret ?? null }
  })
}

/** Changes of a store's settings. Undefined leaves a setting as it is. */
export type StoreChanges = {
  [Setting in 'name' | 'webhookUrl' | 'creditMode' | 'liability' | 'accent']?: NewStore[Setting] | undefined
} & {
  origins?: string[] | undefined
  riskLimitUsdCents?: bigint | undefined
  /** Null means the till's default. */
  commissionBps?: number | null | undefined
  /** Null means all. */
  games?: readonly Game[] | null | undefined
}

/** `webhookSecret`: null if no endpoint was created. */
type Updated = { kind: 'updated'; webhookSecret: string | null }

/**
 * Changes the given settings. A given webhook becomes the URL of the oldest endpoint, which is then enabled, or of a
 * new endpoint if the store has none.
 */
export async function updateStore(
  deps: Deps,
  storeId: bigint,
  changes: StoreChanges,
): Promise<Updated | Refused> {
  const checked = checkChanges(changes, deps)
  if (checked.kind === 'refused') return checked
  return inTransaction(deps.db, async (tx) => {
    if (!(await changeStore(tx, storeId, checked.change))) {
      return { kind: 'refused', reason: `there is no store ${storeId}` }
    }
    const url = changes.webhookUrl
    const webhookSecret = url === undefined ? null : await moveWebhook(tx, deps, { storeId, url })
    return { kind: 'updated', webhookSecret }
  })
}

type Change = Parameters<typeof changeStore>[2]

const refused = (reason: string): Refused => ({ kind: 'refused', reason })

function checkChanges(
  changes: StoreChanges,
  { mode, webhookMode }: Modes,
): { kind: 'valid'; change: Change } | Refused {
  const { name, origins, webhookUrl, riskLimitUsdCents, creditMode, liability } = changes
  const { accent, commissionBps, games } = changes
  if (Object.values(changes).every((change) => change === undefined))
    return refused('there is nothing to change')
  if (name !== undefined && !isName(name)) return INVALID_NAME
  if (!isColour(accent)) return INVALID_COLOUR
  if (typeof commissionBps === 'number' && !(commissionBps >= 0 && commissionBps <= MOST_COMMISSION_BPS)) {
    return refused(`the commission must be 0 to ${MOST_COMMISSION_BPS} hundredths of a percent`)
  }
  if (games?.length === 0) return refused('the store must take items of at least one game')
  const allowed = origins === undefined ? undefined : parseOrigins(origins, mode)
  if (allowed?.kind === 'refused') return allowed
  const refusal = webhookUrl === undefined ? undefined : refuseWebhook(webhookUrl, webhookMode)
  if (refusal !== undefined) return refused(refusal)
  const change: Change = {
    ...(name !== undefined && { name }),
    ...(allowed !== undefined && { origins: allowed.origins }),
    ...(riskLimitUsdCents !== undefined && { risk_limit_usd_cents: riskLimitUsdCents }),
    ...(creditMode !== undefined && { credit_mode: creditMode }),
    ...(liability !== undefined && { liability }),
    ...(commissionBps !== undefined && { commission_bps: commissionBps }),
    ...(games !== undefined && { games: games === null ? null : [...new Set(games)] }),
    ...accentColumn(accent),
  }
  return { kind: 'valid', change }
}

const MOST_NAME_CHARACTERS = 80
const INVALID_NAME: Refused = {
  kind: 'refused',
  reason: `the name must have 1 to ${MOST_NAME_CHARACTERS} characters`,
}
const MOST_COMMISSION_BPS = 9_000

const isName = (name: string): boolean => name.length >= 1 && name.length <= MOST_NAME_CHARACTERS

/** Moves the store's oldest endpoint to the URL, or adds its first endpoint and returns that endpoint's secret. */
async function moveWebhook(
  tx: Tx,
  deps: Deps,
  { storeId, url }: { storeId: bigint; url: string },
): Promise<string | null> {
  await openAddress(tx, deps, { storeId, url })
  const [oldest] = await listEndpoints(tx, storeId)
  if (oldest === undefined) return (await addEndpoint(tx, deps, { storeId, url })).secret
  const id = BigInt(oldest.id)
  await enableByOperator(tx, id)
  const findAllowance = allowanceFinder(tx)
  await moveEndpoint(tx, { mode: deps.webhookMode, findAllowance }, { storeId, id, url })
  return null
}

/** Allows the store this address, which the operator entered, unless all stores may use it anyway. */
async function openAddress(
  tx: Tx,
  { webhookMode: mode, clock }: Deps,
  { storeId, url }: { storeId: bigint; url: string },
): Promise<void> {
  const parsed = parseWebhookUrl(url)
  if (parsed === undefined || refuseUrl(parsed, { mode, allowance: undefined }) === undefined) return
  const address = addressOf(parsed)
  await allowAddress(tx, { storeId, address, inside: isInsideHost(address.host), now: clock.now() })
}

/** Returns why the address cannot be used even if the operator enters it. */
function refuseWebhook(text: string, mode: Mode): string | undefined {
  const url = parseWebhookUrl(text)
  if (url === undefined) return 'the webhook must be a URL without spaces, a user name or a password'
  const refusal = refuseUrl(url, { mode, allowance: { inside: isInsideHost(addressOf(url).host) } })
  return refusal && `the webhook cannot be sent there, because ${refusal}`
}

const MOST_ORIGINS = 20
const COLOUR = /^#[0-9a-f]{6}$/i
const INVALID_COLOUR: Refused = { kind: 'refused', reason: 'the accent must be a colour such as #3366cc' }

type Accent = NewStore['accent']

const isColour = (accent: Accent): boolean => typeof accent !== 'string' || COLOUR.test(accent)

const accentColumn = (accent: Accent) => accent !== undefined && { accent: accent?.toLowerCase() ?? null }

function checkAddresses(
  { origins, webhookUrl }: Pick<NewStore, 'origins' | 'webhookUrl'>,
  { mode, webhookMode }: Modes,
): { kind: 'valid'; origins: string[] } | Refused {
  const allowed = parseOrigins(origins, mode)
  if (allowed.kind === 'refused') return allowed
  const refusal = webhookUrl === undefined ? undefined : refuseWebhook(webhookUrl, webhookMode)
  return refusal === undefined ? allowed : refused(refusal)
}

function parseOrigins(typed: readonly string[], mode: Mode): { kind: 'valid'; origins: string[] } | Refused {
  const origins = typed.map((origin) => parseOrigin(origin, mode))
  const isCountRight = origins.length > 0 && origins.length <= MOST_ORIGINS
  if (!isCountRight || !origins.every((origin) => origin !== undefined)) {
    return refused(`there must be 1 to ${MOST_ORIGINS} origins of the form https://host[:port]`)
  }
  return { kind: 'valid', origins }
}
