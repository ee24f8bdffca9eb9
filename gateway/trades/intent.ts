/** Decides how to answer a shopper's request for a trade. Pure. */
import type { ErrorCode } from '../../contract/errors.ts'
import type { Game } from '../../contract/games.ts'
import type { DepositStatus } from '../../contract/statuses.ts'

export type Selection = { game: Game; assetIds: readonly string[] }

/**
 * `games`: null if the deposit accepts all. `live`: the deposit's trade that is open or delivered. `closed`: why no
 * trade may start now.
 */
export type Situation = {
  deposit: { status: DepositStatus; expiresAt: Date; games: readonly Game[] | null }
  live: ({ id: bigint } & Selection) | undefined
  closed: 'maintenance' | 'steam_down' | undefined
  maxItems: number
  now: Date
}

export type IntentVerdict =
  /** The live trade is for the same items: a repeated call, or another tab. */
  { kind: 'join'; tradeId: bigint } | { kind: 'create' } | { kind: 'refused'; code: ErrorCode }

export function judgeIntent(
  wanted: Selection,
  { deposit, live, closed, maxItems, now }: Situation,
): IntentVerdict {
  const refused = (code: ErrorCode): IntentVerdict => ({ kind: 'refused', code })
  if (live !== undefined) {
    const isSame = live.game === wanted.game && sameIds(live.assetIds, wanted.assetIds)
    return isSame ? { kind: 'join', tradeId: live.id } : refused('trade_in_progress')
  }
  if (closed !== undefined) return refused(closed === 'maintenance' ? 'technical_works' : 'steam_unavailable')
  if (deposit.status !== 'created' || deposit.expiresAt <= now) return refused('deposit_closed')
  if (deposit.games?.includes(wanted.game) === false) return refused('game_not_accepted')
  if (new Set(wanted.assetIds).size !== wanted.assetIds.length) return refused('items_unavailable')
  if (wanted.assetIds.length > maxItems) return refused('too_many_items')
  return { kind: 'create' }
}

function sameIds(some: readonly string[], others: readonly string[]): boolean {
  const otherIds = new Set(others)
  return otherIds.size === some.length && some.every((id) => otherIds.has(id))
}
