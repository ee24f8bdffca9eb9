import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GAMES } from '../../contract/games.ts'
import { LANGUAGES } from '../../contract/languages.ts'
import type { InventoryQuery } from '../../contract/widget-api.ts'
import { parsePartnerPage } from '../steam/parse.ts'
import { SHOPPER, type StockedTill, startStockedTill } from '../testing/inventory.ts'
import { inventoryPage } from '../testing/steam-page.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { requestTrade } from '../trades/request.ts'
import { msUntilAllowed } from './allowance.ts'
import { sweepInventories } from './jobs.ts'
import { readInventory } from './service.ts'

const at = (seconds: number) => new Date(seconds * 1_000)

/** Records as many reads of Steam as the link may cause in this minute. */
const useUpReads = () =>
  till.db
    .insertInto('inventory_request')
    .values(
      Array.from({ length: 12 }, () => ({
        bot_id: till.bot.botId,
        deposit_id: till.depositId,
        steam_id: 'another',
        token_sealed: Buffer.from('t'),
        token_hmac: Buffer.from('t'),
        game: 'dota' as const,
        language: 'en' as const,
        created_at: till.clock.now(),
      })),
    )
    .execute()

describe('the wait for one more read', () => {
  const limits = [
    { ms: 60_000, most: 2 },
    { ms: 600_000, most: 3 },
  ]
  test.each([
    ['is 0 if nothing was read', [], 100, 0],
    ['is 0 if there is room', [90], 100, 0],
    ['ends when the minute has room again', [70, 80], 100, 30_000],
    ['is 0 once a minute has passed', [40, 50], 100, 0],
    ['ends when all limits have room, even if more reads than allowed were made', [80, 85, 90], 100, 580_000],
    ['ends when the ten minutes have room again', [10, 50, 90], 200, 410_000],
  ])('%s', (_what, readsAtS, nowS, waitMs) => {
    expect(msUntilAllowed(readsAtS.map(at), limits, at(nowS))).toBe(waitMs)
  })
})

let till: StockedTill

beforeEach(async () => {
  till = await startStockedTill()
})
afterEach(() => till.close())

/** Reloads the inventory of every game in every language, in rounds. */
async function hammer({ rounds, stepMs }: { rounds: number; stepMs: number }) {
  const outcomes = { answered: 0, refused: new Set<string>() }
  const askOnce = async (change: Partial<InventoryQuery>) => {
    const query = { hash: till.hash, game: 'cs', reload: true, ...change } as const
    await readInventory(till.deps, query).then(
      () => {
        outcomes.answered += 1
      },
      (error: { code: string }) => outcomes.refused.add(error.code),
    )
  }
  await till.withBot(async () => {
    for (let round = 0; round < rounds; round += 1) {
      for (const game of GAMES) for (const language of LANGUAGES) await askOnce({ game, language })
      till.clock.advance(stepMs)
    }
  })
  return outcomes
}

/** Requests a trade that Steam refuses because its item is gone. */
async function requestGoneItem() {
  const quoteId = (await till.ask()).quoteId ?? undefined
  till.readers[0]?.session.sends.push({ answer: 'refused', reason: 'items_gone' })
  const request = requestTrade(till.deps, { hash: till.hash, game: 'cs', items: ['1'], quoteId })
  const trades = () => till.db.selectFrom('trade').select('id').execute()
  await expect.poll(trades).toHaveLength(1)
  for (const { id } of await trades()) await tradeHandlers(till.deps).trade(till.bot, id)
  expect(await request).toMatchObject({ code: 'items_unavailable' })
}

