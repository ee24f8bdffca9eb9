import { type FastifyInstance, fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GAMES } from '../../contract/games.ts'
import { type Payment, paymentSchema } from '../../contract/widget-api.ts'
import type { BotContext } from '../bots/bot.ts'
import { botQueue } from '../bots/bot.ts'
import { type Database, openDatabase } from '../db/client.ts'
import { publishEvents } from '../events/service.ts'
import { handleErrors } from '../http/problem.ts'
import { extendDeposits, extendTrades } from '../outages/store.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, anEndpoint, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { requestTrade } from '../trades/request.ts'
import { depositRoutes, paymentRoute } from './routes.ts'
import { viewReader } from './shopper-view.ts'
import { createViewCache, type ViewCache } from './view-cache.ts'

const COMMUNITY = 'http://steam.test'

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession
/** Separate connections for the views, to count their queries. */
let polling: Database
let queries: number
let views: ViewCache
let app: FastifyInstance
let nowMs: number
let isOverloaded: boolean

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  ;({ bot, session } = await aBot(till))
  polling = openDatabase(till.url, 10, 'sandbox')
  queries = 0
  polling.pool.on('acquire', () => {
    queries += 1
  })
  nowMs = 0
  isOverloaded = false
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { log, queue } = till.deps
  views = createViewCache({ read: viewReader(polling.db, COMMUNITY), log, nowMs: () => nowMs })
  app = fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  handleErrors(app, log)
  await app.register(
    paymentRoute({
      db: till.db,
      queue,
      log,
      views,
      nowMs: () => nowMs,
      unableReason: () => (isOverloaded ? 'overloaded' : undefined),
    }),
  )
  await app.register(depositRoutes(till.deps))
})
afterEach(async () => {
  views.stop()
  vi.useRealTimers()
  await app.close()
  await polling.close()
  await till.close()
})

async function poll(hash: string, etag?: string) {
  const headers = etag === undefined ? {} : { 'if-none-match': etag }
  const answer = await app.inject({ method: 'GET', url: `/api/payment?hash=${hash}`, headers })
  return { status: answer.statusCode, etag: String(answer.headers.etag), headers: answer.headers, answer }
}

/** Returns the page's current view. */
async function payment(hash: string): Promise<Payment> {
  const { answer } = await poll(hash)
  return paymentSchema.strict().parse(answer.json())
}

/** Returns the page's view. Expects its time to run until `end` by the database's clock. */
async function paymentUntil(hash: string, end: Date) {
  const secondsLeft = async () => {
    const seconds = sql<number>`ceil(extract(epoch from ${end}::timestamptz - till_now()))::int`.as('seconds')
    return (await till.db.selectNoFrom(seconds).executeTakeFirstOrThrow()).seconds
  }
  const secondsBefore = await secondsLeft()
  const view = await payment(hash)
  expect(view.timeLeft).toBeLessThanOrEqual(secondsBefore)
  expect(view.timeLeft).toBeGreaterThanOrEqual(await secondsLeft())
  return view
}

const secondsLater = (from: Date, seconds: number) => new Date(from.getTime() + seconds * 1_000)

