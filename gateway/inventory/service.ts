import { GAME_FACTS, type Game } from '../../contract/games.ts'
import { FALLBACK_LANGUAGE } from '../../contract/languages.ts'
import { type InventoryErrorType, isFinal } from '../../contract/statuses.ts'
import type { Inventory, InventoryQuery, Item } from '../../contract/widget-api.ts'
import { type DepositRow, findByHash } from '../deposits/store.ts'
import { refuse } from '../http/refusal.ts'
import { DAY_MS } from '../kit/duration.ts'
import type { Ids } from '../kit/ids.ts'
import { least } from '../ledger/entry.ts'
import { forecastPromise } from '../ledger/promise.ts'
import { openOutages } from '../outages/store.ts'
import { priceNamesOf } from '../pricing/phase.ts'
import type { PricingRules } from '../pricing/price.ts'
import { minimumOf, type PriceList, priceList, rulesOfStore } from '../pricing/service.ts'
import { creditModeOf } from '../shoppers/on-release-store.ts'
import { tokenOfDeposit } from '../shoppers/trade-token.ts'
import type { SteamItem } from '../steam/steam.ts'
import { errorTypeOf, isRestricted, type Snapshot, storedAnswerSchema } from './answer.ts'
import { type LookDeps, lookAtSteam, type Seen } from './look.ts'
import { offeredOf } from './offered.ts'
import { saveQuote } from './quotes.ts'
import { assetsInTrades, type InventoryKey, inventoryKeyOf, readAnswer } from './store.ts'

export type InventoryDeps = LookDeps & {
  ids: Ids
  rules: PricingRules
  /** Origin of Steam's image host, without a slash at the end. */
  imageBase: string
  /** The most items in one trade. */
  maxItems: number
  /** For how many days the till treats a trade of the game as reversible. */
  protectionDays(game: Game): number
}

