/** The operator’s view of one bot, and the calls to Steam in the weather. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GAMES } from '../../contract/games.ts'
import { createCallCounts } from '../bots/call-counts.ts'
import { saveCalls } from '../bots/call-store.ts'
import { UNOBSERVED } from '../steam/turns.ts'
import { fakeSession } from '../testing/fake-steam.ts'
import { operatorOf } from '../testing/operator.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { showBot } from './bot-view.ts'
import { readWeather } from './weather-store.ts'

let till: Till
let bot: Awaited<ReturnType<typeof aBot>>

beforeAll(async () => {
  till = await startTill()
  bot = await aBot(till)
})
afterAll(() => till.close())

const viewOf = async (idOrSteamId = bot.session.steamId) => {
  const answer = await showBot(operatorOf(till), idOrSteamId)
  if (answer.kind === 'refused') throw new Error(answer.message)
  return answer.data
}

test('the view of a bot has its items and room by game, its open offers, and the refusals of the last hour', async () => {
  const store = await aStore(till, { riskLimitUsdCents: 1_000_000n })
  const before = await viewOf()
  const { itemsHeld } = till.deps.limits.fleet
  expect(before).toMatchObject({ itemsHeld: 0, offers: [], refusals: [] })
  expect(before.games.map(({ game, most }) => [game, most])).toEqual(
    GAMES.map((game) => [game, itemsHeld[game]]),
  )
  await payFor(till, bot, await aDeposit(till, store, { prices: [1_000n, 2_000n] }))
  const offer = await offerFor(till, bot.bot, await aDeposit(till, store, { prices: [500n] }))
  const view = await viewOf()
  expect(view.games.map(({ game, held, onTheWay, room }) => [game, held, onTheWay, room])).toEqual(
    GAMES.map((game) => (game === 'dota' ? [game, 2, 1, itemsHeld.dota - 3] : [game, 0, 0, itemsHeld[game]])),
  )
  expect(view.offers).toMatchObject([{ tradeId: offer.tradeId, state: 'active', game: 'dota', items: 1 }])

  const now = till.deps.clock.now()
  const refused = { state: 'refused', refusal: 'inventory_full', created_at: now, due_at: null } as const
  await till.db.updateTable('trade').set(refused).where('id', '=', offer.tradeId).execute()
  const values = {
    bot_id: bot.bot.botId,
    scope: 'cs',
    reason: 'inventory_full',
    barred_at: now,
    times: 1,
  } as const
  await till.db
    .insertInto('bot_bar')
    .values({ ...values, until: new Date(now.getTime() + 60_000) })
    .execute()
  const barred = await viewOf(String(bot.bot.botId))
  expect(barred.refusals).toMatchObject([{ refusal: 'inventory_full', game: 'dota', times: 1 }])
  expect(barred.games.map(({ game, room }) => [game, room]).slice(0, 2)).toEqual([
    ['cs', 0],
    ['dota', itemsHeld.dota - 2],
  ])
  // Two hours later, the refusal is no longer shown, and the bar is over.
  await jump(till, 2 * 3_600)
  expect(await viewOf()).toMatchObject({ refusals: [], bars: [] })
})

test('the view of a bot counts the calls that all processes made as this bot in the last hour, and no others', async () => {
  const processes = [createCallCounts(UNOBSERVED), createCallCounts(UNOBSERVED)]
  const account = bot.session.steamId
  for (const counts of processes) {
    counts.request('GetTradeOffer', { outcome: 'answered', seconds: 1, account })
    counts.request('GetTradeOffer', { outcome: 'limited', seconds: 1, account })
    counts.request('GetTradeOffer', { outcome: 'failed', seconds: 1, account: undefined })
    counts.request('GetTradeOffer', { outcome: 'failed', seconds: 1, account: '76561197960287930' })
    counts.heldBack('GetTradeOffer', 'paused', account)
    await saveCalls(till.db, counts.take())
    // The calls were taken, so the next save adds nothing.
    await saveCalls(till.db, counts.take())
  }
  expect((await viewOf()).calls).toEqual({ asked: 4, limited: 2, failed: 0, heldBack: 2 })
  await till.db.updateTable('bot_calls').set({ since: sql`since - interval '2 hours'` }).execute()
  expect((await viewOf()).calls).toEqual({ asked: 0, limited: 0, failed: 0, heldBack: 0 })

  // The weather still counts them for the entire day.
  const day = async () => {
    const hours = (await readWeather(till.db))?.hours ?? []
    expect(hours).toHaveLength(24)
    const sum = (name: 'asked' | 'limited') => hours.reduce((total, hour) => total + hour[name], 0)
    return [sum('asked'), sum('limited')]
  }
  expect(await day()).toEqual([4, 2])
  await till.db.updateTable('bot_calls').set({ since: sql`since - interval '24 hours'` }).execute()
  expect(await day()).toEqual([0, 0])
  // Saving new counts deletes the rows that are older than 25 hours.
  const [counts] = processes
  counts?.request('GetTradeOffer', { outcome: 'answered', seconds: 1, account })
  await saveCalls(till.db, counts?.take() ?? [])
  expect(await till.db.selectFrom('bot_calls').select('asked').execute()).toEqual([{ asked: 1 }])
})

test('an unknown bot is not found', async () => {
  expect(await showBot(operatorOf(till), '999')).toMatchObject({ kind: 'refused', refusal: 'not_found' })
})

test('the weather counts and times the calls of a day by method, and counts the calls of one method by bot', async () => {
  await till.db.deleteFrom('steam_calls').execute()
  const otherBot = await aBot(till, fakeSession('76561198000000002'))
  const [mine, theirs] = [bot.session.steamId, otherBot.session.steamId]
  for (const counts of [createCallCounts(UNOBSERVED), createCallCounts(UNOBSERVED)]) {
    counts.request('send', { outcome: 'answered', seconds: 0.1, account: mine })
    counts.request('send', { outcome: 'limited', seconds: 0.3, account: mine })
    counts.request('send', { outcome: 'answered', seconds: 0.2, account: theirs })
    counts.request('profile', { outcome: 'failed', seconds: 5 })
    // Not counted: the account is not one of the till's bots.
    counts.request('profile', { outcome: 'answered', seconds: 0.5, account: '76561197960287930' })
    counts.heldBack('cancel', 'paused', theirs)
    await saveCalls(till.db, counts.take())
  }
  const noTrouble = { limited: 0, failed: 0, heldBack: 0 }
  const weatherOfAll = await readWeather(till.db, { method: 'send' })
  expect(weatherOfAll?.methods).toEqual([
    { method: 'send', asked: 6, ...noTrouble, limited: 2, averageMs: 200, longestMs: 300 },
    { method: 'profile', asked: 2, ...noTrouble, failed: 2, averageMs: 5000, longestMs: 5000 },
    { method: 'cancel', asked: 0, ...noTrouble, heldBack: 2, averageMs: null, longestMs: null },
  ])
  expect(weatherOfAll?.methodBots).toMatchObject([
    { botId: bot.bot.botId, asked: 4, limited: 2 },
    { botId: otherBot.bot.botId, asked: 2, limited: 0 },
  ])
  expect((await readWeather(till.db, { method: 'profile' }))?.methodBots).toMatchObject([
    { botId: null, bot: null, asked: 2 },
  ])
  const ofOtherBot = await readWeather(till.db, { bot: theirs })
  expect(ofOtherBot?.methods.map(({ method, asked }) => [method, asked])).toEqual([
    ['send', 2],
    ['cancel', 0],
  ])
  expect(await readWeather(till.db, { bot: '999' })).toBeUndefined()

  // More than a day later these calls are not shown, and saving new counts deletes them.
  await till.db.updateTable('steam_calls').set({ hour: sql`hour - interval '26 hours'` }).execute()
  expect((await readWeather(till.db))?.methods).toEqual([])
  const counts = createCallCounts(UNOBSERVED)
  counts.request('miniprofile', { outcome: 'answered', seconds: 1 })
  await saveCalls(till.db, counts.take())
  expect(await till.db.selectFrom('steam_calls').select('method').execute()).toEqual([
    { method: 'miniprofile' },
  ])
})
