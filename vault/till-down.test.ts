/** Gifts while the till's database does not answer. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { STATE } from '../steam-sandbox/world/world.ts'
import { BOT, openTestBench, STORAGE, type TestBench } from './testing/test-bench.ts'

const HALF_HOUR_MS = 30 * 60_000

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.writeRules()
})
beforeEach(() => bench.failTill('none'))
afterAll(() => bench.close())

const botOffers = () =>
  bench.steam.world().offers.filter(({ sender }) => sender === bench.accountOf(BOT).steamId)

/** Each of these rounds fails, because the till does not answer. */
async function runFailingRounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1)
    await expect(bench.runRounds(1)).rejects.toThrow('the till is down')
}

it('an offer that nobody accepts is cancelled in time, and the till learns of it later', async () => {
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(2)
  expect(botOffers().at(-1)?.state).toBe(STATE.active)
  bench.failTill('all')
  bench.advanceMs(HALF_HOUR_MS)
  await runFailingRounds(2)
  expect(botOffers().at(-1)?.state).toBe(STATE.canceled)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'offered' })
  bench.failTill('none')
  await bench.runRounds(1)
  expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because: 'withdrawn' })
})

it.each([false, true])(
  'an offer is sent only after the till knows of it (the vault restarts in between: %s)',
  async (isRestarted) => {
    const offersBefore = botOffers().length
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    bench.failTill('reports')
    await runFailingRounds(2)
    expect(botOffers()).toHaveLength(offersBefore)
    if (isRestarted) bench.restart()
    bench.failTill('none')
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'offered' })
    bench.acceptAll(STORAGE)
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
  },
)

it('an offer is reported again if the till has lost the report', async () => {
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(1)
  await bench.asVault.query(`update vault_deed set state = 'waiting' where wish_id = $1`, [wish])
  bench.restart()
  await bench.runRounds(1)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'offered' })
  bench.acceptAll(STORAGE)
  await bench.runRounds(1)
})

it.each([
  ['the operator withdrew', (wish: string) => bench.withdraw(wish)],
  ['a restored database lost', (wish: string) => bench.loseWish(wish)],
])('a gift ends unsent if %s its wish before the till knew of the gift', async (_, undo) => {
  const offersBefore = botOffers().length
  const stock = bench.addStock(BOT, 1)
  const wish = await bench.makeWish(stock)
  bench.failTill('reports')
  await runFailingRounds(1)
  await undo(wish)
  bench.failTill('none')
  await bench.runRounds(2)
  expect(botOffers()).toHaveLength(offersBefore)
  expect(bench.logged).toContain(
    `a gift ended without a delivery ${JSON.stringify({ wish, because: 'wish_gone' })}`,
  )
  // The items are free for the next wish.
  const nextWish = await bench.makeWish(stock)
  await bench.runRounds(2)
  expect(await bench.readDeed(nextWish)).toMatchObject({ state: 'offered' })
  bench.acceptAll(STORAGE)
  await bench.runRounds(1)
})

it('a wish that a restored database lost does not block other wishes', async () => {
  const lost = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(1)
  await bench.loseWish(lost)
  bench.restart()
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(2)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'offered' })
})
