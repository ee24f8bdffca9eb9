/** The search by one text, and the list of deposits with filters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { createDeposit } from '../deposits/create.ts'
import { publishEvents } from '../events/service.ts'
import { savePrices } from '../pricing/store.ts'
import { runCommand } from '../testing/command.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import {
  aBot,
  aDeparture,
  aDeposit,
  anEndpoint,
  aStore,
  jump,
  PROTECTION_DAYS,
  startTill,
  type Till,
} from '../testing/till.ts'
import { listDeposits } from './deposit-list.ts'
import { type DepositFilter, examineDeposits } from './deposit-list-store.ts'
import { type Findings, find, MOST_FOUND } from './find.ts'
import type { ReadDeps } from './operation.ts'

let till: Till
let deps: ReadDeps
let bot: { bot: BotContext; session: FakeSession }
let paid: Awaited<ReturnType<typeof aDeposit>>
let offered: Awaited<ReturnType<typeof offerFor>> & { deposit: Awaited<ReturnType<typeof aDeposit>> }

beforeAll(async () => {
  till = await startTill()
  deps = till
  const store = await aStore(till)
  await anEndpoint(till, store, 'http://127.0.0.1:9/')
  const otherStore = await till.db
    .insertInto('store')
    .values({ name: 'Лавка-Игр «Ember»', origins: ['https://other.test'] })
    .returning('id')
    .executeTakeFirstOrThrow()
  bot = await aBot(till)
  paid = await aDeposit(till, store, { game: 'cs' })
  await payFor(till, bot, paid)
  const deposit = await aDeposit(till, store, { prices: [500n] })
  offered = { deposit, ...(await offerFor(till, bot.bot, deposit)) }
  await till.db.updateTable('deposit').set({ external_id: 'shared' }).where('id', '=', deposit.id).execute()
  const thirdDeposit = await aDeposit(till, otherStore)
  await till.db
    .updateTable('deposit')
    .set({ external_id: 'shared' })
    .where('id', '=', thirdDeposit.id)
    .execute()
  await publishEvents(till.deps)
  await aDeparture(till.db, bot.bot.botId)
  const facts = { popularity: 60, popularityKind: 'sales30d' as const, asOf: till.clock.now() }
  const row = (marketHashName: string) => ({
    marketHashName,
    usdMicros: 9_000_000n,
    levelUsdMicros: null,
    ...facts,
  })
  await savePrices(till.db, { source: 'market', game: 'cs' }, [
    row('AK-47 | Redline (Field-Tested)'),
    row('StatTrak™ AK-47 | Redline (Field-Tested)'),
    row('★ Karambit | Doppler (Factory New)'),
  ])
})
afterAll(() => till.close())

async function findingsFor(text: string): Promise<Findings> {
  const answer = await find(deps, text)
  if (answer.kind !== 'done') throw new Error(`${answer.kind}: ${answer.message}`)
  return answer.data
}

const depositsOf = ({ deposits }: Findings) => deposits.map(({ depositId, as }) => [depositId, as])
/** The Steam id that `aDeposit` gave to the shopper of `paid`. */
const shopper = () => `7656119800000${paid.id}`

describe('a deposit', () => {
  it('is found by its link, its secret code, its offer, its item as TRADE-ASSET, and its Steam trade', async () => {
    const { deposit, tradeId, code, offerId } = offered
    expect(depositsOf(await findingsFor(`https://pay.example/deposit/${deposit.hash}`))).toEqual([
      [deposit.id, ['hash']],
    ])
    expect(depositsOf(await findingsFor(code.toLowerCase()))).toEqual([[deposit.id, ['code']]])
    expect(depositsOf(await findingsFor(`https://steamcommunity.com/tradeoffer/${offerId}/`))).toEqual([
      [deposit.id, ['offer']],
    ])
    expect(depositsOf(await findingsFor(`${tradeId}-${deposit.body.items[0]}`))).toEqual([
      [deposit.id, ['trade']],
    ])
    const { steam_trade_id: steamTrade } = await till.db
      .selectFrom('trade')
      .select('steam_trade_id')
      .where('deposit_id', '=', paid.id)
      .executeTakeFirstOrThrow()
    expect(depositsOf(await findingsFor(String(steamTrade)))).toEqual([[paid.id, ['steam_trade']]])
  })

  it('is found by its number', async () => {
    expect(depositsOf(await findingsFor(String(paid.id)))).toContainEqual([
      paid.id,
      expect.arrayContaining(['deposit']),
    ])
  })

  it('is found by an item’s name, and by its asset ids at the shopper and at the bot', async () => {
    const [asset = ''] = paid.body.items
    expect(depositsOf(await findingsFor(asset))).toEqual([[paid.id, ['asset']]])
    const { received_asset_id: received } = await till.db
      .selectFrom('custody_entry')
      .select('received_asset_id')
      .where('asset_id', '=', asset)
      .executeTakeFirstOrThrow()
    expect(received).not.toBe(asset)
    expect(depositsOf(await findingsFor(String(received)))).toEqual([[paid.id, ['asset']]])
    expect(depositsOf(await findingsFor('Item 1'))).toEqual([[paid.id, ['item_name']]])
  })

  it('is found by its order id, beside another store’s deposit with the same order id, newest first', async () => {
    const { deposits } = await findingsFor('shared')
    expect(deposits.map(({ storeId, as }) => [storeId, as])).toEqual([
      [2n, ['order']],
      [1n, ['order']],
    ])
  })

  it('is found by its shopper, together with the shopper’s account', async () => {
    const { deposits, shoppers, bots } = await findingsFor(`https://steamcommunity.com/profiles/${shopper()}`)
    expect(deposits).toMatchObject([
      {
        depositId: paid.id,
        status: 'succeeded',
        amountMinor: 3_000n,
        heldMinor: 3_000n,
        game: 'cs',
        as: ['steam_id'],
      },
    ])
    expect(shoppers).toEqual([{ steamId: shopper(), name: 'nova_hound', isDenied: false, isBot: false }])
    expect(bots).toEqual([])
  })
})

