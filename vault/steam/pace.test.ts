import { expect, it } from 'vitest'
import { createPace, GAPS_MS } from './pace.ts'

it('a request that waits for its turn is not made if Steam answers 429 meanwhile', async () => {
  let nowMs = 0
  let end = (): void => {}
  const pace = createPace({
    nowMs: () => nowMs,
    pause: (ms) =>
      new Promise((resolve) => {
        end = () => {
          nowMs += ms
          resolve()
        }
      }),
  })
  expect(await pace.turn('trade')).toBe(true)
  const waiting = pace.turn('trade')
  pace.limited('trade')
  end()
  expect(await waiting).toBe(false)
  // A pause can end a moment too early, as Node's do.
  nowMs = 59_999.6
  const next = pace.turn('trade')
  nowMs -= 0.3
  end()
  expect([await next, nowMs < 60_000 + GAPS_MS.trade]).toEqual([true, true])
})
