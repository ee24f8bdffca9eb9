/** Reads of a bot's own inventory, with a scripted Steam. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { api, BOT, ok, type ScriptedSteam, scriptedSteam, TOKEN } from '../../testing/steam-server.ts'
import { createSandboxAgent } from './agent.ts'
import { createWebSteam } from './web-steam.ts'

const METHOD = 'GetInventoryItemsWithDescriptions'
const olderPage = (context: string) => `steamcommunity.com/profiles/${BOT}/inventory/json/730/${context}/`

const asset = (assetid: string, classid = '1') => ({
  appid: 730,
  contextid: '2',
  assetid,
  classid,
  instanceid: '0',
  amount: '1',
})
const descriptions = [{ classid: '1', instanceid: '0', market_hash_name: 'Case', name: 'x' }]
const EMPTY = ok({ total_inventory_count: 0 })

let steam: ScriptedSteam
let pausedMs: number

beforeEach(async () => {
  steam = await scriptedSteam()
  pausedMs = 0
})
afterEach(() => steam.close())

/** Reads in simulated time: every wait ends immediately. */
async function read(game: 'cs' | 'tf' = 'cs', isProtected = true) {
  let nowMs = 0
  const time = {
    now: () => nowMs,
    pause: async (ms: number) => {
      nowMs += ms
      pausedMs += ms
    },
  }
  const port = createWebSteam({ redirect: createSandboxAgent('sandbox', steam.url), time })
  const opened = await port.openSession(TOKEN)
  if (opened.kind !== 'open') throw new Error('no session')
  const answer = await opened.session.readOwnInventory(game, { isProtected })
  opened.session.close()
  return answer
}

/** Scripts the answers to METHOD, by context. */
function route(answers: Record<string, (start: string | null) => ReturnType<typeof ok>>): void {
  steam.routes.set(
    api(METHOD),
    ({ query }) => answers[query.get('contextid') ?? '']?.(query.get('start_assetid')) ?? ok({}),
  )
}

describe('a bot’s own inventory', () => {
  it('is read page by page, protected items included, no faster than the method’s budget allows', async () => {
    route({
      2: (start) =>
        start === null
          ? ok({
              assets: [asset('11'), asset('12')],
              descriptions,
              more_items: true,
              last_assetid: '12',
              total_inventory_count: 3,
            })
          : ok({ assets: [asset('13', '2')], descriptions, total_inventory_count: 3 }),
      16: () => ok({ assets: [asset('14')], descriptions, total_inventory_count: 1 }),
    })
    expect(await read()).toEqual({
      kind: 'items',
      isComplete: true,
      items: [
        { appId: 730, contextId: '2', assetId: '11', marketHashName: 'Case' },
        { appId: 730, contextId: '2', assetId: '12', marketHashName: 'Case' },
        { appId: 730, contextId: '2', assetId: '13', marketHashName: '' },
        { appId: 730, contextId: '16', assetId: '14', marketHashName: 'Case' },
      ],
    })
    // Three requests, with 1.5 seconds between them (`methods.ts`).
    expect(pausedMs).toBe(3_000)
    const [first] = steam.requests.filter(({ path }) => path.includes(METHOD))
    expect(first?.query.get('steamid')).toBe(BOT)
  })

  it('is read from the older page if Steam’s answer is empty: only that page shows whether the inventory is empty', async () => {
    route({ 16: () => EMPTY })
    const older = { success: true, rgInventory: [], rgDescriptions: [], more: false, more_start: false }
    steam.routes.set(olderPage('2'), () => ({ body: older }))
    expect(await read()).toEqual({ kind: 'items', items: [], isComplete: true })
    const rgInventory = { 11: { id: '11', classid: '1', instanceid: '0', amount: '1', pos: 1 } }
    const rgDescriptions = { '1_0': descriptions[0] }
    steam.routes.set(olderPage('2'), () => ({ body: { ...older, rgInventory, rgDescriptions } }))
    expect(await read()).toMatchObject({
      items: [{ assetId: '11', marketHashName: 'Case' }],
      isComplete: true,
    })
    steam.routes.set(olderPage('2'), () => ({ body: { success: false, Error: 'This profile is private.' } }))
    expect(await read()).toMatchObject({ kind: 'unavailable', reason: 'steam_error' })
  })

  it('is read from the older page at the address that the bot’s owner chose, without another login', async () => {
    route({ 2: () => ok({}), 16: () => EMPTY })
    const chosen = 'steamcommunity.com/id/trade-till/inventory/json/730/2/'
    steam.routes.set(olderPage('2'), ({ query }) => ({
      status: 302,
      headers: { location: `https://${chosen}?${query}` },
      body: '',
    }))
    steam.routes.set(chosen, ({ query }) => ({
      body: { success: query.get('trading') === '1', rgInventory: [], rgDescriptions: [], more: false },
    }))
    expect(await read()).toEqual({ kind: 'items', items: [], isComplete: true })
    expect(steam.logins).toBe(1)
  })

  it.each<[string, object]>([
    ['counts more than it shows', { assets: [asset('11')], descriptions, total_inventory_count: 2 }],
    ['counts items and shows none', { total_inventory_count: 2 }],
    ['shows an unreadable row', { assets: [asset('11'), { assetid: {} }], descriptions }],
    [
      'leads to a page without content',
      { assets: [asset('11')], descriptions, more_items: true, last_assetid: '11' },
    ],
  ])('is incomplete if Steam %s', async (_name, response) => {
    route({ 2: (start) => (start === null ? ok(response) : ok({})), 16: () => EMPTY })
    expect(await read()).toMatchObject({ kind: 'items', isComplete: false })
  })

  it('is incomplete if a page after the first fails, or the protected items cannot be read', async () => {
    route({
      2: (start) =>
        start === null
          ? ok({ assets: [asset('11')], descriptions, more_items: true, last_assetid: '11' })
          : { status: 500, body: null },
      16: () => EMPTY,
    })
    expect(await read()).toMatchObject({ items: [{ assetId: '11' }], isComplete: false })
    route({ 2: () => ok({ assets: [asset('11')], descriptions }), 16: () => ({ status: 500, body: null }) })
    expect(await read()).toMatchObject({ items: [{ assetId: '11' }], isComplete: false })
  })

  it('of a game without protection is complete if Steam lacks the protected context, but not if Steam limits the request for it', async () => {
    route({ 2: () => ok({ assets: [asset('11')], descriptions }), 16: () => ({ status: 400, body: {} }) })
    expect(await read('tf', false)).toMatchObject({ items: [{ assetId: '11' }], isComplete: true })
    route({ 2: () => ok({ assets: [asset('11')], descriptions }), 16: () => ({ status: 429, body: null }) })
    expect(await read('tf', false)).toMatchObject({ isComplete: false })
  })

  it('is unavailable if the first page fails, or leaves open whether or where another follows', async () => {
    route({ 2: () => ({ status: 503, body: '<html>' }) })
    expect(await read()).toMatchObject({ kind: 'unavailable' })
    route({ 2: () => ok({ assets: [asset('11')], descriptions, more_items: null }), 16: () => EMPTY })
    expect(await read()).toMatchObject({ kind: 'unavailable' })
    route({})
    const older = { success: true, rgInventory: [], rgDescriptions: [], more_start: false }
    for (const more of [null, true]) {
      steam.routes.set(olderPage('2'), () => ({ body: { ...older, more } }))
      expect(await read(), String(more)).toMatchObject({ kind: 'unavailable' })
    }
  })
})
