import { crc32 } from 'node:zlib'
import { type FastifyInstance, fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoreDeposit } from '../../contract/store-api.ts'
import { createLimits, type Limits } from '../http/limits.ts'
import { handleErrors } from '../http/problem.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { createApiKey, parseApiKey } from './api-key.ts'
import { storeRoutes } from './routes.ts'
import { createStore, openWebhookSecret, updateStore } from './service.ts'

const box = createSecretBox(Buffer.alloc(32, 3))
const DEPOSIT: StoreDeposit = {
  id: '1001',
  externalId: 'a',
  url: 'http://localhost/x',
  status: 'created',
  currency: 'USD',
  amount: null,
  heldAmount: 0,
  heldUntil: null,
  reversedAmount: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T01:00:00.000Z',
  trade: null,
}
const BODY = { externalId: 'a', currency: 'USD', backToStoreUrl: 'https://store.example/back' }

let database: TestDatabase
let app: FastifyInstance
let apiKey: string
let askedBy: bigint[]
let limits: Limits

beforeEach(async () => {
  database = await testDatabase()
  askedBy = []
  limits = createLimits(() => 0)
  apiKey = (await addStore()).apiKey
  app = fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  handleErrors(app, captureLog().log)
  await app.register(
    storeRoutes({
      db: database.db,
      mode: 'sandbox',
      limitStore: limits.perStore,
      createDeposit: async (store) => {
        askedBy.push(store.id)
        return { deposit: DEPOSIT, created: askedBy.length === 1 }
      },
      storeDeposit: async (storeId) => {
        askedBy.push(storeId)
        return storeId === 1n ? DEPOSIT : undefined
      },
    }),
  )
})

afterEach(async () => {
  await app.close()
  await database.close()
})

async function addStore(change = {}) {
  const store = { name: 'Ember', origins: ['https://store.example'], riskLimitUsdCents: 0n, ...change }
  const created = await createStore({ db: database.db, box, mode: 'sandbox' }, store)
  if (created.kind === 'refused') throw new Error(created.reason)
  return created
}

const post = (body: object, authorization = `Bearer ${apiKey}`) =>
  app.inject({ method: 'POST', url: '/v1/deposits', payload: body, headers: { authorization } })

describe('API key', () => {
  test('opens the store it was made for, and only that one', async () => {
    const other = await addStore({ name: 'Other' })
    await post(BODY)
    await post(BODY, `Bearer ${other.apiKey}`)
    expect(askedBy).toEqual([1n, 2n])
  })

  test('of the right form but unknown, of another mode, torn or absent is refused alike', async () => {
    const answers = await Promise.all(
      [
        `Bearer ${createApiKey('sandbox').key}`,
        `Bearer ${apiKey.replace('tt_test', 'tt_live')}`,
        `Bearer ${apiKey.slice(0, -1)}`,
        `Bearer ${apiKey.slice(0, 20)}${apiKey[20] === 'A' ? 'B' : 'A'}${apiKey.slice(21)}`,
        `Basic ${apiKey}`,
        '',
      ].map((authorization) => post(BODY, authorization)),
    )
    expect(answers.map((answer) => answer.statusCode)).toEqual(Array(6).fill(401))
    expect(new Set(answers.map((answer) => answer.body)).size).toBe(1)
    expect(askedBy).toEqual([])
  })

  test('with the id of a store and a secret of its own is refused', async () => {
    const id = parseApiKey(apiKey, 'sandbox')?.id ?? ''
    await database.pool.query(`update api_key set secret_sha256 = sha256('another')`)
    expect(id).toHaveLength(8)
    expect((await post(BODY)).statusCode).toBe(401)
  })

  test('counts for its store once it is proved: nobody else can use up its calls', async () => {
    const id = parseApiKey(apiKey, 'sandbox')?.id ?? ''
    const body = `tt_test_${id}_${'x'.repeat(43)}`
    const forged = `Bearer ${body}_${crc32(body).toString(16).padStart(8, '0')}`
    const forgeries = await Promise.all(Array.from({ length: 150 }, () => post(BODY, forged)))
    expect(new Set(forgeries.map((answer) => answer.statusCode))).toEqual(new Set([401]))
    expect((await post(BODY)).statusCode).toBe(201)
    for (let n = 1; n < 120; n += 1) await post(BODY)
    const beyond = await post(BODY)
    expect([beyond.statusCode, beyond.json().code]).toEqual([429, 'too_many_requests'])
    const other = await addStore({ name: 'Other' })
    expect((await post(BODY, `Bearer ${other.apiKey}`)).statusCode).toBe(200)
  })

  test('that was revoked is refused', async () => {
    await database.pool.query('update api_key set revoked_at = now()')
    expect((await post(BODY)).statusCode).toBe(401)
  })

  test('and webhook secret are not readable in the database', async () => {
    const created = await addStore({ name: 'Other' })
    const { rows } = await database.pool.query(
      'select s::text || k::text as text from store s join api_key k on k.store_id = s.id',
    )
    const dump = rows.map((row: { text: string }) => row.text).join()
    expect(dump).not.toContain(created.apiKey.slice(18, 40))
    const secret = Buffer.from(created.webhookSecret)
    expect(dump).not.toContain(secret.toString('hex'))
    const stored = await database.db
      .selectFrom('store')
      .select('webhook_secret')
      .where('id', '=', 2n)
      .executeTakeFirstOrThrow()
    expect(openWebhookSecret(box, 2n, stored.webhook_secret ?? Buffer.alloc(0))).toBe(created.webhookSecret)
  })
})

