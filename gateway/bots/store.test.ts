import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { moveClockAhead } from '../clock/store.ts'
import { openDatabase, type Tx } from '../db/client.ts'
import type { TradeStateColumn } from '../db/trade-tables.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { DEFAULT_FLEET_LIMITS } from './fleet.ts'
import {
  markDead,
  noteSession,
  releaseLease,
  renewLease,
  setSessionState,
  takeLeases,
} from './lease-store.ts'
import { chooseBotForReading, chooseBotForTrade } from './service.ts'
import { listBots, saveBot } from './store.ts'

const OWNER = '11111111-1111-4111-8111-111111111111'
const OTHER_OWNER = '22222222-2222-4222-8222-222222222222'
const SHOPPER = '76561197960269729'
const OTHER_SHOPPER = '76561197960269730'

let database: TestDatabase

beforeEach(async () => {
  database = await testDatabase()
})
afterEach(() => database.close())

async function aBot(number = 1, level = 10): Promise<bigint> {
  const steamId = `7656119800000000${number}`
  const profile = {
    steamId,
    name: `Bot #${number}`,
    level,
    avatarUrl: '/a.jpg',
    profileUrl: `/profiles/${steamId}`,
    memberSince: null,
  }
  return saveBot(database.db, profile, {
    sealed: Buffer.from('sealed'),
    expiresAt: null,
    acknowledged: true,
  })
}

async function onlineBots(...levels: number[]): Promise<bigint[]> {
  for (const [index, level] of levels.entries()) await aBot(index + 1, level)
  const leases = await takeLeases(database.db, OWNER, 10)
  for (const lease of leases) await setSessionState(database.db, lease, null)
  return leases.map((lease) => lease.botId).sort()
}

async function endLeases() {
  await database.pool.query(`update bot set lease_until = now() - interval '1 second'`)
}

describe('a lease', () => {
  it('goes to only one of two processes that ask at the same time', async () => {
    for (let number = 1; number <= 6; number += 1) await aBot(number)
    const taken = await Promise.all([
      takeLeases(database.db, OWNER, 10),
      takeLeases(database.db, OTHER_OWNER, 10),
      takeLeases(database.db, OTHER_OWNER, 10),
    ])
    const ids = taken.flat().map((lease) => lease.botId)
    expect(ids).toHaveLength(6)
    expect(new Set(ids).size).toBe(6)
  })

  it('D-40 does not run out when the till’s clock is advanced', async () => {
    const sandbox = openDatabase(database.url, 1, 'sandbox')
    await aBot(1)
    const [lease] = await takeLeases(sandbox.db, OWNER, 10)
    await moveClockAhead(sandbox.db, 8 * 86_400)
    expect(await takeLeases(sandbox.db, OTHER_OWNER, 10)).toEqual([])
    expect(lease && (await renewLease(sandbox.db, lease))).toBe(true)
    await sandbox.close()
  })

  it('that has run out goes to another process, under a higher lease number', async () => {
    await aBot()
    const [first] = await takeLeases(database.db, OWNER, 10)
    expect(await takeLeases(database.db, OTHER_OWNER, 10)).toEqual([])
    await endLeases()
    const [second] = await takeLeases(database.db, OTHER_OWNER, 10)
    if (!first || !second) throw new Error('no lease')
    expect(second.leaseEpoch).toBe(first.leaseEpoch + 1n)
    expect(await renewLease(database.db, first)).toBe(false)
    expect(await renewLease(database.db, second)).toBe(true)
  })

  it('that was lost allows no writes', async () => {
    await aBot()
    const [lost] = await takeLeases(database.db, OWNER, 10)
    await endLeases()
    const [mine] = await takeLeases(database.db, OTHER_OWNER, 10)
    if (!lost || !mine) throw new Error('no lease')
    await setSessionState(database.db, mine, null)
    await setSessionState(database.db, lost, 'stopped')
    await markDead(database.db, lost, 'token_dead')
    await releaseLease(database.db, lost)
    expect(await listBots(database.db)).toMatchObject([
      { state: 'active', reachable: true, stateReason: null },
    ])
  })

  it('that was released is free immediately', async () => {
    await aBot()
    const [lease] = await takeLeases(database.db, OWNER, 10)
    if (!lease) throw new Error('no lease')
    await releaseLease(database.db, lease)
    expect(await takeLeases(database.db, OTHER_OWNER, 10)).toHaveLength(1)
  })

  it('whose session uses an older token does not change the expiry of the new token', async () => {
    await aBot()
    const [lease] = await takeLeases(database.db, OWNER, 10)
    if (!lease) throw new Error('no lease')
    const tokenEnd = async () => (await listBots(database.db))[0]?.tokenExpiresAt
    const note = (expiresAt: Date) => noteSession(database.db, lease, { expiresAt, acknowledged: true })
    const [first, second] = [new Date('2027-01-01T00:00:00Z'), new Date('2027-06-01T00:00:00Z')]
    await note(first)
    expect(await tokenEnd()).toEqual(first)
    await database.db
      .updateTable('bot')
      .set({ refresh_token: Buffer.from('renewed'), token_expires_at: second })
      .execute()
    await note(first)
    expect(await tokenEnd()).toEqual(second)
  })

  it('of a dead bot cannot be taken until the bot is enrolled again', async () => {
    await aBot()
    const [lease] = await takeLeases(database.db, OWNER, 10)
    if (!lease) throw new Error('no lease')
    await markDead(database.db, lease, 'token_dead')
    expect(await takeLeases(database.db, OTHER_OWNER, 10)).toEqual([])
    expect(await listBots(database.db)).toMatchObject([{ state: 'dead', stateReason: 'token_dead' }])
    await aBot()
    expect(await takeLeases(database.db, OTHER_OWNER, 10)).toHaveLength(1)
  })
})

