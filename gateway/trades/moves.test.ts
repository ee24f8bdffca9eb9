/** When a request moves to another bot, with a real database. */
import fastify from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { barBot, listBars } from '../bots/bar-store.ts'
import type { BotContext } from '../bots/bot.ts'
import { handleErrors } from '../http/problem.ts'
import { balancesOf } from '../ledger/store.ts'
import type { RefusedReason } from '../steam/steam.ts'
import { type FakeSession, fakeSession } from '../testing/fake-steam.ts'
import { aBot, aDeposit, aStore, jump, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { moveUntaken } from './move-on.ts'
import { requestTrade } from './request.ts'
import { tradeRoutes } from './routes.ts'

/** Longer than the first bar of a bot that cannot trade. */
const AFTER_BAR_S = 31 * 60

type Bot = { bot: BotContext; session: FakeSession }

let till: Till
let store: { id: bigint }
let bots: Bot[]

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till, { riskLimitUsdCents: 100_000n })
  bots = []
})
afterEach(() => till.close())

async function startFleet(size: number): Promise<void> {
  for (let n = 1; n <= size; n += 1) bots.push(await aBot(till, fakeSession(`7656119800000010${n}`)))
}

const refuse = (bot: Bot | undefined, reason: RefusedReason, times = 1) => {
  for (let n = 0; n < times; n += 1) bot?.session.sends.push({ answer: 'refused', reason })
}

/** Makes Steam not answer this bot's next check of a partner. */
function silence(bot: Bot | undefined): void {
  if (bot) bot.session.unansweredPartners = 1
}

const trades = () => till.db.selectFrom('trade').selectAll().orderBy('id').execute()

/** Lets every bot do the due work on its trades. */
async function work(): Promise<void> {
  for (const row of await trades()) {
    const bot = bots.find(({ bot: { botId } }) => botId === row.bot_id)
    if (bot) await tradeHandlers(till.deps).trade(bot.bot, row.id)
  }
}

async function request(body: Parameters<typeof requestTrade>[1]) {
  let isAnswered = false
  const answer = requestTrade(till.deps, body).finally(() => {
    isAnswered = true
  })
  const workUntilAnswered = async () => {
    await work()
    return isAnswered
  }
  await expect.poll(workUntilAnswered).toBe(true)
  return answer
}

const sendsByBot = () =>
  bots.map(({ session }) => session.calls.filter((call) => call.startsWith('send')).length)
const bars = async () =>
  (await listBars(till.db)).map(({ botId, scope, reason }) => ({ botId, scope, reason }))
const idOf = (n: number) => bots[n]?.bot.botId

describe('D-30 a bot that our own limits hold back', () => {
  const heldBack = {
    kind: 'unavailable',
    reason: 'not_our_turn',
    detail: 'paused after a refusal of Steam',
  } as const

  it.each([
    [
      'before the send',
      0,
      () => Object.assign(bots[0]?.session ?? {}, { checkPartner: async () => heldBack }),
    ],
    ['at the send', 1, () => refuse(bots[0], 'not_our_turn')],
  ])('%s passes the request on, and is not barred', async (_, sends, arrange) => {
    await startFleet(2)
    arrange()
    expect(await request((await aDeposit(till, store)).body)).toEqual({ kind: 'active' })
    expect(sendsByBot()).toEqual([sends, 1])
    expect((await trades()).map(({ state, refusal }) => [state, refusal])).toEqual([
      ['refused', 'not_our_turn'],
      ['active', null],
    ])
    expect(await bars()).toEqual([])
  })

  it('keeps the request as the fourth that tries it, if every bot is held back', async () => {
    await startFleet(5)
    for (const { session } of bots) Object.assign(session, { checkPartner: async () => heldBack })
    const { body } = await aDeposit(till, store)
    const answer = requestTrade(till.deps, body)
    await expect.poll(trades).toHaveLength(1)
    // More turns than the four bots that may try the request.
    for (let turns = 0; turns < 8; turns += 1) await work()
    expect((await trades()).map(({ state }) => state)).toEqual(['refused', 'refused', 'refused', 'intended'])
    const acceptPartner = async () => ({ kind: 'ok', holdDays: { own: 0, partner: 0 } })
    for (const { session } of bots) Object.assign(session, { checkPartner: acceptPartner })
    await work()
    expect(await answer).toEqual({ kind: 'active' })
  })

  it('passes the request on to a bot that is enrolled half a minute later', async () => {
    await startFleet(1)
    Object.assign(bots[0]?.session ?? {}, { checkPartner: async () => heldBack })
    const { body } = await aDeposit(till, store)
    const answer = requestTrade(till.deps, body)
    await expect.poll(trades).toHaveLength(1)
    await work()
    await jump(till, 30)
    bots.push(await aBot(till, fakeSession('76561198000000109')))
    for (let turns = 0; turns < 2; turns += 1) await work()
    expect((await trades()).map(({ state }) => state)).toEqual(['refused', 'active'])
    expect(sendsByBot()).toEqual([0, 1])
    // A call that has waited for more than 20 s may answer `sending`. The page then asks again.
    expect(['active', 'sending']).toContain((await answer).kind)
  })
})

