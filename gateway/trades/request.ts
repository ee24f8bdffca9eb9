/**
 * Takes a shopper's request for a trade. A repeated request joins the trade of the first one. The intent is committed
 * before Steam is called.
 */
import { ERRORS, type ErrorCode, type RefusalCause } from '../../contract/errors.ts'
import type { TradeBody } from '../../contract/widget-api.ts'
import { chooseBotForTrade, hasBotForTrade, isBelowShareOfFleet } from '../bots/service.ts'
import type { Tx } from '../db/client.ts'
import { violates } from '../db/sql-state.ts'
import { inTransaction } from '../db/transaction.ts'
import { depositTopic } from '../deposits/service.ts'
import { type DepositRow, isStoreDisabled, lockDeposit } from '../deposits/store.ts'
import { quoteForTrade } from '../inventory/quotes.ts'
import { makePromise } from '../ledger/promise.ts'
import { whyTradesClosed } from '../outages/service.ts'
import type { PricingRules } from '../pricing/price.ts'
import { rulesOfStore } from '../pricing/service.ts'
import { judgePartner } from '../shoppers/allowance.ts'
import { creditModeOf } from '../shoppers/on-release-store.ts'
import { lockPartner, partnerFacts } from '../shoppers/partner-store.ts'
import { isRefused } from '../shoppers/store.ts'
import { tokenOfDeposit } from '../shoppers/trade-token.ts'
import { judgeIntent } from './intent.ts'
import { type IntentDeps, writeIntent, writeItems } from './intent-store.ts'
import { moveUntaken, TAKE_UP_MS } from './move-on.ts'
import { causeOf, isOfBotOrPair } from './refusal.ts'
import { liveTradeOf, readOutcome, tradeTopic } from './store.ts'
import type { ShellDeps } from './trade-store.ts'

export type RequestDeps = IntentDeps &
  ShellDeps & {
    rules: PricingRules
    /** How long a bot has to start sending before another one is asked. */
    takeUpMs?: number
  }

export type RequestAnswer =
  /** There was an offer. The deposit shows whether it is still open. */
  | { kind: 'active' }
  /** The result is not known yet, or another bot is free after a refusal: the caller repeats the same request. */
  | { kind: 'sending' }
  | { kind: 'refused'; code: ErrorCode; until?: Date; cause?: RefusalCause }

/** How long a request waits for the bot. */
const WAIT_MS = 20_000

/** Requests a trade of these items, or joins the open or delivered one with the same items. */
export async function requestTrade(deps: RequestDeps, body: TradeBody): Promise<RequestAnswer> {
  const { takeUpMs = TAKE_UP_MS } = deps
  const intent = await intend(deps, body)
  if (typeof intent !== 'bigint') return intent
  const askedAt = deps.clock.now().getTime()
  let tradeId = intent
  for (let waits = 0; waits < WAIT_MS / takeUpMs; ) {
    const current = tradeId
    const waitedMs = deps.clock.now().getTime() - askedAt
    // A wrong clock must not make the wait longer, so the number of waits limits it too.
    const timeoutMs = Math.min(takeUpMs, Math.max(0, WAIT_MS - waitedMs))
    const outcome = await deps.signals.until(tradeTopic(current), () => outcomeOf(deps, current), {
      timeoutMs,
    })
    if (outcome?.kind === 'moved') {
      tradeId = outcome.to
      continue
    }
    if (outcome !== undefined) return outcome
    waits += 1
    await moveUntaken(deps, current)
  }
  return { kind: 'sending' }
}

/** The id of the trade, or the answer if there is no trade. */
type Intent = bigint | RequestAnswer

async function intend(deps: RequestDeps, body: TradeBody): Promise<Intent> {
  try {
    return await inTransaction(deps.db, (tx) => joinOrCreate(deps, tx, body))
  } catch (error) {
    // Another trade took one of the assets between the check and the write.
    if (violates(error, 'trade_item_one_live')) return refused('items_unavailable')
    throw error
  }
}

const refused = (code: ErrorCode) => ({ kind: 'refused', code }) as const

async function joinOrCreate(deps: RequestDeps, tx: Tx, body: TradeBody): Promise<Intent> {
  const deposit = await lockDeposit(tx, { hash: body.hash })
  if (deposit === undefined) return refused('deposit_not_found')
  const live = await liveTradeOf(tx, deposit.id)
  const selection = { game: body.game, assetIds: body.items }
  const verdict = judgeIntent(selection, {
    deposit: { status: deposit.status, expiresAt: deposit.expires_at, games: deposit.games },
    live: live && { id: live.row.id, game: live.row.game, assetIds: live.assetIds },
    closed: live === undefined ? await whyTradesClosed(tx) : undefined,
    maxItems: deps.limits.maxItems,
    now: deps.clock.now(),
  })
  if (verdict.kind === 'join') return verdict.tradeId
  if (verdict.kind === 'refused') return verdict
  return createIntent(deps, tx, { deposit, body })
}

