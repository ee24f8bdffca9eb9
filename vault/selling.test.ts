/**
 * The vault sells: from a collecting bot to its selling account, to a buyer at the market sandbox, until the money
 * arrives.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { answerConfirmation, sendOffer } from '../steam-sandbox/world/offers.ts'
import { reverseTrade } from '../steam-sandbox/world/trades.ts'
import { STATE } from '../steam-sandbox/world/world.ts'
import { openSellingBench } from './testing/selling-bench.ts'
import { BOT, type TestBench } from './testing/test-bench.ts'

const MARKET = 'market.csgo.com'
const ROUND_MS = 3_000
const ROUNDS_A_MINUTE = 20
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const TUESDAY = 2

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

/** Runs rounds of the vault, and restarts it before each, so nothing in its memory carries over. */
async function runFreshRounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    bench.restart()
    await bench.runRounds(1)
    await bench.market.look()
  }
}

/** Runs fresh rounds until `holds` is true, 40 at most. If the vault makes no progress, the checks that follow fail. */
async function runFreshRoundsUntil(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 40 && !holds(); tries += 1) await runFreshRounds(1)
}

/** Runs rounds of one process, three seconds of the bench's clock apart. Resolves to their number, at most 300. */
async function countRoundsUntil(holds: () => boolean | Promise<boolean>): Promise<number> {
  let rounds = 0
  for (; rounds < 300 && !(await holds()); rounds += 1) {
    await bench.vault().round()
    await bench.market.look()
    bench.advanceMs(ROUND_MS)
  }
  return rounds
}

const listedItems = () => bench.market.world().items.filter(({ status }) => status === 'on_sale')

/**
 * Gives the bot new items, and lets the vault move them to its selling account and list them. Resolves to the listings'
 * numbers.
 */
async function putOnSale(count: number): Promise<number[]> {
  await bench.makeWish(bench.addStock(BOT, count), { destination: 'seller' })
  const listedBefore = listedItems().length
  await runFreshRoundsUntil(() => listedItems().length >= listedBefore + count)
  return listedItems()
    .slice(listedBefore)
    .map(({ itemId }) => itemId)
}

/** Returns a function from a listing's number to the kinds of its reports, in order. */
async function readReports() {
  const { rows } = await bench.database.pool.query<{ reference: string; kind: string }>(
    `select reference, coalesce(told->'report'->>'kind', told->>'kind') as kind from vault_told order by n, part`,
  )
  return (reference: number) =>
    rows.filter((row) => row.reference === String(reference)).map(({ kind }) => kind)
}

