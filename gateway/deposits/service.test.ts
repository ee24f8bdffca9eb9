import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { steamIdOfAccount } from '../../contract/steam-id.ts'
import { sha256 } from '../kit/sha256.ts'
import { tokenOfDeposit } from '../shoppers/trade-token.ts'
import type { ProfileAnswer, Steam } from '../steam/steam.ts'
import { aBot, aDeposit, aStore, startTill, TEST_BOX, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { expireDeposit, sweepDeposits, workOnExpiry } from '../trades/expiry.ts'
import { requestTrade } from '../trades/request.ts'
import { createDeposit, prefillShopper } from './create.ts'
import { sweepLinks } from './jobs.ts'
import { resolveUser } from './service.ts'
import { storeDepositOf } from './store-deposit.ts'

const HOUR_MS = 3_600_000
const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=39734275&token=Ab_cd-12'
const LINK_WITHOUT_TOKEN = 'https://steamcommunity.com/tradeoffer/new/?partner=39734275'
const BODY = {
  externalId: 'top-up',
  currency: 'EUR',
  backToStoreUrl: 'https://store.test/back',
  maxAmount: 5_000,
} as const

let till: Till
let store: { id: bigint }

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
})
afterEach(() => till.close())

const refusal = (code: string) => ({ name: 'ProblemError', code })

const statusOf = async (id: bigint) =>
  (await till.db.selectFrom('deposit').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status

describe('a call that opens a deposit', () => {
  it('opens a deposit that lives for an hour and has an unguessable link', async () => {
    const { deposit, created } = await createDeposit(till.deps, store, BODY)
    expect(created).toBe(true)
    expect(deposit).toMatchObject({
      externalId: 'top-up',
      status: 'created',
      currency: 'EUR',
      amount: null,
      trade: null,
    })
    expect(deposit.url).toMatch(/^http:\/\/till\.test\/deposit\/[0-9a-f]{32}$/)
    expect(Date.parse(deposit.expiresAt) - Date.parse(deposit.createdAt)).toBe(HOUR_MS)
  })

  it('returns the same deposit when it is repeated, with its fields in any order', async () => {
    const first = await createDeposit(till.deps, store, BODY)
    const { maxAmount, backToStoreUrl, currency, externalId } = BODY
    const again = await createDeposit(till.deps, store, { maxAmount, backToStoreUrl, currency, externalId })
    expect(again).toEqual({ deposit: first.deposit, created: false })
  })

  it.each([undefined, LINK])(
    'is the same with empty metadata as without, with the trade link %s',
    async (tradeUrl) => {
      const without = { ...BODY, tradeUrl }
      const { deposit } = await createDeposit(till.deps, store, without)
      const again = await createDeposit(till.deps, store, { ...without, metadata: {} })
      expect(again).toEqual({ deposit, created: false })
      const other = createDeposit(till.deps, store, { ...without, metadata: { a: '1' } })
      await expect(other).rejects.toMatchObject({ ...refusal('order_conflict'), asked: 'metadata' })
    },
  )

  it('is the same with empty metadata if its deposit was created by an earlier version', async () => {
    const body = { ...BODY, metadata: {} }
    const { deposit } = await createDeposit(till.deps, store, body)
    const sorted = Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1))
    const hash = sha256(JSON.stringify(Object.fromEntries(sorted)))
    await till.db.updateTable('deposit').set({ request_sha256: hash }).execute()
    for (const repeated of [body, BODY]) {
      expect(await createDeposit(till.deps, store, repeated)).toEqual({ deposit, created: false })
    }
  })

  it('opens one deposit even if it is made twenty times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => createDeposit(till.deps, store, BODY)))
    expect(new Set(answers.map(({ deposit }) => deposit.id)).size).toBe(1)
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
  })

  it('is refused if an earlier call had the same externalId and other values', async () => {
    await createDeposit(till.deps, store, BODY)
    const conflicting = createDeposit(till.deps, store, { ...BODY, maxAmount: 5_001 })
    await expect(conflicting).rejects.toMatchObject({ ...refusal('order_conflict'), asked: 'maxAmount' })
  })

  it('opens a deposit that another store cannot see, and whose externalId other stores can use too', async () => {
    const { deposit } = await createDeposit(till.deps, store, BODY)
    const otherStore = await aStore(till)
    const { publicUrl } = till.deps
    expect(
      await storeDepositOf(till.db, { storeId: otherStore.id, depositId: BigInt(deposit.id) }, publicUrl),
    ).toBeUndefined()
    expect(
      await storeDepositOf(till.db, { storeId: store.id, depositId: BigInt(deposit.id) }, publicUrl),
    ).toEqual(deposit)
    expect((await createDeposit(till.deps, otherStore, BODY)).created).toBe(true)
  })
})

