import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../kit/clock.ts'
import { createOpening } from './store-orders.ts'

type Opening = ReturnType<typeof createOpening>
type Shop = { customerOf(path: string): string | null; isForCustomer?: boolean }

/** Opens deposits at a store whose button credits the customer that `customerOf` returns. */
async function openingAt({ customerOf, isForCustomer = true }: Shop): Promise<Opening> {
  let opening: Opening | undefined
  const store = createServer((request, response) => {
    const order = { externalId: 'order-1', currency: 'USD' as const, metadata: {} }
    opening?.openDeposit({ ...order, customerReference: customerOf(request.url ?? '') })
    response.end()
  })
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void store.close())
  const { port } = store.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/buy?customer={CUSTOMER}`
  opening = createOpening({ url, customer: 'no va', isForCustomer, clock: systemClock })
  return opening
}

describe('an order that the store opens', () => {
  it('is requested in the name of the customer', async () => {
    const opening = await openingAt({
      customerOf: (path): string | null => new URL(path, 'http://store').searchParams.get('customer'),
    })
    expect(await opening.makeStoreOpen()).toMatchObject({ customerReference: 'no va' })
  })

  it('of another customer is refused with the reason, because the balance would never move', async () => {
    const opening = await openingAt({ customerOf: () => 'guest' })
    await expect(opening.makeStoreOpen()).rejects.toThrow(
      /for the customer "guest" instead of "no va" .*Put \{CUSTOMER\} into the address/,
    )
  })

  it.each<[string, Shop]>([
    ['has no customer', { customerOf: () => null }],
    [
      'is another customer’s, and the balance is that of all customers',
      { customerOf: () => 'guest', isForCustomer: false },
    ],
  ])('is accepted if it %s', async (_, shop) => {
    expect(await (await openingAt(shop)).makeStoreOpen()).toMatchObject({ externalId: 'order-1' })
  })
})
