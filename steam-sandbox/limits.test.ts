import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contents, control, get, logIn, type Person, sent } from './conformance/libraries.ts'
import { type RunningSteam, startSteam } from './start.ts'
import { DAY_S } from './world/world.ts'

const TUESDAY_NOON_S = Date.UTC(2026, 10, 24, 20) / 1000
let nowMs: number
let steam: RunningSteam
let bot: Person

beforeEach(async () => {
  // Sessions are checked by the clock of the library as well, which nobody can set.
  nowMs = Date.now()
  steam = await startSteam({ port: 0, seed: 'limits', clock: () => nowMs })
  bot = await logIn(steam, 'Tradetill Bot #1')
})
afterEach(() => steam.close())

const API = 'https://api.steampowered.com/IEconService'

async function statuses(uri: string, count: number): Promise<number[]> {
  const all: number[] = []
  for (let index = 0; index < count; index += 1) all.push((await get(bot.community, uri)).status)
  return all
}

describe('quotas', () => {
  it('let 25 trade statuses through at once, and then one every two seconds', async () => {
    const token = await accessToken()
    const uri = `${API}/GetTradeStatus/v1/?tradeid=1&access_token=${token}`
    expect(await statuses(uri, 26)).toEqual([...Array(25).fill(200), 429])
    nowMs += 2000
    expect(await statuses(uri, 2)).toEqual([200, 429])
  })

  it('limit what a bot sees of partners to 30 pages, and the public page by address', async () => {
    const { steamId } = steam.as('nova_hound')
    const partner = `https://steamcommunity.com/tradeoffer/new/partnerinventory/?partner=${steamId}&appid=730&contextid=2`
    expect((await statuses(partner, 31)).filter((status) => status === 429)).toHaveLength(1)
    const page = `https://steamcommunity.com/inventory/${steamId}/730/2?count=75`
    expect((await statuses(page, 61)).filter((status) => status === 429)).toHaveLength(1)
  })

  it('can be switched off when the sandbox starts', async () => {
    const free = await startSteam({ port: 0, seed: 'limits', quotas: false })
    const { community } = await logIn(free, 'Tradetill Bot #1')
    const page = `https://steamcommunity.com/inventory/${free.as('nova_hound').steamId}/730/2?count=75`
    for (let index = 0; index < 70; index += 1) expect((await get(community, page)).status).toBe(200)
    await free.close()
  })
})

async function accessToken(): Promise<string> {
  const { loginCookies } = await import('./conformance/libraries.ts')
  const cookies = await loginCookies(steam, steam.as('Tradetill Bot #1').refreshToken())
  return /%7C%7C([^;]+)/.exec(cookies.join())?.[1] ?? ''
}

describe('what Steam does not show', () => {
  it('are items under protection, and in Counter-Strike 2 what came within ten days, but to their owner', async () => {
    const { id } = await sent(steam, bot)
    steam.as('nova_hound').accept(id)
    const other = await logIn(steam, 'nova_hound')
    const seen = async (person: Person, contextId: number) =>
      (await contents(person.community, bot.steamId, { contextId, tradable: false })).length
    expect([await seen(bot, 16), await seen(other, 16)]).toEqual([1, 0])
    steam.advance(7 * DAY_S)
    bot = await logIn(steam, 'Tradetill Bot #1')
    const later = await logIn(steam, 'nova_hound')
    expect([await seen(bot, 2), await seen(later, 2)]).toEqual([1, 0])
    const total = await get(later.community, `https://steamcommunity.com/inventory/${bot.steamId}/730/2`)
    expect(String(total.body)).toContain('"total_inventory_count":1')
    steam.advance(3 * DAY_S)
    expect(await seen(await logIn(steam, 'nova_hound'), 2)).toBe(1)
  })
})

describe('magic players', () => {
  const inventory = async (who: string) => {
    const page = `https://steamcommunity.com/inventory/${steam.as(who).steamId}/730/2?count=75`
    return (await get(bot.community, page)).status
  }

  it('bring their bad day to requests about themselves only', async () => {
    expect(await inventory('magic_down')).toBe(503)
    expect(await inventory('magic_rate_limited')).toBe(429)
    expect(await inventory('nova_hound')).toBe(200)
    const { community } = await logIn(steam, 'Tradetill Bot #1', { timeout: 200 })
    const slow = `https://steamcommunity.com/inventory/${steam.as('magic_slow').steamId}/730/2?count=75`
    await expect(get(community, slow)).rejects.toThrow('ESOCKETTIMEDOUT')
  })

  it('let Steam be down on a Tuesday afternoon in Los Angeles', async () => {
    nowMs = TUESDAY_NOON_S * 1000
    expect(await inventory('magic_tuesday')).toBe(200)
    nowMs += 3600_000
    expect(await inventory('magic_tuesday')).toBe(503)
    nowMs += 5 * 3600_000
    expect(await inventory('magic_tuesday')).toBe(200)
  })

  it('and behaviours can be anybody', async () => {
    await control(steam, 'PUT', 'behaviours/steam-down', { steamId: steam.as('nova_hound').steamId })
    expect(await inventory('nova_hound')).toBe(503)
    expect(await inventory('quiet_lynx')).toBe(200)
  })
})
