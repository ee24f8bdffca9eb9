/** Tests how long the operator's rule waits before it asks again for an item whose wishes failed. */
import { expect, it } from 'vitest'
import { askableNow, type FreeItem } from './wish.ts'

const NOW = new Date(1_800_000_000_000)
const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

const item: FreeItem = {
  item: '1-1',
  botId: 1n,
  bot: 'bot',
  botSteamId: '76561198000000011',
  appId: 730,
  assetId: '1',
  marketHashName: 'an item',
  price: 100n,
  currency: 'USD',
  receivedAt: new Date(0),
  protectedUntil: null,
}

/**
 * Whole minutes from the item's last failure until the rule asks for the item again. Of its `failureCount` failures,
 * the item may have caused `byItem`; `alone` of these were in wishes for this item only.
 */
function minutesUntilAsked(failureCount: number, byItem: number, alone: number): number {
  const smallest = alone > 0 ? 1 : 2
  const smallestWish = byItem > 0 ? smallest : Number.POSITIVE_INFINITY
  for (let minutes = 0; minutes <= DAY_MINUTES; minutes += 1) {
    const lastAt = new Date(NOW.getTime() - minutes * MINUTE_MS)
    const failures = new Map([['730/1', { otherCauses: failureCount - byItem, alone, smallestWish, lastAt }]])
    if (askableNow([item], failures, NOW).length > 0) return minutes
  }
  return Number.POSITIVE_INFINITY
}

it.each([
  ['one failure that no item can cause', 15, 1, 0, 0],
  ['three failures that no item can cause', 60, 3, 0, 0],
  ['thirty failures that no item can cause', 60, 30, 0, 0],
  ['one failure that the item may have caused', 15, 1, 1, 0],
  ['five failures in wishes with other items', 15, 5, 5, 0],
  ['six failures, one of them in a wish of its own', 15, 6, 6, 1],
  ['eight failures, three of them in wishes of its own', 60, 8, 8, 3],
  ['three failures, all in wishes of its own', 60, 3, 3, 3],
  ['twenty failures, fifteen of them in wishes of its own', 480, 20, 20, 15],
  ['twelve failures, nine that the item may have caused, four of these in wishes of its own', 120, 12, 9, 4],
] as const)(
  'after %s, the rule asks for the item again %i minutes later',
  (_, minutes, failureCount, byItem, alone) => {
    expect(minutesUntilAsked(failureCount, byItem, alone)).toBe(minutes)
  },
)
