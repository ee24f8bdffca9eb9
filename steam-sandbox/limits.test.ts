import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  control,
  get,
  inventoryOf,
  logIn,
  loginCookies,
  type Person,
  sendDraft,
  startSteamWithoutWaits,
  wait,
} from './conformance/libraries.ts'
import { startSteam } from './start.ts'
import { DAY_S, STATE } from './world/world.ts'

const TUESDAY_NOON_IN_LOS_ANGELES_S = Date.UTC(2026, 10, 24, 20) / 1000
let nowMs: number
let steam: Awaited<ReturnType<typeof startSteamWithoutWaits>>
let bot: Person

beforeEach(async () => {
  // The library checks sessions against the machine's clock, so the sandbox's clock starts from that time.
  nowMs = Date.now()
  steam = await startSteamWithoutWaits({ seed: 'limits', clock: () => nowMs })
  bot = await logIn(steam, 'Tradetill Bot #1')
})
afterEach(() => steam.close())

const API = 'https://api.steampowered.com/IEconService'

async function readStatuses(uri: string, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) statuses.push((await get(bot.community, uri)).status)
  return statuses
}

describe('quotas', () => {
  it('allow 25 reads of a trade status at once, and then one every two seconds', async () => {
    const token = await accessToken()
    const uri = `${API}/GetTradeStatus/v1/?tradeid=1&access_token=${token}`
    expect(await readStatuses(uri, 26)).toEqual([...Array(25).fill(200), 429])
    nowMs += 2000
    expect(await readStatuses(uri, 2)).toEqual([200, 429])
  })

  it('allow 30 pages of partners’ inventories, and 60 of public inventories, at once', async () => {
    const { steamId } = steam.as('nova_hound')
    const partnerPage = `https://steamcommunity.com/tradeoffer/new/partnerinventory/?partner=${steamId}&appid=730&contextid=2`
    expect((await readStatuses(partnerPage, 31)).filter((status) => status === 429)).toHaveLength(1)
    const page = `https://steamcommunity.com/inventory/${steamId}/730/2?count=75`
    expect((await readStatuses(page, 61)).filter((status) => status === 429)).toHaveLength(1)
  })

  it('limit how often each account can read its own inventory page', async () => {
    const ownPage = `https://steamcommunity.com/profiles/${bot.steamId}/inventory/json/730/2`
    expect(await readStatuses(ownPage, 16)).toEqual([...Array(15).fill(200), 429])
    nowMs += 2000
    expect(await readStatuses(ownPage, 2)).toEqual([200, 429])
  })

  it('allow one read per second of an inventory with descriptions, and give further reads an empty answer', async () => {
    const { id } = await sendDraft(steam, bot)
    steam.as('nova_hound').accept(id)
    const items = { steamid: bot.steamId, appid: '730', contextid: '16', access_token: await accessToken() }
    const uri = `${API}/GetInventoryItemsWithDescriptions/v1/?${new URLSearchParams(items)}`
    const read = () => get(bot.community, uri)
    expect(String((await read()).body)).toContain('"total_inventory_count":1')
    expect(await read()).toMatchObject({ status: 200, body: '{"response":{}}' })
    nowMs += 1000
    expect(String((await read()).body)).toContain('"total_inventory_count":1')
  })

  it('can be switched off when the sandbox starts', async () => {
    const unlimited = await startSteam({ port: 0, seed: 'limits', quotas: false })
    const { community } = await logIn(unlimited, 'Tradetill Bot #1')
    const page = `https://steamcommunity.com/inventory/${unlimited.as('nova_hound').steamId}/730/2?count=75`
    for (let index = 0; index < 70; index += 1) expect((await get(community, page)).status).toBe(200)
    await unlimited.close()
  })
})

async function accessToken(): Promise<string> {
  const cookies = await loginCookies(steam, steam.as('Tradetill Bot #1').refreshToken())
  return /%7C%7C([^;]+)/.exec(cookies.join())?.[1] ?? ''
}

