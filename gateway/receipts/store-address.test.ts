import { expect, it } from 'vitest'
import { storeAddress } from './store-address.ts'

it.each([
  ['https://store.test/u/mira/wallet', 'https://store.test/'],
  ['https://store.test/wallet?order=order-77&session=secret#top', 'https://store.test/'],
  ['https://store.test/orders/{EXTERNAL_ID}/thanks', 'https://store.test/'],
  ['https://store.test/orders/order-77', 'https://store.test/'],
  ['https://shopper:secret@store.test/', 'https://store.test/'],
  ['https://store.test/"><script>alert(1)</script>', 'https://store.test/'],
  ['http://localhost:4302/?order={EXTERNAL_ID}', 'http://localhost:4302/'],
  ['http://store.test/', null],
  ['javascript:alert(1)//https://store.test/', null],
  ['data:text/html,<script>alert(1)</script>', null],
  ['//store.test/', null],
  ['', null],
])('a receipt of a deposit that returns to %s links to %s', (returnUrl, address) => {
  expect(storeAddress(returnUrl)).toBe(address)
})
