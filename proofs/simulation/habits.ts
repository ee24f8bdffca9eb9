/** How shoppers react to an offer, each with its share in percent. */
import type { Random } from '../random.ts'

const HABITS = [
  ['accepts', 45],
  // Accepts within seconds of the deadline.
  ['accepts at the deadline', 15],
  ['accepts after the deadline', 6],
  ['declines', 10],
  ['counters', 6],
  ['cancels', 2],
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
