import { expect, it } from 'vitest'
import { waitForTill } from './wait-for-till.ts'

/** Waits for a database that refuses `refusals` times, in a vault that is stopped after `stopsAfter` failures. */
async function startWith({ refusals, stopsAfter = Infinity }: { refusals: number; stopsAfter?: number }) {
  const stop = new AbortController()
  const problems: string[] = []
  let attempts = 0
  const till = {
    async lastReported() {
      attempts += 1
      if (attempts <= refusals) throw new Error('refused')
      return 0
    },
  }
  const isReady = await waitForTill(till, {
    stop: stop.signal,
    say: (problem) => problems.push(problem),
    async pause() {
      if (problems.length >= stopsAfter) stop.abort()
    },
  })
  return { isReady, problems }
}

it('the vault is ready when the database answers, and each earlier failure is logged', async () => {
  expect(await startWith({ refusals: 0 })).toEqual({ isReady: true, problems: [] })
  expect(await startWith({ refusals: 2 })).toEqual({ isReady: true, problems: ['refused', 'refused'] })
})

it('the vault does not become ready if it is stopped before the database answers', async () => {
  expect(await startWith({ refusals: 9, stopsAfter: 2 })).toEqual({
    isReady: false,
    problems: ['refused', 'refused'],
  })
})
