/**
 * The vault sells: from a collecting bot to its selling account, to a buyer at the market sandbox, until the money
 * arrives.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reverseTrade } from '../steam-sandbox/world/trades.ts'
import { STATE } from '../steam-sandbox/world/world.ts'
import { BOT, openStand, type Stand } from './testing/stand.ts'

const MARKET = 'market.csgo.com'
const TURN_MS = 3_000
const TURNS_A_MINUTE = 20
const DAY_MS = 86_400_000
const TUESDAY = 2
const WEDNESDAY = 3

let stand: Stand
let seller: string

beforeAll(async () => {
  stand = await openStand()
  stand.passTo({ day: WEDNESDAY, hour: 8 })
  stand.enrol(BOT)
  seller = stand.sellOn({ mayLose: true })
})
beforeEach(() => {
  stand.restart()
  stand.pass(7 * DAY_MS)
})
afterAll(() => stand.close())

/** Runs rounds of the vault, and restarts it before each, so nothing but its files carries over. */
async function freshRounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    stand.restart()
    await stand.rounds(1)
    await stand.market.look()
  }
}

/** Runs such rounds until `holds` is true, 40 at most. If the vault makes no progress, the checks that follow fail. */
async function freshRoundsUntil(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 40 && !holds(); tries += 1) await freshRounds(1)
}

/** Runs rounds of one process, three seconds of the stand's clock apart. Resolves to their number, at most 300. */
async function turnsUntil(holds: () => boolean | Promise<boolean>): Promise<number> {
  let turns = 0
  for (; turns < 300 && !(await holds()); turns += 1) {
    await stand.vault().round()
    await stand.market.look()
    stand.pass(TURN_MS)
  }
  return turns
}

const listed = () => stand.market.world().items.filter(({ status }) => status === 'on_sale')

/**
 * Gives the bot new items, and lets the vault move them to its selling account and list them. Resolves to the listings'
 * numbers.
 */
async function onSale(count: number): Promise<number[]> {
  await stand.wish(stand.stock(BOT, count), { destination: 'seller' })
  const before = listed().length
  await freshRoundsUntil(() => listed().length >= before + count)
  return listed()
    .slice(before)
    .map(({ itemId }) => itemId)
}

async function told() {
  const { rows } = await stand.database.pool.query<{ reference: string; kind: string }>(
    `select reference, coalesce(told->'report'->>'kind', told->>'kind') as kind from vault_told order by n, part`,
  )
  return (reference: number) =>
    rows.filter((row) => row.reference === String(reference)).map(({ kind }) => kind)
}

describe('an item of a collecting bot', () => {
  it('goes to the selling account, is listed and given to its buyer, and its money is reported', async () => {
    const [item = 0] = await onSale(1)
    expect(stand.accountOf(seller).assets.length).toBeGreaterThan(0)
    expect((await stand.market.buy([item], 'accepts')).kind).toBe('bought')
    await freshRounds(8)
    stand.pass(9 * DAY_MS)
    await freshRounds(8)
    expect((await told())(item)).toEqual(['listing', 'sold', 'delivered', 'paid'])
    const offers = stand.steam.world().offers.filter(({ sender }) => sender === seller)
    expect(offers).toHaveLength(1)
    const { rows } = await stand.database.pool.query('select free::int from market_balance')
    expect(rows[0]?.free).toBeGreaterThan(0)
  })

  it('counts as given if Steam took it back before the vault saw the gift, and is not sold twice', async () => {
    const [item = 0] = await onSale(1)
    expect((await stand.market.buy([item], 'accepts')).kind).toBe('bought')
    await freshRounds(1)
    stand.pass(10_000)
    await stand.market.look()
    const offer = stand.steam.world().offers.findLast(({ sender }) => sender === seller)
    const tradeId = offer?.tradeId ?? ''
    stand.steam.change((world, nowS) => reverseTrade(world, { tradeId, bySupport: true }, nowS))
    await freshRounds(8)
    // The market has paid for the item, and does not report its return.
    const { rows } = await stand.database.pool.query<{ kind: string }>(
      `select coalesce(told->'report'->>'kind', told->>'kind') as kind from vault_told
       where reference = $1 or told->>'listedAssetId' = $2 order by n, part`,
      [String(item), offer?.give[0]?.assetId],
    )
    expect(rows.map(({ kind }) => kind)).toEqual(['listing', 'sold', 'delivered', 'paid'])
    expect(stand.countOwned(seller, offer?.give.map(({ assetId }) => assetId) ?? [])).toBe(1)
  })

  it('is listed within a minute of its arrival, and its money is known within a minute of the gift', async () => {
    // The first round after a start checks everything, so run a few rounds before measuring.
    await stand.rounds(4)
    const moves = () => stand.steam.world().offers.filter(({ sender }) => sender !== seller)
    const before = { listed: listed().length, moved: moves().length }
    await stand.wish(stand.stock(BOT, 1), { destination: 'seller' })
    await turnsUntil(() => moves().length > before.moved && moves().at(-1)?.state === STATE.accepted)
    expect(await turnsUntil(() => listed().length > before.listed)).toBeLessThan(TURNS_A_MINUTE)
    const item = listed().at(-1)?.itemId ?? 0
    await stand.market.buy([item], 'accepts')
    await turnsUntil(async () => (await told())(item).includes('delivered'))
    const isPaid = async () => (await told())(item).includes('paid')
    expect(await turnsUntil(isPaid)).toBeLessThan(TURNS_A_MINUTE)
    const { rows } = await stand.database.pool.query('select free::int from market_balance')
    const [account] = stand.market.world().sellers
    expect(rows[0]?.free).toBe(Math.floor((account?.free ?? 0) / 10))
  })

  it('is listed again, under a new number, if its buyer declined it', async () => {
    const [item = 0] = await onSale(1)
    await stand.market.buy([item], 'declines')
    await freshRoundsUntil(() => listed().length > 0)
    expect((await told())(item).slice(0, 2)).toEqual(['listing', 'sold'])
    expect(listed().map(({ itemId }) => itemId)).not.toContain(item)
    await stand.market.buy([listed()[0]?.itemId ?? 0], 'accepts')
    await freshRounds(8)
  })
})

