/** Starts the trades of a simulated till. */
import { OPEN_TRADE_STATES } from '../../../gateway/db/trade-tables.ts'
import {
  judgePartner,
  type PartnerFacts,
  REMEMBERED_MS,
  UNUSED_REASONS,
} from '../../../gateway/shoppers/allowance.ts'
import { judgeIntent } from '../../../gateway/trades/intent.ts'
import type { Trade } from '../../../gateway/trades/trade.ts'
import { type Basket, beginFirst } from './attempts.ts'
import type { DepositRow, Pause, TillMemory, TradeRow } from './memory.ts'
import { isLive } from './memory-store.ts'

const OPEN: readonly Trade['state'][] = OPEN_TRADE_STATES
const UNUSED: readonly string[] = UNUSED_REASONS

function mayBeSent(memory: TillMemory, deposit: DepositRow, now: Date): boolean {
  const { isLocked } = deposit
  const isAllowed = judgePartner(factsOf(memory, deposit, now), { isLocked, now }).kind === 'allowed'
  if (!isAllowed) memory.trace.add(`${memory.engine.now()} deposit ${deposit.id} has to wait`)
  return isAllowed
}

/** Collects the facts that partner-store.ts reads. */
function factsOf({ trades }: TillMemory, { shopper, storeId }: DepositRow, now: Date): PartnerFacts {
  const offers = [...trades.values()].filter(({ deposit }) => deposit.shopper === shopper)
  const open = offers.filter(({ trade }) => OPEN.includes(trade.state))
  const tradesAtStore = offers.filter(({ deposit }) => deposit.storeId === storeId).map(({ trade }) => trade)
  const paidAtMs = Math.max(
    ...tradesAtStore.map((trade) => ('deliveredAt' in trade ? trade.deliveredAt.getTime() : 0)),
  )
  const countedFromMs = Math.max(paidAtMs, now.getTime() - REMEMBERED_MS)
  const unusedEndsMs = tradesAtStore
    .flatMap((trade) => ('reason' in trade && UNUSED.includes(trade.reason) ? trade.endedAt.getTime() : []))
    .filter((endedAt) => endedAt > countedFromMs)
  return {
    open: open.length,
    openLocked: open.filter(({ deposit }) => deposit.isLocked && deposit.storeId === storeId).length,
    unused:
      unusedEndsMs.length === 0
        ? null
        : { count: unusedEndsMs.length, lastAt: new Date(Math.max(...unusedEndsMs)) },
  }
}

type IntentRequest = { deposit: DepositRow; basket: Basket; now(): Date }

const MOST_ITEMS = 50

/** Joins the live trade of the same items, or writes an intent. Resolves to undefined if refused. */
export async function intend(
  memory: TillMemory,
  pause: Pause,
  request: IntentRequest,
): Promise<TradeRow | undefined> {
  const { deposit, basket } = request
  await pause(1, 10)
  const now = request.now()
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
  if (verdict.kind === 'create' && !mayBeSent(memory, deposit, now)) return undefined
  const row = verdict.kind === 'join' ? live : beginFirst(memory, request, now)
  await pause(1, 10)
  return row
}