describe('a link that keeps reloading', () => {
  test('causes at most 12 reads a minute, and otherwise gets stored items', async () => {
    expect(await hammer({ rounds: 12, stepMs: 5_000 })).toEqual({
      answered: 12 * GAMES.length * LANGUAGES.length,
      refused: new Set(),
    })
    expect(till.steam.reads).toBe(12)
  })

  test('causes at most 60 reads within ten minutes, and is refused beyond that', async () => {
    const { refused } = await hammer({ rounds: 10, stepMs: 60_000 })
    expect(refused).toEqual(new Set(['too_many_looks']))
    expect(till.steam.reads).toBe(60)
  })

  test('gets the items of the last minute instead of a reload when its reads are used up', async () => {
    const chargeReadsTo = (depositId: bigint | null) =>
      till.db.updateTable('inventory_request').set({ deposit_id: depositId }).execute()
    await useUpReads()
    await expect(till.ask()).rejects.toMatchObject({ code: 'too_many_looks', retryAfterS: 60 })
    // One read succeeds while the others are charged to no deposit.
    await chargeReadsTo(null)
    await till.ask()
    await chargeReadsTo(till.depositId)
    till.clock.advance(20_000)
    expect(await till.ask({ reload: true })).toMatchObject({ ageSeconds: 20, items: [{ id: '1' }] })
    expect(till.steam.reads).toBe(1)
    // If reads were left, the missing item would cause one.
    await requestGoneItem()
    expect(await till.ask()).toMatchObject({ ageSeconds: 20, items: [{ id: '1' }] })
    expect(till.steam.reads).toBe(1)
  })
})

test('the items of a read are deleted after ten minutes, so a shopper who reloads cannot fill the disk', async () => {
  till.steam.owned = { kind: 'items', items: parsePartnerPage(inventoryPage(200).page)?.items ?? [] }
  const sizes = async () => {
    const { rows } = await sql<{ bytes: number }>`
      select pg_column_size(answer) as bytes from inventory_request order by created_at`.execute(till.db)
    return rows.map(({ bytes }) => (bytes < 1_000 ? 'short' : 'long'))
  }
  await till.ask()
  till.clock.advance(9 * 60_000)
  await till.ask()
  till.clock.advance(60_000)
  await sweepInventories(till.deps)
  expect(await sizes()).toEqual(['long', 'long'])
  till.clock.advance(1)
  await sweepInventories(till.deps)
  expect(await sizes()).toEqual(['short', 'long'])
  till.clock.advance(9 * 60_000)
  await sweepInventories(till.deps)
  expect(await sizes()).toEqual(['short', 'short'])
  expect((await till.ask()).unavailableItems).toBe(200)
})

const answerKinds = async () => {
  const { rows } = await sql<{ kind: string }>`
    select answer->>'kind' as kind from inventory_request order by created_at`.execute(till.db)
  return rows.map(({ kind }) => kind)
}

test('the items of a read are deleted after ten minutes, even if there are few', async () => {
  await till.ask()
  till.clock.advance(10 * 60_000 + 1)
  await sweepInventories(till.deps)
  expect(await answerKinds()).toEqual(['unavailable'])
})

test('the items of a read are deleted after ten minutes, even if the clock was ahead and has been set back', async () => {
  const FIVE_HOURS_MS = 5 * 3_600_000
  till.clock.advance(FIVE_HOURS_MS)
  await till.ask()
  till.clock.advance(10 * 60_000 + 1)
  await sweepInventories(till.deps)
  till.clock.advance(-FIVE_HOURS_MS)
  await till.ask({ game: 'dota' })
  till.clock.advance(10 * 60_000 + 1)
  await sweepInventories(till.deps)
  expect(await answerKinds()).toEqual(['unavailable', 'unavailable'])
})

test('once a clock that was ahead has been set back, the answers and reads from before do not count', async () => {
  const FIVE_HOURS_MS = 5 * 3_600_000
  const { owned } = till.steam
  till.clock.advance(FIVE_HOURS_MS)
  till.steam.owned = { kind: 'unavailable', reason: 'steam_error', detail: '' }
  await till.ask()
  await useUpReads()
  till.clock.advance(-FIVE_HOURS_MS)
  till.steam.owned = owned
  expect((await till.ask()).items).toHaveLength(1)
})

