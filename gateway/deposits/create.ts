import { supportedLanguage } from '../../contract/languages.ts'
import { accountOf, steamIdOfAccount } from '../../contract/steam-id.ts'
import type { CreateDepositBody, StoreDeposit } from '../../contract/store-api.ts'
import { linkWithoutToken, parseTradeLink, type TradeLink } from '../../contract/trade-link.ts'
import type { Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import { canonicalJson } from '../kit/canonical-json.ts'
import { MINUTE_MS } from '../kit/duration.ts'
import { sha256 } from '../kit/sha256.ts'
import { isOwnBot } from '../shoppers/store.ts'
import { sealedForDeposit, tokenOfDeposit } from '../shoppers/trade-token.ts'
import type { Partner } from '../steam/steam.ts'
import { acceptedGames, DEFAULT_DEPOSIT_LIFE_MS } from './deposit.ts'
import { describeConflict } from './order-conflict.ts'
import { type DepositDeps, EXPIRE_QUEUE, PREFILL_QUEUE, resolveUser } from './service.ts'
import {
  countOpenDeposits,
  depositOfOrder,
  gamesOfStore,
  insertDeposit,
  isStoreDisabled,
  linkToResolve,
} from './store.ts'
import { storeDepositOf } from './store-deposit.ts'

type CreateDeps = Pick<DepositDeps, 'db' | 'queue' | 'clock' | 'ids' | 'box' | 'publicUrl'> & {
  /** The most open deposits of one store; no limit if absent. */
  mostOpen?: number
}

/** How long a store at its limit of open deposits is asked to wait. */
const FULL_RETRY_S = 60
/** How many bytes of the trade token's hash the request's hash covers. */
const TOKEN_HINT_BYTES = 2

/**
 * Opens a deposit for a store. A repeated call with the same externalId returns the same deposit
 * (`created: false`); with other values it is refused. The caller has checked the URLs.
 */
export async function createDeposit(
  deps: CreateDeps,
  store: { id: bigint },
  body: CreateDepositBody,
): Promise<{ deposit: StoreDeposit; created: boolean }> {
  const link = body.tradeUrl === undefined ? undefined : parseTradeLink(body.tradeUrl)
  if (body.tradeUrl !== undefined && link === undefined) refuse('invalid_trade_link')
  if (
    body.shopper !== undefined &&
    link !== undefined &&
    steamIdOfAccount(link.partner) !== body.shopper.steamId
  )
    refuse('invalid_request', [
      { path: 'tradeUrl', message: 'belongs to another account than shopper.steamId' },
    ])
  const [requestHash, ...earlierHashes] = requestHashes(body, link)
  return inTransaction(deps.db, async (tx) => {
    const shopper = link && { steamId: steamIdOfAccount(link.partner), token: link.token }
    const inserted = await insert(deps, tx, { store, body, requestHash, shopper })
    if (inserted) await refuseBots(tx, { shopper: body.shopper?.steamId, tradeUrl: shopper?.steamId })
    const row = await depositOfOrder(tx, { storeId: store.id, externalId: body.externalId })
    if (![requestHash, ...earlierHashes].some((hash) => row.request_sha256.equals(hash)))
      refuse('order_conflict', { asked: describeConflict(body, row) })
    const deposit = await storeDepositOf(tx, { depositId: row.id }, deps.publicUrl)
    if (deposit === undefined) throw new Error(`deposit ${row.id} vanished while it was created`)
    return { deposit, created: inserted }
  })
}

const FIELDS = { shopper: 'shopper.steamId', tradeUrl: 'tradeUrl' } as const

/** Refuses bots as shoppers: one bot would give its items to another, and the store would be credited for them. */
async function refuseBots(tx: Tx, named: Record<keyof typeof FIELDS, string | undefined>): Promise<void> {
  for (const [field, steamId] of Object.entries(named)) {
    if (steamId === undefined || !(await isOwnBot(tx, steamId))) continue
    const path = field === 'shopper' ? FIELDS.shopper : FIELDS.tradeUrl
    refuse('invalid_request', [{ path, message: 'is the account of a bot of this till' }])
  }
}

type NewDeposit = {
  store: { id: bigint }
  body: CreateDepositBody
  requestHash: Buffer
  shopper: Partner | undefined
}

/** Returns false if the store already has a deposit with this externalId. */
async function insert(deps: CreateDeps, tx: Tx, newDeposit: NewDeposit): Promise<boolean> {
  const { queue, clock, ids, box, mostOpen } = deps
  const { store, body, requestHash, shopper } = newDeposit
  const lifeMs =
    body.expiresInMinutes === undefined ? DEFAULT_DEPOSIT_LIFE_MS : body.expiresInMinutes * MINUTE_MS
  const expiresAt = new Date(clock.now().getTime() + lifeMs)
  const hash = ids.hex(16)
  const allowed = await gamesOfStore(tx, store.id)
  const games = acceptedGames(allowed, body.games)
  const id = await insertDeposit(tx, {
    hash,
    store_id: store.id,
    external_id: body.externalId,
    request_sha256: requestHash,
    currency: body.currency,
    language: supportedLanguage(body.language ?? '') ?? null,
    back_to_store_url: body.backToStoreUrl,
    redirect_url: body.redirectUrl ?? null,
    embed_origin: body.embedOrigin ?? null,
    min_amount: amountOrNull(body.targetAmount ?? body.minAmount),
    max_amount: amountOrNull(body.maxAmount),
    target_amount: amountOrNull(body.targetAmount),
    games: games?.length === 0 ? null : games,
    credit_mode: body.creditMode ?? null,
    customer_reference: body.customerReference ?? null,
    customer_label: body.customerLabel ?? null,
    shopper_steam_id: body.shopper?.steamId ?? null,
    shopper_locked: body.shopper?.lock ?? false,
    metadata: JSON.stringify(body.metadata ?? {}),
    ...(shopper && { user_steam_id: shopper.steamId, ...sealedForDeposit(box, hash, shopper.token) }),
    created_at: clock.now(),
    expires_at: expiresAt,
  })
  if (id === undefined) return false
  // Checked after the insert, because a repeated call must find its deposit even if the operator has disabled the store
  // or changed its games since.
  if (allowed !== null && games?.length === 0) {
    const message = `must include one that your store takes: ${allowed.join(', ')}`
    refuse('invalid_request', [{ path: 'games', message }])
  }
  if (await isStoreDisabled(tx, store.id)) refuse('store_disabled')
  // Deposits created at the same moment do not see each other, so a few may exceed the limit.
  if (mostOpen !== undefined && (await countOpenDeposits(tx, store.id, mostOpen + 1)) > mostOpen) {
    refuse('too_many_deposits', { retryAfterS: FULL_RETRY_S })
  }
  const job = { data: { depositId: String(id) }, singletonKey: String(id) }
  await queue.send(tx, { queue: EXPIRE_QUEUE, startAfter: expiresAt, ...job })
  if (shopper !== undefined) await queue.send(tx, { queue: PREFILL_QUEUE, ...job })
  return true
}

const amountOrNull = (amount: number | undefined): bigint | null =>
  amount === undefined ? null : BigInt(amount)

/**
 * Returns hashes of the call's values, to recognise a repeated call. The first one is stored. It covers only 16 bits of
 * the trade token's hash, because more could reveal the token. Rows of earlier versions contain one of the others.
 */
function requestHashes(body: CreateDepositBody, link: TradeLink | undefined): [Buffer, ...Buffer[]] {
  const { metadata = {}, ...others } = body
  // Empty metadata is the same as none: some languages cannot tell them apart.
  const isEmpty = Object.keys(metadata).length === 0
  const values = isEmpty ? others : body
  const hinted =
    link === undefined
      ? values
      : { ...values, tradeUrl: `${link.partner} ${sha256(link.token).toString('hex', 0, TOKEN_HINT_BYTES)}` }
  const earlier = [values, ...(isEmpty ? [values, hinted].map((part) => ({ ...part, metadata })) : [])]
  return [hashOf(hinted), ...earlier.map(hashOf)]
}

const hashOf = (values: object): Buffer => sha256(canonicalJson(values))

/** Finds the shopper of the store's trade link on Steam. Refuses as `resolveUser` does. */
export async function prefillShopper(deps: DepositDeps, id: bigint): Promise<void> {
  const link = await linkToResolve(deps.db, id)
  const token = link && tokenOfDeposit(deps.box, link)
  if (link === undefined || !link.steamId || !token) return
  const { hash, steamId } = link
  const tradeUrl = `${linkWithoutToken(accountOf(steamId))}&token=${token}`
  await resolveUser(deps, { hash, tradeUrl }, 'store')
}
