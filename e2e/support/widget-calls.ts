import { z } from 'zod'
import type { CreateDepositBody } from '../../contract/store-api.ts'
import { callerOf, type OpenedDeposit, type Shopper } from '../../scripts/shopper-calls.ts'
import type { StoreSecrets } from './demo-store.ts'
import { eventually } from './process.ts'
import { readPlayer } from './sandbox.ts'
import type { Place } from './till.ts'

export { callerOf, type OpenedDeposit }

const createdSchema = z.object({ id: z.string(), url: z.string() })

type TillWithSecrets = { place: Place; secrets: StoreSecrets }

/** Creates a deposit of the demo store; `body` has the fields that differ from the usual ones. */
export async function newDeposit(
  { place, secrets }: TillWithSecrets,
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
  const deposit = createdSchema.parse(await response.json())
  return { ...deposit, hash: deposit.url.slice(-32) }
}

/** Creates a deposit of the demo store, and gives it the trade link of a shopper. */
export async function createDepositWithLink(
  parts: TillWithSecrets,
  { name, ...body }: Partial<CreateDepositBody> & { name?: string } = {},
): Promise<Shopper> {
  const shopper = await callerOf(parts.place.gateway, await newDeposit(parts, body))
  const { tradeUrl } = await readPlayer(parts.place.sandbox, name)
  await eventually('the trade link is accepted', async () => {
    const answer = await shopper.post('/api/trade-url', { tradeUrl })
    if (!answer.ok) throw new Error(await answer.text())
    return true
  })
  return shopper
}

/** Asks for a trade of the most expensive item. Resolves to Steam's offer id and the price once the offer is open. */
export async function makeOffer(shopper: Shopper): Promise<{ offerId: string; amount: number }> {
  const [dearest] = (await shopper.inventory()).items.sort((a, b) => b.price - a.price)
  if (dearest === undefined) throw new Error('the inventory has no item to pay with')
  return eventually('the offer is open', async () => {
    const answer = await shopper.post('/api/trade', { game: 'cs', items: [dearest.id] })
    if (!answer.ok) throw new Error(await answer.text())
    const { status, steamTradeId } = await shopper.payment()
    return status === 'pending' && steamTradeId !== null
      ? { offerId: steamTradeId, amount: dearest.price }
      : undefined
  })
}