describe('an account', () => {
  type Reads = { reason?: string | null; game?: 'cs' | 'dota'; count?: number }
  /**
   * Stores reads of the account that no deposit caused, each with another token. `reason`: null if no bot has answered.
   */
  const addReads = ({ reason = 'timeout', game = 'cs', count = 30 }: Reads) =>
    till.db
      .insertInto('inventory_request')
      .values(
        Array.from({ length: count }, (_, n) => ({
          bot_id: till.bot.botId,
          steam_id: SHOPPER,
          token_sealed: Buffer.from('t'),
          token_hmac: Buffer.from(`t${n}`),
          game,
          language: 'en' as const,
          created_at: till.clock.now(),
          ...(reason !== null && {
            state: 'done' as const,
            answer: JSON.stringify({ kind: 'unavailable', reason, detail: '' }),
            done_at: till.clock.now(),
          }),
        })),
      )
      .execute()

  test('is read at most 30 times a minute for one game, through all links together', async () => {
    await addReads({})
    await expect(till.ask()).rejects.toMatchObject({ code: 'too_many_looks' })
    expect(await till.ask({ game: 'dota' })).toMatchObject({ inventoryError: false })
    till.clock.advance(60_000)
    expect((await till.ask()).items).toHaveLength(1)
  })

  test('is read at most 40 times a minute for all games, through all links together', async () => {
    await addReads({ count: 20 })
    await addReads({ count: 19, game: 'dota' })
    expect(await till.ask({ game: 'dota' })).toMatchObject({ inventoryError: false })
    for (const game of GAMES.filter((other) => other !== 'dota'))
      await expect(till.ask({ game })).rejects.toMatchObject({ code: 'too_many_looks' })
    till.clock.advance(60_000)
    expect((await till.ask()).items).toHaveLength(1)
  })

  test.each([
    ['refused', 'invalid_token'],
    ['has not answered yet', null],
  ])('is not charged for tokens that Steam %s, because a stranger can invent them', async (_, reason) => {
    await addReads({ reason, count: 40 })
    expect((await till.ask()).items).toHaveLength(1)
  })

  test('is charged for a read with its own token that is not answered yet', async () => {
    await till.ask()
    await addReads({ reason: null, count: 40 })
    await till.db
      .updateTable('inventory_request')
      .set((update) => ({
        token_hmac: update.selectFrom('inventory_request').select('token_hmac').where('state', '=', 'done'),
      }))
      .where('state', '=', 'open')
      .execute()
    // For the game of these requests, the page would wait for the latest of them.
    await expect(till.ask({ game: 'dota' })).rejects.toMatchObject({ code: 'too_many_looks' })
  })

  test('is not charged for a read that our own limits held back', async () => {
    await addReads({ reason: 'not_our_turn', count: 40 })
    expect((await till.ask()).items).toHaveLength(1)
  })
})

describe('a token', () => {
  const changeToken = (token: string) => till.db.updateTable('deposit').set({ user_token: token }).execute()

  test('that Steam refused is not checked again for other games and languages, but a new token is', async () => {
    let checked = 0
    till.bot.session.checkPartner = async () => {
      checked += 1
      return till.steam.partner
    }
    till.steam.partner = { kind: 'refused', reason: 'invalid_token' }
    for (const game of GAMES) {
      for (const language of LANGUAGES) {
        const answer = await till.ask({ game, language, reload: true })
        expect(answer).toMatchObject({ inventoryErrorType: 'invalidPartner' })
        till.clock.advance(30_000)
      }
    }
    expect(checked).toBe(1)
    till.steam.partner = { kind: 'ok', holdDays: { partner: 0, own: 0 } }
    await changeToken('renewed')
    expect((await till.ask()).items).toHaveLength(1)
    expect(checked).toBe(2)
  })

  test('that is new is checked with Steam before it gets stored items', async () => {
    await till.ask()
    await changeToken('invented')
    till.steam.partner = { kind: 'refused', reason: 'invalid_token' }
    expect(await till.ask()).toMatchObject({ items: [], inventoryErrorType: 'invalidPartner' })
    await changeToken('renewed')
    till.steam.partner = { kind: 'ok', holdDays: { partner: 0, own: 0 } }
    till.clock.advance(30_000)
    expect(await till.ask()).toMatchObject({ items: [{ id: '1' }], ageSeconds: 30 })
    expect(till.steam.reads).toBe(1)
    // The age of items counts from the read that returned them, however often the token changes.
    till.clock.advance(29_999)
    await changeToken('third')
    expect((await till.ask()).ageSeconds).toBe(59)
    till.clock.advance(1)
    await changeToken('fourth')
    expect((await till.ask()).ageSeconds).toBe(0)
    expect(till.steam.reads).toBe(2)
  })

  test('that is new causes a read on a reload if the stored items are five seconds old', async () => {
    await till.ask()
    till.clock.advance(5_000)
    await changeToken('renewed')
    expect((await till.ask({ reload: true })).ageSeconds).toBe(0)
    expect(till.steam.reads).toBe(2)
  })
})
