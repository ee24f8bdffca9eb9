/** Steam allows five open offers to one account, and thirty in all. A sale beyond that waits, while it has time left. */
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { STATE } from '../steam-sandbox/world/world.ts'
import { openSellingBench } from './testing/selling-bench.ts'
import { BOT, type TestBench } from './testing/test-bench.ts'

const ROUND_MS = 3_000
const MOST_TO_ONE = 5
const DAY_MS = 86_400_000

let bench: TestBench
let seller: string

beforeAll(async () => {
  ;({ bench, seller } = await openSellingBench())
})
beforeEach(() => {
  bench.restart()
  bench.advanceMs(7 * DAY_MS)
})
afterAll(() => bench.close())

async function runRounds(most: number, isDone = () => false): Promise<void> {
  for (let rounds = 0; rounds < most && !isDone(); rounds += 1) {
    await bench.vault().round()
    await bench.market.look()
    bench.advanceMs(ROUND_MS)
  }
}

const listings = () => bench.market.world().items.filter(({ status }) => status === 'on_sale')
const offers = () => bench.steam.world().offers.filter(({ sender }) => sender === seller)
const openOffers = () => offers().filter(({ state }) => state === STATE.active)
const countAccepted = () => offers().filter(({ state }) => state === STATE.accepted).length

async function putOnSale(count: number): Promise<number[]> {
  await bench.makeWish(bench.addStock(BOT, count), { destination: 'seller' })
  await runRounds(100, () => listings().length >= count)
  return listings().map(({ itemId }) => itemId)
}

it('the sixth sale to one buyer is handed over once the buyer has accepted the others', async () => {
  const itemIds = await putOnSale(MOST_TO_ONE + 1)
  expect(itemIds).toHaveLength(MOST_TO_ONE + 1)
  for (const itemId of itemIds) expect((await bench.market.buy([itemId], 'never')).kind).toBe('bought')
  await runRounds(3)
  expect(openOffers()).toHaveLength(MOST_TO_ONE)
  for (const { id, partner } of openOffers()) bench.steam.as(partner).accept(id)
  await runRounds(20, () => openOffers().length > 0)
  for (const { id, partner } of openOffers()) bench.steam.as(partner).accept(id)
  await runRounds(3)
  expect(countAccepted()).toBe(MOST_TO_ONE + 1)
  expect(await bench.readNeeds()).toEqual([])
})

it.each(['send-25', 'send-50', 'send-too-many-offers'])(
  'a sale whose offer Steam refuses with "%s" is tried again, though not every few seconds',
  async (fault) => {
    const [itemId = 0] = await putOnSale(1)
    const acceptedBefore = countAccepted()
    expect((await bench.market.buy([itemId], 'accepts')).kind).toBe('bought')
    bench.steam.begin(fault)
    onTestFinished(() => bench.steam.end(fault))
    const sends = () => bench.calls.filter((path) => path === '/tradeoffer/new/send').length
    const sendsBefore = sends()
    // Half a minute.
    await runRounds(10)
    expect([1, 2]).toContain(sends() - sendsBefore)
    bench.steam.end(fault)
    await runRounds(20, () => countAccepted() > acceptedBefore)
    expect(countAccepted()).toBe(acceptedBefore + 1)
  },
)

it('a sale whose offer Steam refuses until its time is over is given up, and needs a person', async () => {
  const [itemId = 0] = await putOnSale(1)
  expect((await bench.market.buy([itemId], 'accepts')).kind).toBe('bought')
  const offersBefore = offers().length
  bench.steam.begin('send-25')
  onTestFinished(() => bench.steam.end('send-25'))
  await runRounds(110)
  bench.steam.end('send-25')
  await runRounds(10)
  expect(offers()).toHaveLength(offersBefore)
  expect((await bench.readNeeds()).map(({ kind }) => kind)).toContain('due_refused')
})
