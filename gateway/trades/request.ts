/** The shopper's wish for a trade: idempotent, and committed before anything is said to Steam. */
import { ERRORS, type ErrorCode } from '../../contract/errors.ts'
import type { TradeBody } from '../../contract/widget-api.ts'
import { botQueue } from '../bots/bot.ts'
import type { FleetLimits } from '../bots/fleet.ts'
import { chooseBotForTrade } from '../bots/service.ts'
import type { Tx } from '../db/client.ts'
import { inTransaction, violates } from '../db/transaction.ts'
import { type DepositDeps, depositTopic } from '../deposits/service.ts'
import { type DepositRow, lockDeposit } from '../deposits/store.ts'
import { quoteForTrade } from '../inventory/quotes.ts'
import { tradesClosed } from '../outages/service.ts'
import type { PricingRules } from '../pricing/price.ts'
import { judgeIntent } from './intent.ts'
import { insertIntent, liveTradeOf, outcomeRow, tradeTopic } from './store.ts'

export type TradeLimits = {
  maxItems: number
  /** What one bot may have open and hold. */
  fleet: FleetLimits
}

export type RequestDeps = DepositDeps & { limits: TradeLimits; rules: PricingRules }

export type RequestAnswer =
  | { kind: 'active' }
  /** Not known yet: the caller repeats the same request. */
  | { kind: 'sending' }
  | { kind: 'refused'; code: ErrorCode }

/** How long a request waits for the bot. */
const WAIT_MS = 20_000

/** Asks for a trade of these items, or joins the one that is under way with the same items. */
export async function requestTrade(deps: RequestDeps, body: TradeBody): Promise<RequestAnswer> {
  const intent = await intend(deps, body)
  if (typeof intent !== 'bigint') return intent
  const answer = await deps.signals.until(tradeTopic(intent), () => outcomeOf(deps, intent), {
    timeoutMs: WAIT_MS,
  })
  return answer ?? { kind: 'sending' }
}

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

const refused = (code: ErrorCode): RequestAnswer => ({ kind: 'refused', code })

async function joinOrCreate(deps: RequestDeps, tx: Tx, body: TradeBody): Promise<Intent> {
  const deposit = await lockDeposit(tx, { hash: body.hash })
  if (deposit === undefined) return refused('deposit_not_found')
  const live = await liveTradeOf(tx, deposit.id)
  const wish = { game: body.game, assetIds: body.items }
  const verdict = judgeIntent(wish, {
    deposit: { status: deposit.status, expiresAt: deposit.expires_at, games: deposit.games },
    live: live && { id: live.row.id, game: live.row.game, assetIds: live.assetIds },
    closed: live === undefined ? await tradesClosed(tx) : undefined,
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
  const { user_steam_id: steamId, user_token: token } = deposit
  if (steamId === null || token === null) return refused('trade_link_missing')
  const quote = await quoteForTrade(tx, {
    depositId: deposit.id,
    game: body.game,
    assetIds: body.items,
    rules: deps.rules,
    now: deps.clock.now(),
    ...(body.quoteId === undefined ? {} : { quoteId: body.quoteId }),
  })
  if (quote.kind === 'refused') return refused(quote.code)
  if (quote.total < quote.minPrice) return refused('below_minimum')
  if (deposit.max_amount !== null && quote.total > deposit.max_amount) return refused('above_maximum')
  const wanted = { partnerSteamId: steamId, items: quote.items.length }
  const bot = await chooseBotForTrade(tx, wanted, deps.limits.fleet)
  if (bot === undefined) return refused('no_bot_available')
  const at = deps.clock.now()
  const tradeId = await insertIntent(tx, {
    deposit: deposit.id,
    botId: bot.botId,
    game: body.game,
    secretCode: deps.ids.secretCode(),
    partner: { steamId, token },
    quote,
    at,
  })
  const job = { kind: 'trade', tradeId: String(tradeId) } as const
  await deps.queue.send(tx, botQueue(bot.botId), job, { singletonKey: `trade ${tradeId}` })
  await deps.signals.notify(tx, depositTopic(deposit.id))
  return tradeId
}

async function outcomeOf({ db }: RequestDeps, tradeId: bigint): Promise<RequestAnswer | undefined> {
  const row = await outcomeRow(db, tradeId)
  switch (row.state) {
    case 'intended':
    case 'sending':
    case 'unknown':
      return undefined
    case 'refused':
      return refused(isErrorCode(row.reason) ? row.reason : 'trade_refused')
    case 'abandoned':
      return refused('steam_unavailable')
    // The offer stood: how it ended is told by the deposit.
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

function isErrorCode(text: string | null): text is ErrorCode {
  return text !== null && Object.hasOwn(ERRORS, text)
}
