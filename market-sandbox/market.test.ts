/** The control API and the pages. The tests in vault/markets cover the calls of the markets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from '../steam-sandbox/start.ts'
import { createFaults, FAULTS } from './faults.ts'
import { type RunningMarket, startMarket } from './start.ts'

const NOW_S = 1_800_000_000
let steam: RunningSteam
let market: RunningMarket

beforeAll(async () => {
  steam = await startSteam({ port: 0, seed: 'market', clock: () => NOW_S * 1000 })
})

beforeEach(async () => {
  market = await startMarket({ port: 0, steamUrl: steam.url, clock: () => NOW_S * 1000, everyMs: 0 })
})

afterEach(() => market.close())
afterAll(() => steam.close())

async function call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const options = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(`${market.url}/control/${path}`, { method, ...options })
  return { status: response.status, body: await response.json() }
}

const submitForm = (
  path: string,
  fields: [string, string][],
  headers: Record<string, string> = { origin: market.url },
) =>
  fetch(`${market.url}${path}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })
const readPage = async (path: string) => (await fetch(`${market.url}${path}`)).text()

describe('the control API', () => {
  it('opens one account for a Steam id, and refuses invalid requests', async () => {
    const opened = await call('POST', 'sellers', { steamId: '76561198000000001', currency: 'EUR' })
    expect(opened).toMatchObject({
      status: 201,
      body: { currency: 'EUR', key: expect.stringMatching(/^\w{31}$/) },
    })
    expect((await call('POST', 'sellers', { steamId: '76561198000000001' })).body).toEqual(opened.body)
    for (const wrong of [
      {},
      { steamId: 'me' },
      { steamId: '76561198000000001', currency: 'GBP' },
      { steamId: '76561198000000001', currency: 'toString' },
    ])
      expect((await call('POST', 'sellers', wrong)).status).toBe(400)
  })

  it('switches every fault on and off', async () => {
    for (const name of Object.keys(FAULTS)) expect((await call('PUT', `faults/${name}`)).status).toBe(200)
    const countOn = async () => {
      const { body } = await call('GET', 'faults')
      return Array.isArray(body) ? body.filter((row) => row.on).length : -1
    }
    expect(await countOn()).toBe(Object.keys(FAULTS).length)
    expect((await call('DELETE', 'faults/slow')).status).toBe(200)
    expect(await countOn()).toBe(Object.keys(FAULTS).length - 1)
    await call('DELETE', 'faults')
    expect(await countOn()).toBe(0)
    for (const unknown of ['nothing', 'constructor'])
      expect((await call('PUT', `faults/${unknown}`)).status).toBe(400)
  })

  it('has a fault that makes only the family hang', () => {
    const faults = createFaults()
    faults.begin('family-hangs')
    const ask = (path: string) => {
      const [query, form] = [new URLSearchParams(), new URLSearchParams()]
      const request = {
        method: 'POST',
        host: '',
        isOwn: false,
        origin: undefined,
        path,
        query,
        form,
        body: '',
      }
      return faults.take(request)?.delayMs
    }
    expect([ask('/api/v2/ping-new'), ask('/v1/list-items-steam')]).toEqual([3_600_000, undefined])
  })

  it('has a fault that refuses a call with a text that quotes its address and key', () => {
    const faults = createFaults()
    faults.begin('address-in-refusal')
    const request = {
      method: 'GET',
      host: '',
      isOwn: false,
      origin: undefined,
      path: '/api/v2/get-money',
      query: new URLSearchParams({ key: 'abc' }),
      form: new URLSearchParams(),
      body: '',
    }
    const body = faults.take(request)?.body
    expect(typeof body === 'function' && JSON.parse(body(request))).toMatchObject({
      success: false,
      error: 'cannot answer /api/v2/get-money?key=abc',
    })
  })

  it('refuses an unknown item, an unknown temper of a buyer, and an unknown deal', async () => {
    expect((await call('POST', 'buy', { items: [1] })).status).toBe(409)
    expect((await call('POST', 'buy', { items: [1], as: 'nobody' })).status).toBe(400)
    expect((await call('POST', 'deals/nothing/take-back')).body).toEqual({ ok: false })
  })

  it('follows the clock of Steam', async () => {
    steam.advance(86_400)
    await call('POST', 'look')
    expect((await call('GET', 'clock')).body).toEqual({ nowS: NOW_S + 86_400, aheadS: 86_400 })
  })
})

describe('the pages', () => {
  it('show the sellers, say if nothing is on sale or was bought, and switch faults', async () => {
    market.open('76561198000000001')
    expect(await readPage('/')).toContain('Nothing is on sale.')
    expect(await readPage('/sales/')).toContain('Nobody has bought anything.')
    expect(await readPage('/sellers/')).toContain('76561198000000001')
    expect((await submitForm('/faults/', [['on', 'slow']])).status).toBe(303)
    expect(await readPage('/faults/')).toContain('Switch off: slow')
    await submitForm('/faults/', [['off', 'slow']])
    expect(await readPage('/faults/')).toContain('Switch on: slow')
  })

  it('accept forms only from their own origin', async () => {
    expect((await submitForm('/faults/', [['on', 'slow']], {})).status).toBe(403)
    expect((await submitForm('/faults/', [['on', 'slow']], { origin: 'http://evil.example' })).status).toBe(
      403,
    )
    expect((await submitForm('/', [['item', '1']])).status).toBe(409)
    expect(await readPage('/faults/')).toContain('Switch on: slow')
  })
})

it.each(['nothing', 'constructor'])(
  'the unknown call %s without a key is refused with bad_key',
  async (name) => {
    const options = { headers: { host: 'market.csgo.com' } }
    const answer = Promise.withResolvers<string>()
    get(`${market.url}/api/v2/${name}`, options, (response) => answer.resolve(text(response))).on(
      'error',
      answer.reject,
    )
    expect(JSON.parse(await answer.promise)).toMatchObject({ success: false, error: 'bad_key' })
  },
)

it('the world survives a restart, and a file that is not a world is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const dataFile = join(folder, 'market.json')
  const start = () => startMarket({ port: 0, steamUrl: steam.url, dataFile, everyMs: 0 })
  try {
    const first = await start()
    const key = first.open('76561198000000001')
    await first.close()
    const second = await start()
    expect(second.world().sellers).toMatchObject([{ key }])
    await second.close()
    writeFileSync(dataFile, '{}')
    await expect(start()).rejects.toThrow('is not a world')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
