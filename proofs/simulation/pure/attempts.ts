/** Attempts to fulfil a shopper's request: the first one, and further ones at other bots. */
import type { Game } from '../../../contract/games.ts'
import { CODE_ALPHABET, CODE_LENGTH } from '../../../gateway/kit/ids.ts'
import type { OfferAsset } from '../../../gateway/steam/steam.ts'
import type { Attempt } from '../../../gateway/trades/refusal.ts'
import { chooseFor } from './fleet.ts'
import { type DepositRow, setDue, type TillMemory, type TradeRow } from './memory.ts'
import { promiseTo } from './promises.ts'

export type Basket = { assets: readonly OfferAsset[]; items: TradeRow['items']; game: Game }

/** Begins the first attempt. Returns undefined if no bot can take it. */
export function beginFirst(
  memory: TillMemory,
  { deposit, basket }: Pick<NewAttempt, 'deposit' | 'basket'>,
  now: Date,
): TradeRow | undefined {
  const wanted = { partner: deposit.shopper, game: basket.game, items: basket.items.size, tried: [], now }
  const botId = chooseFor(memory, wanted)
  if (botId === undefined) return undefined
  const attempt: Attempt = { intendedAt: now, tried: [], doubted: null }
  return beginAttempt(memory, { deposit, basket, botId, attempt }, now)
}

/**
 * Moves the request of a refused trade to another bot, if one can take it. `isInDoubt`: Steam gave no clear reason, so
 * the refused bot is doubted if another one succeeds.
 */
export function moveToOtherBot(
  memory: TillMemory,
  row: TradeRow,
  { isInDoubt, at }: { isInDoubt: boolean; at: Date },
): void {
  const { deposit, facts, items, trade } = row
  const tried = [...facts.attempt.tried, facts.botId]
  const wanted = { partner: deposit.shopper, game: facts.game, items: items.size, tried, now: at }
  const botId = chooseFor(memory, wanted)
  if (botId === undefined) return
  const doubted = isInDoubt ? facts.botId : facts.attempt.doubted
  const attempt = { ...facts.attempt, tried, doubted }
  const basket: Basket = { assets: trade.items, items, game: facts.game }
  const { promised } = row
  memory.onMove(beginAttempt(memory, { deposit, basket, botId, attempt, promised }, at))
}

function codeOf({ random, byCode }: Pick<TillMemory, 'random' | 'byCode'>): string {
  let code = ''
  while (code.length < CODE_LENGTH) code += CODE_ALPHABET[random.int(CODE_ALPHABET.length)]
  return byCode.has(code) ? codeOf({ random, byCode }) : code
}

type NewAttempt = {
  deposit: DepositRow
  basket: Basket
  botId: bigint
  attempt: Attempt
  /** The amount that the earlier attempt promised. */
  promised?: bigint
}

function beginAttempt(
  memory: TillMemory,
  { deposit, basket, botId, attempt, promised }: NewAttempt,
  now: Date,
): TradeRow {
  const code = codeOf(memory)
  const { trades, bots, byCode, taken, engine } = memory
  const id = BigInt(trades.size + 1)
  const worth = [...basket.items.values()]
  const row: TradeRow = {
    trade: {
      state: 'intended',
      tradeId: id,
      partnerSteamId: deposit.shopper,
      secretCode: code,
      items: basket.assets,
      createdAt: now,
    },
    facts: {
      id,
      depositId: deposit.id,
      botId,
      game: basket.game,
      dueAt: now,
      attempt,
      isBotGone: false,
    },
    deposit,
    createdAt: now,
    items: basket.items,
    total: worth.reduce((sum, { price }) => sum + price, 0n),
    gross: worth.reduce((sum, { gross }) => sum + gross, 0n),
    holdsAssets: true,
    promised: 0n,
    held: 0n,
    reversed: 0n,
    atRisk: 0n,
    atRiskUntil: null,
    reversals: 0,
    settlesAt: null,
    protectionFoundAt: null,
    terms: null,
    settings: null,
    deliveredBy: null,
  }
  row.promised = promised ?? promiseTo(memory, row)
  for (const assetId of basket.items.keys()) taken.set(assetId, row)
  deposit.trades.push(row)
  bots.get(botId)?.open.add(row)
  trades.set(id, row)
  setDue(memory, row, now)
  byCode.set(code, row)
  // Wakes the bot now, regardless of the process's clock, because the gateway queues this job without a start time.
  memory.wake(row, new Date(engine.now()))
  return row
}
