/** Ways in which an offer continues, each with its share in percent. All but one are reactions of the shopper. */
import type { Random } from '../random.ts'

const HABITS = [
  ['accepts', 45],
  // Accepts within seconds of the deadline.
  ['accepts at the deadline', 15],
  ['accepts after the deadline', 6],
  ['declines', 10],
  ['counters', 6],
  // Somebody with the bot's session cancels the offer.
  ['cancels', 2],
  // Accepts. On the pure level, Steam then holds the items in escrow; on the real level, that depends on the account.
  ['has no authenticator', 6],
  ['does nothing', 10],
] as const

export type Habit = (typeof HABITS)[number][0]

export function habitOf(random: Random): Habit {
  let left = random.int(100)
  for (const [habit, share] of HABITS) {
    left -= share
    if (left < 0) return habit
  }
  return 'does nothing'
}