async function createIntent(
  deps: RequestDeps,
  tx: Tx,
  { deposit, body }: { deposit: DepositRow; body: TradeBody },
): Promise<Intent> {
  const { user_steam_id: steamId } = deposit
  const token = tokenOfDeposit(deps.box, deposit)
  if (steamId === null || token === null) return refused('trade_link_missing')
  if (await isRefused(tx, steamId)) return refused('shopper_refused')
  if (await isStoreDisabled(tx, deposit.store_id)) return refused('technical_works')
  const quote = await quoteForTrade(tx, {
    depositId: deposit.id,
    steamId,
    game: body.game,
    assetIds: body.items,
    rules: await rulesOfStore(tx, deps.rules, deposit.store_id),
    now: deps.clock.now(),
    ...(body.quoteId === undefined ? {} : { quoteId: body.quoteId }),
  })
  if (quote.kind === 'refused') return refused(quote.code)
  if (quote.total < quote.minPrice) return refused('below_minimum')
  if (deposit.max_amount !== null && quote.total > deposit.max_amount) return refused('above_maximum')
  const limitRefusal = await judgeLimits(deps, tx, { deposit, steamId })
  if (limitRefusal !== undefined) return limitRefusal
  const botQuery = { partnerSteamId: steamId, game: body.game, items: quote.items.length, tried: [] }
  const bot = await chooseBotForTrade(tx, botQuery, deps.limits.fleet)
  if (bot === undefined) return refused('no_bot_available')
  const { rateId, total } = quote
  const days = deps.protectionDays(body.game)
  const shopperMode = await creditModeOf(tx, steamId)
  const promised = await makePromise(tx, { deposit, shopperMode, rateId, total, days })
  const tradeId = await writeIntent(deps, tx, {
    deposit_id: deposit.id,
    bot_id: bot.botId,
    quote_id: quote.quoteId,
    game: body.game,
    partner_steam_id: steamId,
    token,
    currency: quote.currency,
    total: quote.total,
    gross_total: quote.gross,
    intended_at: deps.clock.now(),
    ...(promised && { promised_amount: promised.atOnce, promised_days: promised.days }),
  })
  const items = quote.items.map((item) => ({
    asset_id: item.assetId,
    app_id: item.appId,
    context_id: item.contextId,
    name: item.name,
    market_hash_name: item.marketHashName,
    phase: item.phase,
    price: item.price,
    gross: item.gross,
  }))
  await writeItems(tx, tradeId, items)
  await deps.signals.notify(tx, depositTopic(deposit.id))
  return tradeId
}

/** Locks the account until the intent is committed, so parallel requests cannot exceed the limits together. */
async function judgeLimits(
  { clock, limits }: RequestDeps,
  tx: Tx,
  { deposit, steamId }: { deposit: DepositRow; steamId: string },
): Promise<RequestAnswer | undefined> {
  const { store_id: storeId, shopper_locked: isForOneShopper } = deposit
  const now = clock.now()
  await lockPartner(tx, steamId)
  const allowance = judgePartner(await partnerFacts(tx, { steamId, storeId, now }), {
    isLocked: isForOneShopper,
    now,
  })
  if (allowance.kind === 'too_many') return refused('too_many_open_offers')
  if (allowance.kind === 'paused') return { ...refused('offers_paused'), until: allowance.until }
  // The store's share of the fleet does not limit a deposit that is locked to this account, but the offer counts in it.
  const hasShare = isForOneShopper || (await isBelowShareOfFleet(tx, storeId, limits.fleet))
  return hasShare ? undefined : refused('no_bot_available')
}

type Outcome = RequestAnswer | { kind: 'moved'; to: bigint }

async function outcomeOf(deps: RequestDeps, tradeId: bigint): Promise<Outcome | undefined> {
  const row = await readOutcome(deps.db, tradeId)
  switch (row.state) {
    case 'intended':
    case 'sending':
    case 'unknown':
      return undefined
    case 'refused':
      return refusalOf(deps, row)
    case 'abandoned':
      return refused('steam_unavailable')
    // There was an offer: the deposit shows how it ended.
    case 'active':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
    case 'held':
    case 'final':
    case 'reversed':
      return { kind: 'active' }
    default:
      return row.state satisfies never
  }
}

type OutcomeRow = Awaited<ReturnType<typeof readOutcome>>

/** If the cause of a refusal is the bot, or its pair with the shopper, the page asks again while another bot is free. */
async function refusalOf(deps: RequestDeps, row: OutcomeRow): Promise<Outcome> {
  if (row.moved_to !== null) return { kind: 'moved', to: row.moved_to }
  const code = isErrorCode(row.reason) ? row.reason : 'trade_refused'
  if (row.refusal === null) return refused(code)
  if (!isOfBotOrPair(row.refusal)) {
    const cause = causeOf(row.refusal)
    return { ...refused(code), ...(cause && { cause }) }
  }
  const { partner_steam_id: partnerSteamId, game, tried_bots } = row
  // One item, because this only asks whether any bot is left. The next request counts the real items.
  const isFree = await hasBotForTrade(
    deps.db,
    { partnerSteamId, game, items: 1, tried: [...tried_bots, row.bot_id] },
    deps.limits.fleet,
  )
  return isFree ? { kind: 'sending' } : refused(code)
}

function isErrorCode(text: string | null): text is ErrorCode {
  return text !== null && Object.hasOwn(ERRORS, text)
}