describe('an item of a collecting bot', () => {
  it('goes to the selling account, is listed and given to a buyer, and the money is reported', async () => {
    const [item = 0] = await putOnSale(1)
    expect(bench.accountOf(seller).assets.length).toBeGreaterThan(0)
    expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
    await runFreshRounds(8)
    bench.advanceMs(9 * DAY_MS)
    await runFreshRounds(8)
    expect((await readReports())(item)).toEqual(['listing', 'sold', 'delivered', 'paid'])
    const offers = bench.steam.world().offers.filter(({ sender }) => sender === seller)
    expect(offers).toHaveLength(1)
    const { rows } = await bench.database.pool.query('select free::int from market_balance')
    expect(rows[0]?.free).toBeGreaterThan(0)
  })

  it('is not given while the market asks for it with an impossible game number, and the vault can still be restarted', async () => {
    const [item = 0] = await putOnSale(1)
    bench.market.begin('lies-app')
    expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
    const offers = () => bench.steam.world().offers.filter(({ sender }) => sender === seller)
    const offersBefore = offers().length
    await runFreshRounds(2)
    expect(offers()).toHaveLength(offersBefore)
    expect((await bench.readNeeds()).map(({ kind }) => kind)).toContain('unread_deal')
    bench.market.end('lies-app')
    await runFreshRounds(4)
    expect(offers()).toHaveLength(offersBefore + 1)
    expect((await readReports())(item)).toContain('delivered')
  })

  it('is booked as paid even if a person handed it over because the vault could not read the sale', async () => {
    // Nothing else was sold in the last weeks, so the vault asks about no other sale.
    bench.advanceMs(21 * DAY_MS)
    const [item = 0] = await putOnSale(1)
    bench.market.begin('lies-app')
    expect((await bench.market.buy([item], 'eager')).kind).toBe('bought')
    await runFreshRounds(1)
    bench.market.end('lies-app')
    const { items, deals, buyers } = bench.market.world()
    const { assetId = '', appId = 0 } = items.find(({ itemId }) => itemId === item) ?? {}
    const { buyer: partner = '', message = '' } = deals.at(-1) ?? {}
    const { token = '' } = buyers.find(({ steamId }) => steamId === partner) ?? {}
    const terms = {
      sender: seller,
      partner,
      token,
      message,
      items: [],
      give: [{ appId, contextId: '2', assetId }],
    }
    const sent = bench.steam.change((world, nowS) => sendOffer(world, terms, nowS))
    if (sent.kind !== 'sent') throw new Error(JSON.stringify(sent))
    const { offerId } = sent
    bench.steam.change((world, nowS) => answerConfirmation(world, { offerId, allow: true }, nowS))
    await bench.market.look()
    await runFreshRounds(2)
    expect((await readReports())(item)).toEqual(['listing', 'paid'])
  })

  it('is not booked as paid while the market gives times in another unit, and the vault can still be restarted', async () => {
    const [item = 0] = await putOnSale(1)
    bench.market.begin('times-in-ms')
    expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
    await runFreshRounds(8)
    expect((await readReports())(item)).toEqual(['listing', 'sold', 'delivered'])
    bench.market.end('times-in-ms')
    bench.advanceMs(10 * 60_000)
    await runFreshRounds(2)
    expect((await readReports())(item)).toEqual(['listing', 'sold', 'delivered', 'paid'])
  })

  it('counts as given if Steam undid the gift before the vault saw it, and is not sold twice', async () => {
    const [item = 0] = await putOnSale(1)
    expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
    await runFreshRounds(1)
    bench.advanceMs(10_000)
    await bench.market.look()
    const offer = bench.steam.world().offers.findLast(({ sender }) => sender === seller)
    const tradeId = offer?.tradeId ?? ''
    bench.steam.change((world, nowS) => reverseTrade(world, { tradeId, bySupport: true }, nowS))
    await runFreshRounds(8)
    // The market has paid for the item, and does not report its return.
    const { rows } = await bench.database.pool.query<{ kind: string }>(
      `select coalesce(told->'report'->>'kind', told->>'kind') as kind from vault_told
       where reference = $1 or told->>'listedAssetId' = $2 order by n, part`,
      [String(item), offer?.give[0]?.assetId],
    )
    expect(rows.map(({ kind }) => kind)).toEqual(['listing', 'sold', 'delivered', 'paid'])
    expect(bench.countOwned(seller, offer?.give.map(({ assetId }) => assetId) ?? [])).toBe(1)
  })

  it('is listed again if its buyer took it back and the market noticed that only after it had paid', async () => {
    const [item = 0] = await putOnSale(1)
    bench.market.begin('reversal-late')
    expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
    await runFreshRounds(8)
    const offer = bench.steam.world().offers.findLast(({ sender }) => sender === seller)
    const tradeId = offer?.tradeId ?? ''
    bench.steam.change((world, nowS) => reverseTrade(world, { tradeId, bySupport: true }, nowS))
    await runFreshRounds(2)
    expect((await readReports())(item)).toEqual(['listing', 'sold', 'delivered', 'paid'])
    bench.advanceMs(2 * DAY_MS)
    await runFreshRounds(4)
    expect((await readReports())(item)).toEqual(['listing', 'sold', 'delivered', 'paid', 'reversed'])
    bench.market.end('reversal-late')
    bench.advanceMs(7 * DAY_MS)
    // The market has noticed the return in the test above, too.
    await runFreshRoundsUntil(() => listedItems().length > 1)
    expect(listedItems().map(({ assetId }) => assetId)).toContain(offer?.give[0]?.assetId)
    for (const { itemId } of listedItems()) await bench.market.buy([itemId], 'accepts')
    await runFreshRounds(8)
  })

  it('is listed within a minute of its arrival, and paid in the books within a minute of the gift', async () => {
    // The first round after a start checks everything, so run a few rounds before measuring.
    await bench.runRounds(4)
    const moves = () => bench.steam.world().offers.filter(({ sender }) => sender !== seller)
    const before = { listings: listedItems().length, moves: moves().length }
    await bench.makeWish(bench.addStock(BOT, 1), { destination: 'seller' })
    await countRoundsUntil(() => moves().length > before.moves && moves().at(-1)?.state === STATE.accepted)
    expect(await countRoundsUntil(() => listedItems().length > before.listings)).toBeLessThan(ROUNDS_A_MINUTE)
    const item = listedItems().at(-1)?.itemId ?? 0
    await bench.market.buy([item], 'accepts')
    await countRoundsUntil(async () => (await readReports())(item).includes('delivered'))
    const isPaid = async () => (await readReports())(item).includes('paid')
    expect(await countRoundsUntil(isPaid)).toBeLessThan(ROUNDS_A_MINUTE)
    const { rows } = await bench.database.pool.query('select free::int from market_balance')
    const [account] = bench.market.world().sellers
    // The market counts in tenths of a cent.
    expect(rows[0]?.free).toBe(Math.floor((account?.free ?? 0) / 10))
  })

  it('is reported as given, even while the line of listings and wishes hangs', async () => {
    const [item = 0] = await putOnSale(1)
    expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
    const { lines } = bench.vault()
    const otherLines = lines.filter(({ name }) => name !== 'listings and wishes')
    expect(otherLines).toHaveLength(lines.length - 1)
    for (let round = 0; round < 8; round += 1) {
      for (const line of otherLines) await line.round()
      await bench.market.look()
      bench.advanceMs(ROUND_MS)
    }
    expect((await readReports())(item).slice(0, 3)).toEqual(['listing', 'sold', 'delivered'])
  })

  it('is handed over although the file with the switch of the market was damaged, and nothing is on sale then', async () => {
    const [item = 0] = await putOnSale(2)
    expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
    const file = join(bench.path, 'markets.json')
    const text = readFileSync(file, 'utf8')
    onTestFinished(() => writeFileSync(file, text))
    writeFileSync(file, text.slice(0, 30))
    for (let round = 0; round < 8; round += 1) {
      await bench.runRounds(1)
      await bench.market.look()
    }
    expect((await readReports())(item).slice(0, 3)).toEqual(['listing', 'sold', 'delivered'])
    expect(listedItems()).toEqual([])
    const { rows } = await bench.asVault.query(`select text from vault_need where kind = 'selling_stopped'`)
    expect(rows).toEqual([{ text: expect.stringContaining(`${file} is not JSON`) }])
    writeFileSync(file, text)
    await runFreshRoundsUntil(() => listedItems().length > 0)
    await bench.market.buy([listedItems()[0]?.itemId ?? 0], 'accepts')
    await runFreshRounds(8)
  })

  it('is listed again, under a new number, if its buyer declined the offer', async () => {
    const [item = 0] = await putOnSale(1)
    await bench.market.buy([item], 'declines')
    await runFreshRoundsUntil(() => listedItems().length > 0)
    expect((await readReports())(item).slice(0, 2)).toEqual(['listing', 'sold'])
    expect(listedItems().map(({ itemId }) => itemId)).not.toContain(item)
    // Sells the item, so the next tests find no listing of it.
    await bench.market.buy([listedItems()[0]?.itemId ?? 0], 'accepts')
    await runFreshRounds(8)
  })
})