describe('a trade link that a shopper gives', () => {
  const open = async () => {
    const { deposit } = await createDeposit(till.deps, store, BODY)
    return { id: BigInt(deposit.id), hash: deposit.url.slice(-32) }
  }
  const withProfile = (answer: ProfileAnswer) => ({
    ...till.deps,
    steam: { ...till.deps.steam, readProfile: async () => answer },
  })

  it('makes its account the shopper of the deposit', async () => {
    const { hash, id } = await open()
    const user = await resolveUser(till.deps, { hash, tradeUrl: ` ${LINK.replace('https', 'http')} ` })
    expect(user).toEqual({
      name: 'nova_hound',
      profileUrl: 'p',
      avatarUrl: 'a',
      tradeUrl: LINK_WITHOUT_TOKEN,
    })
    const row = await till.db.selectFrom('deposit').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    expect(row).toMatchObject({ user_steam_id: '76561198000000003', user_token: null })
    expect(tokenOfDeposit(TEST_BOX, row)).toBe('Ab_cd-12')
  })

  it.each<[string, string, string]>([
    ['not a trade link', 'https://steamcommunity.com/id/nova', 'invalid_trade_link'],
    ['a link to a look-alike host', LINK.replace('steamcommunity', 'steamcomunity'), 'invalid_trade_link'],
    ['a trade link with more text after it', `${LINK}&x=1`, 'invalid_trade_link'],
  ])('is refused if it is %s', async (_name, tradeUrl, code) => {
    const { hash } = await open()
    await expect(resolveUser(till.deps, { hash, tradeUrl })).rejects.toMatchObject(refusal(code))
  })

  it('is refused if it is the eleventh of its deposit within ten minutes, without a request to Steam', async () => {
    const { hash } = await open()
    const profilesRead: string[] = []
    const readProfile = (steamId: string) => {
      profilesRead.push(steamId)
      return till.deps.steam.readProfile(steamId)
    }
    const give = (n: number) => {
      // A token has eight characters.
      const tradeUrl = LINK.replace('Ab_cd-12', `Ab_cd-${10 + n}`)
      return resolveUser({ ...till.deps, steam: { ...till.deps.steam, readProfile } }, { hash, tradeUrl })
    }
    for (let n = 0; n < 10; n += 1) {
      await give(n)
      till.clock.advance(1_000)
    }
    await expect(give(10)).rejects.toMatchObject({ ...refusal('too_many_looks'), retryAfterS: 590 })
    expect(profilesRead).toHaveLength(10)
    // A repeated link is not a new one, and another deposit has its own limit.
    await give(9)
    const otherDeposit = await createDeposit(till.deps, store, { ...BODY, externalId: 'another' })
    await resolveUser(till.deps, { hash: otherDeposit.deposit.url.slice(-32), tradeUrl: LINK })
    till.clock.advance(590_000)
    expect(await give(10)).toMatchObject({ name: 'nova_hound' })
    await sweepLinks(till.deps)
    till.clock.advance(HOUR_MS + 1)
    await sweepLinks(till.deps)
    expect(await till.db.selectFrom('deposit_link').selectAll().execute()).toEqual([])
  })

  it('is not replaced by the store’s link, whose profile Steam returned later', async () => {
    const { deposit } = await createDeposit(till.deps, store, { ...BODY, tradeUrl: LINK })
    const [isAsked, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const steam: Steam = {
      ...till.deps.steam,
      async readProfile(steamId) {
        isAsked.resolve()
        await mayAnswer.promise
        return till.deps.steam.readProfile(steamId)
      },
    }
    const prefill = prefillShopper({ ...till.deps, steam }, BigInt(deposit.id))
    await isAsked.promise
    const own = LINK.replace('39734275', '39734276')
    await resolveUser(till.deps, { hash: deposit.url.slice(-32), tradeUrl: own })
    mayAnswer.resolve()
    await prefill
    const { user_steam_id } = await till.db
      .selectFrom('deposit')
      .select('user_steam_id')
      .where('id', '=', BigInt(deposit.id))
      .executeTakeFirstOrThrow()
    expect(user_steam_id).toBe(steamIdOfAccount(39_734_276))
  })

  it('is refused for an unknown deposit', async () => {
    const answer = resolveUser(till.deps, { hash: '0'.repeat(32), tradeUrl: LINK })
    await expect(answer).rejects.toMatchObject(refusal('deposit_not_found'))
  })

  it('is refused with the reason if its account is unknown, or Steam cannot look it up, and its token is not logged', async () => {
    const { hash } = await open()
    const unknown = withProfile({ kind: 'unknown_account' })
    await expect(resolveUser(unknown, { hash, tradeUrl: LINK })).rejects.toMatchObject(
      refusal('user_not_found'),
    )
    const away = withProfile({ kind: 'unavailable', reason: 'timeout', detail: 'no answer' })
    await expect(resolveUser(away, { hash, tradeUrl: LINK })).rejects.toMatchObject(
      refusal('steam_unavailable'),
    )
    expect(till.lines.join('')).not.toContain('Ab_cd-12')
  })

  it('may be replaced, but not during a trade or after the deposit’s end', async () => {
    const { bot } = await aBot(till)
    const deposit = await aDeposit(till, store)
    const request = requestTrade(till.deps, deposit.body)
    const trades = () => till.db.selectFrom('trade').select('id').execute()
    await expect.poll(trades).toHaveLength(1)
    const change = () => resolveUser(till.deps, { hash: deposit.hash, tradeUrl: LINK })
    await expect(change()).rejects.toMatchObject(refusal('trade_in_progress'))
    for (const { id } of await trades()) await tradeHandlers(till.deps).trade(bot, id)
    await request
    await till.db.updateTable('trade').set({ state: 'declined' }).execute()
    await till.db.updateTable('deposit').set({ status: 'created' }).execute()
    expect((await change()).tradeUrl).toBe(LINK_WITHOUT_TOKEN)
    await till.db.updateTable('deposit').set({ status: 'tradeDeclined' }).execute()
    await expect(change()).rejects.toMatchObject(refusal('deposit_closed'))
  })
})

describe('the time of a deposit', () => {
  it('ends after an hour, with a single event for the store', async () => {
    const { id } = await aDeposit(till, store)
    till.clock.advance(HOUR_MS - 1)
    await expireDeposit(till.deps, id)
    expect(await statusOf(id)).toBe('created')
    till.clock.advance(1)
    await Promise.all(Array.from({ length: 5 }, () => expireDeposit(till.deps, id)))
    expect(await statusOf(id)).toBe('paymentTimeout')
    const events = await till.db.selectFrom('event').select('type').execute()
    expect(events).toEqual([{ type: 'deposit.payment_timeout' }])
  })

  it('is ended by the sweep if its job was lost, but not before the expiry', async () => {
    const [early, late] = [await aDeposit(till, store), await aDeposit(till, store)]
    const inTwoHours = new Date(till.clock.now().getTime() + 2 * HOUR_MS)
    await till.db.updateTable('deposit').set({ expires_at: inTwoHours }).where('id', '=', late.id).execute()
    till.clock.advance(HOUR_MS)
    await sweepDeposits(till.deps)
    expect(await statusOf(early.id)).toBe('paymentTimeout')
    expect(await statusOf(late.id)).toBe('created')
  })

  it('is ended by its job at the expiry', async () => {
    const start = till.clock.now()
    till.clock.advance(-HOUR_MS)
    const { id } = await aDeposit(till, store)
    till.clock.set(start)
    const stop = await workOnExpiry(till.deps)
    await expect.poll(() => statusOf(id)).toBe('paymentTimeout')
    await stop()
  })

  it('D-6 does not end while the deposit has an open trade', async () => {
    const { bot } = await aBot(till)
    const deposit = await aDeposit(till, store)
    const request = requestTrade(till.deps, deposit.body)
    const trades = () => till.db.selectFrom('trade').select('id').execute()
    await expect.poll(trades).toHaveLength(1)
    const soon = new Date(till.clock.now().getTime() + 10_000)
    await till.db.updateTable('deposit').set({ expires_at: soon }).execute()
    till.clock.advance(30_000)
    await sweepDeposits(till.deps)
    expect(await statusOf(deposit.id)).toBe('created')
    for (const { id } of await trades()) await tradeHandlers(till.deps).trade(bot, id)
    await request
    expect(await statusOf(deposit.id)).toBe('pending')
  })
})
