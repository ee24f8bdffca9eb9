/** The calls of the market family on its hosts. Except for public calls, checks the key and counts the calls. */
import { appOf } from '../games.ts'
import type { Incoming, Reply } from '../http.ts'
import type { Market } from '../sandbox.ts'
import { withSeller } from '../world/world.ts'
import { ACCOUNT } from './account.ts'
import { type Call, refuse } from './call.ts'
import { PUBLIC } from './public.ts'
import { SALES } from './sales.ts'
import { SELLING } from './selling.ts'

/** The game of market.csgo.com. */
const MAIN_APP = 730

const CALLS: Record<string, Call> = { ...ACCOUNT, ...SELLING, ...SALES }

export async function api(request: Incoming, market: Market): Promise<Reply | undefined> {
  const appId = appOf(request.host)
  if (appId === undefined) return undefined
  const name = /^\/api\/v2\/([\w/.-]+)$/.exec(request.path)?.[1]
  if (name === undefined) return undefined
  // The name of a public call ends with a currency, such as `prices/USD.json`.
  const publicName = name.replace(/\/\w+\.json$/, '')
  const publicCall = Object.hasOwn(PUBLIC, publicName) ? PUBLIC[publicName] : undefined
  if (publicCall) return publicCall({ request, market })
  const key = request.query.get('key') ?? ''
  const seller = market.world().sellers.find((other) => other.key === key)
  const isForeign = market.faults.isOn('key-of-one-host') && appId !== MAIN_APP
  if (!seller || seller.keyDeleted || isForeign) return refuse('bad_key')
  if (market.limits.isOver(key, market.machineMs())) {
    market.change((world) => ({
      world: withSeller(world, { ...seller, keyDeleted: true }),
      answer: undefined,
    }))
    return refuse('bad_key')
  }
  const call = CALLS[`${request.method} ${name.replace(/^(change-currency)\/\w+$/, '$1')}`]
  if (!call) return undefined
  return call({ request, market, seller, appId })
}
