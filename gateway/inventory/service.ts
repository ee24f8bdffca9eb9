import { GAME_FACTS } from '../../contract/games.ts'
import { FALLBACK_LANGUAGE } from '../../contract/languages.ts'
import { type InventoryErrorType, isFinal } from '../../contract/statuses.ts'
import type { Inventory, InventoryQuery } from '../../contract/widget-api.ts'
import { botQueue } from '../bots/bot.ts'
import { chooseBotForReading } from '../bots/service.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import type { Signals } from '../db/signals.ts'
import { inTransaction } from '../db/transaction.ts'
import { type DepositRow, findByHash } from '../deposits/store.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import type { Ids } from '../kit/ids.ts'
import type { Log } from '../kit/log.ts'
import { openOutages } from '../outages/store.ts'
import type { PricingRules } from '../pricing/price.ts'
import { minimumOf, type PriceList, priceList } from '../pricing/service.ts'
import type { SteamItem } from '../steam/steam.ts'
import { errorTypeOf, type StoredAnswer, storedAnswerSchema } from './answer.ts'
import { offeredOf } from './offered.ts'
import { saveQuote } from './quotes.ts'
import {
  assetsInTrades,
  findRequest,
  type InventoryKey,
  latestRequest,
  lockKey,
  openRequest,
  type RequestRow,
} from './store.ts'

export type InventoryDeps = {
  db: Db
  queue: Queue
  signals: Signals
  clock: Clock
  ids: Ids
  log: Log
  rules: PricingRules
  /** Origin of Steam's image host, without a slash at the end. */
  imageBase: string
  /** Most items in one trade. */
  maxItems: number
}

/** How long a call waits for the bot, and how long its request may be joined. */
export const WAIT_MS = 20_000

const FRESH_MS = 60_000
/** Also the shortest time between two looks at the same inventory, whatever the page asks. */
const RELOAD_MS = 5_000

export const inventoryTopic = (requestId: bigint): string => `inventory:${requestId}`

type Snapshot = { answer: StoredAnswer; at: Date }

/**
 * Returns the items that the shopper of the deposit may pay with, priced, newest first. Refuses when there is no such
 * deposit, it is closed or has no user; whatever Steam says is a state of the answer.
 */
export async function readInventory(
  deps: InventoryDeps,
  { hash, game, language, reload }: InventoryQuery,
  signal?: AbortSignal,
): Promise<Inventory> {
  const deposit = await findByHash(deps.db, hash)
  if (deposit === undefined) return refuse('deposit_not_found')
  if (isFinal(deposit.status)) return refuse('deposit_closed')
  if (deposit.games?.includes(game) === false) return refuse('game_not_accepted')
  const { user_steam_id: steamId, user_token: token } = deposit
  if (steamId === null || token === null) return refuse('trade_link_missing')
  const key = { steamId, token, game, language: language ?? deposit.language ?? FALLBACK_LANGUAGE }
  const isClosed = (await openOutages(deps.db)).has('maintenance')
  const found = isClosed ? CLOSED : await lookAtSteam(deps, key, { reload: reload ?? false, signal })
  return toInventory(deps, { deposit, key }, found)
}

type Found = Snapshot | { errorType: InventoryErrorType }

/** While the operator works, or no bot is there to read. */
const CLOSED: Found = { errorType: 'engineeringWorks' }

/** Answers from the last minute, joins the request that is under way, or has a bot ask Steam. */
async function lookAtSteam(
  deps: InventoryDeps,
  key: InventoryKey,
  { reload, signal }: { reload: boolean; signal: AbortSignal | undefined },
): Promise<Found> {
  const start = await inTransaction(deps.db, async (tx): Promise<RequestRow | bigint | undefined> => {
    await lockKey(tx, key)
    const known = await latestRequest(tx, key, new Date(deps.clock.now().getTime() - FRESH_MS))
    if (known !== undefined && mayServe(known, { reload, now: deps.clock.now() })) return known
    return request(deps, tx, key)
  })
  if (start === undefined) {
    deps.log.warn({ game: key.game }, 'inventory: no bot is online to read with')
    return CLOSED
  }
  const done = typeof start === 'bigint' ? undefined : snapshotOf(start)
  if (done !== undefined) return done
  const id = typeof start === 'bigint' ? start : start.id
  const check = async () => {
    const row = await findRequest(deps.db, id)
    return row && snapshotOf(row)
  }
  const snapshot = await deps.signals.until(inventoryTopic(id), check, { timeoutMs: WAIT_MS, signal })
  if (snapshot !== undefined) return snapshot
  deps.log.warn({ requestId: String(id), game: key.game }, 'inventory: no bot answered in time')
  return { errorType: (await isOutage(deps)) ? 'engineeringWorks' : 'internal' }
}

