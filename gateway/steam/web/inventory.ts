import { GAME_FACTS, type Game } from '../../../contract/games.ts'
import type { Language } from '../../../contract/languages.ts'
import { accountOf } from '../../../contract/steam-id.ts'
import type { Time } from '../budget.ts'
import { type HttpResult, inventoryRefusal, unavailableFrom } from '../outcomes.ts'
import { type InventoryPage, parsePartnerPage, parsePublicPage } from '../parse.ts'
import type { InventoryAnswer, Partner, SteamItem, Unavailable } from '../steam.ts'
import type { Call, Connection } from './connection.ts'

/** The most items to read. A larger inventory counts as unavailable, because a part of it must never look complete. */
const MAX_ITEMS = 20_000
/**
 * The most pages to read of the inventory that Steam shows to the bot. Steam chooses their size. The budget of the bot
 * allows a burst of that many, and of five more, which are left to other shoppers.
 */
const MAX_OFFERED_PAGES = 25
/** The most public pages to read. Full ones add up to MAX_ITEMS. */
const MAX_PUBLIC_PAGES = 20
/**
 * A timeout after this many pages or more means that the inventory is too large. After fewer, it means that Steam is
 * slow, which counts as a failure.
 */
const ANSWERED_PAGES = 3
/** The time limit for reading the untradable items after the tradable ones have been read. */
const MAX_UNTRADABLE_MS = 4_000
/** The share of the deadline that is reserved for the public page in case the bot's page hangs. */
const PUBLIC_PAGE_SHARE = 1 / 3
const STEAM_LANGUAGE: Record<Language, string> = { en: 'english', ru: 'russian' }

/**
 * Since May 2025, Steam has answered 400 to a request for more than 2000 items. It may lower that limit at any time.
 */
const FIRST_PAGE_SIZE = 1000
const SMALLEST_PAGE_SIZE = 75
/**
 * The time from a refused size until the full size is tried again. A short problem must not shrink the pages forever.
 */
const SMALLER_PAGES_MS = 10 * 60_000

/** The size of a public page, shared by all sessions of this process. */
export type PageSize = {
  current(): number
  /** Records that Steam refused a page of this size. Returns false if no smaller size is left. */
  shrink(size: number): boolean
}

export function createPageSize(time: Time): PageSize {
  let size = FIRST_PAGE_SIZE
  let fullAgainAtMs = Number.NEGATIVE_INFINITY
  const current = () => {
    if (time.now() >= fullAgainAtMs) size = FIRST_PAGE_SIZE
    return size
  }
  return {
    current,
    shrink(refused) {
      if (refused <= SMALLEST_PAGE_SIZE) return false
      // Several pages can be refused together. Only the smallest counts.
      size = Math.min(current(), Math.max(SMALLEST_PAGE_SIZE, Math.floor(refused / 2)))
      fullAgainAtMs = time.now() + SMALLER_PAGES_MS
      return true
    },
  }
}

/** `leftMs`: returns the time until the deadline. */
type Access = { connection: Connection; pages: PageSize; leftMs: () => number }
type InventoryRequest = { partner: Partner; game: Game; language: Language }

type Pages =
  | { kind: 'items'; items: SteamItem[] }
  | { kind: 'refused'; reason: 'hidden' | 'invalid_token' | 'cannot_trade' | 'not_owned' }
  | Unavailable

function tooLarge(what: string): Unavailable {
  return { kind: 'unavailable', reason: 'too_large', detail: `inventory: ${what}` }
}

/** After this failure, the public page is not read: it would show too many items as well. */
const BEYOND_LIMIT = tooLarge(`more than ${MAX_ITEMS} items`)

/**
 * Reads the partner's items in the game, newest first: tradable items from the page that Steam shows to the bot, and
 * untradable ones from the public page. If the bot's page cannot be read, all items come from the public page, unless
 * the session is dead or the inventory has too many items.
 */
export async function readInventory(access: Access, request: InventoryRequest): Promise<InventoryAnswer> {
  const { leftMs } = access
  const reservedMs = leftMs() * PUBLIC_PAGE_SHARE
  const offered = await readOffered({ ...access, leftMs: () => leftMs() - reservedMs }, request)
  if (offered.kind === 'refused') return { kind: 'refused', reason: refusalOf(offered.reason) }
  if (offered.kind === 'unavailable') {
    const isHopeless = offered.reason === 'session_dead' || offered === BEYOND_LIMIT
    const shown = isHopeless ? offered : await readPublic(access, request)
    // Return the first failure: it is the cause. The second only shows that the public page did not help.
    return shown.kind === 'unavailable' ? offered : toAnswer(shown)
  }
  const unusedMs = Math.max(0, leftMs() - MAX_UNTRADABLE_MS)
  const shown = await readPublic({ ...access, leftMs: () => leftMs() - unusedMs }, request)
  if (shown.kind === 'refused' && offered.items.length === 0) return toAnswer(shown)
  const known = new Set(offered.items.map((item) => item.assetId))
  const untradable =
    shown.kind === 'items' ? shown.items.filter((item) => !item.tradable && !known.has(item.assetId)) : []
  return toAnswer({ kind: 'items', items: [...offered.items, ...untradable] })
}

