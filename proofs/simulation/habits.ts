/** How shoppers treat an offer, and how many of a hundred of them do so. */
import type { Random } from '../random.ts'

const HABITS = [
  ['accepts', 45],
  // In the same moment as the deadline, give or take.
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
