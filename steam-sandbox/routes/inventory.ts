import { type Incoming, json, type Reply, type Sandbox } from '../exchange.ts'
import { CATALOGUE, describe } from '../items.ts'
import { type Asset, findAccount } from '../world.ts'

const MAX_COUNT = 2000
const PARTNER_PAGE = 1000

/** The public inventory: pages go on behind the last asset id. More than 2000 at once is refused. */
export function publicInventory(request: Incoming, sandbox: Sandbox): Reply | undefined {
  const match = /^\/inventory\/(\d+)\/(\d+)\/(\d+)$/.exec(request.path)
  if (!match) return undefined
  const count = Number(request.query.get('count') ?? 75)
  if (!(count >= 1 && count <= MAX_COUNT)) return json(null, 400)
  const account = findAccount(sandbox.world(), match[1] ?? '')
  if (!account) return json(null, 404)
  // Context 16 holds items under trade protection, which only their owner is shown.
  const owned = match[3] === '2' ? assetsIn(account.assets, match[2]) : []
  const after = request.query.get('start_assetid')
  const start = after === null ? 0 : owned.findIndex(({ assetId }) => assetId === after) + 1
  const page = owned.slice(start, start + count)
  const last = page.at(-1)
  return json({
    ...(page.length > 0
      ? {
          assets: page.map((asset) => ({
            appid: asset.appId,
            contextid: asset.contextId,
            assetid: asset.assetId,
            classid: asset.classId,
            instanceid: '0',
            amount: '1',
          })),
          descriptions: Object.values(descriptions(page)),
        }
      : {}),
    ...(last && start + count < owned.length ? { more_items: 1, last_assetid: last.assetId } : {}),
    total_inventory_count: owned.length,
    success: 1,
    rwgrsn: -2,
  })
}

/** What somebody who makes an offer is shown: tradable items only, in the older shape with a numbered start. */
export function partnerInventory(request: Incoming, sandbox: Sandbox): Reply {
  const { query } = request
  const account = findAccount(sandbox.world(), query.get('partner') ?? '')
  if (!account || query.get('contextid') !== '2') return json({ success: false, error: 'Invalid partner.' })
  const owned = assetsIn(account.assets, query.get('appid') ?? '').filter(
    ({ classId }) => CATALOGUE.get(classId)?.tradable,
  )
  const start = Math.max(0, Number(query.get('start') ?? 0) || 0)
  const page = owned.slice(start, start + PARTNER_PAGE)
  const more = start + PARTNER_PAGE < owned.length
  const rows = page.map(({ assetId, classId }, index) => [
    assetId,
    { id: assetId, classid: classId, instanceid: '0', amount: '1', pos: start + index + 1 },
  ])
  return json({
    success: true,
    more,
    more_start: more ? start + PARTNER_PAGE : false,
    // Steam writes an empty list where an object is empty.
    rgInventory: page.length > 0 ? Object.fromEntries(rows) : [],
    rgCurrency: [],
    rgDescriptions: page.length > 0 ? descriptions(page) : [],
  })
}

function assetsIn(assets: Asset[], appId: string | undefined): Asset[] {
  return assets.filter((asset) => asset.contextId === '2' && String(asset.appId) === appId)
}

function descriptions(page: Asset[]): Record<string, unknown> {
  const entries = page.flatMap(({ classId }) => {
    const entry = CATALOGUE.get(classId)
    return entry ? [[`${classId}_0`, describe(entry)]] : []
  })
  return Object.fromEntries(entries)
}