describe('POST /v1/deposits', () => {
  test('answers 201 once, then 200', async () => {
    const [first, second] = [await post(BODY), await post(BODY)]
    expect([first.statusCode, second.statusCode]).toEqual([201, 200])
    expect(first.json()).toEqual(DEPOSIT)
  })

  test.each([
    ['backToStoreUrl', { backToStoreUrl: 'https://evil.example/' }],
    ['redirectUrl', { redirectUrl: 'javascript:alert(1)' }],
    ['currency', { currency: 'RUB' }],
    ['externalId', { externalId: '' }],
    ['minAmount', { minAmount: 1.5 }],
    ['minAmount', { minAmount: 5, maxAmount: 4 }],
    ['', { status: 'succeeded' }],
  ])('names the field %s that is wrong', async (path, change) => {
    const answer = await post({ ...BODY, ...change })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
    expect(askedBy).toEqual([])
  })
})

describe('GET /v1/deposits/{id}', () => {
  const read = (id: string, key: string) =>
    app.inject({ url: `/v1/deposits/${id}`, headers: { authorization: `Bearer ${key}` } })

  test('gives a store its own deposit', async () => {
    expect((await read('1001', apiKey)).json()).toEqual(DEPOSIT)
  })

  test('does not tell another store that it exists', async () => {
    const other = await addStore({ name: 'Other' })
    expect((await read('1001', other.apiKey)).statusCode).toBe(404)
    expect((await read('abc', apiKey)).statusCode).toBe(400)
  })
})

describe('createStore', () => {
  test.each([
    ['no origin', { origins: [] }],
    ['a path as origin', { origins: ['https://store.example/shop'] }],
    ['no name', { name: '' }],
    ['a webhook that is no address', { webhookUrl: 'ftp://store.example' }],
    ['a webhook with a user name', { webhookUrl: 'https://user@store.example' }],
  ])('refuses %s', async (_what, change) => {
    await expect(addStore(change)).rejects.toThrow('must')
  })
})

describe('updateStore', () => {
  const update = (storeId: bigint, change = {}) => {
    const addresses = { origins: ['https://new.example'], webhookUrl: 'http://localhost:1/hook', ...change }
    return updateStore({ db: database.db, mode: 'sandbox' }, storeId, addresses)
  }

  test('moves a store: its key stays, the old origin is refused', async () => {
    expect(await update(1n)).toEqual({ kind: 'updated' })
    expect((await post(BODY)).json()).toMatchObject({ errors: [{ path: 'backToStoreUrl' }] })
    expect((await post({ ...BODY, backToStoreUrl: 'https://new.example/' })).statusCode).toBe(201)
    const { rows } = await database.pool.query('select webhook_url, webhook_secret from store')
    expect(rows).toEqual([{ webhook_url: 'http://localhost:1/hook', webhook_secret: expect.any(Buffer) }])
  })

  test.each([
    ['a store that is not there', 9n, {}],
    ['no origin', 1n, { origins: [] }],
    ['a webhook that is no address', 1n, { webhookUrl: 'ftp://store.example' }],
  ])('refuses %s and changes nothing', async (_what, storeId, change) => {
    expect(await update(storeId, change)).toMatchObject({ kind: 'refused' })
    expect((await post(BODY)).statusCode).toBe(201)
  })
})
