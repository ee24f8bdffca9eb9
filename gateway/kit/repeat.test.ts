import { expect, onTestFinished, test } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { repeat } from './repeat.ts'

const HOUR_MS = 3_600_000

/** Starts recurring work. Each run adds a function to `endRun`, which ends it. */
function startWork() {
  const endRun: (() => void)[] = []
  const repeated = repeat({ name: 'work', everyMs: HOUR_MS, log: captureLog().log }, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    endRun.push(resolve)
    return promise
  })
  return { endRun, repeated }
}

test('an extra run starts immediately, or right after the current one', async () => {
  const { endRun, repeated } = startWork()
  onTestFinished(repeated.stop)
  repeated.again()
  expect(endRun).toHaveLength(1)
  endRun[0]?.()
  await expect.poll(() => endRun).toHaveLength(2)
  endRun[1]?.()
  repeated.again()
  await expect.poll(() => endRun).toHaveLength(3)
  endRun[2]?.()
})

test('no extra run starts after a stop', async () => {
  const { endRun, repeated } = startWork()
  repeated.again()
  const stopped = repeated.stop()
  endRun[0]?.()
  await stopped
  repeated.again()
  await Promise.resolve()
  expect(endRun).toHaveLength(1)
})
