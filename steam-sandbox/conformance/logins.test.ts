/** Logins that fail, and answers of the trade page, as the client libraries see them. Each `row` is one of rows.ts. */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { credentialsOf } from '../credentials.ts'
import { type RunningSteam, startSteam } from '../start.ts'
import { DAY_S } from '../world/world.ts'
import {
  control,
  createSession,
  draftOffer,
  failure,
  get,
  logIn,
  loginCookies,
  type Person,
  read,
  SteamTotp,
  wait,
} from './libraries.ts'
import { testsOfRows } from './rows.ts'

const BOT = 'Tradetill Bot #1'
let steam: RunningSteam
let bot: Person

beforeAll(async () => {
  steam = await startSteam({ port: 0, seed: 'conformance' })
})
beforeEach(async () => {
  steam.reset()
  bot = await logIn(steam, BOT)
})
afterAll(() => steam.close())

const logInWithToken = () => loginCookies(steam, steam.as(BOT).refreshToken())

function logInWithPassword({ password, code }: { password?: string; code?: string } = {}) {
  const account = steam.world().accounts.find(({ name }) => name === BOT)
  if (!account) throw new Error('The seed has no bots.')
  const known = credentialsOf(account)
  const session = createSession(steam)
  const steamGuardCode = code ?? SteamTotp.generateAuthCode(known.sharedSecret)
  const details = { accountName: known.accountName, password: password ?? known.password, steamGuardCode }
  return session.startWithCredentials(details).finally(() => session.cancelLoginAttempt())
}

describe('a login fails:', () => {
  const { row, expectAllTested } = testsOfRows('logins')

  row('{error: 15}', async () => {
    await control(steam, 'PUT behaviours/login-15', { times: 1 })
    await expect(logInWithToken()).rejects.toMatchObject({ eresult: 15 })
    expect(await logInWithToken()).toHaveLength(2)
  })

  row('{error: 15} for a valid token, once, or for an hour', async () => {
    const logInOtherBot = () => loginCookies(steam, steam.as('Tradetill Bot #2').refreshToken())
    await control(steam, 'PUT behaviours/login-15-once', { steamId: bot.steamId })
    expect(await logInOtherBot()).toHaveLength(2)
    await expect(logInWithToken()).rejects.toMatchObject({ eresult: 15 })
    expect(await logInWithToken()).toHaveLength(2)
    await control(steam, 'PUT behaviours/login-15-for-an-hour', { steamId: bot.steamId })
    // Advances 50 minutes. The clock keeps running, so a slow machine has ten minutes for the next steps.
    steam.advance(3_000)
    await expect(logInWithToken()).rejects.toMatchObject({ eresult: 15 })
    expect(await logInOtherBot()).toHaveLength(2)
    steam.advance(600)
    expect(await logInWithToken()).toHaveLength(2)
  })

  row('{error: 27}', async () => {
    await control(steam, 'PUT behaviours/login-27', { times: 1 })
    await expect(logInWithToken()).rejects.toMatchObject({ eresult: 27 })
  })

  row('{error: 84}', async () => {
    await control(steam, 'PUT behaviours/login-84', { times: 1 })
    await expect(logInWithToken()).rejects.toMatchObject({ eresult: 84 })
  })

  // The library does not report the status.
  row('429', async () => {
    await control(steam, 'PUT behaviours/login-429', { times: 1 })
    expect((await failure(logInWithToken())).message).toBe('Malformed login response')
  })

  row('503 HTML', async () => {
    await control(steam, 'PUT behaviours/login-503', { times: 1 })
    expect((await failure(logInWithToken())).message).toBe('Malformed login response')
  })

  row('revoked sessions', async () => {
    const token = steam.as(BOT).refreshToken()
    await control(steam, `POST sessions/${bot.steamId}/revoke`)
    await expect(loginCookies(steam, token)).rejects.toMatchObject({ eresult: 15 })
    expect((await failure(read(bot, '42'))).message).toBe('HTTP error 401')
    expect(await logInWithToken()).toHaveLength(2)
  })

  row('expired tokens', async () => {
    const token = steam.as(BOT).refreshToken()
    expect((await failure(read(bot, '42'))).message).toBe('No matching offer found')
    steam.advance(DAY_S)
    expect((await failure(read(bot, '42'))).message).toBe('HTTP error 401')
    const page = await get(bot.community, 'https://steamcommunity.com/tradeoffer/new/?partner=1')
    expect([page.status, page.headers.location]).toEqual([302, 'https://steamcommunity.com/login/home/'])
    const offer = draftOffer(steam, bot)
    expect((await failure(wait<string>((done) => offer.send(done)))).message).toBe('Not Logged In')
    expect(await loginCookies(steam, token)).toHaveLength(2)
    steam.advance(200 * DAY_S)
    await expect(loginCookies(steam, token)).rejects.toMatchObject({ eresult: 15 })
  })

  row('hang', async () => {
    const otherSteam = await startSteam({ port: 0, seed: 'conformance' })
    await control(otherSteam, 'PUT behaviours/login-hang')
    const pending = failure(loginCookies(otherSteam, otherSteam.as(BOT).refreshToken()))
    const log = async () => JSON.stringify(await control(otherSteam, 'GET log'))
    await expect.poll(log).toContain('/jwt/finalizelogin')
    // The library would wait forever. Closing the connection ends its call.
    await otherSteam.close()
    expect((await pending).message).toMatch(/hang up|ECONNRESET/)
  })

  row('one failing settoken host', async () => {
    await control(steam, 'PUT behaviours/login-one-host-fails')
    expect((await failure(logInWithToken())).message).toBe('HTTP error 500')
  })

  row('InvalidPassword 5', async () => {
    await expect(logInWithPassword({ password: 'wrong' })).rejects.toMatchObject({ eresult: 5 })
    await control(steam, 'PUT behaviours/login-wrong-password', { times: 1 })
    await expect(logInWithPassword()).rejects.toMatchObject({ eresult: 5 })
  })

  row('TwoFactorCodeMismatch 88', async () => {
    // The library treats the refusal as a request for another code of the authenticator (type 3).
    expect(await logInWithPassword({ code: 'XXXXX' })).toMatchObject({
      actionRequired: true,
      validActions: [{ type: 3 }],
    })
    await control(steam, 'PUT behaviours/login-wrong-code', { times: 1 })
    expect(await logInWithPassword()).toMatchObject({ actionRequired: true })
    expect(await logInWithPassword()).toMatchObject({ actionRequired: false })
  })

  row('RateLimitExceeded 84', async () => {
    await control(steam, 'PUT behaviours/login-rate-limited', { times: 1 })
    await expect(logInWithPassword()).rejects.toMatchObject({ eresult: 84 })
  })

  expectAllTested()
})

