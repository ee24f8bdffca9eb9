/** Names, items and pages that try to run code in this process. */
import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  ASSETS,
  api,
  BOT,
  PARTNER,
  type ScriptedSteam,
  SEND,
  type SteamReply,
  scriptedSteam,
  TOKEN,
} from '../../testing/steam-server.ts'
import { createSandboxAgent } from './agent.ts'
import { createWebSteam } from './web-steam.ts'

// The same object that the libraries use.
const vm: typeof import('node:vm') = createRequire(import.meta.url)('node:vm')

const BREAK_OUT = `UserYou.SetProfileURL.constructor('return process')().env.BROKEN_OUT = 'yes'`
const NAMES = [
  `"; ${BREAK_OUT}; "`,
  `</script><script type="text/javascript">${BREAK_OUT}</script>`,
  '__proto__',
  'constructor',
  '$(kill -9 1)',
  "'); drop table bot; --",
]
const PAGE = `<html>\n\t<script type="text/javascript">\n\tvar g_rgAppContextData = {};\n${BREAK_OUT};\n</script></html>`

let steam: ScriptedSteam

beforeEach(async () => {
  steam = await scriptedSteam()
  for (const method of [
    'runInContext',
    'runInNewContext',
    'runInThisContext',
    'createContext',
    'compileFunction',
  ] as const) {
    vi.spyOn(vm, method)
  }
})
afterEach(async () => {
  vi.restoreAllMocks()
  await steam.close()
})

/** Gives this reply to every call of `askAll`, except the logins. */
function replyEverywhere(reply: () => SteamReply): void {
  const methods = [
    'GetTradeOffer',
    'GetTradeOffers',
    'GetTradeStatus',
    'GetTradeHistory',
    'GetTradeHoldDurations',
    'GetInventoryItemsWithDescriptions',
  ]
  const pages = [
    'tradeoffer/new/partnerinventory/',
    'tradeoffer/55/cancel',
    'tradeoffer/55/decline',
    `inventory/${PARTNER.steamId}/730/2`,
    `profiles/${PARTNER.steamId}/`,
    `profiles/${BOT}/inventory/json/730/2/`,
    `profiles/${BOT}/inventory/json/730/16/`,
    'miniprofile/4001/json',
    // The library's URL has two slashes here.
    '/trade/new/acknowledge',
  ]
  for (const path of [SEND, ...methods.map(api), ...pages.map((page) => `steamcommunity.com/${page}`)]) {
    steam.routes.set(path, reply)
  }
}

async function askAll() {
  const session = await steam.open()
  return [
    await session.checkPartner(PARTNER),
    await session.readInventory(PARTNER, 'cs', 'en'),
    await session.sendOffer(PARTNER, ASSETS, 'K7M2QX'),
    await session.readOffer('55'),
    await session.listOffers(new Date(), null),
    await session.cancelOffer('55'),
    await session.declineOffer('55'),
    await session.readSteamTrade('900'),
    await session.listSteamTrades(null),
    await session.acknowledgeProtection(),
    await readOwnInventory(),
    await steam.createPort().readProfile(PARTNER.steamId),
  ]
}

/** Reads the bot's own inventory without the waits between its pages. */
async function readOwnInventory() {
  const time = { now: () => performance.now(), pause: async () => {} }
  const port = createWebSteam({ redirect: createSandboxAgent('sandbox', steam.url), time })
  const opened = await port.openSession(TOKEN)
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened))
  const answer = await opened.session.readOwnInventory('cs', { isProtected: true })
  opened.session.close()
  return answer
}

function expectUnharmed(): void {
  expect(process.env.BROKEN_OUT).toBeUndefined()
  for (const spied of Object.values(vm)) if (vi.isMockFunction(spied)) expect(spied).not.toHaveBeenCalled()
  expect(Object.keys(Object.prototype)).toEqual([])
  expect(Reflect.get({}, 'tradable')).toBeUndefined()
}

describe('an answer of Steam that contains code', () => {
  it('is not run as a page, on any path', async () => {
    replyEverywhere(() => ({ body: PAGE }))
    const answers = await askAll()
    expect(answers.map(({ kind }) => kind)).not.toContain('sent')
    expectUnharmed()
  })

  it.each(NAMES)('is not run as the name of a person, an item or a field: %j', async (name) => {
    const item = `{ "id": "5", "classid": "1", "instanceid": "0", ${JSON.stringify(name)}: { "tradable": 1 } }`
    const description = {
      name,
      market_hash_name: name,
      tradable: 1,
      icon_url: name,
      tags: [{ category: name, internal_name: name }],
    }
    const body = JSON.parse(`{
      "success": true, "strError": ${JSON.stringify(name)}, "error": ${JSON.stringify(name)}, "persona_name": ${JSON.stringify(name)},
      "rgInventory": { "5": ${item}, ${JSON.stringify(name)}: ${item} },
      "rgDescriptions": { "1_0": ${JSON.stringify(description)}, ${JSON.stringify(name)}: { "tradable": 1 } },
      "response": { "offer": { "tradeofferid": "55", "accountid_other": 4001, "trade_offer_state": 2, "message": ${JSON.stringify(name)},
        ${JSON.stringify(name)}: {} } }
    }`)
    replyEverywhere(() => ({ body }))
    const answers = await askAll()
    // The inventories of the partner and of the bot.
    expect(answers.filter(({ kind }) => kind === 'items')).toHaveLength(2)
    expectUnharmed()
  })

  it('is noticed by these tests if a library runs it', () => {
    const load = createRequire(import.meta.url)
    const [Manager, Community] = [load('steam-tradeoffer-manager'), load('steamcommunity')]
    const page = '\n<script type="text/javascript">\nvar g_rgAppContextData = 1;</script>'
    const request = (_: object, done: (error: null, response: object, body: string) => void) =>
      done(null, { statusCode: 200, headers: {} }, page)
    const community = new Community({ request: Object.assign(request, { defaults: () => request }) })
    const manager = new Manager({ community, pollInterval: -1, dataDirectory: null, useAccessToken: true })
    const offer = manager.createOffer(BOT, 'abcd_-12')
    // The call throws, but only after it has run the script.
    expect(() => offer.getUserDetails(() => {})).toThrow()
    expect(vm.runInContext).toHaveBeenCalled()
  })
})