describe('GET /api/payment', () => {
  it('shows a new deposit, with the seconds until it expires', async () => {
    await till.db.updateTable('store').set({ accent: '#3366cc' }).where('id', '=', store.id).execute()
    const { hash, id } = await aDeposit(till, store)
    const view = await paymentUntil(hash, secondsLater(till.clock.now(), 3_600))
    expect(view).toMatchObject({
      id: String(id),
      storeName: 'Ember Forge',
      storeAccent: '#3366cc',
      status: 'created',
      amount: null,
      bot: null,
      creating: false,
      itemCount: 0,
      backToStoreUrl: 'https://store.test/',
      games: GAMES,
    })
    expect(view.user?.tradeUrl).toMatch(/partner=\d+$/)
    // The trade token that `aDeposit` stores.
    expect(JSON.stringify(view)).not.toContain('tok-en_1')
  })

  it('A-019 names the games of the deposit', async () => {
    const { hash, id } = await aDeposit(till, store)
    await till.db
      .updateTable('deposit')
      .set({ games: ['rust', 'tf'] })
      .where('id', '=', id)
      .execute()
    expect((await payment(hash)).games).toEqual(['rust', 'tf'])
  })

  it('is refused while too many calls wait for the database, unless the cache has the view unchanged', async () => {
    const { hash } = await aDeposit(till, store)
    const { etag } = await poll(hash)
    isOverloaded = true
    const refused = await poll(hash)
    expect(refused.answer.json()).toMatchObject({ status: 503, code: 'overloaded' })
    expect(refused.headers['retry-after']).toBe('1')
    expect(await poll(hash, etag)).toMatchObject({ status: 304 })
  })

  it('D-40 computes the remaining time with the advanced clock', async () => {
    const { hash } = await aDeposit(till, store)
    const end = secondsLater(till.clock.now(), 3_600)
    await jump(till, 600)
    const { timeLeft } = await paymentUntil(hash, end)
    expect(timeLeft).toBeGreaterThan(0)
  })

  it('D-23 a poll without news is answered with 304 and without a query', async () => {
    const { hash } = await aDeposit(till, store)
    const { etag } = await poll(hash)
    const queriesBefore = queries
    const answers = await Promise.all(Array.from({ length: 200 }, () => poll(hash, etag)))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([304]))
    expect(answers[0]?.answer.body).toBe('')
    expect(queries).toBe(queriesBefore)
  })

  it('refreshes all polled deposits with one query, and only a changed one has a new answer', async () => {
    const deposits = await Promise.all(Array.from({ length: 5 }, () => aDeposit(till, store)))
    const [first] = deposits
    if (first === undefined) throw new Error('no deposit')
    const etags = await Promise.all(deposits.map(async ({ hash }) => (await poll(hash)).etag))
    await till.db.updateTable('deposit').set({ user_name: 'other' }).where('id', '=', first.id).execute()
    const queriesBefore = queries
    await vi.advanceTimersByTimeAsync(500)
    await expect.poll(async () => (await poll(first.hash, etags[0])).status).toBe(200)
    expect(queries).toBe(queriesBefore + 1)
    const others = await Promise.all(deposits.slice(1).map(({ hash }, i) => poll(hash, etags[i + 1])))
    expect(others.map(({ status }) => status)).toEqual([304, 304, 304, 304])
  })

  it('keeps its ETag while time passes', async () => {
    const { hash } = await aDeposit(till, store)
    const { etag } = await poll(hash)
    await jump(till, 600)
    await vi.advanceTimersByTimeAsync(500)
    await expect.poll(async () => (await payment(hash)).timeLeft).toBeLessThanOrEqual(3_000)
    expect((await poll(hash)).etag).toBe(etag)
  })

  it('D-23 D-28 the ETag changes if an outage extends the time, so no page keeps the old time', async () => {
    const created = await aDeposit(till, store)
    const pending = await aDeposit(till, store)
    await offerFor(till, bot, pending)
    const etags = await Promise.all([created, pending].map(async ({ hash }) => (await poll(hash)).etag))
    const [since, until] = [till.clock.now(), secondsLater(till.clock.now(), 100)]
    await till.db.transaction().execute(async (tx) => {
      await extendDeposits(tx, since, until)
      await extendTrades(tx, since, until)
    })
    for (const [i, { hash }] of [created, pending].entries())
      expect((await poll(hash)).etag).not.toBe(etags[i])
  })

  it('D-25 the answer says that an offer is being created, and later shows the offer, the code and the time', async () => {
    const deposit = await aDeposit(till, store)
    const ruby = { phase: 'ruby' } as const
    await till.db.updateTable('quote_item').set(ruby).where('name', '=', 'Item 1').execute()
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(async () => (await payment(deposit.hash)).creating).toBe(true)
    expect(await payment(deposit.hash)).toMatchObject({
      status: 'created',
      amount: 3_000,
      itemCount: 2,
      items: [
        { name: 'Item 1', phase: 'ruby', price: 2_000, count: 1 },
        { name: 'Item 0', price: 1_000, count: 1 },
      ],
      acceptUrl: null,
      steamTradeMessage: null,
    })
    const { id, secret_code: code } = await till.db
      .selectFrom('trade')
      .select(['id', 'secret_code'])
      .executeTakeFirstOrThrow()
    await tradeHandlers(till.deps).trade(bot, id)
    await answer
    const view = await paymentUntil(deposit.hash, secondsLater(till.clock.now(), 300))
    expect(view).toMatchObject({
      status: 'pending',
      creating: false,
      amount: 3_000,
      itemCount: 2,
      steamTradeId: '1',
      steamTradeMessage: code,
      acceptUrl: `${COMMUNITY}/tradeoffer/1/`,
      clientUrl: 'steam://url/ShowTradeOffer/1',
      bot: { name: 'Tradetill Bot', level: 47, memberSince: '2015-03-09' },
    })
  })

  it('D-7 returns a redirect only after success', async () => {
    const deposit = await aDeposit(till, store)
    const redirect = 'https://store.test/thanks'
    await till.db.updateTable('deposit').set({ redirect_url: redirect }).execute()
    await offerFor(till, bot, deposit)
    expect(await payment(deposit.hash)).not.toHaveProperty('redirectUrl')
    session.accept('1')
    await tradeHandlers(till.deps).watch(bot)
    expect(await payment(deposit.hash)).toMatchObject({
      status: 'succeeded',
      amount: 3_000,
      timeLeft: null,
      redirectUrl: redirect,
    })
  })

  it('D-7 sends nobody to an origin that the store has given up: the way back leads to the store’s first origin', async () => {
    const deposit = await aDeposit(till, store)
    await till.db.updateTable('deposit').set({ redirect_url: 'https://store.test/thanks' }).execute()
    await offerFor(till, bot, deposit)
    session.accept('1')
    await tradeHandlers(till.deps).watch(bot)
    const { etag } = await poll(deposit.hash)
    await till.db
      .updateTable('store')
      .set({ origins: ['https://new.test', 'https://other.test'] })
      .execute()
    const moved = await poll(deposit.hash)
    expect(moved.answer.json()).toMatchObject({ status: 'succeeded', backToStoreUrl: 'https://new.test/' })
    expect(moved.answer.json()).not.toHaveProperty('redirectUrl')
    expect(moved.etag).not.toBe(etag)
  })

  it('A-053 after success the answer says whether the store was told, if an endpoint subscribes to the event of the success', async () => {
    const deposit = await aDeposit(till, store)
    await offerFor(till, bot, deposit)
    session.accept('1')
    await tradeHandlers(till.deps).watch(bot)
    expect(await payment(deposit.hash)).not.toHaveProperty('storeTold')
    await anEndpoint(till, store, 'https://store.test/reversals', ['deposit.reversed'])
    expect(await payment(deposit.hash)).not.toHaveProperty('storeTold')
    await anEndpoint(till, store, 'https://store.test/news')
    expect(await payment(deposit.hash)).toMatchObject({ status: 'succeeded', storeTold: false })
    await publishEvents(till.deps)
    expect(await payment(deposit.hash)).toMatchObject({ storeTold: false })
    await till.db.updateTable('webhook_delivery').set({ state: 'delivered', due_at: null }).execute()
    expect(await payment(deposit.hash)).toMatchObject({ storeTold: true })
    // The till has given up, so the page no longer promises that the store will know.
    await till.db.updateTable('webhook_delivery').set({ state: 'failed' }).execute()
    expect(await payment(deposit.hash)).not.toHaveProperty('storeTold')
    await till.db.deleteFrom('webhook_delivery').execute()
    expect(await payment(deposit.hash)).not.toHaveProperty('storeTold')
  })

  it('D-8 the answer has no time after the shopper has accepted', async () => {
    const deposit = await aDeposit(till, store)
    await offerFor(till, bot, deposit)
    const { etag } = await poll(deposit.hash)
    session.accept('1', { isReceived: false })
    await tradeHandlers(till.deps).watch(bot)
    expect(await payment(deposit.hash)).toMatchObject({ status: 'pending', timeLeft: null })
    expect((await poll(deposit.hash)).etag).not.toBe(etag)
  })

  it('makes the bot read the offer when a shopper returns to a pending deposit, at most once in two seconds', async () => {
    const deposit = await aDeposit(till, store)
    await offerFor(till, bot, deposit)
    const refreshes: unknown[] = []
    const stop = await till.deps.queue.work(botQueue(bot.botId), async (data) => {
      if (JSON.stringify(data).includes('refresh')) refreshes.push(data)
    })
    const { etag } = await poll(deposit.hash)
    await expect.poll(() => refreshes).toHaveLength(1)
    nowMs += 1_999
    await poll(deposit.hash)
    await poll(deposit.hash, etag)
    nowMs += 1
    await poll(deposit.hash)
    await expect.poll(() => refreshes.length).toBeGreaterThanOrEqual(2)
    const sent = await polling.pool.query("select 1 from pgboss.job where data->>'kind' = 'refresh'")
    expect(sent.rowCount).toBe(2)
    await stop()
  })

  it('refuses an invalid or unknown hash with problem JSON that is not cached', async () => {
    const invalid = await poll('xyz')
    expect(invalid.answer.json()).toMatchObject({ status: 404, code: 'deposit_not_found' })
    expect(invalid.headers).toMatchObject({ 'cache-control': 'no-store' })
    const unknown = await poll('0'.repeat(32))
    expect(unknown.answer.json()).toMatchObject({ status: 404, code: 'deposit_not_found' })
    expect(unknown.headers).toMatchObject({ 'cache-control': 'no-store' })
  })
})

