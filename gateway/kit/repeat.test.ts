import { expect, onTestFinished, test } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { repeat } from './repeat.ts'

const HOUR_MS = 3_600_000

/** Work whose runs end when the test says so. */
function work() {
  const turns: (() => void)[] = []
  const repeated = repeat({ name: 'work', everyMs: HOUR_MS, log: captureLog().log }, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    turns.push(resolve)
    return promise
  })
  return { turns, repeated }
}

test('an extra run starts immediately, or right after the current one', async () => {
  const { turns, repeated } = work()
  onTestFinished(repeated.stop)
  repeated.again()
  expect(turns).toHaveLength(1)
  turns[0]?.()
  await expect.poll(() => turns).toHaveLength(2)
  turns[1]?.()
  repeated.again()
  await expect.poll(() => turns).toHaveLength(3)
  turns[2]?.()
})

test('no extra run starts after a stop', async () => {
  const { turns, repeated } = work()
  repeated.again()
  const stopped = repeated.stop()
  turns[0]?.()
  await stopped
  repeated.again()
  await Promise.resolve()
  expect(turns).toHaveLength(1)
})