/** Whether inventories fail for every bot. */
async function isOutage({ db }: InventoryDeps): Promise<boolean> {
  return (await openOutages(db)).has('inventories')
}

/** A request under way is joined; items count for a minute, anything else and a reload for seconds only. */
function mayServe(row: RequestRow, { reload, now }: { reload: boolean; now: Date }): boolean {
  if (row.done_at === null) return now.getTime() - row.created_at.getTime() < WAIT_MS
  const items = snapshotOf(row)?.answer.kind === 'items'
  return now.getTime() - row.done_at.getTime() < (items && !reload ? FRESH_MS : RELOAD_MS)
}

async function request({ queue, clock }: InventoryDeps, tx: Tx, key: InventoryKey) {
  const botId = await chooseBotForReading(tx)
  if (botId === undefined) return undefined
  const id = await openRequest(tx, key, { botId, at: clock.now() })
  const data = { kind: 'inventory', requestId: String(id) }
  await queue.send(tx, { queue: botQueue(botId), data })
  return id
}

function snapshotOf({ state, answer, done_at: at }: RequestRow): Snapshot | undefined {
  if (state !== 'done' || at === null) return undefined
  return { answer: storedAnswerSchema.parse(answer), at }
}

type Asked = { deposit: DepositRow; key: InventoryKey }

async function toInventory(deps: InventoryDeps, asked: Asked, found: Found): Promise<Inventory> {
  const { deposit, key } = asked
  const now = deps.clock.now()
  const items = 'answer' in found && found.answer.kind === 'items' ? found.answer.items : []
  const names = items.map((item) => item.marketHashName)
  const { game } = key
  const { currency } = deposit
  const prices = await priceList(deps.db, { game, currency, names, rules: deps.rules, now })
  const ageMs = 'at' in found ? now.getTime() - found.at.getTime() : 0
  const base = {
    items: [],
    minPrice: 0,
    currency,
    maxItems: deps.maxItems,
    unavailableItems: 0,
    unavailableByReason: {},
    quoteId: null,
    ageSeconds: Math.max(0, Math.floor(ageMs / 1000)),
    inventoryError: false,
    inventoryErrorType: null,
  } satisfies Inventory
  const failed = (inventoryErrorType: InventoryErrorType) => ({
    ...base,
    minPrice: 'refused' in prices ? 0 : Number(minimumOf(game, prices.rate, deposit.min_amount)),
    inventoryError: true,
    inventoryErrorType,
  })
  if ('errorType' in found) return failed(found.errorType)
  if (found.answer.kind !== 'items') return failed(errorTypeOf(found.answer, await isOutage(deps)))
  if ('refused' in prices) {
    deps.log.error({ currency, reason: prices.refused }, 'inventory: there is no exchange rate to price with')
    return failed('engineeringWorks')
  }
  const offered = await offer(deps, asked, { items, prices })
  return { ...base, minPrice: Number(minimumOf(game, prices.rate, deposit.min_amount)), ...offered }
}

type Answered = Pick<
  Inventory,
  'items' | 'quoteId' | 'unavailableItems' | 'unavailableByReason' | 'nextTradableAt'
>

/** Sorts the items, and writes down the prices that are shown. */
async function offer(
  deps: InventoryDeps,
  { deposit, key }: Asked,
  { items, prices }: { items: readonly SteamItem[]; prices: PriceList },
): Promise<Answered> {
  const { game } = key
  const assetIds = items.map(({ assetId }) => assetId)
  const taken = await assetsInTrades(deps.db, GAME_FACTS[game].appId, assetIds)
  const { imageBase } = deps
  const { shown, quoted, heldUntil, ...counts } = offeredOf(items, { game, prices, taken, imageBase })
  const [nextTradableAt] = heldUntil.filter((at) => new Date(at) > deps.clock.now()).sort()
  const unavailable = nextTradableAt === undefined ? counts : { ...counts, nextTradableAt }
  if (quoted.length === 0) return { items: [], quoteId: null, ...unavailable }
  const quote = {
    id: deps.ids.uuid(),
    depositId: deposit.id,
    game,
    currency: prices.rate.currency,
    rateId: prices.rate.rateId,
    commissionBps: prices.commissionBps,
    items: quoted,
    grounds: prices.grounds(),
    at: deps.clock.now(),
  }
  const quoteId = await inTransaction(deps.db, (tx) => saveQuote(tx, quote))
  return { items: shown, quoteId, ...unavailable }
}
