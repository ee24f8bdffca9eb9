import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { repeat } from './repeat.ts'

const HOUR_MS = 3_600_000

/** Starts recurring work. Each run adds to `endRuns` the function that ends the run. */
function startWork() {
  const endRuns: (() => void)[] = []
  const repeated = repeat({ name: 'work', everyMs: HOUR_MS, log: captureLog().log }, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    endRuns.push(resolve)
    return promise
  })
  return { endRuns, repeated }
}

test('an extra run starts immediately, or right after the current run', async () => {
  const { endRuns, repeated } = startWork()
  onTestFinished(repeated.stop)
  repeated.again()
  expect(endRuns).toHaveLength(1)
  endRuns[0]?.()
  await expect.poll(() => endRuns).toHaveLength(2)
  endRuns[1]?.()
  // By now the second run has ended, so the third does not wait for it.
  await setImmediate()
  repeated.again()
  await Promise.resolve()
  expect(endRuns).toHaveLength(3)
  endRuns[2]?.()
})

test('no extra run starts after a stop', async () => {
  const { endRuns, repeated } = startWork()
  repeated.again()
  const stopped = repeated.stop()
  endRuns[0]?.()
  await stopped
  repeated.again()
  await Promise.resolve()
  expect(endRuns).toHaveLength(1)
})

test('a failure that goes on is logged every ten minutes, a new one immediately, and their end once', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { log, lines } = captureLog()
  let fault: string | undefined
  const repeated = repeat({ name: 'work', everyMs: 60_000, log }, async () => {
    if (fault !== undefined) throw new Error(fault)
  })
  onTestFinished(async () => {
    await repeated.stop()
    vi.useRealTimers()
  })
  const runs = async (count: number, withFault?: string) => {
    fault = withFault
    await vi.advanceTimersByTimeAsync(count * 60_000)
  }
  await runs(2)
  await runs(12, 'no database')
  await runs(1, 'no disk')
  await runs(2)
  await runs(1, 'no database')
  const logged = lines.map((line) => JSON.parse(line))
  expect(logged.map(({ level, err, failures }) => [level, err?.message, failures])).toEqual([
    ['error', 'no database', 1],
    ['error', 'no database', 11],
    ['error', 'no disk', 1],
    ['info', undefined, 1],
    ['error', 'no database', 1],
  ])
})