describe('D-30 a bot that Steam refuses', () => {
  it('passes the request on within the same call, and gets no new trades', async () => {
    await startFleet(2)
    refuse(bots[0], 'bot_cannot_trade')
    const first = await aDeposit(till, store, { game: 'cs' })
    expect(await request(first.body)).toEqual({ kind: 'active' })
    expect(sendsByBot()).toEqual([1, 1])
    expect(await bars()).toEqual([{ botId: idOf(0), scope: 'all', reason: 'bot_cannot_trade' }])
    const rows = await trades()
    expect(rows.map(({ state }) => state)).toEqual(['refused', 'active'])
    expect(rows[0]?.moved_to).toBe(rows[1]?.id)
    expect(rows[1]).toMatchObject({
      tried_bots: [idOf(0)],
      total: rows[0]?.total,
      quote_id: rows[0]?.quote_id,
      promised_amount: 3_000n,
      promised_days: PROTECTION_DAYS,
    })
    expect(new Set(rows.map((row) => row.secret_code)).size).toBe(2)

    for (let n = 0; n < 3; n += 1) await request((await aDeposit(till, store)).body)
    expect(sendsByBot()).toEqual([1, 4])
  })

  it('passes the request on, and the delivery is credited once', async () => {
    await startFleet(2)
    refuse(bots[0], 'bot_cannot_trade')
    await request((await aDeposit(till, store)).body)
    const [, second] = bots as [Bot, Bot]
    second.session.accept('1')
    await tradeHandlers(till.deps).watch(second.bot)
    expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 0n, available: 3_000n }])
  })

  it('passes the request on, and is barred, if Steam answers 429 to the check before the send', async () => {
    await startFleet(2)
    const limited = { kind: 'unavailable', reason: 'rate_limited', detail: 'HTTP 429' } as const
    Object.assign(bots[0]?.session ?? {}, { checkPartner: async () => limited })
    expect(await request((await aDeposit(till, store)).body)).toEqual({ kind: 'active' })
    expect(sendsByBot()).toEqual([0, 1])
    expect(await bars()).toEqual([{ botId: idOf(0), scope: 'all', reason: 'rate_limited' }])
  })

  it('gets trades again after its bar, and a second refusal bars it for twice as long', async () => {
    await startFleet(2)
    refuse(bots[0], 'bot_cannot_trade', 2)
    await request((await aDeposit(till, store)).body)
    await jump(till, AFTER_BAR_S)
    await request((await aDeposit(till, store)).body)
    expect(sendsByBot()).toEqual([2, 2])
    const [bar] = await listBars(till.db)
    expect(bar).toMatchObject({ times: 2, until: new Date((bar?.barredAt.getTime() ?? 0) + 60 * 60_000) })
  })

  it('is trusted again when Steam takes a new offer from it', async () => {
    await startFleet(1)
    refuse(bots[0], 'bot_cannot_trade')
    expect(await request((await aDeposit(till, store)).body)).toEqual({
      kind: 'refused',
      code: 'no_bot_available',
    })
    await jump(till, AFTER_BAR_S)
    expect(await request((await aDeposit(till, store)).body)).toEqual({ kind: 'active' })
    expect(await till.db.selectFrom('bot_bar').selectAll().execute()).toEqual([])
  })

  it('is barred for a game if its inventory of that game is full', async () => {
    await startFleet(1)
    refuse(bots[0], 'inventory_full')
    const full = await request((await aDeposit(till, store, { game: 'cs' })).body)
    expect(full).toEqual({ kind: 'refused', code: 'no_bot_available' })
    expect(await request((await aDeposit(till, store, { game: 'dota' })).body)).toEqual({ kind: 'active' })
    expect(await bars()).toEqual([{ botId: idOf(0), scope: 'cs', reason: 'inventory_full' }])
  })

  it('has its id in the only error line', async () => {
    await startFleet(2)
    refuse(bots[0], 'bot_cannot_trade')
    await request((await aDeposit(till, store)).body)
    const lines: Record<string, unknown>[] = till.lines.map((line) => JSON.parse(line))
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      {
        msg: 'bot was barred after a refusal or a hold by Steam',
        because: 'bot_cannot_trade',
        botId: String(idOf(0)),
      },
    ])
  })
})

