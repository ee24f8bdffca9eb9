import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../kit/clock.ts'
import { fakeClock } from '../testing/clock.ts'
import { createStoreOrders } from './store-orders.ts'

type StoreOrders = ReturnType<typeof createStoreOrders>
type TestStore = { customerOf(path: string): string | null; isForCustomer?: boolean }

/** Starts a store. Each call to it opens a deposit for the customer that `customerOf` returns for the path. */
async function ordersOf({ customerOf, isForCustomer = true }: TestStore): Promise<StoreOrders> {
  let orders: StoreOrders | undefined
  const store = createServer((request, response) => {
    const order = { externalId: 'order-1', currency: 'USD' as const, metadata: {} }
    orders?.openDeposit({ ...order, customerReference: customerOf(request.url ?? '') })
    response.end()
  })
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void store.close())
  const { port } = store.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/buy?customer={CUSTOMER}`
  // The space must be encoded in the URL.
  orders = createStoreOrders({ url, customer: 'no va', isForCustomer, clock: systemClock })
  return orders
}

describe('a deposit that the store opens', () => {
  it('is requested in the name of the customer', async () => {
    const orders = await ordersOf({
      customerOf: (path): string | null => new URL(path, 'http://store').searchParams.get('customer'),
    })
    expect(await orders.makeStoreOpen()).toMatchObject({ customerReference: 'no va' })
  })

  it('for another customer is refused, and the message says how to name the right customer', async () => {
    const orders = await ordersOf({ customerOf: () => 'guest' })
    await expect(orders.makeStoreOpen()).rejects.toThrow(
      /for the customer "guest" instead of "no va" .*Put \{CUSTOMER\} into the address/,
    )
  })

  it.each<[string, TestStore]>([
    ['has no customer', { customerOf: () => null }],
    [
      'is another customer’s, and the balance covers all customers',
      { customerOf: () => 'guest', isForCustomer: false },
    ],
  ])('is accepted if it %s', async (_, shop) => {
    expect(await (await ordersOf(shop)).makeStoreOpen()).toMatchObject({ externalId: 'order-1' })
  })
})

it('two runs of the checks, a second apart, give their deposits different ids', () => {
  const order = { externalId: 'order-1', currency: 'USD' as const, customerReference: null, metadata: {} }
  const clock = fakeClock()
  const openThree = () => {
    const { openDeposit } = createStoreOrders({ url: '', customer: '', isForCustomer: false, clock })
    return [1, 2, 3].map(() => openDeposit(order).id)
  }
  const first = openThree()
  clock.advance(1_000)
  expect(new Set([...first, ...openThree()]).size).toBe(6)
})
