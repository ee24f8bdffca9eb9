import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

/** A pace on a clock of its own. `endWait` ends the current wait, `earlyMs` before its time. */
function testPace() {
  const clock = { nowMs: 0 }
  let end = (_earlyMs: number): void => {}
  const pace = createPace({
    nowMs: () => clock.nowMs,
    pause: (ms) =>
      new Promise((resolve) => {
        end = (earlyMs) => {
          clock.nowMs += ms - earlyMs
          resolve()
        }
      }),
  })
  return { pace, clock, endWait: (earlyMs = 0) => end(earlyMs) }
}

it('a request that waits for its turn is not made if Steam answers 429 meanwhile', async () => {
  const { pace, endWait } = testPace()
  expect(await pace.turn('trade')).toBe(true)
  const waiting = pace.turn('trade')
  pace.noteLimit('trade')
  endWait()
  expect(await waiting).toBe(false)
})

it('a request that waits for the end of a pause is made even if the timer fires a moment too early', async () => {
  const { pace, clock, endWait } = testPace()
  pace.noteLimit('trade')
  clock.nowMs = 59_999.6
  const waiting = pace.turn('trade')
  endWait(0.3)
  expect(await waiting).toBe(true)
  expect(clock.nowMs).toBeLessThan(60_000)
})
