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

/** How many whole minutes after the item's last failure the rule asks for it again. */
function minutesUntilAsked(times: number, ofItems: number, alone: number): number {
  const smallest = alone > 0 ? 1 : 2
  const smallestWish = ofItems > 0 ? smallest : Number.POSITIVE_INFINITY
  for (let minutes = 0; minutes <= DAY_MINUTES; minutes += 1) {
    const lastAt = new Date(NOW.getTime() - minutes * MINUTE_MS)
    const failures = new Map([['730/1', { otherCauses: times - ofItems, alone, smallestWish, lastAt }]])
    if (askableNow([item], failures, NOW).length > 0) return minutes
  }
  return Number.POSITIVE_INFINITY
}

it.each([
  ['one failure that no item can cause', 1, 0, 0, 15],
  ['three such failures', 3, 0, 0, 60],
  ['a day of such failures', 30, 0, 0, 60],
  ['one failure that an item may have caused', 1, 1, 0, 15],
  ['five such failures, in wishes with other items', 5, 5, 0, 15],
  ['the first failure of a wish for this item alone', 6, 6, 1, 15],
  ['three failures alone', 8, 8, 3, 60],
  ['three failures of an item that was alone from the start', 3, 3, 3, 60],
  ['many failures alone', 20, 20, 15, 480],
  ['failures of both kinds', 12, 9, 4, 120],
] as const)(
  'after %s, the rule waits the right time before it asks again',
  (_, times, ofItems, alone, minutes) => {
    expect(minutesUntilAsked(times, ofItems, alone)).toBe(minutes)
  },
)
