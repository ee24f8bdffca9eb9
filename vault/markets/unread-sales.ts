/**
 * Notes that a market needs a person while it does not say which items of a game were sold: the vault then hands over
 * none of that game.
 */
import { GAME_FACTS } from '../../contract/games.ts'
import type { Failure } from './market.ts'
import { accountName, type ReadinessParts } from './readiness.ts'

/** How long the looks at a market may fail before a person is told. Its buyers wait that long for their items. */
const LONG_MS = 5 * 60_000

export type UnreadSales = {
  /** Records a look for sales of a game. No `failure`: the answer was read, or nothing of that game is on sale. */
  note(appId: number, failure: Failure | undefined): void
}

export function createUnreadSales(
  parts: Pick<ReadinessParts, 'market' | 'marketAccount' | 'needs' | 'now'>,
): UnreadSales {
  const { market, needs, now } = parts
  /** The games about which this process knows nothing yet. An earlier process may have noted their failures. */
  const unasked = new Set(market.games)
  /** By game: when its looks began to fail, without a success since. */
  const failingSinceMs = new Map<number, number>()
  return {
    note(appId, failure) {
      const nowMs = now().getTime()
      // If the clock was set back, the failure counts from the new time: otherwise a person would be told too late.
      if (failure !== undefined)
        failingSinceMs.set(appId, Math.min(failingSinceMs.get(appId) ?? nowMs, nowMs))
      else failingSinceMs.delete(appId)
      unasked.delete(appId)
      const failingLong = [...failingSinceMs].flatMap(([game, sinceMs]) =>
        nowMs - sinceMs >= LONG_MS ? [game] : [],
      )
      if (failure !== undefined && failingLong.includes(appId))
        needs.note('sales_unread', accountName(parts), textOf(failingLong, failure))
      else if (failingSinceMs.size === 0 && unasked.size === 0) needs.end('sales_unread', accountName(parts))
    },
  }
}

const textOf = (games: readonly number[], failure: Failure): string =>
  `the market has not said for five minutes or longer which items of ${games.map(titleOf).join(', ')} were sold: ${reasonOf(failure)}`

const titleOf = (appId: number): string =>
  Object.values(GAME_FACTS).find((game) => game.appId === appId)?.title ?? `game ${appId}`

function reasonOf(failure: Failure): string {
  switch (failure.kind) {
    case 'unanswered':
      return failure.because
    case 'refused':
      return failure.code
    default:
      return failure.kind
  }
}