type Caller = {
  signal?: AbortSignal
  /** Runs, when its turn comes, the part of the call that takes processor time and memory for each item. */
  inTurn?<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Returns the items that the shopper of the deposit may pay with, priced, in Steam's order: newest first. Refuses if
 * the deposit does not exist, is closed, does not accept the game or has no trade link, and if too many reads were
 * made. An answer of Steam never refuses the call: even its refusals become states of the result.
 */
export async function readInventory(
  deps: InventoryDeps,
  { hash, game, language, reload }: InventoryQuery,
  { signal, inTurn = (work) => work() }: Caller = {},
): Promise<Inventory> {
  const deposit = await findByHash(deps.db, hash)
  if (deposit === undefined) return refuse('deposit_not_found')
  if (isFinal(deposit.status)) return refuse('deposit_closed')
  if (deposit.games?.includes(game) === false) return refuse('game_not_accepted')
  const { user_steam_id: steamId } = deposit
  const token = tokenOfDeposit(deps.box, deposit)
  if (steamId === null || token === null) return refuse('trade_link_missing')
  const inLanguage = language ?? deposit.language ?? FALLBACK_LANGUAGE
  const key = inventoryKeyOf(deps.box, { steamId, token, game, language: inLanguage })
  const isClosed = (await openOutages(deps.db)).has('maintenance')
  const outcome = isClosed
    ? CLOSED
    : await readThroughBots(deps, key, {
        storeId: deposit.store_id,
        depositId: deposit.id,
        reload: reload ?? false,
        signal,
      })
  return inTurn(async () => toInventory(deps, { deposit, key }, await answerOf(deps, outcome)))
}

type Failure = { errorType: InventoryErrorType }
type ReadOutcome = Snapshot | Failure

/** During maintenance, or if no bot can read. */
const CLOSED: Failure = { errorType: 'engineeringWorks' }

async function answerOf({ db }: InventoryDeps, seenOrFailure: Seen | Failure): Promise<ReadOutcome> {
  if ('errorType' in seenOrFailure) return seenOrFailure
  const { requestId, answer, at } = seenOrFailure
  return { answer: answer ?? storedAnswerSchema.parse(await readAnswer(db, requestId)), at }
}

async function readThroughBots(
  deps: InventoryDeps,
  key: InventoryKey,
  asked: Parameters<typeof lookAtSteam>[2],
): Promise<Seen | Failure> {
  const look = await lookAtSteam(deps, key, asked)
  if (!('failure' in look)) return look
  if (look.failure === 'too_many') refuse('too_many_looks', { retryAfterS: look.retryAfterS })
  if (look.failure === 'no_bot') return CLOSED
  return { errorType: (await isOutage(deps)) ? 'engineeringWorks' : 'internal' }
}

/** True if inventories fail for every bot. */
async function isOutage({ db }: InventoryDeps): Promise<boolean> {
  return (await openOutages(db)).has('inventories')
}

type Request = { deposit: DepositRow; key: InventoryKey }

async function toInventory(deps: InventoryDeps, asked: Request, outcome: ReadOutcome): Promise<Inventory> {
  const { deposit, key } = asked
  const now = deps.clock.now()
  const items = 'answer' in outcome && outcome.answer.kind === 'items' ? outcome.answer.items : []
  const { game } = key
  const names = items.flatMap((item) => priceNamesOf(item, game))
  const { currency } = deposit
  const rules = await rulesOfStore(deps.db, deps.rules, deposit.store_id)
  const prices = await priceList(deps.db, { game, currency, names, rules, now })
  const ageMs = 'at' in outcome ? now.getTime() - outcome.at.getTime() : 0
  const base = {
    items: [],
    minPrice: 0,
    currency,
    maxItems: deps.maxItems,
    hold: null,
    unavailableItems: 0,
    unavailableByReason: {},
    quoteId: null,
    ageSeconds: Math.max(0, Math.floor(ageMs / 1000)),
    inventoryError: false,
    inventoryErrorType: null,
  } satisfies Inventory
  const failure = (inventoryErrorType: InventoryErrorType) => ({
    ...base,
    minPrice: 'refused' in prices ? 0 : Number(minimumOf(game, prices.rate, deposit.min_amount)),
    inventoryError: true,
    inventoryErrorType,
    ...('answer' in outcome &&
      isRestricted(outcome.answer) && { inventoryErrorCause: 'accountRestricted' as const }),
  })
  if ('errorType' in outcome) return failure(outcome.errorType)
  if (outcome.answer.kind !== 'items') return failure(errorTypeOf(outcome.answer, await isOutage(deps)))
  if ('refused' in prices) {
    deps.log.error(
      { currency, reason: prices.refused },
      'inventory could not be priced, because no exchange rate could be trusted',
    )
    return failure('engineeringWorks')
  }
  const priced = await quoteItems(deps, asked, { items, prices })
  return { ...base, minPrice: Number(minimumOf(game, prices.rate, deposit.min_amount)), ...priced }
}

type PricedItems = Pick<
  Inventory,
  | 'items'
  | 'quoteId'
  | 'hold'
  | 'unavailableItems'
  | 'unavailableByReason'
  | 'unavailableNames'
  | 'unavailableCounts'
  | 'nextTradableAt'
>

/** Separates the accepted items from the others, and saves the shown prices as a quote. */
async function quoteItems(
  deps: InventoryDeps,
  { deposit, key }: Request,
  { items, prices }: { items: readonly SteamItem[]; prices: PriceList },
): Promise<PricedItems> {
  const { game } = key
  const assetIds = items.map(({ assetId }) => assetId)
  const taken = await assetsInTrades(deps.db, GAME_FACTS[game].appId, assetIds)
  const { imageBase } = deps
  const now = deps.clock.now()
  const circumstances = { game, prices, taken, imageBase, now }
  const { shown, quoted, restrictedUntil, ...counts } = offeredOf(items, circumstances)
  const [nextTradableAt] = restrictedUntil.filter((at) => new Date(at) > now).sort()
  const unavailable = nextTradableAt === undefined ? counts : { ...counts, nextTradableAt }
  if (quoted.length === 0) return { items: [], quoteId: null, hold: null, ...unavailable }
  const quote = {
    id: deps.ids.uuid(),
    depositId: deposit.id,
    steamId: key.steamId,
    game,
    currency: prices.rate.currency,
    rateId: prices.rate.rateId,
    commissionBps: prices.commissionBps,
    items: quoted,
    bases: prices.bases(),
    at: now,
  }
  const { quoteId, priceOf } = await saveQuote(deps.db, quote)
  // A reused quote may have other prices. Those are shown, because the trade will use them.
  const atQuotedPrices = shown.flatMap((item) => {
    const price = priceOf(item.id)
    return price === undefined ? [] : [{ ...item, price: Number(price) }]
  })
  const highestMinor = highestTotal(atQuotedPrices, deps.maxItems, deposit.max_amount)
  const hold = await holdOf(deps, { deposit, game, rateId: prices.rate.rateId, total: highestMinor })
  return { items: atQuotedPrices, quoteId, hold, ...unavailable }
}

/**
 * The highest total that a trade of these items can have. The page gets the part of it that would be credited at once;
 * for a higher total, that part could reveal the store's risk limit.
 */
function highestTotal(items: readonly Item[], maxItems: number, maxAmount: bigint | null): bigint {
  const prices = items.map(({ price }) => price).sort((a, b) => b - a)
  const highestMinor = BigInt(prices.slice(0, maxItems).reduce((sum, price) => sum + price, 0))
  return maxAmount === null ? highestMinor : least(highestMinor, maxAmount)
}

type Holding = { deposit: DepositRow; game: Game; rateId: bigint; total: bigint }

/** Computes the hold as if items worth `total` were traded now. A real trade gets its own promise. */
async function holdOf(deps: InventoryDeps, { game, ...asked }: Holding): Promise<Inventory['hold']> {
  const now = deps.clock.now()
  const days = deps.protectionDays(game)
  const { user_steam_id: steamId } = asked.deposit
  const shopperMode = steamId === null ? null : await creditModeOf(deps.db, steamId)
  const promised = await forecastPromise(deps.db, { ...asked, shopperMode, days })
  if (promised === null) return null
  return {
    atOnce: Number(promised.atOnce),
    days,
    by: promised.by,
    until: new Date(now.getTime() + days * DAY_MS).toISOString(),
  }
}
