/** How trades of a simulated till begin. */
import type { Game } from '../../../contract/games.ts'
import type { OfferAsset } from '../../../gateway/steam/steam.ts'
import { judgeIntent } from '../../../gateway/trades/intent.ts'
import { type DepositRow, type Memory, setDue, type TradeRow } from './memory.ts'
import { isLive, type Pause } from './memory-store.ts'

/** The items that a shopper chose, and how much each is worth. */
export type Basket = { assets: readonly OfferAsset[]; items: TradeRow['items']; game: Game }

type Asking = { deposit: DepositRow; basket: Basket; botId: bigint; code: string; now(): Date }

const MOST_ITEMS = 50

/** Joins the live trade of the same items or writes an intent. Undefined when refused. */
export async function intend(memory: Memory, pause: Pause, asking: Asking): Promise<TradeRow | undefined> {
  const { deposit, basket } = asking
  await pause(1, 10)
  const now = asking.now()
  const live = deposit.trades.findLast(isLive)
  const verdict = judgeIntent(
    { game: basket.game, assetIds: [...basket.items.keys()] },
    {
      deposit: { ...deposit, games: null },
      live: live && { id: live.facts.id, game: live.facts.game, assetIds: [...live.items.keys()] },
      closed: undefined,
      maxItems: MOST_ITEMS,
      now,
    },
  )
  if (verdict.kind === 'refused') return undefined
  const isTaken = [...basket.items.keys()].some((assetId) => memory.taken.has(assetId))
  if (verdict.kind === 'create' && isTaken) return undefined
  const row = verdict.kind === 'join' ? live : begin(memory, asking, now)
  await pause(1, 10)
  return row
}

function begin(memory: Memory, { deposit, basket, botId, code }: Asking, now: Date): TradeRow {
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
    facts: { id, depositId: deposit.id, botId, game: basket.game, partnerToken: 'token', dueAt: now },
    deposit,
    createdAt: now,
    items: basket.items,
    total: worth.reduce((sum, { price }) => sum + price, 0n),
    gross: worth.reduce((sum, { gross }) => sum + gross, 0n),
    live: true,
    ...{ held: 0n, reversed: 0n, atRisk: 0n, atRiskUntil: null, reversals: 0 },
    ...{ settlesAt: null, terms: null, settings: null, deliveredBy: null },
  }
  for (const assetId of basket.items.keys()) taken.set(assetId, row)
  deposit.trades.push(row)
  bots.get(botId)?.open.add(row)
  trades.set(id, row)
  setDue(memory, row, now)
  byCode.set(code, row)
  // At once, whatever the clock of the process says: the queue is told no time.
  memory.wake(row, new Date(engine.now()))
  return row
}