describe('the search', () => {
  it('finds a webhook by its id, and by the number of its delivery', async () => {
    const { id } = await till.db
      .selectFrom('event')
      .select('id')
      .where('deposit_id', '=', paid.id)
      .where('type', '=', 'deposit.succeeded')
      .executeTakeFirstOrThrow()
    const { events } = await findingsFor(id)
    expect(events).toMatchObject([
      {
        eventId: id,
        storeId: 1n,
        depositId: paid.id,
        deliveries: [{ endpointId: '1', state: 'due', attempts: 0 }],
      },
    ])
    const delivery = events[0]?.deliveries[0]?.deliveryId ?? ''
    expect((await findingsFor(delivery)).events).toEqual(events)
  })

  it('finds a store and a bot by any word of their names, whatever the case and the alphabet', async () => {
    expect((await findingsFor('ember')).stores).toEqual([
      { storeId: 1n, name: 'Ember Forge' },
      { storeId: 2n, name: 'Лавка-Игр «Ember»' },
    ])
    expect((await findingsFor('ИГР')).stores).toEqual([{ storeId: 2n, name: 'Лавка-Игр «Ember»' }])
    expect((await findingsFor('tradet bot')).bots).toMatchObject([
      { botId: bot.bot.botId, name: 'Tradetill Bot' },
    ])
  })

  it('finds a bot by its account', async () => {
    const { steam_id: steamId } = await till.db.selectFrom('bot').select('steam_id').executeTakeFirstOrThrow()
    expect((await findingsFor(steamId)).bots).toMatchObject([{ botId: bot.bot.botId, steamId }])
  })

  it('finds items by the beginnings of words in their names, the shortest name first', async () => {
    expect((await findingsFor('ak 47 red')).items).toEqual([
      { game: 'cs', item: 'AK-47 | Redline (Field-Tested)' },
      { game: 'cs', item: 'StatTrak™ AK-47 | Redline (Field-Tested)' },
    ])
    expect((await findingsFor("kara' & doppler:*")).items).toEqual([
      { game: 'cs', item: '★ Karambit | Doppler (Factory New)' },
    ])
  })

  it('finds a departure by its Steam trade', async () => {
    // The Steam trade of `aDeparture`.
    expect((await findingsFor('6100000000000000007')).departures).toMatchObject([{ departureId: 1n }])
  })

  it('does not repeat a text for which it finds nothing', async () => {
    const secret = 'f'.repeat(32)
    const answer = await find(deps, secret)
    expect(answer).toMatchObject({ kind: 'refused', refusal: 'not_found' })
    expect(answer.message).not.toContain(secret)
  })

  it('reads a text from stdin, which keeps it out of the shell’s history', async () => {
    const input = `http://till.test/deposit/${offered.deposit.hash}\n`
    const { out, errors, code } = await runCommand(['find', '-'], { databaseUrl: till.url, input })
    expect({ errors, code }).toEqual({ errors: '', code: 0 })
    expect(out).toMatch(
      new RegExp(`^deposit\t${offered.deposit.id}\t.*\tpending\tnothing, USD\t.*by its link\n$`),
    )
  })
})

