/** A bot's own inventory, including items under trade protection, which only the bot can see. */
import { GAME_FACTS, type Game } from '../../../contract/games.ts'
import { type HttpResult, unavailableFrom } from '../outcomes.ts'
import { type OwnPage, parseOlderOwnPage, parseOwnPage } from '../parse-own.ts'
import {
  type OfferAsset,
  type OwnInventoryAnswer,
  type OwnItem,
  PROTECTED_CONTEXT,
  type Unavailable,
} from '../steam.ts'
import type { Call, Connection } from './connection.ts'
import { economyBody, economyCall } from './offers.ts'

/** Reading stops at this many items, far more than a bot has. If more follow, the answer counts as incomplete. */
const MAX_ITEMS = 20_000
const MAX_PAGES = 25
const PAGE_SIZE = 1_000

/** `leftMs`: returns the time until the deadline. */
type Access = { connection: Connection; steamId: string; leftMs: () => number }
type Place = Pick<OfferAsset, 'appId' | 'contextId'>
type ContextAnswer = { items: OwnItem[]; isComplete: boolean } | Unavailable

export async function readOwnInventory(
  access: Access,
  game: Game,
  { isProtected }: { isProtected: boolean },
): Promise<OwnInventoryAnswer> {
  const { appId, contextId } = GAME_FACTS[game]
  const unprotected = await readContext(access, { appId, contextId })
  if ('kind' in unprotected) return unprotected
  const underProtection = await readContext(access, { appId, contextId: PROTECTED_CONTEXT })
  if (!('kind' in underProtection)) {
    const isComplete = unprotected.isComplete && underProtection.isComplete
    return { kind: 'items', items: [...unprotected.items, ...underProtection.items], isComplete }
  }
  // For a game without protection, Steam may not know the protected context, and then answers with an error.
  const isUnused = !isProtected && underProtection.reason === 'steam_error'
  return { kind: 'items', items: unprotected.items, isComplete: unprotected.isComplete && isUnused }
}

async function readContext(access: Access, place: Place): Promise<ContextAnswer> {
  const items = new Map<string, OwnItem>()
  let isReadable = true
  let total: number | null = null
  let start: string | null = null
  let readNext: ReadPage = readPage
  for (let pages = 0; pages < MAX_PAGES && items.size < MAX_ITEMS; pages += 1) {
    let page: OwnPage | 'nothing' | Unavailable = await readNext(access, place, start)
    if (page === 'nothing' && start === null) {
      // Only the older call distinguishes an empty inventory from no answer.
      readNext = readOlderPage
      page = await readNext(access, place, start)
    }
    if (page === 'nothing') return incomplete(items)
    if ('kind' in page) return items.size === 0 ? page : incomplete(items)
    const before = items.size
    for (const item of page.items) items.set(item.assetId, item)
    isReadable &&= page.unreadable === 0
    total = page.total ?? total
    if (page.next === null)
      return { items: [...items.values()], isComplete: isReadable && (total ?? items.size) === items.size }
    if (items.size === before) return incomplete(items)
    start = page.next
  }
  return incomplete(items)
}

const incomplete = (items: ReadonlyMap<string, OwnItem>): ContextAnswer => ({
  items: [...items.values()],
  isComplete: false,
})

type ReadPage = (
  access: Access,
  place: Place,
  start: string | null,
) => Promise<OwnPage | 'nothing' | Unavailable>

const readPage: ReadPage = async ({ connection, steamId, leftMs }, place, start) => {
  const call = economyCall('GetInventoryItemsWithDescriptions', {
    steamid: steamId,
    appid: place.appId,
    contextid: place.contextId,
    get_descriptions: 1,
    language: 'english',
    count: PAGE_SIZE,
    ...(start === null ? {} : { start_assetid: start }),
  })
  const answer = await connection.request(call, leftMs())
  if (answer.kind === 'unavailable') return answer
  return parseOwnPage(economyBody(answer), place) ?? unavailableFrom(call.name, answer)
}

const readOlderPage: ReadPage = async ({ connection, steamId, leftMs }, place, start) => {
  const call: Call = {
    name: 'owninventory',
    url: `https://steamcommunity.com/profiles/${steamId}/inventory/json/${place.appId}/${place.contextId}/`,
    query: { l: 'english', trading: 1, ...(start === null ? {} : { start }) },
    referer: `https://steamcommunity.com/profiles/${steamId}/inventory`,
    proof: 'cookies',
  }
  const answer = await connection.request(call, leftMs())
  if (answer.kind === 'unavailable') return answer
  return parseOlderOwnPage(bodyOf(answer), place) ?? unavailableFrom(call.name, answer)
}

const bodyOf = (answer: HttpResult): unknown =>
  answer.kind === 'reply' && answer.status === 200 ? answer.body : undefined
