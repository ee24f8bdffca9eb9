import { mkdtempSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { createRequire } from 'node:module'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from './start.ts'
import { seedWorld } from './world/seed.ts'

type Done<T extends unknown[]> = (error: (Error & { eresult?: number }) | null, ...values: T) => void
type LibraryOffer = {
  id: string
  state: number
  tradeID: string
  addTheirItem(item: object): boolean
  setMessage(message: string): void
  send(done: Done<[string]>): void
  cancel(done: Done<[]>): void
  decline(done: Done<[]>): void
  accept(done: Done<[string]>): void
  getExchangeDetails(
    done: Done<[number, Date, { assetid: string; new_assetid: string; new_contextid: string }[]]>,
  ): void
}
type Item = { assetid: string; market_hash_name: string; tradable: boolean }
type Community = {
  setCookies(cookies: string[]): void
  acknowledgeTradeProtection(done: Done<[]>): void
  getUserInventoryContents(
    id: string,
    appId: number,
    contextId: number,
    tradable: boolean,
    language: string,
    done: Done<[Item[], object[], number]>,
  ): void
}
type Manager = {
  setCookies(cookies: string[], done: Done<[]>): void
  createOffer(partner: string, token: string): LibraryOffer
  getOffer(id: string, done: Done<[LibraryOffer]>): void
  getOffers(filter: number, done: Done<[LibraryOffer[], LibraryOffer[]]>): void
  shutdown(): void
}

// Taken untyped: the declarations that others use name only what the gateway may call.
const require = createRequire(import.meta.url)
const Request: { defaults(options: object): unknown } = require('request')
const SteamCommunity: new (options: object) => Community = require('steamcommunity')
const TradeOfferManager: new (options: object) => Manager = require('steam-tradeoffer-manager')

class SandboxAgent extends Agent {
  readonly #port: number
  constructor(port: number) {
    super({ keepAlive: false })
    this.#port = port
  }
  override createConnection() {
    return net.connect({ host: '127.0.0.1', port: this.#port })
  }
}

let steam: RunningSteam
let manager: Manager
let community: Community
let cookies: string[]
const call = async <T>(path: string, init?: RequestInit): Promise<T> => {
  const response = await fetch(`${steam.url}/control/${path}`, init)
  const body: T = JSON.parse(await response.text())
  return body
}
const wait = <T>(start: (done: (error: Error | null, value: T) => void) => void) =>
  new Promise<T>((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value))))

async function loginCookies(token: string): Promise<string[]> {
  const agent = new SandboxAgent(steam.port)
  const session = new LoginSession(EAuthTokenPlatformType.WebBrowser, { agent })
  session.refreshToken = token
  return (await session.getWebCookies()).filter((cookie) => /domain=steamcommunity\.com/i.test(cookie))
}

function createCommunity(): Community {
  const request = Request.defaults({ agent: new SandboxAgent(steam.port) })
  return new SteamCommunity({ request, timeout: 5000 })
}

beforeEach(async () => {
  steam = await startSteam({ port: 0, seed: 'libraries' })
  const [bot] = await call<{ refreshToken: string }[]>('bots')
  cookies = await loginCookies(bot?.refreshToken ?? '')
  community = createCommunity()
  manager = new TradeOfferManager({
    community,
    pollInterval: -1,
    dataDirectory: null,
    useAccessToken: true,
  })
  await wait<void>((done) => manager.setCookies(cookies, done))
})

afterEach(async () => {
  manager.shutdown()
  await steam.close()
})

function shopper() {
  const [nova] = steam.world().accounts
  if (!nova) throw new Error('The seed lacks a shopper.')
  return nova
}

const contents = () =>
  wait<Item[]>((done) => community.getUserInventoryContents(shopper().steamId, 730, 2, true, 'english', done))

async function sent(token = shopper().token): Promise<{ offer: LibraryOffer; assetId: string }> {
  const assetId = (await contents())[0]?.assetid ?? ''
  const offer = manager.createOffer(shopper().steamId, token)
  offer.addTheirItem({ appid: 730, contextid: '2', assetid: assetId })
  offer.setMessage('CODE-1')
  await wait<string>((done) => offer.send(done))
  return { offer, assetId }
}

describe('the client libraries, as they come', () => {
  it('log in by refresh token and refuse a forged one', async () => {
    expect(cookies.some((cookie) => cookie.startsWith('steamLoginSecure='))).toBe(true)
    const [bot] = await call<{ refreshToken: string }[]>('bots')
    const forged = `${bot?.refreshToken.slice(0, -4)}AAAA`
    await expect(loginCookies(forged)).rejects.toMatchObject({ eresult: 15 })
  })

  it('acknowledge trade protection', async () => {
    await wait<void>((done) => community.acknowledgeTradeProtection(done))
  })

  it('read an inventory of tradable items', async () => {
    const items = await contents()
    expect(items.length).toBeGreaterThan(60)
    expect(items.every(({ tradable, market_hash_name }) => tradable && market_hash_name !== '')).toBe(true)
  })

  it('read 2,500 items over pages, from a world that was kept in a file', async () => {
    await steam.close()
    const dataFile = join(mkdtempSync(join(tmpdir(), 'steam-sandbox-')), 'world.json')
    const world = seedWorld('libraries', 1_800_000_000_000)
    const [nova] = world.accounts
    const assets = Array.from({ length: 2500 }, (_, index) => ({
      assetId: String(1000 + index),
      appId: 730,
      contextId: '2',
      classId: '7300001',
    }))
    Object.assign(nova ?? {}, { assets })
    writeFileSync(dataFile, JSON.stringify(world))
    steam = await startSteam({ port: 0, dataFile })
    community = createCommunity()
    expect(new Set((await contents()).map(({ assetid }) => assetid)).size).toBe(2500)
    expect(await call<{ path: string }[]>('log')).toHaveLength(4)
  })

  it('send an offer, see it accepted, and learn the new asset ids', async () => {
    const { offer, assetId } = await sent()
    await call(`offers/${offer.id}/accept`, { method: 'POST' })
    const read = await wait<LibraryOffer>((done) => manager.getOffer(offer.id, done))
    expect(read.state).toBe(3)
    const received = await new Promise((resolve, reject) =>
      read.getExchangeDetails((error, status, _time, items) =>
        error ? reject(error) : resolve({ status, items }),
      ),
    )
    expect(received).toMatchObject({ status: 3, items: [{ assetid: assetId, new_contextid: '16' }] })
    expect((await contents()).some(({ assetid }) => assetid === assetId)).toBe(false)
    await expect(wait<void>((done) => offer.cancel(done))).rejects.toMatchObject({ eresult: 11 })
  })

  it('see an offer declined, and one cancelled, in the list of offers', async () => {
    const declined = (await sent()).offer
    const canceled = (await sent()).offer
    await call(`offers/${declined.id}/decline`, { method: 'POST' })
    await wait<void>((done) => canceled.cancel(done))
    const list = await wait<LibraryOffer[]>((done) => manager.getOffers(3, done))
    expect(list.map(({ id, state }) => [id, state])).toEqual([
      [canceled.id, 6],
      [declined.id, 7],
    ])
  })

  it('are told with 15 that the token of a link is wrong', async () => {
    await expect(sent('wrongone')).rejects.toMatchObject({ eresult: 15 })
  })

  it('lose the answer of a send although the offer was made', async () => {
    const body = JSON.stringify({ match: { path: '/tradeoffer/new/send' }, effect: { drop: 'after' } })
    const headers = { 'content-type': 'application/json' }
    await call('faults', { method: 'POST', headers, body })
    await expect(sent()).rejects.toThrow()
    expect(steam.world().offers).toHaveLength(1)
    await sent()
    expect(steam.world().offers).toHaveLength(2)
  })
})

describe('what the sandbox refuses', () => {
  it('answers 401 to a token that is not for the community', async () => {
    const agent = new SandboxAgent(steam.port)
    const session = new LoginSession(EAuthTokenPlatformType.WebBrowser, { agent })
    session.refreshToken = (await call<{ refreshToken: string }[]>('bots'))[0]?.refreshToken ?? ''
    const store = (await session.getWebCookies()).find((cookie) => /domain=store\./i.test(cookie)) ?? ''
    const token = /%7C%7C([^;]+)/.exec(store)?.[1] ?? ''
    const request: (
      options: object,
      done: (error: Error | null, response: { statusCode: number }) => void,
    ) => void = require('request')
    const uri = `https://api.steampowered.com/IEconService/GetTradeOffers/v1/?access_token=${token}`
    const response = await wait<{ statusCode: number }>((done) => request({ uri, agent }, done))
    expect(response.statusCode).toBe(401)
  })

  it('lets no other site press Accept', async () => {
    const { offer } = await sent()
    const press = (origin: string) =>
      fetch(`${steam.url}/tradeoffer/${offer.id}/`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ answer: 'accept' }),
        redirect: 'manual',
      })
    expect((await press('https://elsewhere.example')).status).toBe(403)
    expect(steam.world().offers[0]?.state).toBe(2)
    expect((await press(steam.url)).status).toBe(303)
    expect(steam.world().offers[0]?.state).toBe(3)
  })
})
