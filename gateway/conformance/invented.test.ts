import { expect, it } from 'vitest'
import { inventedDeposit, withChange } from './invented.ts'

it('the receipt of an invented deposit has an address like those of a till, with the deposit’s number', () => {
  const order = { externalId: 'order-1', currency: 'USD', customerReference: null, metadata: {} } as const
  const endedDeposit = withChange(inventedDeposit('1007', order, new Date(0)), { status: 'tradeTimeout' })
  expect(endedDeposit.receiptUrl).toMatch(/^https:\/\/pay\.invalid\/receipt\/1007-[0-9a-f]{32}$/)
})
