/** A shopper without a browser: makes the calls of a deposit's page. */
import type { Game } from '../contract/games.ts'
import { type Inventory, inventorySchema, type Payment, paymentSchema } from '../contract/widget-api.ts'

const DEADLINE_MS = 30_000

export type Shopper = {
  hash: string
  depositId: string
  post(path: string, body: object): Promise<Response>
  payment(): Promise<Payment>
  inventory(game?: Game): Promise<Inventory>
}

export type OpenedDeposit = { id: string; url: string; hash: string }

/** Returns the widget's calls for a deposit, with a cookie and token like those of a page. */
export async function callerOf(gateway: string, { id, url, hash }: OpenedDeposit): Promise<Shopper> {
  const page = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) })
  const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const headers = { cookie, 'x-csrf-token': cookie.split('=')[1] ?? '', origin: gateway }
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${gateway}${path}`, { headers, signal: AbortSignal.timeout(DEADLINE_MS) })).json()
  return {
    hash,
    depositId: id,
    post: (path, body) =>
      fetch(`${gateway}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ hash, ...body }),
        signal: AbortSignal.timeout(DEADLINE_MS),
      }),
    payment: async () => paymentSchema.parse(await get(`/api/payment?hash=${hash}`)),
    inventory: async (game = 'cs') =>
      inventorySchema.parse(await get(`/api/inventory?hash=${hash}&game=${game}`)),
  }
}
