import { lowestAsk, offeredNames } from '../asks.ts'
import { isCurrency, SCALES } from '../games.ts'
import { type Incoming, json, type Reply } from '../http.ts'
import type { Market } from '../sandbox.ts'

type PublicCall = (context: { request: Incoming; market: Market }) => Reply

/** The calls that need no key. */
export const PUBLIC: Record<string, PublicCall> = {
  /** The lowest prices of all sellers, in major units of the currency. */
  prices: ({ request, market }) => {
    const currency = /\/(\w+)\.json$/.exec(request.path)?.[1]
    if (!isCurrency(currency)) return json({ success: false, error: 'bad_currency' })
    const items = [...offeredNames(market)].map((name) => ({
      market_hash_name: name,
      volume: '12',
      price: (lowestAsk(market, name, currency) / SCALES[currency]).toFixed(3),
    }))
    const odd = market.faults.isOn('strange-rows') ? [{ market_hash_name: 'Unpriced', price: null }] : []
    return json({ success: true, time: market.nowS(), currency, items: [...odd, ...items] })
  },
}