describe('D-30 a request whose bot is out of reach', () => {
  it('moves to another bot if Steam does not answer its bot right before the send', async () => {
    await startFleet(2)
    silence(bots[0])
    expect(await request((await aDeposit(till, store)).body)).toEqual({ kind: 'active' })
    expect(sendsByBot()).toEqual([0, 1])
    expect((await trades()).map(({ state, refusal }) => ({ state, refusal }))).toEqual([
      { state: 'refused', refusal: 'out_of_reach' },
      { state: 'active', refusal: null },
    ])
    expect(await bars()).toEqual([])
  })

  it('waits for its bot if there is no other', async () => {
    await startFleet(1)
    silence(bots[0])
    const deposit = await aDeposit(till, store)
    expect(await request(deposit.body)).toEqual({ kind: 'active' })
    expect(await trades()).toHaveLength(1)
  })

  it('moves to another bot if no process takes it up', async () => {
    await startFleet(2)
    const { body } = await aDeposit(till, store)
    const answer = requestTrade({ ...till.deps, takeUpMs: 20 }, body)
    await expect.poll(trades).toHaveLength(2)
    await work()
    expect(await answer).toEqual({ kind: 'active' })
    expect(sendsByBot()).toEqual([0, 1])
    expect((await trades())[0]).toMatchObject({ state: 'refused', refusal: 'not_taken_up' })
  })

  it('stays with its bot if many requests wait and every bot is late', async () => {
    await startFleet(2)
    for (const bot of bots) refuse(bot, 'items_gone', 3)
    const crowd = await Promise.all([1, 2, 3].map(() => aDeposit(till, store)))
    const answers = crowd.map(({ body }) => requestTrade(till.deps, body))
    await expect.poll(trades).toHaveLength(3)
    await jump(till, 6)
    for (const { id } of await trades()) await moveUntaken(till.deps, id)
    expect((await trades()).map(({ state }) => state)).toEqual(['intended', 'intended', 'intended'])
    await work()
    expect(await Promise.all(answers)).toEqual(
      crowd.map(() => ({ kind: 'refused', code: 'items_unavailable' })),
    )
    expect(sendsByBot().reduce((sum, sends) => sum + sends, 0)).toBe(3)
  })
})