describe('the bot for a trade', () => {
  const choose = (partnerSteamId = SHOPPER, items = 1) =>
    database.db
      .transaction()
      .execute((tx: Tx) =>
        chooseBotForTrade(tx, { partnerSteamId, game: 'cs', items, tried: [] }, DEFAULT_FLEET_LIMITS),
      )

  it('is undefined while no bot has an open session and a valid lease', async () => {
    await aBot()
    expect(await choose()).toBeUndefined()
    const [lease] = await takeLeases(database.db, OWNER, 10)
    if (!lease) throw new Error('no lease')
    expect(await choose()).toBeUndefined()
    await setSessionState(database.db, lease, null)
    expect(await choose()).toEqual({ botId: lease.botId })
    await endLeases()
    expect(await choose()).toBeUndefined()
  })

  it('is the one with the fewest live offers', async () => {
    const [first, second] = await onlineBots(90, 10)
    expect(await choose()).toEqual({ botId: first })
    await aTrade(first, 'active')
    expect(await choose()).toEqual({ botId: second })
    await aTrade(second, 'unknown')
    await aTrade(second, 'declined')
    expect(await choose()).toEqual({ botId: first })
  })

  it('is another one if an offer of the first has waited too long to be sent', async () => {
    const [first, second] = await onlineBots(90, 10)
    await aTrade(second, 'active')
    const waitingTradeId = await aTrade(first, 'intended')
    await aTrade(second, 'active')
    const setWaited = (seconds: number) =>
      database.pool.query('update trade set created_at = now() - make_interval(secs => $2) where id = $1', [
        waitingTradeId,
        seconds,
      ])
    await setWaited(0)
    expect(await choose(OTHER_SHOPPER)).toEqual({ botId: first })
    await setWaited(6)
    expect(await choose(OTHER_SHOPPER)).toEqual({ botId: second })
  })

  it('has fewer than five live offers with the shopper', async () => {
    const [bot] = await onlineBots(10)
    for (let offers = 0; offers < 5; offers += 1) await aTrade(bot, 'active')
    expect(await choose()).toBeUndefined()
    expect(await choose(OTHER_SHOPPER)).toEqual({ botId: bot })
  })
})

