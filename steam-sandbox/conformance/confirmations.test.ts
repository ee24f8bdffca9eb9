import { createRequire } from 'node:module'
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { credentialsOf } from '../credentials.ts'
import { refreshTokenOf } from '../tokens.ts'
import { findAccount, STATE } from '../world/world.ts'
import {
  createCommunity,
  createSession,
  failure,
  logIn,
  type Person,
  read,
  sendDraft,
  startSteamWithoutWaits,
  wait,
} from './libraries.ts'
import { testsOfRows } from './rows.ts'

type Confirmation = {
  id: string
  type: number
  creator: string
  key: string
  getOfferID(time: number, key: string, done: (error: Error | null, offerId: string | null) => void): void
}
type ConfirmationClient = {
  setCookies(cookies: string[]): void
  getConfirmations(time: number, key: object, done: (error: Error | null, all: Confirmation[]) => void): void
  getConfirmationOfferID(
    id: string,
    time: number,
    rest: string | ((error: Error | null, offerId: string | null) => void),
    done?: (error: Error | null, offerId: string | null) => void,
  ): void
  acceptConfirmationForObject(secret: string, offerId: string, done: (error: Error | null) => void): void
  respondToConfirmation(
    id: string | string[],
    key: string | string[],
    time: number,
    ...rest: [key: object, accept: boolean, done: (error: Error | null) => void]
  ): void
}

const load = createRequire(import.meta.url)
const Totp: { getConfirmationKey(secret: string, time: number, tag: string): string } = load('steam-totp')
const BOT = 'Tradetill Bot #1'

let steam: Awaited<ReturnType<typeof startSteamWithoutWaits>>
let bot: Person
let phone: ConfirmationClient

beforeAll(async () => {
  steam = await startSteamWithoutWaits({ seed: 'conformance' })
})
beforeEach(async () => {
  steam.reset()
  bot = await logIn(steam, BOT)
  phone = createConfirmationClient()
  phone.setCookies(await mobileCookies())
})
afterAll(() => steam.close())

/** The bot's community client, with the methods for confirmations that other tests do not need. */
function createConfirmationClient(): ConfirmationClient {
  const community: object = createCommunity(steam)
  if (!('getConfirmations' in community)) throw new Error('The library has no confirmations.')
  // Without an offset, the library would ask the real Steam for the time.
  return Object.assign(community as ConfirmationClient, { _timeOffset: 0 })
}

const account = () => {
  const found = findAccount(steam.world(), bot.steamId)
  if (!found) throw new Error('The seed has no bots.')
  return found
}
const secret = () => credentialsOf(account()).identitySecret
const nowS = () => Math.floor(Date.now() / 1000)

async function mobileCookies(): Promise<string[]> {
  const session = createSession(steam, 'MobileApp')
  session.refreshToken = refreshTokenOf(account(), nowS(), 'mobile')
  return session.getWebCookies()
}

const keyAt = (time: number, tag: string, identity = secret()) => ({
  tag,
  key: Totp.getConfirmationKey(identity, time, tag),
})
const list = (client = phone, time = nowS(), key: object = keyAt(time, 'list')) =>
  wait<Confirmation[]>((done) => client.getConfirmations(time, key, done))

/** Sends an offer that gives away the bot's first item of the game. The offer then waits for the bot's phone. */
async function sendGift(appId = 570): Promise<string> {
  const { id } = await sendDraft(steam, bot, { appId })
  steam.as('nova_hound').accept(id)
  const [item] = steam.as(BOT).tradable(appId)
  const { steamId, tradeUrl } = steam.as('quiet_lynx')
  const offer = bot.manager.createOffer(steamId, new URL(tradeUrl()).searchParams.get('token') ?? '')
  offer.addMyItem({ appid: appId, contextid: '2', assetid: item?.assetId })
  expect(await wait<string>((done) => offer.send(done))).toBe('pending')
  return offer.id
}

const stateOf = async (offerId: string) => (await read(bot, offerId)).state
const confirm = (offerId: string) =>
  wait<void>((done) =>
    phone.acceptConfirmationForObject(secret(), offerId, (error) => done(error, undefined)),
  )

type PhoneReply = { id: string | string[]; key: string | string[]; accept: boolean }

const respond = ({ id, key, accept }: PhoneReply, time = nowS()) =>
  wait<void>((done) =>
    phone.respondToConfirmation(id, key, time, keyAt(time, accept ? 'accept' : 'reject'), accept, (error) =>
      done(error, undefined),
    ),
  )