describe('the history of trades', () => {
  it('is read page by page, in both directions', async () => {
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      const { id } = await sendDraft(steam, bot)
      steam.as('nova_hound').accept(id)
      ids.unshift(steam.world().trades.at(-1)?.id ?? '')
      nowMs += 1000
    }
    const read = async (input: object): Promise<{ more: boolean; ids: string[] }> => {
      // A copy through JSON, because the library's type for the answer is `unknown`.
      const body: { response: { more: boolean; trades: { tradeid: string }[] } } = await wait((done) =>
        bot.manager._apiCall('GET', 'GetTradeHistory', 1, { max_trades: 2, ...input }, (error, value) =>
          done(error, JSON.parse(JSON.stringify(value ?? null))),
        ),
      )
      return { more: body.response.more, ids: body.response.trades.map(({ tradeid }) => tradeid) }
    }
    expect(await read({})).toEqual({ more: true, ids: ids.slice(0, 2) })
    expect(await read({ start_after_tradeid: ids[1] })).toEqual({ more: false, ids: ids.slice(2) })
    const atS = steam.world().trades[0]?.atS ?? 0
    expect(await read({ start_after_time: atS, navigating_back: 1 })).toEqual({
      more: false,
      ids: ids.slice(0, 2),
    })
    expect(await read({ start_after_tradeid: 'nonsense' })).toMatchObject({ more: true })
  })
})

describe('the data of a bot', () => {
  const callAsBot = async (name: string, input: object) =>
    JSON.stringify(await wait<unknown>((done) => bot.manager._apiCall('GET', name, 1, input, done)))

  it('include its inventory with protected items, but no other account’s inventory', async () => {
    const { id } = await sendDraft(steam, bot)
    steam.as('nova_hound').accept(id)
    const page = { steamid: bot.steamId, appid: 730, contextid: 16, get_descriptions: 1 }
    expect(await callAsBot('GetInventoryItemsWithDescriptions', page)).toMatch(/"total_inventory_count":1/)
    const { steamId } = steam.as('nova_hound')
    // Advances a second, so the refusal below does not come from the rate limit.
    nowMs += 1000
    expect(await callAsBot('GetInventoryItemsWithDescriptions', { ...page, steamid: steamId })).toBe(
      '{"response":{}}',
    )
    const olderPage = (owner: string) =>
      `https://steamcommunity.com/profiles/${owner}/inventory/json/730/16/?trading=1`
    expect(String((await get(bot.community, olderPage(bot.steamId))).body)).toContain(
      '"success":true,"rgInventory":{',
    )
    expect(String((await get(bot.community, olderPage(steamId))).body)).toContain('"success":false')
  })

  it('include its trade link, which it can replace; the control API replaces that of a shopper', async () => {
    const linkBefore = await callAsBot('GetTradeOfferAccessToken', {})
    expect(await callAsBot('GetTradeOfferAccessToken', {})).toBe(linkBefore)
    expect(await callAsBot('GetTradeOfferAccessToken', { generate_new_token: 1 })).not.toBe(linkBefore)
    const nova = steam.as('nova_hound')
    const oldToken = new URL(nova.tradeUrl()).searchParams.get('token') ?? ''
    await control(steam, `POST players/${nova.steamId}/token`)
    await expect(sendDraft(steam, bot, { token: oldToken })).rejects.toMatchObject({ eresult: 15 })
    await sendDraft(steam, bot)
  })

  it('include its offers, which the Web API can end', async () => {
    const { id } = await sendDraft(steam, bot)
    const cancel = () =>
      wait<unknown>((done) => bot.manager._apiCall('POST', 'CancelTradeOffer', 1, { tradeofferid: id }, done))
    await cancel()
    expect(steam.world().offers[0]?.state).toBe(STATE.canceled)
    await expect(cancel()).rejects.toMatchObject({ eresult: '11' })
  })
})

describe('a hostile name', () => {
  const NAME = '</script>]]><b>"(26)'

  it('stays text on the trade page, in the profile and on the start page', async () => {
    const { steamId, tradeUrl } = steam.as('nova_hound')
    await control(steam, `POST players/${steamId}/name`, { name: NAME })
    const page = String((await get(bot.community, tradeUrl())).body)
    expect(page.match(/<\/script>/g)).toHaveLength(2)
    const xml = String(
      (await get(bot.community, `https://steamcommunity.com/profiles/${steamId}/?xml=1`)).body,
    )
    expect(xml).toContain('</script>]]]]><![CDATA[><b>')
    expect(await (await fetch(steam.url)).text()).not.toContain('<b>')
  })
})

describe('the count of requests', () => {
  it('covers requests since the last reset', async () => {
    steam.reset()
    await readStatuses('https://steamcommunity.com/profiles/1/?xml=1', 2)
    expect(await control(steam, 'GET counts')).toEqual({ 'GET steamcommunity.com/profiles/*/': 2 })
  })
})

