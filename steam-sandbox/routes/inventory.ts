import { type Incoming, json, type Reply } from '../http.ts'
import { CATALOGUE, describe, ownerLines, propertiesOf } from '../items.ts'
import type { Sandbox } from '../sandbox.ts'
import { traitsOf } from '../world/people.ts'
import { type Account, type Asset, DAY_S, findAccount, PROTECTED_APP } from '../world/world.ts'
import { assetView } from './economy.ts'
import { sessionOf } from './login.ts'

const MAX_COUNT = 2000
/** The size of a page if the caller names none. */
const DEFAULT_COUNT = 75
const PARTNER_PAGE_SIZE = 1000
/** In Counter-Strike 2, only the owner sees an item for this long after its trade. */
const HIDDEN_S = 10 * DAY_S

/** The public inventory. Pages continue after the last asset id. Refuses requests for more than 2000 items. */
export function publicInventory(request: Incoming, sandbox: Sandbox): Reply | undefined {
  const match = /^\/inventory\/(\d+)\/(\d+)\/(\d+)$/.exec(request.path)
  if (!match) return undefined
  const [, steamId = '', appId = '', contextId = ''] = match
  const refused = sandbox.quotas.refuse(request)
  if (refused) return refused
  const count = Number(request.query.get('count') ?? DEFAULT_COUNT)
  if (!(count >= 1 && count <= MAX_COUNT)) return json(null, 400)
  const world = sandbox.world()
  const account = findAccount(world, steamId)
  if (!account) return json(null, 404)
  const isOwner = sessionOf(request, sandbox) === steamId
  const { inventory } = traitsOf(world, account)
  if (inventory === 'hidden' && !isOwner) return json(null, 403)
  if (inventory === 'unowned') {
    return json({ error: 'EYldRefreshAppIfNecessary failed with EResult 55 (55)' }, 500)
  }
  const owned = inventory === 'empty' ? [] : account.assets.filter(isIn(appId, contextId))
  const nowS = sandbox.nowS()
  const shown = owned.filter((asset) => isOwner || isPublic(asset, nowS))
  return pageOf(shown, {
    count,
    after: request.query.get('start_assetid'),
    total: totalOf(owned, contextId, isOwner),
    nowS,
    language: languageOf(request),
  })
}

const languageOf = ({ query }: Incoming): string => query.get('l') ?? 'english'

/**
 * The total that Steam reports. It counts recent items too, although only the owner sees them. Context 16, which holds
 * protected items, counts for the owner only.
 */
function totalOf(owned: Asset[], contextId: string, isOwner: boolean): number {
  return contextId === '16' && !isOwner ? 0 : owned.length
}

function isIn(appId: string, contextId: string): (asset: Asset) => boolean {
  return (asset) => String(asset.appId) === appId && asset.contextId === contextId
}

function isPublic({ appId, contextId, receivedAtS }: Asset, nowS: number): boolean {
  if (contextId === '16') return false
  return appId !== PROTECTED_APP || receivedAtS === undefined || receivedAtS + HIDDEN_S <= nowS
}

function pageOf(
  shown: Asset[],
  { count, after, total, ...view }: View & { count: number; after: string | null; total: number },
): Reply {
  const start = after === null ? 0 : shown.findIndex(({ assetId }) => assetId === after) + 1
  const page = shown.slice(start, start + count)
  const last = page.at(-1)
  const properties = itemsWithProperties(page).map(([asset, asset_properties]) => ({
    appid: asset.appId,
    contextid: asset.contextId,
    assetid: asset.assetId,
    asset_properties,
  }))
  const rows = {
    assets: page.map(assetView),
    descriptions: Object.values(descriptions(page, view)),
    ...(properties.length > 0 && { asset_properties: properties }),
  }
  return json({
    ...(page.length > 0 ? rows : {}),
    ...(last && start + count < shown.length ? { more_items: 1, last_assetid: last.assetId } : {}),
    total_inventory_count: total,
    success: 1,
    rwgrsn: -2,
  })
}

/**
 * The inventory for a caller who makes an offer: only tradable items, in the older format, where `start` is a number.
 */
export function partnerInventory(request: Incoming, sandbox: Sandbox, caller: string): Reply {
  const { query } = request
  const refused = sandbox.quotas.refuse(request, caller)
  if (refused) return refused
  const world = sandbox.world()
  const account = findAccount(world, query.get('partner') ?? '')
  if (!account || query.get('contextid') !== '2') return json({ success: false, error: 'Invalid partner.' })
  const { inventory } = traitsOf(world, account)
  // The token of a trade link does not open a private inventory.
  if (inventory === 'hidden') return json({ success: false, error: 'This profile is private.' })
  const owned = inventory ? [] : tradable(account, query.get('appid') ?? '')
  const start = Math.max(0, Number(query.get('start') ?? 0) || 0)
  const page = owned.slice(start, start + PARTNER_PAGE_SIZE)
  const hasMore = start + PARTNER_PAGE_SIZE < owned.length
  const rows = page.map(({ assetId, classId }, index) => [
    assetId,
    { id: assetId, classid: classId, instanceid: '0', amount: '1', pos: start + index + 1 },
  ])
  const properties = itemsWithProperties(page).map(([{ assetId }, list]) => [assetId, list])
  return json({
    success: true,
    more: hasMore,
    more_start: hasMore ? start + PARTNER_PAGE_SIZE : false,
    // Steam writes an empty list instead of an empty object.
    rgInventory: page.length > 0 ? Object.fromEntries(rows) : [],
    rgCurrency: [],
    rgDescriptions:
      page.length > 0 ? descriptions(page, { nowS: sandbox.nowS(), language: languageOf(request) }) : [],
    rgAssetProperties: properties.length > 0 ? Object.fromEntries(properties) : [],
  })
}

/** The items that have properties beyond those of their class, each with these properties. */
function itemsWithProperties(page: Asset[]): [Asset, object[]][] {
  return page.flatMap((asset): [Asset, object[]][] => {
    const entry = CATALOGUE.get(asset.classId)
    const properties = entry === undefined ? [] : propertiesOf(entry, asset.assetId)
    return properties.length > 0 ? [[asset, properties]] : []
  })
}

function tradable({ assets }: Account, appId: string): Asset[] {
  return assets.filter(isIn(appId, '2')).filter(({ classId }) => CATALOGUE.get(classId)?.tradable)
}

type View = { nowS: number; language: string }

function descriptions(page: Asset[], { nowS, language }: View): Record<string, unknown> {
  const entries = page.flatMap(({ classId, contextId }) => {
    const entry = CATALOGUE.get(classId)
    if (!entry) return []
    const sealed = contextId === '16' ? { sealed: 1, sealed_type: 0, tradable: 0, marketable: 0 } : {}
    return [[`${classId}_0`, { ...describe(entry, language), ...ownerLines(entry, nowS), ...sealed }]]
  })
  return Object.fromEntries(entries)
}
