/** Erases Steam accounts. In these tests, a shopper's Steam id is 7656119800000 followed by the deposit's number. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { NOBODY } from '../../contract/steam-id.ts'
import type { BotContext } from '../bots/bot.ts'
import { cellsOf } from '../cli/deposit-lines.ts'
import { itemHistoryLines } from '../cli/lines.ts'
import { openDatabase } from '../db/client.ts'
import { publishEvents } from '../events/service.ts'
import { verifyLedger } from '../ledger/verify.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { operatorOf } from '../testing/operator.ts'
import { payFor } from '../testing/payment.ts'
import { BACK_URL, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, aStore, jump, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { expireDeposit } from '../trades/expiry.ts'
import { sweepTrades } from '../trades/jobs.ts'
import { retireBot } from './bots.ts'
import { explainDeparture } from './departures.ts'
import { holdDeposit, showDeposit } from './deposits.ts'
import { showItem } from './items.ts'
import type { ActDeps } from './operation.ts'
import { allowShopper, denyShopper, eraseShopper } from './shoppers.ts'

const DAY_S = 86_400

let till: Till
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const deps = (): ActDeps => operatorOf(till, 'asked for by mail')

/** Returns the tables of the till that still contain this text. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    order by relname`.execute(till.db)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql`select from ${sql.table(name)} t where t::text like ${`%${text}%`}`.execute(
      till.db,
    )
    if (rows.length > 0) found.push(name)
  }
  return found
}

const differences = async () => {
  const { pool, close } = openDatabase(till.url, 1, 'sandbox')
  return verifyLedger(pool).finally(close)
}

it('D-35 an account can be erased after the last look at its trade, with a report of what is kept, and the ledger has no difference', async () => {
  const store = await aStore(till)
  const deposit = await aDeposit(till, store, { game: 'cs' })
  const steamId = `7656119800000${deposit.id}`
  await payFor(till, { bot, session }, deposit)
  await publishEvents(till.deps)
  expect(await eraseShopper(deps(), steamId)).toMatchObject({
    kind: 'unchanged',
    data: { deposits: 0, keptDeposits: 1 },
    message: expect.stringContaining('run this again later'),
  })
  expect(await tablesWith(steamId)).toEqual(['deposit', 'event', 'trade'])

  await denyShopper(deps(), steamId)
  // A day after Steam’s protection the credit is final, and 2 days later the till’s last look at the trade is over.
  for (const days of [PROTECTION_DAYS + 1, 2]) {
    await jump(till, days * DAY_S)
    const { id } = await till.db.selectFrom('trade').select('id').executeTakeFirstOrThrow()
    await tradeHandlers(till.deps).trade(bot, id)
  }
  const answer = await eraseShopper(deps(), steamId)
  const { length: eventCount } = await till.db.selectFrom('event').select('id').execute()
  expect(answer).toMatchObject({
    kind: 'done',
    data: { deposits: 1, trades: 1, keptDeposits: 0, keptEvents: eventCount, isDenied: true },
  })
  // Events and acts are kept forever, and the deny-list needs the Steam id.
  expect(await tablesWith(steamId)).toEqual(['denied_shopper', 'event', 'operator_act'])
  expect(await tablesWith('nova_hound')).toEqual([])
  const acts = await till.db.selectFrom('operator_act').select(['act', 'arguments']).orderBy('id').execute()
  expect(acts.at(-1)).toEqual({
    act: 'shopper erase',
    arguments: { deposits: 1, trades: 1, reads: 0, keptDeposits: 0 },
  })
  expect(await differences()).toEqual([])
  expect(await eraseShopper(deps(), steamId)).toMatchObject({ kind: 'refused', refusal: 'not_found' })
  const { data } = await showDeposit(deps(), deposit.id)
  expect(data).toMatchObject({ steamId: NOBODY, shopper: null })
  expect(data?.can.map(({ act }) => act)).not.toContain('shopper deny')
  expect(data && cellsOf(data)).toContain('shopper erased')
  expect(data?.moments.find(({ what }) => what.startsWith('trade '))?.what).toContain('shopper erased')
  const { assetId } = await till.db
    .selectFrom('trade_item')
    .select('asset_id as assetId')
    .executeTakeFirstOrThrow()
  const histories = await showItem(deps(), assetId)
  expect(histories.data && itemHistoryLines(histories.data)).toContainEqual(
    expect.stringMatching(/\tin\t.*\tfrom erased$/),
  )
})

it('D-35 an account can be erased 15 days after a look at its trade that a retired bot no longer makes', async () => {
  const deposit = await aDeposit(till, await aStore(till))
  const steamId = `7656119800000${deposit.id}`
  await payFor(till, { bot, session }, deposit)
  await retireBot(deps(), String(bot.botId))
  await sweepTrades(till.deps)
  await jump(till, 14 * DAY_S)
  expect(await eraseShopper(deps(), steamId)).toMatchObject({ data: { deposits: 0, keptDeposits: 1 } })
  await jump(till, 2 * DAY_S)
  expect(await eraseShopper(deps(), steamId)).toMatchObject({ data: { deposits: 1, keptDeposits: 0 } })
  expect(await tablesWith(steamId)).toEqual(['event'])
})

it('D-35 erasing the account that a store named keeps that of the trade link, and vice versa', async () => {
  const store = await aStore(till)
  const { id } = await aDeposit(till, store)
  const [linked, named] = [`7656119800000${id}`, '76561198999999999']
  const label = { shopper_steam_id: named, shopper_locked: true, customer_label: 'nova' }
  await till.db.updateTable('deposit').set(label).execute()
  await till.db.updateTable('quote').set({ steam_id: linked }).execute()
  await jump(till, DAY_S)
  await expireDeposit(till.deps, id)
  const depositRow = () => till.db.selectFrom('deposit').selectAll().executeTakeFirstOrThrow()
  expect(await eraseShopper(deps(), named)).toMatchObject({ kind: 'done', data: { deposits: 1, trades: 0 } })
  expect(await tablesWith(named)).toEqual(['event'])
  expect(await depositRow()).toMatchObject({
    customer_label: null,
    user_steam_id: linked,
    user_name: 'nova_hound',
  })
  expect((await depositRow()).user_token_sealed).not.toBeNull()

  await till.db.updateTable('deposit').set(label).execute()
  expect(await eraseShopper(deps(), linked)).toMatchObject({ kind: 'done', data: { deposits: 1, trades: 0 } })
  expect(await tablesWith(linked)).toEqual([])
  expect(await depositRow()).toMatchObject({ ...label, user_name: null, user_token_sealed: null })
})

it('D-35 erasing a deposit’s account erases an earlier account’s trade token too, which no sweep would find', async () => {
  const deposit = await aDeposit(till, await aStore(till))
  await payFor(till, { bot, session }, deposit)
  // The times of the two looks at a delivery, after which its trade is over.
  for (const seconds of [600, DAY_S]) {
    await jump(till, seconds)
    const { id } = await till.db.selectFrom('trade').select('id').executeTakeFirstOrThrow()
    await tradeHandlers(till.deps).trade(bot, id)
  }
  // The deposit was linked to another account after the trade of the first account.
  const laterAccount = '76561198999999999'
  await till.db.updateTable('deposit').set({ user_steam_id: laterAccount }).execute()
  expect(await eraseShopper(deps(), laterAccount)).toMatchObject({
    kind: 'done',
    data: { deposits: 1, trades: 0 },
  })
  const trade = await till.db.selectFrom('trade').selectAll().executeTakeFirstOrThrow()
  expect(trade).toMatchObject({ partner_steam_id: `7656119800000${deposit.id}`, partner_token_sealed: null })
})

it('D-35 an account is erased from requests for inventories that no bot answered, once their deposit is over', async () => {
  const store = await aStore(till)
  const [over, open] = [await aDeposit(till, store), await aDeposit(till, store)]
  const steamId = `7656119800000${over.id}`
  await till.db.updateTable('deposit').set({ user_steam_id: steamId }).where('id', '=', open.id).execute()
  const request = {
    bot_id: bot.botId,
    steam_id: steamId,
    token_sealed: Buffer.from('t'),
    token_hmac: Buffer.from('t'),
    game: 'cs',
    language: 'en',
    created_at: till.clock.now(),
  } as const
  const ofDeposits = [over, open].flatMap(({ id }) => [
    { ...request, deposit_id: id, state: 'open' as const },
    { ...request, deposit_id: id, state: 'taken' as const },
  ])
  await till.db
    .insertInto('inventory_request')
    .values([...ofDeposits, { ...request, state: 'open' }])
    .execute()
  const requests = () =>
    till.db
      .selectFrom('inventory_request')
      .select(['deposit_id', 'state'])
      .where('steam_id', '=', steamId)
      .orderBy('id')
      .execute()
  await till.db.updateTable('deposit').set({ status: 'tradeTimeout' }).where('id', '=', over.id).execute()
  expect(await eraseShopper(deps(), steamId)).toMatchObject({ data: { deposits: 1, keptDeposits: 1 } })
  // A page of the open deposit may still be waiting for these.
  expect(await requests()).toEqual([
    { deposit_id: open.id, state: 'open' },
    { deposit_id: open.id, state: 'taken' },
  ])
  await jump(till, DAY_S)
  await expireDeposit(till.deps, open.id)
  expect(await eraseShopper(deps(), steamId)).toMatchObject({ data: { deposits: 1, keptDeposits: 0 } })
  expect(await requests()).toEqual([])
})

it('D-35 an account whose link a shopper replaced is erased from the prices and the inventory that were read with it', async () => {
  const { id } = await aDeposit(till, await aStore(till))
  const [earlier, later] = ['76561198999999991', `7656119800000${id}`]
  // The deposit was linked to the earlier account, and then to the later one, which may still pay.
  await till.db.updateTable('quote').set({ steam_id: earlier }).execute()
  const request = {
    bot_id: bot.botId,
    deposit_id: id,
    token_sealed: Buffer.from('t'),
    token_hmac: Buffer.from('t'),
    game: 'dota',
    language: 'en',
    state: 'done',
    created_at: till.clock.now(),
  } as const
  const requests = [earlier, later].map((steam_id) => ({ ...request, steam_id }))
  await till.db.insertInto('inventory_request').values(requests).execute()
  expect(await eraseShopper(deps(), earlier)).toMatchObject({
    kind: 'done',
    data: { deposits: 0, keptDeposits: 0, reads: 2 },
    message: expect.stringContaining('2 records of its inventory and prices were deleted'),
  })
  expect(await tablesWith(earlier)).toEqual([])
  expect(await tablesWith(later)).toEqual(['deposit', 'inventory_request'])
  expect(await eraseShopper(deps(), earlier)).toMatchObject({ kind: 'refused', refusal: 'not_found' })
})

it('D-35 an account is erased from answers that are kept under an Idempotency-Key', async () => {
  const api = await startStoreApi(till)
  const [steamId, other] = ['76561198999999991', '76561198999999992']
  const post = (externalId: string, shopper: string) => {
    const body = { externalId, currency: 'USD', backToStoreUrl: BACK_URL, shopper: { steamId: shopper } }
    return api.call('POST', '/v1/deposits', { body, headers: { 'idempotency-key': `make-${externalId}` } })
  }
  const answers = [await post('a', steamId), await post('b', other)]
  const id = BigInt(answers[0]?.json().id)
  await jump(till, DAY_S)
  await expireDeposit(till.deps, id)
  expect(await eraseShopper(deps(), steamId)).toMatchObject({ kind: 'done', data: { deposits: 1 } })
  const [again, ofOther] = [await post('a', steamId), await post('b', other)]
  expect([again.statusCode, again.json().id, again.json().shopper]).toEqual([200, String(id), null])
  expect(ofOther.body).toBe(answers[1]?.body)
  await api.app.close()
})

it('D-35 an erasure reports the records of items that the account got, and the acts that name it', async () => {
  const store = await aStore(till)
  const [{ id }, held] = [await aDeposit(till, store), await aDeposit(till, store)]
  const steamId = `7656119800000${id}`
  expect(await holdDeposit({ ...deps(), reason: `asked for by ${steamId}` }, held.id)).toMatchObject({
    kind: 'done',
  })
  await jump(till, DAY_S)
  await expireDeposit(till.deps, id)
  await denyShopper(deps(), steamId)
  expect(await allowShopper(deps(), steamId)).toMatchObject({ kind: 'done' })
  const seen = { bot_id: bot.botId, partner_steam_id: steamId, begun_at: till.clock.now(), explanation: null }
  const departures = [
    { ...seen, steam_trade_id: '501', stage: 'gone' as const },
    { ...seen, steam_trade_id: '502', stage: 'called_off' as const },
  ]
  const [{ id: departureId } = { id: 0n }] = await till.db
    .insertInto('departure')
    .values(departures)
    .returning('id')
    .execute()
  expect(await explainDeparture(deps(), departureId)).toMatchObject({ kind: 'done' })
  const { id: wishId } = await till.db
    .insertInto('wish')
    .values({ kind: 'return', bot_id: bot.botId, deposit_id: id, steam_trade_id: '77', asked_by: 'operator' })
    .returning('id')
    .executeTakeFirstOrThrow()
  await till.db
    .insertInto('vault_deed')
    .values({ wish_id: wishId, state: 'delivered', partner_steam_id: steamId, assets: [], at: seen.begun_at })
    .execute()
  const answer = await eraseShopper(deps(), steamId)
  expect(answer).toMatchObject({ kind: 'done', data: { keptDepartures: 2, keptWishes: 1, keptActs: 4 } })
  for (const text of ['2 departures to the account are', '1 wish for the account is', '4 records of acts'])
    expect(answer).toMatchObject({ message: expect.stringContaining(text) })
  expect(await tablesWith(steamId)).toEqual(['departure', 'operator_act', 'vault_deed'])
})