describe('the room of a bot', () => {
  const oneOffer = { ...DEFAULT_FLEET_LIMITS, liveOffers: 1, liveOffersWithPartner: 1 }
  const request = { partnerSteamId: SHOPPER, game: 'cs', items: 2, tried: [] } as const
  const choose = (limits = DEFAULT_FLEET_LIMITS) =>
    database.db.transaction().execute((tx: Tx) => chooseBotForTrade(tx, request, limits))
  /** The number of requests that wait for a bot's lock. */
  const countWaiting = async () =>
    (await database.pool.query(`select from pg_locks where locktype = 'advisory' and not granted`)).rowCount

  it('counts items on the way, and items that came or left since the last count', async () => {
    const [bot] = await onlineBots(10)
    // Each request has two items.
    const chooseWithin = (cs: number) =>
      choose({ ...DEFAULT_FLEET_LIMITS, itemsHeld: { ...DEFAULT_FLEET_LIMITS.itemsHeld, cs } })
    await database.pool.query(`insert into bot_games (bot_id, items) values ($1, '{"730": 5, "570": 800}')`, [
      bot,
    ])
    expect([await chooseWithin(6), await chooseWithin(7)]).toEqual([undefined, { botId: bot }])
    await addItems(await aTrade(bot, 'active'), 3)
    expect([await chooseWithin(9), await chooseWithin(10)]).toEqual([undefined, { botId: bot }])
    const endedTradeId = await aTrade(bot, 'final')
    await addItems(endedTradeId, 4)
    await database.pool.query(
      `insert into custody_entry (trade_id, asset_id, bot_id, moved)
      select trade_id, asset_id, $2, 'in' from trade_item where trade_id = $1`,
      [endedTradeId, bot],
    )
    expect([await chooseWithin(13), await chooseWithin(14)]).toEqual([undefined, { botId: bot }])
    await database.pool.query(
      `insert into custody_entry (trade_id, asset_id, bot_id, moved) values ($1, (1000 * $1::bigint)::text, $2, 'out')`,
      [endedTradeId, bot],
    )
    expect([await chooseWithin(12), await chooseWithin(13)]).toEqual([undefined, { botId: bot }])
    expect(await listBots(database.db)).toMatchObject([{ itemsHeld: 3 }])
  })

  it('goes to one of two simultaneous requests: the other request waits and finds no room', async () => {
    const [bot] = await onlineBots(10)
    // Wrapped in an object, because the transaction must not wait for the other request.
    const wrapped = await database.db.transaction().execute(async (tx: Tx) => {
      expect(await chooseBotForTrade(tx, request, oneOffer)).toEqual({ botId: bot })
      const otherChoice = choose(oneOffer)
      await expect.poll(countWaiting).toBe(1)
      await aTrade(bot, 'intended')
      return { other: otherChoice }
    })
    expect(await wrapped.other).toBeUndefined()
  })

  it('is locked while a trade is assigned to the bot, so another request gets another bot', async () => {
    const [first, second] = await onlineBots(90, 10)
    await database.db.transaction().execute(async (tx: Tx) => {
      expect(await chooseBotForTrade(tx, request, oneOffer)).toEqual({ botId: first })
      expect(await choose(oneOffer)).toEqual({ botId: second })
    })
  })

  it.each([
    { trades: 1, limits: oneOffer, choice: 'the bot that has room left' },
    { trades: 1, limits: DEFAULT_FLEET_LIMITS, choice: 'the awaited bot' },
    { trades: 2, limits: DEFAULT_FLEET_LIMITS, choice: 'the bot with fewer trades' },
  ])(
    'is awaited while every bot is locked; if the awaited bot gets $trades trades meanwhile, the request gets $choice',
    async (row) => {
      const { trades, limits, choice } = row
      const [first, second] = await onlineBots(90, 10)
      const wrapped = await database.db.transaction().execute(async (tx: Tx) => {
        expect(await chooseBotForTrade(tx, request, limits)).toEqual({ botId: first })
        const afterFirst = { ...request, tried: [first ?? 0n] }
        expect(await chooseBotForTrade(tx, afterFirst, limits)).toEqual({ botId: second })
        const otherChoice = choose(limits)
        await expect.poll(countWaiting).toBe(1)
        for (let number = 1; number <= trades; number += 1) await aTrade(first, 'intended')
        return { other: otherChoice }
      })
      expect(await wrapped.other).toEqual({ botId: choice === 'the awaited bot' ? first : second })
    },
  )

  it('is used in each of three bots by six simultaneous requests', async () => {
    const bots = await onlineBots(90, 60, 30)
    const requests = Array.from({ length: 6 }, (_, n) =>
      database.db.transaction().execute(async (tx: Tx) => {
        const partnerSteamId = String(76561197960269800n + BigInt(n))
        const bot = await chooseBotForTrade(tx, { ...request, partnerSteamId }, DEFAULT_FLEET_LIMITS)
        await aTrade(bot?.botId, 'intended')
        return bot?.botId
      }),
    )
    const chosen = await Promise.all(requests)
    const counts = bots.map((bot) => chosen.filter((each) => each === bot).length)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(counts.reduce((sum, count) => sum + count)).toBe(6)
  })
})

