/** Inventories that are too large to be read, with a scripted Steam. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  PARTNER,
  type ScriptedSteam,
  type SteamReply,
  type SteamRequest,
  scriptedSteam,
  TOKEN,
} from '../../testing/steam-server.ts'
import type { SteamSession } from '../steam.ts'
import { createSandboxAgent } from './agent.ts'
import { createWebSteam } from './web-steam.ts'

const OFFERED_PATH = 'steamcommunity.com/tradeoffer/new/partnerinventory/'
const PUBLIC_PATH = `steamcommunity.com/inventory/${PARTNER.steamId}/440/2`
const DESCRIPTION = { name: 'Key', market_hash_name: 'Key', tradable: 1, tags: [] }
const PAGE_SIZE = 100

let steam: ScriptedSteam

beforeEach(async () => {
  steam = await scriptedSteam()
  steam.routes.set(PUBLIC_PATH, () => ({ status: 500, body: null }))
})
afterEach(() => steam.close())

const read = (session: SteamSession) => session.readInventory(PARTNER, 'tf', 'en')

/** Lets Steam answer the bot with at most this many pages, and leave requests for further ones unanswered. */
function answerPages(most: number, onPage: () => void = () => {}): void {
  steam.routes.set(OFFERED_PATH, ({ query }) => {
    const start = Number(query.get('start') ?? 0)
    if (start >= most * PAGE_SIZE) return 'hang'
    onPage()
    const ids = Array.from({ length: PAGE_SIZE }, (_, index) => `${start + index + 1}`)
    const rgInventory = Object.fromEntries(ids.map((id) => [id, { id, classid: '1' }]))
    const more = { more: true, more_start: start + PAGE_SIZE }
    return { body: { success: true, ...more, rgInventory, rgDescriptions: { '1_0': DESCRIPTION } } }
  })
}

const publicPage = (more: object): SteamReply => ({
  body: {
    success: 1,
    assets: [{ assetid: '7', classid: '1', instanceid: '0' }],
    descriptions: [{ classid: '1', instanceid: '0', ...DESCRIPTION, tradable: 0 }],
    ...more,
  },
})

describe('an inventory counts as too large, not as a failure of Steam,', () => {
  it('if it has more pages than a bot may read at once', async () => {
    answerPages(Number.POSITIVE_INFINITY)
    expect(await read(await steam.open())).toMatchObject({ kind: 'unavailable', reason: 'too_large' })
  })

  it.each([
    ['timeout', 2],
    ['too_large', 3],
  ])('if the bot’s time ends after more than two pages: %s after %i', async (reason, pages) => {
    let nowMs = 0
    const time = { now: () => nowMs, pause: async () => {} }
    const port = createWebSteam({ redirect: createSandboxAgent('sandbox', steam.url), time })
    const opened = await port.openSession(TOKEN)
    if (opened.kind !== 'open') throw new Error(JSON.stringify(opened))
    // Of the deadline of 15 seconds, the bot's page may take 10. The pages that come take 9.9 of them.
    answerPages(pages, () => {
      nowMs += 9_900 / pages
    })
    expect(await read(opened.session)).toMatchObject({ kind: 'unavailable', reason })
    opened.session.close()
  })

  it('unless the public page has all its items', async () => {
    answerPages(Number.POSITIVE_INFINITY)
    steam.routes.set(PUBLIC_PATH, () => publicPage({ total_inventory_count: 1 }))
    expect(await read(await steam.open())).toMatchObject({ kind: 'items', items: [{ assetId: '7' }] })
  })
})

it('the public page of an inventory that is too large is requested once', async () => {
  steam.routes.set(OFFERED_PATH, () => ({ status: 500, body: null }))
  steam.routes.set(PUBLIC_PATH, ({ query }) => {
    const last = Number(query.get('start_assetid') ?? 0)
    const assets = [{ assetid: `${last + 1}`, classid: '1', instanceid: '0' }]
    return publicPage({ assets, more_items: 1, last_assetid: `${last + 1}`, total_inventory_count: 20_001 })
  })
  // The public page counts untradable items too, so the bot's failed read still counts as a failure of Steam.
  expect(await read(await steam.open())).toMatchObject({ kind: 'unavailable', reason: 'steam_error' })
  expect(steam.times('/440/2')).toBe(1)
})

describe('a shopper whose large inventory is read again and again', () => {
  const NEIGHBOUR = { steamId: '76561197960269730', token: 'abcd_-13' }
  const SECOND_MS = 1_000
  /** How often one deposit may have an inventory read in a minute, and how many pages the large one has. */
  const [READS, PAGES] = [12, 5]

  it.each([
    ['the bot’s page', OFFERED_PATH, OFFERED_PATH],
    ['the public page', PUBLIC_PATH, `steamcommunity.com/inventory/${NEIGHBOUR.steamId}/440/2`],
  ])('leaves enough of the budget of %s to another shopper', async (_what, largePath, path) => {
    let nowMs = 0
    const pauses: number[] = []
    const time = {
      now: () => nowMs,
      pause: async (ms: number) => {
        pauses.push(ms)
        nowMs += ms
      },
    }
    const port = createWebSteam({ redirect: createSandboxAgent('sandbox', steam.url), time })
    const opened = await port.openSession(TOKEN)
    if (opened.kind !== 'open') throw new Error(JSON.stringify(opened))
    const { session } = opened
    const pageOf = ({ path: asked, query }: SteamRequest): SteamReply => {
      const number = Number(query.get('start') ?? query.get('start_assetid') ?? 0) + 1
      const isNeighbours = `${asked}?${query}`.includes(NEIGHBOUR.steamId)
      const isLast = isNeighbours || number === PAGES
      const more = isLast ? { more: false } : { more: true, more_start: number }
      const morePublic = isLast ? {} : { more_items: 1, last_assetid: `${number}` }
      const item = { id: `${number}`, assetid: `${number}`, classid: '1', instanceid: '0' }
      const offered = { ...more, rgInventory: { [number]: item }, rgDescriptions: { '1_0': DESCRIPTION } }
      const descriptions = [{ classid: '1', instanceid: '0', ...DESCRIPTION }]
      return { body: { success: true, ...offered, assets: [item], descriptions, ...morePublic } }
    }
    steam.routes.set(OFFERED_PATH, () => ({ status: 500, body: null }))
    steam.routes.set(largePath, pageOf)
    for (let reads = 0; reads < READS; reads += 1) {
      await read(session)
      nowMs = Math.max(nowMs, (reads + 1) * 5 * SECOND_MS)
    }
    steam.routes.set(path, pageOf)
    pauses.length = 0
    const answer = await session.readInventory(NEIGHBOUR, 'tf', 'en')
    expect(answer.kind).toBe('items')
    expect(pauses.filter((ms) => ms > 0)).toEqual([])
    session.close()
  })
})
