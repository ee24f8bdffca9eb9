import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCOPES } from '../../contract/scopes.ts'
import { parseApiKey } from '../stores/api-key.ts'
import { addKey, rotateKey } from '../stores/keys.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { startTill, type Till } from '../testing/till.ts'

let till: Till
let api: StoreApi

beforeAll(async () => {
  till = await startTill()
  api = await startStoreApi(till)
})
afterAll(async () => {
  await api.app.close()
  await till.close()
})

const deps = () => ({ db: till.db, mode: 'sandbox', clock: till.clock }) as const

test('an expired key is refused like an unknown key, and logged once a minute; the new key of a rotation has the same lifetime', async () => {
  const { lines } = till
  const key = await till.db
    .transaction()
    .execute((tx) =>
      addKey(tx, deps(), { storeId: api.store.id, name: 'brief', scopes: SCOPES, lifetimeS: 3_600 }),
    )
  const id = parseApiKey(key, 'sandbox')?.id ?? ''
  const newKey = (await rotateKey(deps(), id, 2)) ?? ''
  const resultOf = async (usedKey = key) => {
    const { statusCode, body } = await api.call('GET', '/v1/health', { key: usedKey })
    return [statusCode, statusCode === 200 ? '' : JSON.parse(body).code]
  }
  till.clock.advance(3_599_000)
  expect([await resultOf(), await resultOf(newKey)]).toEqual([
    [200, ''],
    [200, ''],
  ])
  till.clock.advance(61_000)
  for (let n = 0; n < 3; n += 1) expect(await resultOf()).toEqual([401, 'unauthorized'])
  expect(await resultOf(newKey)).toEqual([401, 'unauthorized'])
  const warnings = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg.startsWith('expired API key'))
  expect(warnings.map(({ key: keyId }) => keyId)).toEqual([id, parseApiKey(newKey, 'sandbox')?.id])
  // The secret part of a key follows `tt_test_`, eight characters of id and `_`.
  expect(lines.join('')).not.toContain(key.slice(17))
  till.clock.advance(60_000)
  await resultOf()
  expect(lines.filter((line) => line.includes(`"${id}"`))).toHaveLength(2)
})

test.each([
  ['in lower case', 'bearer '],
  ['and two spaces, as if the key was pasted with a space before it', 'Bearer  '],
])('a key is accepted if its header has the scheme %s', async (_, scheme) => {
  const headers = { authorization: `${scheme}${api.key}` }
  expect((await api.call('GET', '/v1/health', { headers })).statusCode).toBe(200)
})
