/** Steam refuses some offers with a sentence alone, without a result number. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BOT, openTestBench, type TestBench } from './testing/test-bench.ts'

const WEDNESDAY = 3

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.writeRules()
})
afterAll(() => bench.close())

it.each([
  ['send-new-device', 'steam_24'],
  ['send-steam-guard', 'steam_24'],
  ['send-too-many-offers', 'steam_25'],
])('after the refusal "%s", a gift ends at once, with the reason %s', async (fault, because) => {
  bench.steam.begin(fault, { times: 1 })
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(1)
  expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because })
})

it('a person learns why Steam refuses the offer of a sale, if it does not let the account trade', async () => {
  bench.advanceTo({ day: WEDNESDAY, hour: 8 })
  bench.setUpSeller({ mayLose: true })
  bench.restart()
  await bench.makeWish(bench.addStock(BOT, 1), { destination: 'seller' })
  const listings = () => bench.market.world().items.filter(({ status }) => status === 'on_sale')
  for (let rounds = 0; rounds < 100 && listings().length === 0; rounds += 1) await bench.runRounds(1)
  expect((await bench.market.buy([listings()[0]?.itemId ?? 0], 'accepts')).kind).toBe('bought')
  bench.steam.begin('send-new-device')
  await bench.runRounds(1)
  const { rows } = await bench.asVault.query(`select text from vault_need where kind = 'due_refused'`)
  expect(rows).toEqual([{ text: expect.stringContaining('not_sent: Steam (24)') }])
})
