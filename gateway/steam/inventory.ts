import { GAME_FACTS, type Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { Call, Connection } from './connection.ts'
import { inventoryRefusal, unavailableFrom } from './outcomes.ts'
import { type InventoryPage, parsePartnerPage, parsePublicPage } from './parse.ts'
import type { InventoryAnswer, Partner, SteamItem, Unavailable } from './steam.ts'
import type { Exchange } from './transport.ts'

const MAX_ITEMS = 20_000
const MAX_OFFERED_PAGES = 40
const MAX_PUBLIC_PAGES = 4
const MAX_PUBLIC_MS = 8_000
const STEAM_LANGUAGE: Record<Language, string> = { en: 'english', ru: 'russian' }

/** More than 2000 has been answered with 400 since May 2025. */
const PUBLIC_PAGE_SIZE = 1000

type Read = { connection: Connection; partner: Partner; game: Game; language: Language; ms: number }

type Pages =
  | { kind: 'items'; items: SteamItem[] }
  | { kind: 'refused'; reason: 'hidden' | 'invalid_token' | 'cannot_trade' }
  | Unavailable

/**
 * What the partner owns in the game, newest first: the tradable items as Steam shows them to the bot, and from the
 * public page those that are not tradable. The public page is a help only: Steam limits it hard.
 */
export async function readInventory(read: Read, monotonicMs: () => number): Promise<InventoryAnswer> {
  const until = monotonicMs() + read.ms
  const left = () => until - monotonicMs()
  const [offered, shown] = await Promise.all([
    readPages((start) => offeredPage(read, start), parsePartnerPage, {
      connection: read.connection,
      left,
      maxPages: MAX_OFFERED_PAGES,
    }),
    readPages((start) => publicPage(read, start), parsePublicPage, {
      connection: read.connection,
      left: () => left() - Math.max(0, read.ms - MAX_PUBLIC_MS),
      maxPages: MAX_PUBLIC_PAGES,
    }),
  ])
  if (offered.kind !== 'items') return offered
  const known = new Set(offered.items.map((item) => item.assetId))
  const restricted =
    shown.kind === 'items' ? shown.items.filter((item) => !item.tradable && !known.has(item.assetId)) : []
  const items = [...offered.items, ...restricted].sort(newestFirst).slice(0, MAX_ITEMS)
  if (items.length > 0) return { kind: 'items', items }
  const hidden = shown.kind === 'refused' && shown.reason === 'hidden'
  return { kind: 'refused', reason: hidden ? 'hidden' : 'no_items' }
}

type Limits = { connection: Connection; left: () => number; maxPages: number }

async function readPages(
  callFor: (start: string | null) => Call,
  parse: (body: unknown) => InventoryPage | undefined,
  { connection, left, maxPages }: Limits,
): Promise<Pages> {
  const items = new Map<string, SteamItem>()
  let start: string | null = null
  for (let pages = 0; pages < maxPages && items.size < MAX_ITEMS; pages += 1) {
    const call: Call = callFor(start)
    const answer: Exchange | Unavailable = await connection.exchange(call, left())
    if (answer.kind === 'unavailable') return answer
    const refusal = inventoryRefusal(answer)
    if (refusal) return { kind: 'refused', reason: refusal }
    const page = answer.kind === 'reply' && answer.status === 200 ? parse(answer.body) : undefined
    if (!page) return unavailableFrom(call.name, answer)
    const before = items.size
    for (const item of page.items) items.set(item.assetId, item)
    if (page.next === null || items.size === before) break
    start = page.next
  }
  return { kind: 'items', items: [...items.values()] }
}

function offeredPage({ partner, game, language }: Read, start: string | null): Call {
  const { appId, contextId } = GAME_FACTS[game]
  const account = BigInt(partner.steamId) & 0xffff_ffffn
  return {
    name: 'partnerinventory',
    url: 'https://steamcommunity.com/tradeoffer/new/partnerinventory/',
    query: {
      partner: partner.steamId,
      appid: appId,
      contextid: contextId,
      l: STEAM_LANGUAGE[language],
      ...(start === null ? {} : { start }),
    },
    referer: `https://steamcommunity.com/tradeoffer/new/?partner=${account}&token=${partner.token}`,
    proof: 'cookies',
  }
}

function publicPage({ partner, game, language }: Read, start: string | null): Call {
  const { appId, contextId } = GAME_FACTS[game]
  return {
    name: 'inventory',
    url: `https://steamcommunity.com/inventory/${partner.steamId}/${appId}/${contextId}`,
    query: {
      l: STEAM_LANGUAGE[language],
      count: PUBLIC_PAGE_SIZE,
      ...(start === null ? {} : { start_assetid: start }),
    },
    referer: `https://steamcommunity.com/profiles/${partner.steamId}/inventory`,
    proof: 'none',
  }
}

/** Asset ids only grow, so the order of ids is the order of arrival. */
function newestFirst(a: SteamItem, b: SteamItem): number {
  if (a.assetId.length !== b.assetId.length) return b.assetId.length - a.assetId.length
  return a.assetId < b.assetId ? 1 : -1
}
