/** Forms of the trade pages and of the page of an offer; logins, sessions, and the encoding of login messages. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { control, createSession, loginCookies, Request, SandboxAgent } from './conformance/libraries.ts'
import { CATALOGUE } from './items.ts'
import { decode, encode } from './protobuf.ts'
import { type RunningSteam, startSteam } from './start.ts'
import { STATE } from './world/world.ts'

let steam: RunningSteam
let cookie: string

beforeAll(async () => {
  steam = await startSteam({ port: 0, seed: 'forms' })
  const cookies = await loginCookies(steam, steam.as('Tradetill Bot #1').refreshToken())
  cookie = [...cookies.map((line) => line.split(';')[0]), `sessionid=${SESSION}`].join('; ')
})
beforeEach(() => steam.reset())
afterAll(() => steam.close())

type Sent = { uri: string; form?: object; referer?: string; cookie?: string }

function post({
  uri,
  form = {},
  referer = '',
  cookie: ownCookie = cookie,
}: Sent): Promise<{ status: number; body: string }> {
  const options = { uri, method: 'POST', form, agent: new SandboxAgent(steam.port), followRedirect: false }
  return new Promise((resolve, reject) =>
    Request({ ...options, headers: { cookie: ownCookie, referer } }, (error, reply, body) =>
      error ? reject(error) : resolve({ status: reply.statusCode, body }),
    ),
  )
}

function offerForm(sessionid: string): object {
  const nova = steam.as('nova_hound')
  const [item] = nova.tradable(730)
  const assets = [{ appid: 730, contextid: '2', amount: 1, assetid: item?.assetId }]
  const token = new URL(nova.tradeUrl()).searchParams.get('token')
  return {
    sessionid,
    partner: nova.steamId,
    tradeoffermessage: 'CODE',
    json_tradeoffer: JSON.stringify({ me: { assets: [] }, them: { assets } }),
    trade_offer_create_params: JSON.stringify({ trade_offer_access_token: token }),
  }
}

const SEND = 'https://steamcommunity.com/tradeoffer/new/send'
const PAGE = 'https://steamcommunity.com/tradeoffer/new/?partner=1'
const SESSION = '0123456789abcdef01234567'

describe('a form of the trade pages', () => {
  it('is accepted from its own session and page', async () => {
    expect((await post({ uri: SEND, form: offerForm(SESSION), referer: PAGE })).status).toBe(200)
  })

  it('is refused with (8) if its session id differs from the cookie, or if it comes from another page', async () => {
    const refusal = { status: 500, body: expect.stringContaining('(8)') }
    expect(await post({ uri: SEND, form: offerForm('f'.repeat(24)), referer: PAGE })).toMatchObject(refusal)
    const foreignPage = 'https://elsewhere.example/'
    expect(await post({ uri: SEND, form: offerForm(SESSION), referer: foreignPage })).toMatchObject(refusal)
    expect(steam.world().offers).toEqual([])
  })

  it('is refused without a session', async () => {
    const form = { sessionid: SESSION }
    expect((await post({ uri: SEND, form, cookie: `sessionid=${SESSION}` })).status).toBe(401)
    const undecodableCookie = `sessionid=${SESSION}; steamLoginSecure=%E0%A4%A`
    expect((await post({ uri: SEND, form, cookie: undecodableCookie })).status).toBe(401)
  })

  it('is refused with status 500 if it is invalid, and with 413 if it is too large', async () => {
    const form = { ...offerForm(SESSION), json_tradeoffer: 'null' }
    expect((await post({ uri: SEND, form, referer: PAGE })).status).toBe(500)
    const largeForm = { ...offerForm(SESSION), tradeoffermessage: 'x'.repeat(300_000) }
    expect((await post({ uri: SEND, form: largeForm, referer: PAGE })).status).toBe(413)
  })
})

describe('the page of an offer', () => {
  it('shows both sides, warns of getting nothing in return, and asks on the phone before the items move', async () => {
    const { body: sent } = await post({ uri: SEND, form: offerForm(SESSION), referer: PAGE })
    const { tradeofferid } = JSON.parse(sent) as { tradeofferid: string }
    const page = `${steam.url}/tradeoffer/${tradeofferid}/`
    const readPage = async (address: string): Promise<string> => (await fetch(address)).text()
    const press = async (answer: string): Promise<string> => {
      const headers = { origin: steam.url }
      const body = new URLSearchParams({ answer })
      const reply = await fetch(page, { method: 'POST', headers, body, redirect: 'manual' })
      return new URL(reply.headers.get('location') ?? '', page).href
    }
    const offer = await readPage(page)
    expect(offer).toMatch(/<h2>Your items<\/h2><ul/)
    expect(offer).toMatch(/<h2>Items of Tradetill Bot #1<\/h2><p class="nothing">Nothing/)
    expect(offer).toMatch(/Level \d+ · member since [A-Z]\w+ \d+, 20\d\d/)
    expect(offer).toContain('CODE')
    const giftPage = await press('accept')
    expect(await readPage(giftPage)).toContain('<strong>get nothing in return</strong>')
    const phonePage = await press('gift')
    expect(await readPage(phonePage)).toContain('Confirm the trade?')
    expect(steam.world().offers).toMatchObject([{ state: STATE.active }])
    await press('confirm')
    expect(steam.world().offers).toMatchObject([{ state: STATE.accepted }])
  })

  it('shows on the phone the names and pictures of the items to give, and that nothing is received', async () => {
    const { body: sent } = await post({ uri: SEND, form: offerForm(SESSION), referer: PAGE })
    const { tradeofferid } = JSON.parse(sent) as { tradeofferid: string }
    const phonePage = await (await fetch(`${steam.url}/tradeoffer/${tradeofferid}/?step=phone`)).text()
    const [item] = steam.as('nova_hound').tradable(730)
    const { name } = CATALOGUE.get(item?.classId ?? '') ?? { name: 'no item' }
    const [, given = '', received = ''] =
      /<h2>You give<\/h2>(.*)<h2>You get<\/h2>(.*)<form/s.exec(phonePage) ?? []
    expect(given).toMatch(/<li><img src="\/economy\/image\/[\w.-]+\/100fx100f" alt="">/)
    expect(given).toContain(`>${name}</li>`)
    expect(received).toContain('>Nothing<')
  })
})

describe('a login', () => {
  const call = async (method: string, message: Buffer) => {
    const uri = `https://api.steampowered.com/IAuthenticationService/${method}/v1/`
    return post({ uri, form: { input_protobuf_encoded: message.toString('base64') } })
  }

  it('cannot be polled with a guessed request id or an unreadable message', async () => {
    const session = createSession(steam)
    const { qrChallengeUrl = '' } = await session.startWithQR()
    session.cancelLoginAttempt()
    const clientId = BigInt(qrChallengeUrl.split('/').at(-1) ?? 0)
    const approval = await fetch(`${steam.url}/control/logins/${clientId}/approve`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ steamId: steam.as('Tradetill Bot #1').steamId }),
    })
    expect(approval.status).toBe(200)
    const guess = encode([
      [1, clientId],
      [2, Buffer.from('guess')],
    ])
    expect((await call('PollAuthSessionStatus', guess)).body).toBe('')
    const nonsense = encode([[2, 'cut off']]).subarray(0, 4)
    expect((await call('PollAuthSessionStatus', nonsense)).body).toBe('')
  })
})

describe('sessions', () => {
  it('of an account can be ended, and its refresh tokens revoked, by the control API', async () => {
    const { steamId, refreshToken } = steam.as('Tradetill Bot #1')
    const account = () => steam.world().accounts.find((other) => other.steamId === steamId)
    const tokenBefore = refreshToken()
    await control(steam, `POST sessions/${steamId}/expire`)
    expect(account()).toMatchObject({ loginGeneration: 0, sessionGeneration: 1 })
    expect(await loginCookies(steam, tokenBefore)).not.toEqual([])
    await control(steam, `POST sessions/${steamId}/revoke`)
    expect(account()).toMatchObject({ loginGeneration: 1, sessionGeneration: 2 })
    await expect(loginCookies(steam, tokenBefore)).rejects.toMatchObject({ eresult: 15 })
    expect(refreshToken()).not.toBe(tokenBefore)
    expect(await loginCookies(steam, refreshToken())).not.toEqual([])
  })
})

describe('the encoding of protocol buffers', () => {
  it('reads back what it has written', () => {
    const message = decode(
      encode([
        [1, 76561197960265728n],
        [2, 'text'],
        [3, Buffer.from([0, 255])],
        [900, 300n],
      ]),
    )
    expect([message?.number(1), message?.text(2), message?.number(900)]).toEqual([
      76561197960265728n,
      'text',
      300n,
    ])
    expect(message?.bytes(3)).toEqual(Buffer.from([0, 255]))
    expect([message?.number(7), message?.text(7)]).toEqual([0n, ''])
  })

  it.each([
    ['a field without its value', [8]],
    ['a text that is cut off', [18, 5, 1]],
    ['an endless number', [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]],
    ['a field of an unknown type', [15, 1]],
    ['a long number that is cut off', [9, 1]],
  ])('refuses %s', (_, bytes) => {
    expect(decode(Buffer.from(bytes))).toBeUndefined()
  })
})