describe('D-30 a request that several bots cannot serve', () => {
  it('is tried by four bots, and by the fifth when the page asks again', async () => {
    await startFleet(5)
    for (const bot of bots.slice(0, 4)) refuse(bot, 'bot_cannot_trade')
    const deposit = await aDeposit(till, store)
    expect(await request(deposit.body)).toEqual({ kind: 'sending' })
    expect(sendsByBot()).toEqual([1, 1, 1, 1, 0])
    expect(await request(deposit.body)).toEqual({ kind: 'active' })
    expect(sendsByBot()).toEqual([1, 1, 1, 1, 1])
  })

  it('is refused for lack of a bot if no bot is left', async () => {
    await startFleet(3)
    for (const bot of bots) refuse(bot, 'bot_cannot_trade')
    const answer = await request((await aDeposit(till, store)).body)
    expect(answer).toEqual({ kind: 'refused', code: 'no_bot_available' })
    expect(sendsByBot()).toEqual([1, 1, 1])
  })
})

describe('D-30 a refusal without a reason', () => {
  it('counts as caused by the shopper if Steam refuses a second bot too, and bars no bot', async () => {
    await startFleet(3)
    for (const bot of bots) refuse(bot, 'access_denied')
    const answer = await request((await aDeposit(till, store)).body)
    expect(answer).toEqual({ kind: 'refused', code: 'trade_refused' })
    expect(sendsByBot()).toEqual([1, 1, 0])
    expect(await bars()).toEqual([])
  })

  it('makes a bot doubted if it is the bot’s third in an hour, and another bot could send to all three partners', async () => {
    await startFleet(2)
    refuse(bots[0], 'access_denied', 3)
    for (let n = 0; n < 3; n += 1) {
      expect(await request((await aDeposit(till, store)).body)).toEqual({ kind: 'active' })
      await till.db
        .updateTable('trade')
        .set({ state: 'timed_out', reason: 'deadline', ended_at: new Date() })
        .where('state', '=', 'active')
        .execute()
      expect(await bars()).toEqual(n < 2 ? [] : [{ botId: idOf(0), scope: 'all', reason: 'doubted' }])
    }
  })

  it('lets a doubted bot collect if no other bot is free, so shoppers cannot put a bot out of use', async () => {
    await startFleet(1)
    const [{ bot }] = bots as [Bot]
    const doubted = { botId: bot.botId, reason: 'doubted', game: 'dota', now: till.clock.now() } as const
    await till.db.transaction().execute((tx) => barBot(tx, doubted))
    expect(await request((await aDeposit(till, store)).body)).toEqual({ kind: 'active' })
  })
})

it('D-17 the answer to the call has the code and the cause of a refusal', async () => {
  await startFleet(1)
  refuse(bots[0], 'partner_trade_ban')
  const { body } = await aDeposit(till, store)
  const app = fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  handleErrors(app, till.deps.log)
  await app.register(tradeRoutes(till.deps))
  const call = app.inject({ method: 'POST', url: '/api/trade', payload: body })
  await expect.poll(async () => (await trades())[0]?.state).toBe('intended')
  await work()
  const answer = await call
  await app.close()
  expect([answer.statusCode, answer.json()]).toMatchObject([
    422,
    { code: 'trade_refused', cause: 'trade_ban' },
  ])
})

describe('D-24 a hold by Steam that is read right before the send', () => {
  it('stops the send and tells the shopper why, if the hold is on the shopper’s account', async () => {
    await startFleet(2)
    for (const { session } of bots) session.holdDays = { partner: 15, own: 0 }
    const answer = await request((await aDeposit(till, store)).body)
    expect(answer).toEqual({ kind: 'refused', code: 'trade_hold' })
    expect(sendsByBot()).toEqual([0, 0])
    expect(await bars()).toEqual([])
  })

  it('bars the bot if the hold is on the bot’s account, and another bot sends', async () => {
    await startFleet(2)
    const [first] = bots as [Bot]
    first.session.holdDays = { partner: 0, own: 7 }
    expect(await request((await aDeposit(till, store)).body)).toEqual({ kind: 'active' })
    expect(sendsByBot()).toEqual([0, 1])
    expect(await bars()).toEqual([{ botId: idOf(0), scope: 'all', reason: 'own_hold' }])
  })
})
