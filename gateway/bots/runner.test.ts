import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createQueue } from '../db/boss-queue.ts'
import type { Queue } from '../db/queue.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { addBot, IDLE_HANDLERS } from '../testing/bots.ts'
import {
  type CountingSteam,
  countingSteam,
  STEAM_DOWN as DOWN,
  BOT_STEAM_ID as STEAM_ID,
  BOT_TOKEN as TOKEN,
} from '../testing/counting-steam.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { type BotContext, type BotHandlers, type BotJob, botQueue } from './bot.ts'
import { startBots } from './runner.ts'
import { listBots } from './store.ts'

let database: TestDatabase
let queue: Queue
let captured: CapturedLog
let steam: CountingSteam
let running: { stop(): Promise<void> }[]

beforeEach(async () => {
  database = await testDatabase()
  captured = captureLog()
  queue = await createQueue({ url: database.url, log: captured.log })
  steam = countingSteam()
  running = []
})

afterEach(async () => {
  await Promise.all(running.map((bots) => bots.stop()))
  await queue.stop()
  await database.close()
})

const box = createSecretBox(randomBytes(32))

/** Simulates a process that holds bots. `contexts`: the arguments of each call of `watch`. */
function start(handlers: Partial<BotHandlers> = {}, options: { monotonicMs?: () => number } = {}) {
  const contexts: BotContext[] = []
  const bots = startBots({
    db: database.db,
    queue,
    steam,
    box,
    log: captured.log,
    clock: systemClock,
    owner: randomUUID(),
    handlers: {
      ...IDLE_HANDLERS,
      laneOf: async () => 'sends',
      ...handlers,
      async watch(bot) {
        contexts.push(bot)
        return handlers.watch?.(bot) ?? 0
      },
    },
    pace: { watchMs: 200, beatMs: 500 },
    scanMs: 500,
    ...options,
  })
  running.push(bots)
  return { ...bots, contexts }
}

/** Enrols the bot with its token as read from a file: with a line break at the end. */
const enrol = () => addBot({ db: database.db, steam, box, clock: systemClock, refreshToken: `${TOKEN}\n` })
const bot = async () => (await listBots(database.db))[0]
const loginAfter = async () => {
  const row = await database.db.selectFrom('bot').select('login_after').executeTakeFirstOrThrow()
  return row.login_after?.getTime() ?? null
}
const loseLease = () =>
  database.pool.query(
    `update bot set lease_owner = '${randomUUID()}', lease_epoch = lease_epoch + 1, lease_until = now() + interval '1 hour'`,
  )
const disarm = () => database.pool.query(`insert into halt (kind, since) values ('disarmed', now())`)
const expectOnline = () => expect.poll(bot).toMatchObject({ reachable: true })
const send = (job: BotJob) =>
  database.db.transaction().execute(async (tx) => {
    const { botId } = (await bot()) ?? { botId: 0n }
    await queue.send(tx, { queue: botQueue(botId), data: job })
  })

describe('an enrolment', () => {
  it('stores the bot under the account of its token, and encrypts the token', async () => {
    expect(await enrol()).toMatchObject({ kind: 'added', steamId: STEAM_ID, name: 'Bot #1' })
    expect(await enrol()).toMatchObject({ kind: 'added' })
    expect(await listBots(database.db)).toMatchObject([{ steamId: STEAM_ID, level: 7, state: 'active' }])
    const stored = await database.db
      .selectFrom('bot')
      .select(['refresh_token', 'member_since'])
      .executeTakeFirstOrThrow()
    expect(stored.member_since).toBe('2015-03-09')
    expect(box.open(stored.refresh_token, `bot:${STEAM_ID}:refresh_token`)).toBe(TOKEN)
    expect(steam.open).toBe(0)
  })

  it('acknowledges the notice about trade protection once', async () => {
    steam.answers = 'down'
    expect(await enrol()).toEqual(DOWN)
    expect(await bot()).toBeUndefined()
    steam.answers = 'good'
    expect(await enrol()).toMatchObject({
      protectionAcknowledged: true,
      tokenExpiresAt: new Date('2027-05-01T00:00:00Z'),
    })
    const before = steam.acknowledgements
    start()
    await expectOnline()
    expect(steam.acknowledgements).toBe(before)
    expect(await bot()).toMatchObject({ tokenExpiresAt: new Date('2027-05-01T00:00:00Z') })
  })

  it('with a dead token is refused', async () => {
    steam.session = 'dead'
    expect(await enrol()).toEqual({ kind: 'refused', reason: 'token_dead' })
    expect(await bot()).toBeUndefined()
  })
})

