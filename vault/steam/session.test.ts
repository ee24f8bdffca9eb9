/** The sessions of the vault's accounts, against the Steam sandbox. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { credentialsOf } from '../../steam-sandbox/credentials.ts'
import { startSteam } from '../../steam-sandbox/start.ts'
import { refreshTokenOf } from '../../steam-sandbox/tokens.ts'
import { sendOffer } from '../../steam-sandbox/world/offers.ts'
import { findAccount } from '../../steam-sandbox/world/world.ts'
import { createCaller } from './call.ts'
import { createGiftOffers } from './gift-offers.ts'
import { createPace, GAPS_MS } from './pace.ts'
import { createSession } from './session.ts'

const BOT = 'Tradetill Bot #1'
const OFFERS = 'IEconService/GetTradeOffersSummary'
const QUERY = { time_last_visit: '0' }

function accountIn(steam: Awaited<ReturnType<typeof startSteam>>, who: string) {
  const account = findAccount(steam.world(), steam.as(who).steamId)
  if (account === undefined) throw new Error(`there is no ${who}`)
  return account
}

/** A bot's session, whose waits only advance the clock. */
async function openSession() {
  let nowMs = Date.now()
  const steam = await startSteam({ port: 0, seed: 'session', quotas: false, clock: () => nowMs })
  onTestFinished(() => steam.close())
  const account = accountIn(steam, BOT)
  const { accountName, sharedSecret, identitySecret } = credentialsOf(account)
  const refreshToken = refreshTokenOf(account, Math.floor(nowMs / 1_000), 'mobile')
  const pace = createPace({
    nowMs: () => nowMs,
    async pause(ms) {
      nowMs += ms
    },
  })
  const session = createSession(
    { caller: createCaller(steam.url), pace },
    { steamId: account.steamId, secrets: { accountName, sharedSecret, identitySecret, refreshToken } },
  )
  const setBehaviour = (method: 'PUT' | 'DELETE', name: string) =>
    fetch(`${steam.url}/control/behaviours/${name}`, { method })
  return {
    steam,
    session,
    nowS: () => Math.floor(nowMs / 1_000),
    setBehaviour,
    advanceMs(ms: number): void {
      nowMs += ms
    },
  }
}

it('two simultaneous requests cause one login, and both requests are answered', async () => {
  const { session } = await openSession()
  // A second login would have to wait too long, so its request would fail.
  const answers = await Promise.all([
    session.api('offers', OFFERS, QUERY),
    session.api('offer', OFFERS, QUERY),
  ])
  expect(answers.map((answer) => answer?.status)).toEqual([200, 200])
})

it('a request for a fresh token fails if the last login is too recent, and the current token stays in use', async () => {
  const { session, advanceMs } = await openSession()
  const token = await session.accessToken({ fresh: false })
  expect(token).toEqual(expect.any(String))
  expect(await session.accessToken({ fresh: true })).toBeUndefined()
  expect((await session.api('offers', OFFERS, QUERY))?.status).toBe(200)
  expect(await session.accessToken({ fresh: false })).toBe(token)
  advanceMs(GAPS_MS.login)
  expect(await session.accessToken({ fresh: true })).not.toBe(token)
})

it('the wait for the next login is longer after Steam’s second refusal for too many requests', async () => {
  const { session, setBehaviour, advanceMs } = await openSession()
  await setBehaviour('PUT', 'rate-limited')
  expect(await session.accessToken({ fresh: false })).toBeUndefined()
  advanceMs(GAPS_MS.login)
  expect(await session.accessToken({ fresh: false })).toBeUndefined()
  await setBehaviour('DELETE', 'rate-limited')
  // The second refusal doubled the pause.
  advanceMs(GAPS_MS.login)
  expect(await session.accessToken({ fresh: false })).toBeUndefined()
  advanceMs(GAPS_MS.login)
  expect(await session.accessToken({ fresh: false })).toEqual(expect.any(String))
})

/** Calls `ask` every half minute for an hour. Resolves to how often it resolved to true. */
async function countTrue({ advanceMs }: { advanceMs(ms: number): void }, ask: () => Promise<boolean>) {
  let count = 0
  for (let tries = 0; tries < 120; tries += 1) {
    if (await ask()) count += 1
    advanceMs(30_000)
  }
  return count
}