describe('Steam hides', () => {
  it('protected items, and Counter-Strike 2 items received in the last ten days, from all but their owner', async () => {
    const { id } = await sendDraft(steam, bot)
    steam.as('nova_hound').accept(id)
    const formerOwner = await logIn(steam, 'nova_hound')
    const countSeen = async (person: Person, contextId: number) =>
      (await inventoryOf(person.community, bot.steamId, { contextId, tradableOnly: false })).length
    expect([await countSeen(bot, 16), await countSeen(formerOwner, 16)]).toEqual([1, 0])
    steam.advance(7 * DAY_S)
    bot = await logIn(steam, 'Tradetill Bot #1')
    const formerOwnerLater = await logIn(steam, 'nova_hound')
    expect([await countSeen(bot, 2), await countSeen(formerOwnerLater, 2)]).toEqual([1, 0])
    const inventoryPage = await get(
      formerOwnerLater.community,
      `https://steamcommunity.com/inventory/${bot.steamId}/730/2`,
    )
    expect(String(inventoryPage.body)).toContain('"total_inventory_count":1')
    steam.advance(3 * DAY_S)
    expect(await countSeen(await logIn(steam, 'nova_hound'), 2)).toBe(1)
  })
})

describe('a trade', () => {
  it('is hidden from a stranger, as are its protected items, even after ten days', async () => {
    await control(steam, 'POST protection', { seconds: 20 * DAY_S })
    const { id } = await sendDraft(steam, bot)
    steam.as('nova_hound').accept(id)
    steam.advance(11 * DAY_S)
    const stranger = await logIn(steam, 'quiet_lynx')
    const page = await get(stranger.community, `https://steamcommunity.com/inventory/${bot.steamId}/730/16`)
    expect(String(page.body)).toContain('"total_inventory_count":0')
    expect(String(page.body)).not.toContain('assetid')
    expect(
      await inventoryOf(stranger.community, bot.steamId, { contextId: 16, tradableOnly: false }),
    ).toEqual([])
    const input = { tradeid: steam.world().trades[0]?.id }
    const read = ({ manager }: Person) =>
      wait<unknown>((done) => manager._apiCall('GET', 'GetTradeStatus', 1, input, done))
    expect(await read(stranger)).toEqual({ response: {} })
    expect(JSON.stringify(await read(await logIn(steam, 'nova_hound')))).toContain('assets_given')
  })
})

/** The status of the answer to a read of this account's public inventory. */
async function readInventoryStatus(who: string): Promise<number> {
  const page = `https://steamcommunity.com/inventory/${steam.as(who).steamId}/730/2?count=75`
  return (await get(bot.community, page)).status
}

describe('magic players', () => {
  it('cause their bad days in requests about themselves, and in no others', async () => {
    expect(await readInventoryStatus('magic_down')).toBe(503)
    expect(await readInventoryStatus('magic_rate_limited')).toBe(429)
    expect(await readInventoryStatus('nova_hound')).toBe(200)
    await expect(readInventoryStatus('magic_slow')).rejects.toThrow('ESOCKETTIMEDOUT')
    expect(steam.waits).toEqual([4_000])
  })

  it('include one for whom Steam is down on Tuesday afternoons in Los Angeles', async () => {
    nowMs = TUESDAY_NOON_IN_LOS_ANGELES_S * 1000
    expect(await readInventoryStatus('magic_tuesday')).toBe(200)
    nowMs += 3600_000
    expect(await readInventoryStatus('magic_tuesday')).toBe(503)
    nowMs += 5 * 3600_000
    expect(await readInventoryStatus('magic_tuesday')).toBe(200)
  })

  it('are not the only accounts that can have a behaviour', async () => {
    await control(steam, 'PUT behaviours/steam-down', { steamId: steam.as('nova_hound').steamId })
    expect(await readInventoryStatus('nova_hound')).toBe(503)
    expect(await readInventoryStatus('quiet_lynx')).toBe(200)
  })
})

describe('a behaviour', () => {
  it('can be switched on for an account that does not exist, and then affects no request', async () => {
    await control(steam, 'PUT behaviours/steam-down', { steamId: '1' })
    expect(await readInventoryStatus('nova_hound')).toBe(200)
  })
})