describe('two processes on one database', () => {
  it('never hold a bot at the same time, and one takes over when the other stops', async () => {
    await enrol()
    // The clock stands still, so no lease ends because the machine is slow.
    const [first, second] = [start({}, { monotonicMs: () => 0 }), start({}, { monotonicMs: () => 0 })]
    await expectOnline()
    const [holder, other] = first.contexts.length > 0 ? [first, second] : [second, first]
    expect(other.contexts).toHaveLength(0)
    const before = holder.contexts[0]
    expect(before?.mayWrite(24_999)).toBe(true)
    expect(before?.mayWrite(25_000)).toBe(false)

    await holder.stop()
    expect(before?.mayWrite(1)).toBe(false)
    expect(steam.open).toBeLessThanOrEqual(1)
    await expect.poll(() => other.contexts).not.toHaveLength(0)
    expect(other.contexts[0]?.leaseEpoch).toBeGreaterThan(before?.leaseEpoch ?? 0n)
    await expectOnline()
    expect(steam.mostOpen).toBe(1)
    await other.stop()
    expect(await bot()).toMatchObject({ reachable: false })
    expect(steam.open).toBe(0)
  })
})

describe('a process', () => {
  it.each([
    ['its lease is lost', loseLease, /^{"level":"error".*lease of a bot was lost/],
    ['the bots are disarmed', disarm, /^{"level":"info".*lease of a bot was given up/],
  ])('stops using a bot when %s', async (_how, end, line) => {
    await enrol()
    const { contexts } = start()
    await expectOnline()
    await end()
    await expect.poll(() => steam.open).toBe(0)
    expect(contexts[0]?.mayWrite(1)).toBe(false)
    await expect
      .poll(() => captured.lines.filter((each) => each.includes('lease of a')))
      .toEqual([expect.stringMatching(line)])
  })
})

describe('a session', () => {
  it('makes no call if the bot’s lease was lost while the session was being opened', async () => {
    await enrol()
    await database.pool.query('update bot set protection_acknowledged_at = null, member_since = null')
    const calls = [steam.acknowledgements, steam.profileReads]
    const { openSession } = steam
    const [asked, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    steam.openSession = (token) => {
      asked.resolve()
      return opened.promise.then(() => openSession(token))
    }
    start()
    await asked.promise
    await loseLease()
    await expect.poll(() => captured.lines.join('')).toContain('lease of a bot was lost')
    opened.resolve()
    await expect.poll(() => [steam.openings, steam.open]).toEqual([2, 0])
    expect([steam.acknowledgements, steam.profileReads]).toEqual(calls)
  })

  it('acknowledges the notice about trade protection if the enrolment did not', async () => {
    await enrol()
    await database.db.updateTable('bot').set({ protection_acknowledged_at: null }).execute()
    const before = steam.acknowledgements
    start()
    await expectOnline()
    expect(steam.acknowledgements).toBe(before + 1)
    const row = database.db.selectFrom('bot').select('protection_acknowledged_at')
    expect((await row.executeTakeFirstOrThrow()).protection_acknowledged_at).not.toBeNull()
  })

  it('D-18 that Steam refuses stops the bot immediately, and for good if Steam refuses again an hour later', async () => {
    await enrol()
    steam.session = 'dead'
    const first = start()
    const reason = /^token_dead: the next login is at 20..-..-..T/
    await expect
      .poll(bot)
      .toMatchObject({ state: 'active', reachable: false, stateReason: expect.stringMatching(reason) })
    const refusals = steam.refusals
    // A restart does not begin the hour again.
    await first.stop()
    start()
    await database.pool.query(`update bot set token_refused_at = token_refused_at - interval '59 minutes'`)
    await database.pool.query(`update bot set login_after = till_now()`)
    await expect.poll(() => steam.refusals).toBe(refusals + 1)
    await expect.poll(loginAfter).toBeGreaterThan(Date.now())
    expect(await bot()).toMatchObject({ state: 'active' })
    await database.pool.query(
      `update bot set token_refused_at = token_refused_at - interval '1 minute', login_after = till_now()`,
    )
    await expect.poll(bot).toMatchObject({ state: 'dead', stateReason: 'token_dead' })
    const lines = captured.lines.join('')
    expect(lines).toContain('it will be tried again')
    expect(lines).toContain('enrol the bot again')
    expect(lines).not.toContain(TOKEN)
  })

  it('D-18 that Steam refused by mistake comes back, and the refusal is deleted', async () => {
    await enrol()
    steam.session = 'dead'
    start()
    await expect.poll(loginAfter).not.toBeNull()
    steam.session = 'open'
    await database.pool.query('update bot set login_after = till_now()')
    await expectOnline()
    await expect.poll(loginAfter).toBeNull()
    const row = await database.db.selectFrom('bot').select('token_refused_at').executeTakeFirstOrThrow()
    expect(row.token_refused_at).toBeNull()
  })

  it('whose token was refused is opened immediately with the token of a new enrolment', async () => {
    await enrol()
    steam.session = 'dead'
    start()
    await expect.poll(loginAfter).not.toBeNull()
    steam.session = 'open'
    await enrol()
    await expectOnline()
  })

  it('comes back automatically after Steam was out of reach', async () => {
    await enrol()
    steam.session = 'down'
    start()
    await expect.poll(bot).toMatchObject({ reachable: false, stateReason: 'steam_error: ECONNREFUSED' })
    steam.session = 'open'
    await expectOnline()
    expect(await bot()).toMatchObject({ stateReason: null })
  })

  it('is opened again after it has ended', async () => {
    await enrol()
    const openingsBefore = steam.openings
    const { contexts } = start()
    await expectOnline()
    steam.answers = 'dead'
    await contexts[0]?.session.readOffer('1')
    steam.answers = 'good'
    await expect.poll(() => steam.openings).toBe(openingsBefore + 2)
    await expectOnline()
    expect(contexts.at(-1)?.leaseEpoch).toBe(contexts[0]?.leaseEpoch)
  })
})

describe('a kind of call', () => {
  const failing = async () => {
    const row = await database.db
      .selectFrom('bot')
      .select(['offers_failing_since', 'inventories_failing_since'])
      .executeTakeFirstOrThrow()
    return { offers: row.offers_failing_since !== null, inventories: row.inventories_failing_since !== null }
  }

  it('D-28 that fails is stored as failing until such a call works again', async () => {
    await enrol()
    const { contexts } = start()
    await expectOnline()
    expect(await failing()).toEqual({ offers: false, inventories: false })
    steam.answers = 'down'
    await contexts[0]?.session.readInventory({ steamId: '76561197960269729', token: 'abcd_-12' }, 'cs', 'en')
    await expect.poll(failing).toEqual({ offers: false, inventories: true })
    await contexts[0]?.session.readOffer('1')
    await expect.poll(failing).toEqual({ offers: true, inventories: true })
    steam.answers = 'good'
    await contexts[0]?.session.readInventory({ steamId: '76561197960269729', token: 'abcd_-12' }, 'cs', 'en')
    await expect.poll(failing).toMatchObject({ inventories: false })
    // No other call reads an offer, so the bot retries automatically.
    await expect.poll(failing).toMatchObject({ offers: false })
  })

  it('D-28 counts as failing while the bot’s session cannot be opened', async () => {
    await enrol()
    steam.session = 'down'
    start()
    await expect.poll(failing).toEqual({ offers: true, inventories: true })
    steam.session = 'open'
    await expect.poll(failing).toEqual({ offers: false, inventories: false })
  })
})

describe('the jobs of a bot', () => {
  it('reach their handlers, and the bot sends for one trade at a time', async () => {
    await enrol()
    let busy = 0
    let mostBusy = 0
    const handled: string[] = []
    const gate = Promise.withResolvers<void>()
    start({
      async trade(_, tradeId) {
        busy += 1
        mostBusy = Math.max(mostBusy, busy)
        await gate.promise
        handled.push(`trade ${tradeId}`)
        busy -= 1
      },
      async inventory(_, requestId) {
        handled.push(`inventory ${requestId}`)
      },
      async refresh(_, tradeId) {
        handled.push(`refresh ${tradeId}`)
      },
    })
    await expectOnline()
    for (const tradeId of ['1', '2', '3']) await send({ kind: 'trade', tradeId })
    await send({ kind: 'inventory', requestId: '4' })
    await send({ kind: 'refresh', tradeId: '5' })
    await expect.poll(() => handled.sort()).toEqual(['inventory 4', 'refresh 5'])
    gate.resolve()
    await expect.poll(() => handled).toHaveLength(5)
    expect(mostBusy).toBe(1)
  })

  it('for trades do not wait for slow inventories', async () => {
    await enrol()
    const gate = Promise.withResolvers<void>()
    const requests: bigint[] = []
    const traded: bigint[] = []
    start({
      async inventory(_, requestId) {
        requests.push(requestId)
        await gate.promise
      },
      async trade(_, tradeId) {
        traded.push(tradeId)
      },
    })
    await expectOnline()
    for (let request = 1; request <= 20; request += 1) {
      await send({ kind: 'inventory', requestId: String(request) })
    }
    // A bot reads four inventories at a time.
    await expect.poll(() => requests).toHaveLength(4)
    await send({ kind: 'trade', tradeId: '99' })
    await expect.poll(() => traded).toEqual([99n])
    expect(requests).toHaveLength(4)
    gate.resolve()
    await expect.poll(() => requests).toHaveLength(20)
  })

  it('start the watch over offers again, which continues while there are open offers', async () => {
    await enrol()
    let offersLeft = 0
    const watch = vi.fn(async () => offersLeft)
    start({ watch })
    await expectOnline()
    await expect.poll(() => watch).toHaveBeenCalledTimes(1)
    offersLeft = 1
    await send({ kind: 'trade', tradeId: '1' })
    await expect.poll(() => watch.mock.calls.length).toBeGreaterThanOrEqual(3)
  })

  it('that fail are repeated, and the bot continues to work', async () => {
    await enrol()
    let calls = 0
    start({
      async trade() {
        calls += 1
        if (calls === 1) throw new Error('a bug')
      },
      async watch() {
        throw new Error('another bug')
      },
    })
    await expectOnline()
    await send({ kind: 'trade', tradeId: '1' })
    await expect.poll(() => calls).toBe(2)
    expect(await bot()).toMatchObject({ reachable: true })
    expect(captured.lines.join('')).toContain('watch over offers failed')
  })
})