describe('the bot for reading', () => {
  it('is the one with the fewest open requests', async () => {
    expect(await chooseBotForReading(database.db)).toBeUndefined()
    const [first, second] = await onlineBots(10, 10)
    expect(await chooseBotForReading(database.db)).toBe(first)
    await aRequest(first, 'open', 0)
    expect(await chooseBotForReading(database.db)).toBe(second)
  })

  it('is a working one, or a failing one if no other is left', async () => {
    const [first, second] = await onlineBots(10, 10)
    await setFailing(first, true)
    for (let seconds = 30; seconds > 0; seconds -= 1) await aRequest(second, 'open', seconds)
    expect(await chooseBotForReading(database.db)).toBe(second)
    await setFailing(second, true)
    expect(await chooseBotForReading(database.db)).toBe(first)
    await setFailing(second, false)
    await database.pool.query('update bot set online = false where id = $1', [second])
    expect(await chooseBotForReading(database.db)).toBe(first)
  })

  it.each(['rate_limited', 'not_our_turn'])(
    'is another one for half a minute after the answer %s',
    async (reason) => {
      const [first, second] = await onlineBots(10, 10)
      await aRequest(first, 'done', 20)
      await aRequest(second, 'done', 10)
      const setAnswer = (answer: object, secondsAgo: number) =>
        database.pool.query(
          'update inventory_request set answer = $2, done_at = now() - make_interval(secs => $3) where bot_id = $1',
          [first, answer, secondsAgo],
        )
      await setAnswer({ kind: 'unavailable', reason, detail: '' }, 5)
      expect(await chooseBotForReading(database.db)).toBe(second)
      await setAnswer({ kind: 'unavailable', reason, detail: '' }, 31)
      expect(await chooseBotForReading(database.db)).toBe(first)
      await setAnswer({ kind: 'unavailable', reason: 'timeout', detail: '' }, 5)
      expect(await chooseBotForReading(database.db)).toBe(first)
    },
  )

  it('is the one with the oldest last read if several are idle', async () => {
    const [first, second, third] = await onlineBots(10, 10, 10)
    const chosen: unknown[] = []
    for (let seconds = 60; seconds > 54; seconds -= 1) {
      const bot = await chooseBotForReading(database.db)
      chosen.push(bot)
      await aRequest(bot, 'done', seconds)
    }
    expect(chosen).toEqual([first, second, third, first, second, third])
  })

  async function aRequest(bot: bigint | undefined, state: 'open' | 'done', secondsAgo: number) {
    await database.pool.query(
      `insert into inventory_request (bot_id, steam_id, token_sealed, token_hmac, game, language, state, created_at)
      values ($1, $2, '', '', 'cs', 'en', $3, now() - make_interval(secs => $4))`,
      [bot, SHOPPER, state, secondsAgo],
    )
  }

  async function setFailing(bot: bigint | undefined, isFailing: boolean) {
    const since = isFailing ? new Date() : null
    await database.pool.query('update bot set inventories_failing_since = $2 where id = $1', [bot, since])
  }
})

let tradeCount = 0

async function aTrade(botId: bigint | undefined, state: TradeStateColumn): Promise<string> {
  tradeCount += 1
  const code = `CODE${tradeCount}`
  const { rows } = await database.pool.query<{ id: string }>(
    `with s as (insert into store (name, origins) values ('s', '{https://shop.example}') returning id),
      r as (insert into exchange_rate (currency, per_usd, source, as_of) values ('USD', 1, 't', now()) returning id),
      d as (insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at)
        select md5($1), s.id, $1, '', 'USD', 'https://shop.example', now() from s returning id),
      q as (insert into quote (id, deposit_id, game, currency, rate_id, created_at, expires_at)
        select gen_random_uuid(), d.id, 'cs', 'USD', r.id, now(), now() from d, r returning id, deposit_id)
    insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, partner_token, state,
      currency, total, gross_total)
    select q.deposit_id, $2, q.id, 'cs', $1, $3, 'abcdefgh', $4, 'USD', 1, 1 from q returning id::text`,
    [code, botId, SHOPPER, state],
  )
  return rows[0]?.id ?? ''
}

/** Adds items whose asset ids count up from a thousand times the trade's number. */
async function addItems(tradeId: string, count: number): Promise<void> {
  await database.pool.query(
    `insert into trade_item (trade_id, asset_id, app_id, context_id, name, market_hash_name, price, gross)
    select $1::bigint, (1000 * $1::bigint + n)::text, 730, '2', 'Key', 'Key', 1, 1 from generate_series(0, $2 - 1) n`,
    [tradeId, count],
  )
}