it('the cheapest listing keeps its price, even though the market’s list of prices includes it', async () => {
  const [item = 0] = await putOnSale(1)
  bench.advanceMs(3 * DAY_MS)
  const priceLater = async () => {
    bench.advanceMs(HOUR_MS)
    await bench.runRounds(2)
    return listedItems().find(({ itemId }) => itemId === item)?.price
  }
  // This price already includes the discount for three days on sale.
  const price = await priceLater()
  const laterPrices = []
  for (let hour = 0; hour < 8; hour += 1) laterPrices.push(await priceLater())
  expect(laterPrices).toEqual(Array(8).fill(price))
  expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
  await runFreshRounds(8)
})

describe('listings are taken down', () => {
  it('while the market is off at the till, even across restarts, and return afterwards', async () => {
    await putOnSale(2)
    await bench.asGateway.query(`insert into market_off (market) values ('${MARKET}')`)
    await runFreshRounds(2)
    expect(listedItems()).toEqual([])
    expect(bench.logged.at(-1)).toContain('switched off by the till')
    await bench.asGateway.query('delete from market_off')
    await runFreshRoundsUntil(() => listedItems().length > 1)
    expect(listedItems()).toHaveLength(2)
  })

  it('while the market is off at the till, and selling resumes in the next round without a restart', async () => {
    await bench.runRounds(1)
    await bench.asGateway.query(`insert into market_off (market) values ('${MARKET}')`)
    await bench.runRounds(2)
    expect(listedItems()).toEqual([])
    await bench.asGateway.query('delete from market_off')
    const linesBefore = bench.logged.length
    await bench.runRounds(1)
    expect(bench.logged.slice(linesBefore).join()).toContain('the vault began to sell')
  })

  it('while the market is off at the vault, even if it is on at the till', async () => {
    bench.switchMarketOff()
    await runFreshRounds(2)
    expect(listedItems()).toEqual([])
    bench.switchMarketOn()
    await runFreshRoundsUntil(() => listedItems().length > 1)
    expect(listedItems()).toHaveLength(2)
  })

  it('before Steam’s maintenance on a Tuesday', async () => {
    // Selling stops at noon in Seattle, which is 19:00 or 20:00 UTC. The rounds take three minutes.
    bench.advanceTo({ day: TUESDAY, hour: 19, minute: 59 })
    await runFreshRounds(3)
    expect(listedItems()).toEqual([])
    bench.advanceMs(6 * 3_600_000)
    await runFreshRoundsUntil(() => listedItems().length > 1)
    expect(listedItems()).toHaveLength(2)
  })

  it('if the market says that the account may not sell', async () => {
    bench.market.ban(seller, 3 * 3_600)
    bench.advanceMs(3_600_000)
    await runFreshRounds(3)
    expect(listedItems()).toEqual([])
    const stopped = { kind: 'selling_stopped', about: `${MARKET} account ${seller}` }
    expect(await bench.readNeeds()).toContainEqual(stopped)
    expect(await bench.readUnlisted()).toEqual([
      { reason: 'stopped', items: null, detail: expect.stringContaining('ban') },
    ])
    bench.advanceMs(3 * 3_600_000)
    await runFreshRoundsUntil(() => listedItems().length > 1)
    expect(listedItems()).toHaveLength(2)
    expect(await bench.readNeeds()).not.toContainEqual(stopped)
    expect((await bench.readUnlisted()).map(({ reason }) => reason)).not.toContain('stopped')
  })
})

