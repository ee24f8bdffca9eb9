/** How trades of a simulated till begin. */
import { judgeIntent } from '../../../gateway/trades/intent.ts'
import { type Basket, beginFirst } from './attempts.ts'
import type { DepositRow, Memory, TradeRow } from './memory.ts'
import { isLive, type Pause } from './memory-store.ts'

type Asking = { deposit: DepositRow; basket: Basket; now(): Date }

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
  const row = verdict.kind === 'join' ? live : beginFirst(memory, asking, now)
  await pause(1, 10)
  return row
}