describe('confirmations:', () => {
  const { row, expectAllTested } = testsOfRows('confirmations')

  row('lists confirmations, and finds the offer that one belongs to', async () => {
    expect(await list()).toEqual([])
    const offerId = await sendGift()
    const [listed] = await list()
    expect(listed).toMatchObject({ type: 2, creator: offerId })
    const time = nowS()
    const foundOfferId = await wait<string | null>((done) =>
      phone.getConfirmationOfferID(listed?.id ?? '', time, keyAt(time, 'details').key, done),
    )
    expect(foundOfferId).toBe(offerId)
  })

  row('one accepted, one rejected, and several in one call', async () => {
    const first = await sendGift()
    await confirm(first)
    expect(await stateOf(first)).toBe(STATE.active)
    expect(await list()).toEqual([])
    const second = await sendGift(440)
    const [listed] = await list()
    await respond({ id: listed?.id ?? '', key: listed?.key ?? '', accept: false })
    expect(await stateOf(second)).toBe(STATE.canceledBySecondFactor)
    const [third, fourth] = [await sendGift(570), await sendGift(252490)]
    const listedBoth = await list()
    await respond({ id: listedBoth.map(({ id }) => id), key: listedBoth.map(({ key }) => key), accept: true })
    expect([await stateOf(third), await stateOf(fourth)]).toEqual([STATE.active, STATE.active])
  })

  row('website session refused', async () => {
    await sendGift()
    const websiteClient: object = bot.community
    expect((await failure(list(websiteClient as ConfirmationClient))).message).toBe('Not Logged In')
  })

  row('wrong key, old key, key of another call, and time with a fraction', async () => {
    await sendGift()
    const time = nowS()
    const refusal = 'Invalid authenticator'
    const foreignKey = keyAt(time, 'list', Buffer.alloc(20).toString('base64'))
    expect((await failure(list(phone, time, foreignKey))).message).toBe(refusal)
    expect((await failure(list(phone, time - 3600, keyAt(time - 3600, 'list')))).message).toBe(refusal)
    expect((await failure(list(phone, time, keyAt(time, 'accept')))).message).toBe(refusal)
    expect((await failure(list(phone, time + 0.5, keyAt(time, 'list')))).message).toBe(refusal)
  })

  row('list: 429', async () => {
    steam.begin('confirm-list-429', { times: 1 })
    expect((await failure(list())).message).toBe('HTTP error 429')
  })

  row('list: too many requests', async () => {
    steam.begin('confirm-too-many-requests', { times: 1 })
    expect((await failure(list())).message).toMatch(/^You have made too many requests/)
  })

  row('list: empty', async () => {
    await sendGift()
    steam.begin('confirm-list-empty', { times: 1 })
    expect(await list()).toEqual([])
    expect(await list()).toHaveLength(1)
  })

  row('list: unreadable', async () => {
    steam.begin('confirm-list-unreadable', { times: 1 })
    const answer = new Promise<unknown>((resolve) =>
      bot.community.httpRequestGet(
        'https://steamcommunity.com/mobileconf/getlist',
        { json: true },
        (_error, _reply, body) => resolve(body),
      ),
    )
    expect(await answer).toEqual({ success: true, conf: [{ type: 2 }, null] })
  })

  row('list: confirmations that are not for offers', async () => {
    const offerId = await sendGift()
    steam.begin('confirm-something-else', { steamId: bot.steamId })
    const listed = await list()
    // A market listing with the number of the offer, an API key, and the offer itself.
    expect(listed.map(({ type, creator }) => [type, creator])).toEqual([
      [3, offerId],
      [9, '2'],
      [2, offerId],
    ])
    // The library accepts the first confirmation with the offer's number, here that of the market listing.
    await confirm(offerId)
    expect([await stateOf(offerId), account().otherConfirmed]).toEqual([STATE.needsConfirmation, 1])
  })

  row('refused', async () => {
    const offerId = await sendGift()
    steam.begin('confirm-failed', { times: 1 })
    expect((await failure(confirm(offerId))).message).toBe('There was a problem confirming this.')
    expect(await stateOf(offerId)).toBe(STATE.needsConfirmation)
  })

  row('429', async () => {
    const offerId = await sendGift()
    steam.begin('confirm-429', { times: 1 })
    expect((await failure(confirm(offerId))).message).toBe('HTTP error 429')
    expect(await stateOf(offerId)).toBe(STATE.needsConfirmation)
  })

  row('refused, although it took effect', async () => {
    const offerId = await sendGift()
    steam.begin('confirm-failed-done', { times: 1 })
    await failure(confirm(offerId))
    expect(await stateOf(offerId)).toBe(STATE.active)
  })

  row('hang after processing', async () => {
    const offerId = await sendGift()
    steam.begin('confirm-hang-after', { times: 1 })
    await failure(confirm(offerId))
    expect(await stateOf(offerId)).toBe(STATE.active)
  })

  row('drop after processing', async () => {
    const offerId = await sendGift()
    steam.begin('confirm-drop-after', { times: 1 })
    await failure(confirm(offerId))
    expect(await stateOf(offerId)).toBe(STATE.active)
  })

  expectAllTested()
})
