/** A market that hangs does not delay the sales of another. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repeat } from './lines.ts'
import { openSellingBench } from './testing/selling-bench.ts'
import { BOT, type TestBench } from './testing/test-bench.ts'

const FAMILY = 'market.csgo.com'
const WAXPEER = 'waxpeer.com'
const SECOND_MS = 1_000

let bench: TestBench

beforeAll(async () => {
  ;({ bench } = await openSellingBench({ markets: [FAMILY, WAXPEER], marketDeadlineMs: 600 * SECOND_MS }))
})
afterAll(() => bench.close())

const listedItem = () => bench.market.waxpeer.world().items.at(0)

it('an item that was sold on one market is given in time while the other market hangs', async () => {
  bench.switchMarketOff(FAMILY)
  await bench.makeWish(bench.addStock(BOT, 1), { destination: 'seller' })
  for (let tries = 0; tries < 40 && listedItem() === undefined; tries += 1) {
    await bench.runRounds(1)
    await bench.market.look()
  }
  // The seller is offline until Waxpeer's socket, a real one, is open.
  await expect
    .poll(
      async () => {
        await bench.vault().round()
        return (await bench.market.waxpeer.buy([listedItem()?.itemId ?? 0], 'accepts')).kind
      },
      { timeout: 60_000 },
    )
    .toBe('bought')
  bench.market.begin('family-hangs')
  bench.switchMarketOn(FAMILY)

  // Time passes only with the rounds of Waxpeer's line, so on a busy machine no other line can use up the sale's time.
  const lines = bench.vault().lines.map(({ name, round }) =>
    name.startsWith(WAXPEER)
      ? {
          name,
          async round() {
            await round()
            bench.advanceMs(SECOND_MS)
          },
        }
      : { name, round },
  )
  expect(lines.filter(({ name }) => name.startsWith(WAXPEER))).toHaveLength(1)
  const stop = new AbortController()
  const running = repeat(lines, {
    stop: stop.signal,
    pause: () => bench.market.look(),
    onFailure: (line, error) => bench.logged.push(`${line} failed: ${error}`),
  })
  await expect.poll(() => listedItem()?.status, { timeout: 60_000 }).toBe('given')
  // The first call to the other market still waits for its answer.
  expect(bench.countHeld()).toBe(1)

  stop.abort()
  bench.market.end('family-hangs')
  bench.release()
  await running
})
