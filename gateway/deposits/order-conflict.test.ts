import { expect, test } from 'vitest'
import type { CreateDepositBody } from '../../contract/store-api.ts'
import { type ComparedRow, describeConflict } from './order-conflict.ts'

const BODY: CreateDepositBody = {
  externalId: 'a',
  currency: 'USD',
  backToStoreUrl: 'https://store.test',
  minAmount: 500,
  metadata: { a: '1', b: '2' },
}
const ROW: ComparedRow = {
  currency: 'USD',
  back_to_store_url: 'https://store.test',
  redirect_url: null,
  embed_origin: null,
  min_amount: 500n,
  max_amount: null,
  target_amount: null,
  customer_reference: null,
  metadata: { b: '2', a: '1' },
}

test.each<[Partial<CreateDepositBody>, string]>([
  [{ currency: 'EUR' }, 'currency'],
  [{ minAmount: 501, maxAmount: 900 }, 'minAmount, maxAmount'],
  [{ minAmount: undefined, targetAmount: 500 }, 'minAmount, targetAmount'],
  [{ redirectUrl: 'https://store.test/done', embedOrigin: 'https://store.test' }, 'redirectUrl, embedOrigin'],
  [{ backToStoreUrl: 'https://store.test/', customerReference: 'c' }, 'backToStoreUrl, customerReference'],
  [{ metadata: { a: '1', b: '3' } }, 'metadata'],
  [{ metadata: undefined }, 'metadata'],
])('a repeated call, changed by %o, differs in %s', (change, fields) => {
  expect(describeConflict({ ...BODY, ...change }, ROW)).toBe(fields)
})

test('a target does not count as a minimum, although it is stored as one', () => {
  const row = { ...ROW, target_amount: 500n }
  expect(describeConflict({ ...BODY, minAmount: undefined, targetAmount: 600 }, row)).toBe('targetAmount')
})

test('if only a value that the row does not keep differs, every such field is named', () => {
  expect(describeConflict({ ...BODY, expiresInMinutes: 30 }, ROW)).toBe(
    'language, games, creditMode, expiresInMinutes, tradeUrl, shopper or customerLabel',
  )
})
