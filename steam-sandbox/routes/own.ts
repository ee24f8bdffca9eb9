import { type Incoming, json, type Reply } from '../http.ts'
import { CATALOGUE, describe } from '../items.ts'
import type { Sandbox } from '../sandbox.ts'
import { endOffer } from '../world/offers.ts'
import { newToken } from '../world/seed.ts'
import { type Asset, findAccount, withAccount } from '../world/world.ts'
import { answer, assetView, type Method } from './economy.ts'

/** The most items of one answer. */
const MAX_COUNT = 2000

/** Methods of IEconService for the caller's own inventory, trade link and offers. */
export const OWN_METHODS: Record<string, Method> = {
  GetInventoryItemsWithDescriptions: ownItems,
  GetTradeOfferAccessToken: ownToken,
  CancelTradeOffer: (request, sandbox, caller) => end(request, sandbox, { by: caller, how: 'cancel' }),
  DeclineTradeOffer: (request, sandbox, caller) => end(request, sandbox, { by: caller, how: 'decline' }),
}

/** The caller's own inventory. The answer is empty if the call does not name the caller. */
function ownItems({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const account = findAccount(sandbox.world(), caller)
  if (!account || query.get('steamid') !== caller) return answer({})
  const owned = account.assets.filter(
    ({ appId, contextId }) => String(appId) === query.get('appid') && contextId === query.get('contextid'),
  )
  const count = Math.min(Number(query.get('count')) || MAX_COUNT, MAX_COUNT)
  const start = owned.findIndex(({ assetId }) => assetId === query.get('start_assetid')) + 1
  const page = owned.slice(start, start + count)
  const hasMore = start + count < owned.length
  return answer({
    assets: page.map(assetView),
    ...(query.get('get_descriptions') === '1' ? { descriptions: descriptionsOf(page) } : {}),
    ...(hasMore ? { more_items: true, last_assetid: page.at(-1)?.assetId } : {}),
    total_inventory_count: owned.length,
  })
}

function descriptionsOf(assets: Asset[]): object[] {
  const ids = new Set(assets.map(({ classId }) => classId))
  return [...CATALOGUE.values()].filter(({ classId }) => ids.has(classId)).map((entry) => describe(entry))
}

function ownToken({ query, form }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const wantsNew = (query.get('generate_new_token') ?? form.get('generate_new_token') ?? '0') !== '0'
  if (wantsNew) renewToken(sandbox, caller)
  return answer({ trade_offer_access_token: findAccount(sandbox.world(), caller)?.token ?? '' })
}

/** Gives the account another trade link; the old one no longer works. */
export function renewToken(sandbox: Sandbox, steamId: string): void {
  sandbox.change((world) => ({
    world: withAccount({ ...world, lastId: world.lastId + 1 }, steamId, (account) => ({
      ...account,
      token: newToken(`${account.token}:${world.lastId}`),
    })),
    answer: undefined,
  }))
}

type End = { by: string; how: 'cancel' | 'decline' }

function end({ method, form }: Incoming, sandbox: Sandbox, { by, how }: End): Reply {
  if (method !== 'POST') return json(null, 405)
  const offerId = form.get('tradeofferid') ?? ''
  const ended = sandbox.change((world, nowS) => endOffer(world, { offerId, by, how }, nowS))
  return answer({}, ended.kind === 'refused' ? ended.eresult : 1)
}

/** One context of the caller's own inventory, in the older format. Context 16 has the trade-protected items. */
export function ownInventory(request: Incoming, sandbox: Sandbox, caller: string): Reply | undefined {
  const match = /^\/profiles\/(\d+)\/inventory\/json\/(\d+)\/(\d+)\/?$/.exec(request.path)
  if (!match) return undefined
  const refused = sandbox.quotas.refuse(request, caller)
  if (refused) return refused
  const [, steamId, appId, contextId] = match
  const account = findAccount(sandbox.world(), caller)
  if (!account || steamId !== caller) return json({ success: false, Error: 'This profile is private.' })
  const owned = account.assets.filter(
    (asset) => String(asset.appId) === appId && asset.contextId === contextId,
  )
  const rows = owned.map(({ assetId, classId }, index) => [
    assetId,
    { id: assetId, classid: classId, instanceid: '0', amount: '1', pos: index + 1 },
  ])
  const described = owned.flatMap(({ classId }) => {
    const entry = CATALOGUE.get(classId)
    return entry ? [[`${classId}_0`, describe(entry)]] : []
  })
  return json({
    success: true,
    rgInventory: owned.length > 0 ? Object.fromEntries(rows) : [],
    rgCurrency: [],
    rgDescriptions: owned.length > 0 ? Object.fromEntries(described) : [],
    more: false,
    more_start: false,
  })
}