describe('the answers of the trade page:', () => {
  const { row, expectAllTested } = testsOfRows('pages')

  type Details = { me: { escrowDays?: number }; them: { escrowDays?: number } }
  const details = (pick: Parameters<typeof draftOffer>[2] = {}) =>
    new Promise<Details>((resolve, reject) =>
      draftOffer(steam, bot, pick).getUserDetails((error, me, them) =>
        error ? reject(error) : resolve({ me, them }),
      ),
    )
  async function pageErrorOf(who: string, token?: string): Promise<string> {
    const link = new URL(steam.as(who).tradeUrl())
    if (token) link.searchParams.set('token', token)
    const { body } = await get(bot.community, link.href)
    return /<div id="error_msg">([^<]*)<\/div>/.exec(String(body))?.[1] ?? ''
  }

  row('invalid trade URL', async () => {
    const text = 'This Trade URL is no longer valid for sending a trade offer to'
    expect(await pageErrorOf('nova_hound', 'wrongone')).toContain(text)
    expect(await pageErrorOf('magic_new_token')).toContain(text)
    await control(steam, 'PUT behaviours/page-invalid-link', { times: 1 })
    expect(await pageErrorOf('nova_hound')).toContain(text)
    expect((await failure(details({ token: 'wrongone' }))).message).toContain(text)
  })

  row('15 days of escrow', async () => {
    expect((await details({ who: 'magic_hold' })).them.escrowDays).toBe(15)
    expect((await details()).them.escrowDays).toBe(0)
    await control(steam, 'PUT behaviours/page-escrow-15', { times: 1 })
    expect((await details()).them.escrowDays).toBe(15)
  })

  row('private inventory text', async () => {
    expect(await pageErrorOf('magic_hidden')).toContain('inventory privacy is set to')
    expect(await pageErrorOf('magic_private')).toContain('inventory privacy is set to')
    await control(steam, 'PUT behaviours/page-private', { times: 1 })
    expect(await pageErrorOf('nova_hound')).toContain('inventory privacy is set to')
  })

  row('limited account text', async () => {
    expect(await pageErrorOf('magic_limited')).toContain('This person has a limited account')
    await control(steam, 'PUT behaviours/page-limited-account', { times: 1 })
    expect(await pageErrorOf('nova_hound')).toContain('This person has a limited account')
  })

  row('trade ban text', async () => {
    expect(await pageErrorOf('magic_banned')).toContain('because they have a trade ban')
    expect(await pageErrorOf('magic_cannot_trade')).toContain('is not available to trade. More information')
    await control(steam, 'PUT behaviours/page-trade-ban', { times: 1 })
    expect(await pageErrorOf('nova_hound')).toContain('because they have a trade ban')
  })

  row('login redirect', async () => {
    await control(steam, 'PUT behaviours/session-lost')
    const page = await get(bot.community, steam.as('nova_hound').tradeUrl())
    expect([page.status, page.headers.location]).toEqual([302, 'https://steamcommunity.com/login/home/'])
    const signIn = await get(bot.community, 'https://steamcommunity.com/login/home/')
    expect(String(signIn.body)).toContain('g_steamID = false;')
    expect((await failure(details())).message).toBe('Not Logged In')
  })

  row('missing g_daysTheirEscrow', async () => {
    await control(steam, 'PUT behaviours/page-without-days', { times: 1 })
    expect((await details()).them.escrowDays).toBeUndefined()
  })

  expectAllTested()
})
