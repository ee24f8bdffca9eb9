import { expect, test } from 'vitest'
import { z } from 'zod'
import { createDepositBodySchema, listDepositsQuerySchema } from '../../contract/store-api.ts'
import {
  createEndpointBodySchema,
  eventsQuerySchema,
  replayBodySchema,
  rotateSecretBodySchema,
} from '../../contract/webhooks.ts'
import { describeIssue, fieldsOf, undecodableIn } from './field-errors.ts'

function errorsOf(part: 'body' | 'query', schema: z.ZodType, value: unknown) {
  const given = { [part]: value }
  const parsed = z.object({ [part]: schema }).safeParse(given, { error: describeIssue })
  return parsed.success ? [] : fieldsOf(parsed.error, given)
}

const ORDER = { externalId: 'a', currency: 'USD', backToStoreUrl: 'https://store.test' }
const AMOUNT = 'must be a whole number of minor units, such as 1250 for 12.50'

test.each([
  [{ currency: 'usd' }, 'currency', 'must be written "USD"'],
  [{ currency: 'GBP' }, 'currency', 'must be one of "USD", "EUR", "BRL"'],
  [{ games: ['csgo'] }, 'games.0', 'must be one of "cs", "dota", "rust", "tf"'],
  [{ games: 'cs' }, 'games', 'must be a list'],
  [{ games: [] }, 'games', 'must not be empty'],
  [{ games: ['cs', 'dota', 'rust', 'tf', 'cs'] }, 'games', 'must have at most 4 entries'],
  [{ minAmount: '12' }, 'minAmount', `${AMOUNT}, without quotation marks`],
  [{ targetAmount: 12.5 }, 'targetAmount', AMOUNT],
  [{ minAmount: 0 }, 'minAmount', 'must be larger than 0'],
  [{ maxAmount: -5 }, 'maxAmount', 'must be larger than 0'],
  [{ expiresInMinutes: 4 }, 'expiresInMinutes', 'must be at least 5'],
  [{ expiresInMinutes: 1441 }, 'expiresInMinutes', 'must be at most 1440'],
  [{ expiresInMinutes: 7.5 }, 'expiresInMinutes', 'must be a whole number'],
  [{ externalId: 7 }, 'externalId', 'must be a text'],
  [{ externalId: '' }, 'externalId', 'must not be empty'],
  [{ externalId: 'x'.repeat(129) }, 'externalId', 'must have at most 128 characters'],
  [{ metadata: [] }, 'metadata', 'must be an object'],
  [{ shopper: '76561198000000077' }, 'shopper', 'must be an object'],
  [
    { shopper: { steamId: '76561198000000077', lock: 'yes' } },
    'shopper.lock',
    'must be true or false, without quotation marks',
  ],
])('a deposit with %j is refused in words that say what to send', (wrong, path, message) => {
  expect(errorsOf('body', createDepositBodySchema, { ...ORDER, ...wrong })).toEqual([{ path, message }])
})

test('the same words are used in queries and for endpoints', () => {
  expect(errorsOf('query', listDepositsQuerySchema, { status: 'Succeeded', limit: '101' })).toEqual([
    { path: 'status', message: 'must be written "succeeded"' },
    { path: 'limit', message: 'must be at most 100' },
  ])
  expect(errorsOf('query', eventsQuerySchema, { after: '99999999999999999999' })).toEqual([
    { path: 'after', message: 'must be at most 9007199254740991' },
  ])
  expect(errorsOf('body', createEndpointBodySchema, { url: 5, eventTypes: [] })).toEqual([
    { path: 'url', message: 'must be a text' },
    { path: 'eventTypes', message: 'must not be empty' },
  ])
  expect(errorsOf('body', rotateSecretBodySchema, { overlapHours: -1 })).toEqual([
    { path: 'overlapHours', message: 'must be at least 0' },
  ])
  expect(errorsOf('body', replayBodySchema, { eventId: 'x' })).toEqual([
    { path: 'eventId', message: 'must be a UUID' },
  ])
})

test('parameters that cannot be decoded are named, at most twenty of them', () => {
  expect(undecodableIn('/v1/deposits?name=M%FCller&limit=5')).toEqual([
    { path: 'name', message: 'must be UTF-8, and URL-encoded' },
  ])
  expect(undecodableIn(`/v1/deposits?${'%&'.repeat(8_000)}`)).toHaveLength(20)
})
