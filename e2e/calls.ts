/** The widget's calls without a browser. */
import { z } from 'zod'
import { type Inventory, inventorySchema, type Payment, paymentSchema } from '../contract/widget-api.ts'
import type { Parts } from './parts.ts'
import { eventually } from './process.ts'
import { player } from './sandbox.ts'

export type Shopper = {
  hash: string
  depositId: string
  post(path: string, body: object): Promise<Response>
  payment(): Promise<Payment>
  inventory(): Promise<Inventory>
}

const created = z.object({ id: z.string(), url: z.string() })

/** A new deposit of the demo store whose shopper has given a trade link. */
export async function openDeposit({ place, secrets }: Parts): Promise<Shopper> {
  const response = await fetch(`${place.gateway}/v1/deposits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      externalId: `e2e-${crypto.randomUUID()}`,
      currency: 'USD',
      backToStoreUrl: `${place.store}/`,
    }),
  })
  const deposit = created.parse(await response.json())
  const hash = deposit.url.slice(-32)
  const page = await fetch(deposit.url)
  const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const headers = { cookie, 'x-csrf-token': cookie.split('=')[1] ?? '', origin: place.gateway }
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${place.gateway}${path}`, { headers })).json()
  const shopper: Shopper = {
    hash,
    depositId: deposit.id,
    post: (path, body) =>
      fetch(`${place.gateway}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ hash, ...body }),
      }),
    payment: async () => paymentSchema.parse(await get(`/api/payment?hash=${hash}`)),
    inventory: async () => inventorySchema.parse(await get(`/api/inventory?hash=${hash}&game=cs`)),
  }
  const { tradeUrl } = await player(place.sandbox)
  await eventually('the trade link is taken', async () => {
    const answer = await shopper.post('/api/trade-url', { tradeUrl })
    if (!answer.ok) throw new Error(await answer.text())
    return true
  })
  return shopper
}

/** Asks for a trade of the dearest item and waits until the offer stands; resolves to Steam's id of the offer. */
export async function standingOffer(shopper: Shopper): Promise<{ offerId: string; amount: number }> {
  const [dearest] = (await shopper.inventory()).items.sort((a, b) => b.price - a.price)
  if (dearest === undefined) throw new Error('there is no item to pay with')
  return eventually('the offer stands', async () => {
    const answer = await shopper.post('/api/trade', { game: 'cs', items: [dearest.id] })
    if (!answer.ok) throw new Error(await answer.text())
    const { status, steamTradeId } = await shopper.payment()
    return status === 'pending' && steamTradeId !== null
      ? { offerId: steamTradeId, amount: dearest.price }
      : undefined
  })
}