it('a listing is taken down if new limits never let its item leave, and the item is listed again once they do', async () => {
  await putOnSale(1)
  bench.writeLimits({ usdAnHour: '0.01', usdADay: '100000.00', itemsAnHour: 1_000 })
  await runFreshRounds(4)
  expect(listedItems()).toEqual([])
  expect((await bench.readUnlisted()).map(({ reason }) => reason)).toContain('over_limits')
  bench.writeLimits({ usdAnHour: '100000.00', usdADay: '100000.00', itemsAnHour: 1_000 })
  await runFreshRoundsUntil(() => listedItems().length > 0)
  expect(listedItems()).not.toEqual([])
})

it('a sale’s offer is sent again if the account had no session, and the sale is given up if that continues', async () => {
  const [item = 0] = await putOnSale(1)
  const offers = () => bench.steam.world().offers.filter(({ sender }) => sender === seller)
  const offersBefore = offers().length
  expect((await bench.market.buy([item], 'accepts')).kind).toBe('bought')
  bench.steam.begin('send-401', { times: 2 })
  await runFreshRounds(1)
  bench.steam.end('send-401')
  expect(offers()).toHaveLength(offersBefore)
  expect((await readReports())(item)).toEqual(['listing', 'sold'])
  await runFreshRounds(8)
  expect((await readReports())(item).slice(0, 3)).toEqual(['listing', 'sold', 'delivered'])
  expect(offers()).toHaveLength(offersBefore + 1)
  const [other = 0] = await putOnSale(1)
  await bench.market.buy([other], 'accepts')
  bench.steam.begin('send-401')
  await runFreshRounds(6)
  bench.steam.end('send-401')
  expect((await readReports())(other).slice(0, 3)).toEqual(['listing', 'sold', 'cancelled'])
  expect(offers()).toHaveLength(offersBefore + 1)
})

it('buyers get no more items than the limits allow', async () => {
  // A market sells nothing for a seller that has not pinged it for 3½ minutes.
  await runFreshRounds(1)
  const [first = 0] = listedItems().map(({ itemId }) => itemId)
  bench.writeLimits({ usdAnHour: '0.01', usdADay: '0.01', itemsAnHour: 1 })
  expect((await bench.market.buy([first], 'accepts')).kind).toBe('bought')
  const offersBefore = bench.steam.world().offers.length
  await runFreshRounds(4)
  expect(bench.steam.world().offers).toHaveLength(offersBefore)
  expect(bench.logged.some((line) => line.startsWith('the limits had no room for a sale'))).toBe(true)
  const need = { kind: 'no_room', about: MARKET }
  expect(await bench.readNeeds()).toContainEqual(need)
  // The sale is lost, and the next process of the vault still reports that there was no room for it.
  bench.advanceMs(HOUR_MS)
  await runFreshRounds(1)
  expect(await bench.readNeeds()).toContainEqual(need)
  bench.advanceMs(DAY_MS)
  await runFreshRounds(1)
  expect(await bench.readNeeds()).not.toContainEqual(need)
})
