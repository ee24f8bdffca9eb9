import { createHash } from 'node:crypto'
import { type Incoming, json, type Reply } from '../http.ts'
import { CATALOGUE } from '../items.ts'
import type { Sandbox } from '../sandbox.ts'

const LEAST_CENTS = 3
const RANGE_CENTS = 2_000

/**
 * Serves the market's prices of an item by its name, in US dollars. An unknown name or another currency fails with 500.
 */
export function priceOverview(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (request.path !== '/market/priceoverview/' || request.method !== 'GET') return undefined
  const refused = sandbox.quotas.refuse(request)
  if (refused) return refused
  const [name, appId] = [request.query.get('market_hash_name') ?? '', Number(request.query.get('appid'))]
  const isKnown = [...CATALOGUE.values()].some((entry) => entry.name === name && entry.appId === appId)
  if (!isKnown || request.query.get('currency') !== '1') return json({ success: false }, 500)
  const price = `$${(centsOf(name) / 100).toFixed(2)}`
  return json({ success: true, lowest_price: price, volume: '120', median_price: price })
}

/** The price in cents, from 3 to 2,002. Depends only on the name. */
function centsOf(name: string): number {
  return LEAST_CENTS + (createHash('sha256').update(name).digest().readUInt32BE() % RANGE_CENTS)
}
