/** Gifts to another account of the vault, whose inventory is full. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BOT, openTestBench, type TestBench } from './testing/test-bench.ts'

const ROUND_MS = 5_000

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.setUpSeller()
})
afterAll(() => bench.close())

async function runForMinutes(minutes: number): Promise<void> {
  for (let passedMs = 0; passedMs < minutes * 60_000; passedMs += ROUND_MS) {
    await bench.vault().round()
    bench.advanceMs(ROUND_MS)
  }
}

it('an offer that Steam does not let the vault accept is accepted later, without an attempt in each round', async () => {
  bench.steam.begin('accept-inventory-full')
  const wish = await bench.makeWish(bench.addStock(BOT, 1), { destination: 'seller' })
  await runForMinutes(12)
  const tries = bench.calls.filter((path) => path.endsWith('/accept')).length
  // There were 144 rounds. The gaps between two tries grow to a minute.
  expect(tries).toBeGreaterThan(5)
  expect(tries).toBeLessThan(36)
  expect(bench.logged.filter((line) => line.includes('does not let an account accept'))).toHaveLength(1)
  bench.steam.end('accept-inventory-full')
  await runForMinutes(2)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
})