function toAnswer(pages: Exclude<Pages, Unavailable>): InventoryAnswer {
  if (pages.kind === 'refused') return { kind: 'refused', reason: refusalOf(pages.reason) }
  if (pages.items.length === 0) return { kind: 'refused', reason: 'no_items' }
  return { kind: 'items', items: pages.items.sort(newestFirst) }
}

function refusalOf(reason: Extract<Pages, { kind: 'refused' }>['reason']) {
  return reason === 'not_owned' ? 'no_items' : reason
}

function readOffered({ connection, leftMs }: Access, request: InventoryRequest): Promise<Pages> {
  return readPages((start) => offeredPage(request, start), parsePartnerPage, {
    ask: (call) => connection.request(call, leftMs()),
    maxPages: MAX_OFFERED_PAGES,
  })
}

function readPublic({ connection, pages, leftMs }: Access, request: InventoryRequest): Promise<Pages> {
  const ask = (call: Call, count: number) =>
    connection.request({ ...call, query: { ...call.query, count } }, leftMs())
  return readPages((start) => publicPage(request, start), parsePublicPage, {
    async ask(call) {
      let count = pages.current()
      let answer = await ask(call, count)
      while (isSizeRefused(answer) && pages.shrink(count)) {
        count = pages.current()
        answer = await ask(call, count)
      }
      return answer
    },
    maxPages: MAX_PUBLIC_PAGES,
  })
}

function isSizeRefused(answer: HttpResult | Unavailable): boolean {
  return answer.kind === 'reply' && answer.status === 400
}

type Reader = { ask: (call: Call) => Promise<HttpResult | Unavailable>; maxPages: number }

async function readPages(
  callFor: (start: string | null) => Call,
  parse: (body: unknown) => InventoryPage | undefined,
  { ask, maxPages }: Reader,
): Promise<Pages> {
  const items = new Map<string, SteamItem>()
  let start: string | null = null
  for (let pages = 0; pages < maxPages; pages += 1) {
    // Each further page leaves more turns to others, so a large inventory does not use up the bot's budget.
    const call: Call = { ...callFor(start), spare: pages }
    const answer: HttpResult | Unavailable = await ask(call)
    if (answer.kind === 'unavailable') return failedAfter(pages, answer)
    const refusal = inventoryRefusal(answer)
    if (refusal) return { kind: 'refused', reason: refusal }
    const page = answer.kind === 'reply' && answer.status === 200 ? parse(answer.body) : undefined
    if (!page) return failedAfter(pages, unavailableFrom(call.name, answer))
    const before = items.size
    for (const item of page.items) items.set(item.assetId, item)
    if (page.next === null || items.size === before) return { kind: 'items', items: [...items.values()] }
    if (items.size >= MAX_ITEMS || (page.total ?? 0) > MAX_ITEMS) return BEYOND_LIMIT
    start = page.next
  }
  return tooLarge(`no end after ${maxPages} pages`)
}

/** Returns the failure, or that the inventory is too large if the failure is a timeout after several pages. */
function failedAfter(pages: number, failure: Unavailable): Unavailable {
  if (failure.reason !== 'timeout' || pages < ANSWERED_PAGES) return failure
  return tooLarge(`no end after ${pages} pages, when the time ran out`)
}

function offeredPage({ partner, game, language }: InventoryRequest, start: string | null): Call {
  const { appId, contextId } = GAME_FACTS[game]
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
    referer: `https://steamcommunity.com/tradeoffer/new/?partner=${accountOf(partner.steamId)}&token=${partner.token}`,
    proof: 'cookies',
  }
}

function publicPage({ partner, game, language }: InventoryRequest, start: string | null): Call {
  const { appId, contextId } = GAME_FACTS[game]
  return {
    name: 'inventory',
    url: `https://steamcommunity.com/inventory/${partner.steamId}/${appId}/${contextId}`,
    query: {
      l: STEAM_LANGUAGE[language],
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