describe('an address that Steam’s network blocks, because it kept asking too often,', () => {
  it('asks less and less often with a session', async () => {
    const { session, setBehaviour, advanceMs } = await openSession()
    await session.accessToken({ fresh: false })
    await setBehaviour('PUT', 'address-blocked')
    const read = async () => (await session.api('offers', OFFERS, QUERY)) !== undefined
    expect(await countTrue({ advanceMs }, read)).toBeLessThan(10)
    const cancel = async () => {
      const form = { fields: {}, referer: 'https://steamcommunity.com/' }
      return (await session.form('cancel', '/tradeoffer/1/cancel', form)).kind !== 'not_made'
    }
    expect(await countTrue({ advanceMs }, cancel)).toBeLessThan(10)
    await setBehaviour('DELETE', 'address-blocked')
    advanceMs(1_800_000)
    expect((await session.api('offers', OFFERS, QUERY))?.status).toBe(200)
  })

  it('tries to log in less and less often', async () => {
    const { steam, session, setBehaviour, advanceMs } = await openSession()
    await setBehaviour('PUT', 'address-blocked')
    const logIn = async () => (await session.accessToken({ fresh: false })) !== undefined
    expect(await countTrue({ advanceMs }, logIn)).toBe(0)
    const counts = await fetch(`${steam.url}/control/counts`)
    const [, logins] = /GenerateAccessTokenForApp\/v\*\/?":(\d+)/.exec(await counts.text()) ?? []
    expect(Number(logins)).toBeLessThan(10)
  })
})

it('a result of Steam that means too many requests pauses requests of that kind', async () => {
  const { steam, session } = await openSession()
  await session.accessToken({ fresh: false })
  const effect = { status: 200, body: {}, headers: { 'x-eresult': '84' } }
  steam.fault({ match: { path: '/IEconService/' }, effect })
  await session.api('offers', OFFERS, QUERY)
  expect(await session.api('offers', OFFERS, QUERY)).toBeUndefined()
})

it('a form that is no longer allowed when its turn comes is not sent', async () => {
  const { session } = await openSession()
  const answersGiven: string[] = []
  const form = (answer: boolean) =>
    session.form('cancel', '/tradeoffer/1/cancel', {
      fields: {},
      referer: 'https://steamcommunity.com/',
      isStillAllowed: () => {
        answersGiven.push(String(answer))
        return answer
      },
    })
  expect(await form(false)).toEqual({ kind: 'not_made' })
  expect((await form(true)).kind).not.toBe('not_made')
  expect(answersGiven).toEqual(['false', 'true'])
})

it('an offer that may no longer be confirmed when its turn comes is not confirmed', async () => {
  const { steam, session, nowS } = await openSession()
  const parts = { session, nowS, say() {}, needs: { note() {}, end() {} }, acknowledge: async () => {} }
  const giftOffers = createGiftOffers(parts)
  const { steamId: partnerSteamId, token } = accountIn(steam, 'nova_hound')
  const items = steam.as('nova_hound').tradable(570).slice(0, 1)
  const intent = { sender: session.steamId, partner: partnerSteamId, token, message: 'K7MXPQ', items }
  const incoming = steam.change((world, atS) => sendOffer(world, intent, atS))
  if (incoming.kind === 'sent') steam.as('nova_hound').accept(incoming.offerId)
  const assets = steam
    .as(BOT)
    .tradable(570)
    .map(({ appId, contextId, assetId }) => ({ appId, contextId, assetId }))
  const gift = { partnerSteamId, token, message: 'a gift', assets }
  const sent = await giftOffers.send(gift)
  const offerId = sent.kind === 'sent' ? sent.offerId : ''
  const answersGiven: string[] = []
  const confirm = (answer: boolean) =>
    giftOffers.confirm(offerId, gift, () => {
      answersGiven.push(String(answer))
      return answer
    })
  expect(await confirm(false)).toBe(false)
  expect(await giftOffers.read(offerId)).toEqual({ state: 'needs_confirmation' })
  expect(await confirm(true)).toBe(true)
  expect(await giftOffers.read(offerId)).toEqual({ state: 'active' })
  expect(answersGiven).toEqual(['false', 'true'])
})