describe('listings are taken down', () => {
  it('while the till has the market off, even across restarts, and are made again afterwards', async () => {
    await onSale(2)
    await stand.asGateway.query(`insert into market_off (market) values ('${MARKET}')`)
    await freshRounds(2)
    expect(listed()).toEqual([])
    expect(stand.said.at(-1)).toContain('switched off by the till')
    await stand.asGateway.query('delete from market_off')
    await freshRoundsUntil(() => listed().length > 1)
    expect(listed()).toHaveLength(2)
  })

  it('while the till has the market off, and the vault sells again in the next round, without a restart', async () => {
    await stand.rounds(1)
    await stand.asGateway.query(`insert into market_off (market) values ('${MARKET}')`)
    await stand.rounds(2)
    expect(listed()).toEqual([])
    await stand.asGateway.query('delete from market_off')
    const before = stand.said.length
    await stand.rounds(1)
    expect(stand.said.slice(before).join()).toContain('the vault sells')
  })

  it('while the vault has the market off, even if the till has it on', async () => {
    stand.switchMarketOff()
    await freshRounds(2)
    expect(listed()).toEqual([])
    stand.switchMarketOn()
    await freshRoundsUntil(() => listed().length > 1)
    expect(listed()).toHaveLength(2)
  })

  it('before Steam’s maintenance on a Tuesday', async () => {
    stand.passTo({ day: TUESDAY, hour: 19, minute: 59 })
    await freshRounds(3)
    expect(listed()).toEqual([])
    stand.pass(6 * 3_600_000)
    await freshRoundsUntil(() => listed().length > 1)
    expect(listed()).toHaveLength(2)
  })

  it('if the market says that the account may not sell', async () => {
    stand.market.ban(seller, 3 * 3_600)
    stand.pass(3_600_000)
    await freshRounds(3)
    expect(listed()).toEqual([])
    stand.pass(3 * 3_600_000)
    await freshRoundsUntil(() => listed().length > 1)
    expect(listed()).toHaveLength(2)
  })
})

it('buyers get no more items than the limits allow', async () => {
  // A market sells nothing for a seller that has not pinged it for a while.
  await freshRounds(1)
  const [first = 0] = listed().map(({ itemId }) => itemId)
  stand.limit({ usdAnHour: '0.01', usdADay: '0.01', itemsAnHour: 1 })
  expect((await stand.market.buy([first], 'accepts')).kind).toBe('bought')
  const before = stand.steam.world().offers.length
  await freshRounds(4)
  expect(stand.steam.world().offers).toHaveLength(before)
  expect(stand.said.some((line) => line.startsWith('the limits have no room for a sale'))).toBe(true)
})
