/** The widget's calls without a browser. */
import { z } from 'zod'
import type { Game } from '../../contract/games.ts'
import type { CreateDepositBody } from '../../contract/store-api.ts'
import { type Inventory, inventorySchema, type Payment, paymentSchema } from '../../contract/widget-api.ts'
import type { StoreSecrets } from './demo-store.ts'
import { eventually } from './process.ts'
import { player } from './sandbox.ts'
import type { Place } from './till.ts'

export type Shopper = {
  hash: string
  depositId: string
  post(path: string, body: object): Promise<Response>
  payment(): Promise<Payment>
  inventory(game?: Game): Promise<Inventory>
}

const created = z.object({ id: z.string(), url: z.string() })

export type OpenedDeposit = { id: string; url: string; hash: string }

type Till = { place: Place; secrets: StoreSecrets }

/** A new deposit of the demo store; `body` says what is not as usual. */
export async function newDeposit(
  { place, secrets }: Till,
  body: Partial<CreateDepositBody> = {},
): Promise<OpenedDeposit> {
  const response = await fetch(`${place.gateway}/v1/deposits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      externalId: `e2e-${crypto.randomUUID()}`,
      currency: 'USD',
      backToStoreUrl: `${place.store}/`,
      ...body,
    }),
  })
  const deposit = created.parse(await response.json())
  return { ...deposit, hash: deposit.url.slice(-32) }
}

/** The widget's calls for a deposit, as a page makes them, cookie and token included. */
export async function callerOf(gateway: string, { id, url, hash }: OpenedDeposit): Promise<Shopper> {
  const page = await fetch(url)
  const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const headers = { cookie, 'x-csrf-token': cookie.split('=')[1] ?? '', origin: gateway }
  const get = async (path: string): Promise<unknown> => (await fetch(`${gateway}${path}`, { headers })).json()
  return {
    hash,
    depositId: id,
    post: (path, body) =>
      fetch(`${gateway}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ hash, ...body }),
      }),
    payment: async () => paymentSchema.parse(await get(`/api/payment?hash=${hash}`)),
    inventory: async (game = 'cs') =>
      inventorySchema.parse(await get(`/api/inventory?hash=${hash}&game=${game}`)),
  }
}

/** A new deposit of the demo store whose shopper has given a trade link. */
export async function openDeposit(parts: Till, name?: string): Promise<Shopper> {
  const shopper = await callerOf(parts.place.gateway, await newDeposit(parts))
  const { tradeUrl } = await player(parts.place.sandbox, name)
  await eventually('the trade link is taken', async () => {
    const answer = await shopper.post('/api/trade-url', { tradeUrl })
    if (!answer.ok) throw new Error(await answer.text())
    return true
  })
  return shopper
}

/** Asks for a trade of the dearest item and waits until the offer is open; resolves to Steam's id of the offer. */
export async function standingOffer(shopper: Shopper): Promise<{ offerId: string; amount: number }> {
  const [dearest] = (await shopper.inventory()).items.sort((a, b) => b.price - a.price)
  if (dearest === undefined) throw new Error('there is no item to pay with')
  return eventually('the offer is open', async () => {
    const answer = await shopper.post('/api/trade', { game: 'cs', items: [dearest.id] })
    if (!answer.ok) throw new Error(await answer.text())
    const { status, steamTradeId } = await shopper.payment()
    return status === 'pending' && steamTradeId !== null
      ? { offerId: steamTradeId, amount: dearest.price }
      : undefined
  })
}