describe('the list of deposits', () => {
  async function listed(filter: Partial<DepositFilter> = {}) {
    const answer = await listDeposits(deps, { limit: 50, ...filter })
    if (answer.kind !== 'done') throw new Error(answer.message)
    return answer.data
  }
  const ids = ({ deposits }: Awaited<ReturnType<typeof listed>>) => deposits.map(({ depositId }) => depositId)

  it('has the deposits of all stores, newest first, page by page', async () => {
    const [third, second, first] = ids(await listed())
    expect([first, second]).toEqual([paid.id, offered.deposit.id])
    expect(await listed({ limit: 2 })).toMatchObject({ next: second })
    const rest = await listed({ limit: 2, before: second })
    expect([ids(rest), rest.next]).toEqual([[first], null])
    expect((await listed({ limit: 3 })).next).toBeNull()
    expect(third).toBeDefined()
  })

  it('is refused if the page must begin after an unknown deposit, and is empty after the last deposit', async () => {
    const listFrom = (before: bigint) => listDeposits(deps, { limit: 2, before })
    expect(await listFrom(999n)).toMatchObject({ kind: 'refused', refusal: 'not_found' })
    expect(await listFrom(paid.id)).toMatchObject({ kind: 'done', data: { deposits: [], next: null } })
  })

  it('has the deposits oldest first, page by page', async () => {
    const newest = ids(await listed())
    const first = await listed({ order: 'oldest', limit: 2 })
    expect([ids(first), first.next]).toEqual([newest.toReversed().slice(0, 2), newest[1]])
    const rest = await listed({ order: 'oldest', limit: 2, before: newest[1] })
    expect([ids(rest), rest.next]).toEqual([newest.slice(0, 1), null])
    expect(ids(await listed({ order: 'oldest', storeId: 1n, game: 'cs' }))).toEqual([paid.id])
  })

  it.each<[string, () => Partial<DepositFilter>, () => bigint[]]>([
    ['a store', () => ({ storeId: 1n }), () => [offered.deposit.id, paid.id]],
    ['a status', () => ({ status: 'succeeded' }), () => [paid.id]],
    ['a shopper', () => ({ steamId: shopper() }), () => [paid.id]],
    ['an amount', () => ({ leastMinor: 3_000n, mostMinor: 3_000n, currency: 'USD' }), () => [paid.id]],
    ['an amount that no deposit has', () => ({ leastMinor: 3_001n, currency: 'USD' }), () => []],
    ['a currency that no deposit has', () => ({ currency: 'EUR' }), () => []],
    ['a game', () => ({ game: 'cs' }), () => [paid.id]],
    ['a store and a status', () => ({ storeId: 2n, status: 'succeeded' }), () => []],
    ['a time before all deposits', () => ({ to: new Date(0) }), () => []],
  ])('can be filtered by %s', async (_, filter, expected) => {
    expect(ids(await listed(filter()))).toEqual(expected())
  })

  it('needs a currency if the filter has an amount', async () => {
    expect(await listDeposits(deps, { limit: 1, leastMinor: 1n })).toMatchObject({ refusal: 'usage' })
  })

  it('marks examined rows that do not match', async () => {
    const examined = await examineDeposits(till.db, { limit: 1, currency: 'EUR' }, { now: till.clock.now() })
    expect(examined.map(({ fits }) => fits)).toEqual([false, false, false])
  })

  it('shows which deposits wait for a person', async () => {
    expect(ids(await listed({ needsPerson: true }))).toEqual([])
    await till.db.updateTable('bot').set({ state: 'dead', lease_until: null }).execute()
    await jump(till, (PROTECTION_DAYS + 1) * 86_400 + 60)
    const { deposits } = await listed({ needsPerson: true })
    expect(deposits.map(({ depositId, needs }) => [depositId, needs])).toEqual([
      [offered.deposit.id, ['bot_away', 'steam_silent']],
      [paid.id, ['bot_away', 'credit_waits']],
    ])
    const oldest = await listed({ needsPerson: true, order: 'oldest' })
    expect(oldest.deposits).toEqual(deposits.toReversed())
    // A bot at work does not help if Steam's records of the trades stay unclear.
    const leaseUntil = new Date(till.clock.now().getTime() + 3_600_000)
    await till.db.updateTable('bot').set({ state: 'active', online: true, lease_until: leaseUntil }).execute()
    expect((await listed({ needsPerson: true })).deposits.map(({ needs }) => needs)).toEqual([
      ['steam_silent'],
      ['credit_waits'],
    ])
  })

  it('is printed as CSV', async () => {
    const { out } = await runCommand(['deposit', 'list', '--status', 'succeeded', '--csv'], {
      databaseUrl: till.url,
    })
    const [head, row, ...others] = out.trim().split('\n')
    expect(head).toMatch(/^depositId,createdAt,storeId,/)
    expect(row).toMatch(
      new RegExp(`^${paid.id},.*,1,Ember Forge,top-up \\d+,succeeded,USD,30.00,30.00,0.00,${shopper()},cs,`),
    )
    expect(others).toEqual([])
  })
})

it('a deposit is found by its number, even if many newer deposits have that number as their order id', async () => {
  const stores = await till.db
    .insertInto('store')
    .values(
      Array.from({ length: MOST_FOUND }, (_, n) => ({ name: `Store ${n}`, origins: ['https://many.test'] })),
    )
    .returning('id')
    .execute()
  for (const store of stores) {
    const order = {
      externalId: String(paid.id),
      currency: 'USD',
      backToStoreUrl: 'https://store.test/',
    } as const
    await createDeposit(till.deps, store, order)
  }
  const { deposits, isCut } = await findingsFor(String(paid.id))
  const numbers = deposits.map(({ depositId }) => depositId)
  expect(numbers).toContain(paid.id)
  expect(numbers).toEqual(numbers.toSorted((a, b) => Number(b - a)))
  expect([numbers.length, isCut]).toEqual([MOST_FOUND, true])
})