it('an error report is logged only for a deposit’s page, and without the full hash', async () => {
  const { hash } = await aDeposit(till, store)
  const reportFrom = async (path: string, message: string) => {
    const url = `https://till.test${path}?x=1`
    const payload = { message, type: 'error', filename: 'app.js', lineno: 1, empty: false, url }
    return (await app.inject({ method: 'POST', url: '/api/error-report', payload })).statusCode
  }
  const unknown = `/deposit/${'ab'.repeat(16)}`
  const paths = [unknown, '/help', `/deposit/${hash}`]
  for (const path of paths) expect(await reportFrom(path, `broken at ${path}`)).toBe(204)
  const reported = till.lines.filter((line) => line.includes('a page reported an error'))
  expect(reported).toHaveLength(1)
  expect(reported[0]).toContain(`broken at /deposit/${hash.slice(0, 6)}`)
  expect(reported[0]).not.toContain(hash)
})

it('trade links from one address are looked up four at a time, and a link from another does not wait for them', async () => {
  const begunReads: string[] = []
  const release = Promise.withResolvers<void>()
  const steam = {
    ...till.deps.steam,
    readProfile: async (steamId: string) => {
      begunReads.push(steamId)
      await release.promise
      return till.deps.steam.readProfile(steamId)
    },
  }
  const page = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  await page.register(depositRoutes({ ...till.deps, steam }))
  const { hash } = await aDeposit(till, store)
  const give = async (remoteAddress: string, partner: number) => {
    const tradeUrl = `https://steamcommunity.com/tradeoffer/new/?partner=${partner}&token=abcd_-12`
    const payload = { hash, tradeUrl }
    return (await page.inject({ method: 'POST', url: '/api/trade-url', remoteAddress, payload })).statusCode
  }
  const fromOneAddress = [1, 2, 3, 4, 5, 6].map((partner) => give('203.0.113.9', partner))
  await expect.poll(() => begunReads.length).toBe(4)
  const fromAnother = give('203.0.113.10', 9)
  await expect.poll(() => begunReads.slice(4)).toEqual(['76561197960265737'])
  release.resolve()
  expect(await Promise.all([...fromOneAddress, fromAnother])).toEqual(Array(7).fill(200))
  await page.close()
})
