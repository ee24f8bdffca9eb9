import { crc32 } from 'node:zlib'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GAMES } from '../../contract/games.ts'
import { publishEvents } from '../events/service.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { tokenOfDeposit } from '../shoppers/trade-token.ts'
import { createApiKey, parseApiKey } from '../stores/api-key.ts'
import { revokeKey, rotateKey } from '../stores/keys.ts'
import { createStore, updateStore } from '../stores/service.ts'
import { BACK_URL, type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, anEndpoint, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { expireDeposit } from '../trades/expiry.ts'
import { requestTrade } from '../trades/request.ts'
import { listEndpoints } from '../webhooks/endpoints.ts'

const BODY = { externalId: 'a', currency: 'USD', backToStoreUrl: BACK_URL }

let till: Till
let api: StoreApi

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
})
afterEach(async () => {
  await api.app.close()
  await till.close()
})

const post = (body: object, key?: string) =>
  api.call('POST', '/v1/deposits', { body, ...(key !== undefined && { key }) })

const deps = () => ({ db: till.db, mode: 'sandbox', webhookMode: 'sandbox', clock: till.clock }) as const

describe('an API key', () => {
  test('gives access to its own store and to no other', async () => {
    const id = (await post(BODY)).json().id
    const otherKey = await api.newKey(await aStore(till))
    expect((await api.call('GET', `/v1/deposits/${id}`)).statusCode).toBe(200)
    const foreign = await api.call('GET', `/v1/deposits/${id}`, { key: otherKey })
    const unknown = await api.call('GET', '/v1/deposits/99999', { key: otherKey })
    // Apart from the id, the answers are equal, so they do not reveal which deposit exists.
    expect([foreign.statusCode, foreign.body]).toEqual([404, unknown.body.replace('99999', id)])
  })

  test('gets the same refusal if it is unknown, of another mode, incomplete, wrong, in another scheme or absent', async () => {
    const { key } = api
    const answers = await Promise.all(
      [
        `Bearer ${createApiKey('sandbox').key}`,
        `Bearer ${key.replace('tt_test', 'tt_live')}`,
        `Bearer ${key.slice(0, -1)}`,
        // One letter of the secret is changed.
        `Bearer ${key.slice(0, 20)}${key[20] === 'A' ? 'B' : 'A'}${key.slice(21)}`,
        `Basic ${key}`,
        '',
      ].map((authorization) => api.call('POST', '/v1/deposits', { body: BODY, headers: { authorization } })),
    )
    const texts = answers.map((it) => [it.statusCode, it.headers['www-authenticate'], it.body].join(' '))
    expect([...new Set(texts)]).toEqual([expect.stringMatching(/^401 Bearer \{/)])
  })

  test('uses up its store’s limit of calls only if it is valid', async () => {
    const id = parseApiKey(api.key, 'sandbox')?.id ?? ''
    const body = `tt_test_${id}_${'x'.repeat(43)}`
    const forged = `${body}_${crc32(body).toString(16).padStart(8, '0')}`
    // The limit allows a burst of 120 calls.
    for (let n = 0; n < 130; n += 1) await api.call('GET', '/v1/health', { key: forged })
    for (let n = 0; n < 120; n += 1) await api.call('GET', '/v1/health')
    const beyond = await api.call('GET', '/v1/health')
    expect(beyond.json()).toMatchObject({ status: 429, code: 'too_many_requests' })
    expect(beyond.headers['retry-after']).toBe('1')
    const key = await api.newKey(await aStore(till))
    expect((await api.call('GET', '/v1/health', { key })).statusCode).toBe(200)
  })

  test('that was rotated works during the overlap, and the new key has the same scopes', async () => {
    const oldKey = await api.newKey(api.store, ['deposits:read'])
    const id = parseApiKey(oldKey, 'sandbox')?.id ?? ''
    const newKey = (await rotateKey(deps(), id, 2)) ?? ''
    const statusWith = async (key: string) => (await api.call('GET', '/v1/deposits', { key })).statusCode
    expect([await statusWith(oldKey), await statusWith(newKey)]).toEqual([200, 200])
    expect((await api.call('GET', '/v1/balance', { key: newKey })).statusCode).toBe(403)
    till.clock.advance(2 * 3_600_000)
    expect([await statusWith(oldKey), await statusWith(newKey)]).toEqual([401, 200])
    expect(await rotateKey(deps(), id, 2)).toBeUndefined()
  })

  test('that was revoked is refused', async () => {
    expect(await revokeKey(deps(), parseApiKey(api.key, 'sandbox')?.id ?? '')).toBe(true)
    expect((await post(BODY)).statusCode).toBe(401)
  })

  test('gives access to the calls of its scopes only, and its last use is recorded', async () => {
    const key = await api.newKey(api.store, ['deposits:read'])
    const refused = await post(BODY, key)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'scope_missing'])
    expect((await api.call('GET', '/v1/deposits', { key })).statusCode).toBe(200)
    expect((await api.call('GET', '/v1/balance', { key })).statusCode).toBe(403)
    expect((await api.call('GET', '/v1/webhook-endpoints', { key })).statusCode).toBe(403)
    const id = parseApiKey(key, 'sandbox')?.id ?? ''
    const row = till.db.selectFrom('api_key').select('last_used_at').where('id', '=', id)
    expect((await row.executeTakeFirst())?.last_used_at).toEqual(till.clock.now())
  })
})

describe('POST /v1/deposits', () => {
  test('answers 201 once, then 200 with the same deposit; other values are a conflict', async () => {
    const [first, second] = [await post(BODY), await post(BODY)]
    expect([first.statusCode, second.statusCode]).toEqual([201, 200])
    expect(second.json()).toEqual(first.json())
    const conflict = await post({ ...BODY, maxAmount: 5 })
    expect([conflict.statusCode, conflict.json().code]).toEqual([409, 'order_conflict'])
  })

  test('accepts optional parameters, and returns or stores their values', async () => {
    const wanted = {
      ...BODY,
      language: 'ru',
      redirectUrl: `${BACK_URL}/done`,
      targetAmount: 1_000,
      games: ['dota', 'tf'],
      creditMode: 'on_release',
      customerReference: 'user 7',
      metadata: { cart: '12', note: '' },
      expiresInMinutes: 30,
      tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=39735273&token=Ab_cd-12',
    }
    const answer = await post(wanted)
    const { language, targetAmount, games, customerReference, metadata } = wanted
    const returned = { language, targetAmount, minAmount: 1_000, games, customerReference, metadata }
    expect(answer.json()).toMatchObject(returned)
    expect(Date.parse(answer.json().expiresAt) - Date.parse(answer.json().createdAt)).toBe(30 * 60_000)
    const row = await till.db.selectFrom('deposit').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ user_token: null, credit_mode: 'on_release' })
    expect(row.redirect_url).toBe(wanted.redirectUrl)
    expect(tokenOfDeposit(api.deps.box, row)).toBe('Ab_cd-12')
    expect((await post(wanted)).statusCode).toBe(200)
  })

  test.each([
    ['backToStoreUrl', { backToStoreUrl: 'https://evil.example/' }],
    ['redirectUrl', { redirectUrl: 'javascript:alert(1)' }],
    ['currency', { currency: 'RUB' }],
    ['externalId', { externalId: '' }],
    ['externalId', { externalId: 'a\u0000b' }],
    ['externalId', { externalId: '\ud800' }],
    ['minAmount', { minAmount: 1.5 }],
    ['minAmount', { minAmount: 5, maxAmount: 4 }],
    ['targetAmount', { minAmount: 5, targetAmount: 4 }],
    ['games', { games: ['cs', 'cs'] }],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, ''])) }],
    ['expiresInMinutes', { expiresInMinutes: 4 }],
    ['status', { status: 'succeeded' }],
  ])('names the invalid field %s', async (path, change) => {
    const answer = await post({ ...BODY, ...change })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
  })
})

describe('reading deposits', () => {
  test('works by id and by externalId', async () => {
    const deposit = (await post({ ...BODY, externalId: 'order / 7 & more' })).json()
    expect((await api.call('GET', `/v1/deposits/${deposit.id}`)).json()).toEqual(deposit)
    const foundDeposit = await api.call('GET', '/v1/deposits/lookup?externalId=order%20%2F%207%20%26%20more')
    expect(foundDeposit.json()).toEqual(deposit)
    expect((await api.call('GET', '/v1/deposits/lookup?externalId=other')).statusCode).toBe(404)
    expect((await api.call('GET', '/v1/deposits/abc')).statusCode).toBe(400)
  })

  test('works page by page, newest first, and by status, customer and time', async () => {
    for (let n = 1; n <= 7; n += 1) {
      await post({ ...BODY, externalId: `n${n}`, ...(n % 2 === 0 && { customerReference: 'even' }) })
      till.clock.advance(1_000)
    }
    const externalIdsBy = async (query: string) => {
      const externalIds: string[] = []
      let next: string | null = null
      do {
        const after: string = next === null ? '' : `&after=${next}`
        const page = (await api.call('GET', `/v1/deposits?limit=2${query}${after}`)).json()
        externalIds.push(...page.deposits.map((deposit: { externalId: string }) => deposit.externalId))
        next = page.next
      } while (next !== null)
      return externalIds.join()
    }
    expect(await externalIdsBy('')).toBe('n7,n6,n5,n4,n3,n2,n1')
    expect(await externalIdsBy('&customerReference=even')).toBe('n6,n4,n2')
    expect(await externalIdsBy('&status=succeeded')).toBe('')
    const thirdCreatedAt = (await api.call('GET', '/v1/deposits/lookup?externalId=n3')).json().createdAt
    expect(await externalIdsBy(`&createdFrom=${thirdCreatedAt}`)).toBe('n7,n6,n5,n4,n3')
    expect(await externalIdsBy(`&createdBefore=${thirdCreatedAt}&status=created`)).toBe('n2,n1')
  })
})

describe('POST /v1/deposits/{id}/cancel', () => {
  const cancel = (id: unknown) => api.call('POST', `/v1/deposits/${id}/cancel`)

  test('ends a deposit that has no offer, reports the reason in an event, and succeeds when repeated', async () => {
    const { id } = (await post(BODY)).json()
    const answer = await cancel(id)
    expect([answer.statusCode, answer.json().status, answer.json().endReason]).toEqual([
      200,
      'paymentTimeout',
      'cancelled_by_store',
    ])
    expect((await cancel(id)).statusCode).toBe(200)
    await publishEvents(till.deps)
    const { events } = (await api.call('GET', `/v1/deposits/${id}/events`)).json()
    expect(events).toMatchObject([
      { type: 'deposit.payment_timeout', data: { endReason: 'cancelled_by_store' } },
    ])
  })

  test('accepts an empty JSON body, and refuses, with a reason, a body that is not JSON or has the key __proto__', async () => {
    const { id } = (await post(BODY)).json()
    const send = (payload: string) =>
      api.app.inject({
        method: 'POST',
        url: `/v1/deposits/${id}/cancel`,
        headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
        payload,
      })
    expect((await send('')).statusCode).toBe(200)
    for (const broken of ['{"a":', 'a=1', '{"__proto__":{}}'])
      expect((await send(broken)).json()).toMatchObject({
        code: 'invalid_request',
        errors: [{ path: '', message: 'the body is not JSON, or has the key __proto__' }],
      })
  })

  test('cancels the offer on Steam first, and ends the deposit when Steam confirms the cancel', async () => {
    const { bot, session } = await aBot(till)
    const deposit = await aDeposit(till, api.store)
    const request = requestTrade(till.deps, deposit.body)
    const trades = () => till.db.selectFrom('trade').select('id').execute()
    await expect.poll(trades).toHaveLength(1)
    const withKey = () =>
      api.call('POST', `/v1/deposits/${deposit.id}/cancel`, { headers: { 'idempotency-key': 'end-it' } })
    const busy = await withKey()
    expect([busy.json().code, busy.headers['retry-after']]).toEqual(['deposit_busy', '3'])
    const [trade] = await trades()
    const advance = () => tradeHandlers(till.deps).trade(bot, trade?.id ?? 0n)
    await advance()
    await request
    const answer = await withKey()
    expect([answer.statusCode, answer.json().status]).toEqual([202, 'pending'])
    await advance()
    expect(session.calls.filter((call) => call.startsWith('cancel'))).toHaveLength(1)
    const endedDeposit = (await api.call('GET', `/v1/deposits/${deposit.id}`)).json()
    expect([endedDeposit.status, endedDeposit.endReason]).toEqual(['tradeTimeout', 'cancelled_by_store'])
    expect((await cancel(deposit.id)).statusCode).toBe(200)
  })

  test('is refused for a deposit that ended for another reason, and for another store’s deposit', async () => {
    const deposit = await aDeposit(till, api.store)
    till.clock.advance(3_600_000)
    await expireDeposit(till.deps, deposit.id)
    expect((await cancel(deposit.id)).json().code).toBe('not_cancellable')
    const foreign = await aDeposit(till, await aStore(till))
    expect((await cancel(foreign.id)).json().code).toBe('deposit_not_found')
  })
})

describe('a deposit that the store does not have', () => {
  test.each([
    ['by its id', '/v1/deposits/77', 'id 77'],
    ['by its externalId', '/v1/deposits/lookup?externalId=top%20%22%24%26%22', 'externalId "top \\"$&\\""'],
  ])('requested %s is refused with a text for developers', async (_how, url, wanted) => {
    const key = api.key.split('_')[2]
    const answer = await api.call('GET', url)
    expect(answer.json()).toMatchObject({ status: 404, code: 'deposit_not_found' })
    const { detail } = answer.json()
    expect(detail).toContain(`The store of this API key (${key}) has no deposit with ${wanted}. Check`)
    const russian = await api.call('GET', url, { headers: { 'accept-language': 'ru' } })
    expect(russian.json().detail).toContain(`ключом API (${key}) нет пополнения с ${wanted}. Проверьте`)
  })
})

describe('GET /v1/events', () => {
  test('returns the store’s own events in order, without gaps', async () => {
    for (const externalId of ['a', 'b', 'c']) {
      await api.call('POST', `/v1/deposits/${(await post({ ...BODY, externalId })).json().id}/cancel`)
    }
    await publishEvents(till.deps)
    const page = (await api.call('GET', '/v1/events?limit=2')).json()
    expect(page).toMatchObject({ next: 2, hasMore: true, events: [{ sequence: 1 }, { sequence: 2 }] })
    const rest = (await api.call('GET', '/v1/events?after=2')).json()
    expect(rest).toMatchObject({ next: 3, hasMore: false, events: [{ sequence: 3 }] })
    const key = await api.newKey(await aStore(till))
    expect((await api.call('GET', '/v1/events', { key })).json()).toEqual({
      events: [],
      next: 0,
      hasMore: false,
    })
  })
})

describe('GET /v1/games, /v1/prices and /v1/health', () => {
  test('give the games with their minimums, the reason why a name has no price, and whether trades are possible', async () => {
    await aDeposit(till, api.store)
    const { games } = (await api.call('GET', '/v1/games')).json()
    expect(games).toHaveLength(GAMES.length)
    expect(games[0]).toMatchObject({ game: 'cs', steamAppId: 730, protectionDays: 8, minimums: { USD: 300 } })
    const prices = await api.call('GET', '/v1/prices?game=cs&currency=USD&name=x&name=y')
    expect(prices.json().prices).toEqual([
      { name: 'x', price: null, reason: 'noPrice' },
      { name: 'y', price: null, reason: 'noPrice' },
    ])
    expect((await api.call('GET', '/v1/health')).json()).toMatchObject({ status: 'ok', trades: true })
    const since = till.clock.now()
    await till.db.insertInto('outage').values({ kind: 'maintenance', since, ends_at: since }).execute()
    const health = async () => (await api.call('GET', '/v1/health')).json()
    const maintenance = { maintenance: true, maintenanceUntil: since.toISOString() }
    expect(await health()).toMatchObject({ status: 'degraded', ...maintenance })
    await till.db.updateTable('outage').set({ kind: 'inventories', ends_at: null }).execute()
    expect(await health()).toMatchObject({ status: 'degraded', trades: false, inventories: false })
  })
})

describe('a store that an operator registers', () => {
  const box = createSecretBox(Buffer.alloc(32, 3))
  const add = (change = {}) => {
    const store = { name: 'Ember', origins: ['https://store.example'], riskLimitUsdCents: 0n, ...change }
    return createStore({ ...deps(), box }, store)
  }

  test('has a key and a webhook secret that the database does not contain in readable form', async () => {
    const created = await add({ webhookUrl: 'https://store.example/hook' })
    if (created.kind === 'refused' || created.webhookSecret === null) throw new Error('not created')
    const { rows } = await sql<{ text: string }>`select s::text || k::text || e::text as text from store s
      join api_key k on k.store_id = s.id join webhook_endpoint e on e.store_id = s.id`.execute(till.db)
    const dump = rows.map((row) => row.text).join()
    expect(dump.length).toBeGreaterThan(100)
    // A part of the key's secret.
    expect(dump).not.toContain(created.apiKey.slice(18, 40))
    expect(dump).not.toContain(created.webhookSecret)
    expect(dump).not.toContain(Buffer.from(created.webhookSecret).toString('hex'))
  })

  test.each([
    ['an empty list of origins', { origins: [] }],
    ['a path as origin', { origins: ['https://store.example/shop'] }],
    ['an empty name', { name: '' }],
    ['an invalid webhook URL', { webhookUrl: 'ftp://store.example' }],
    ['a webhook with a user name', { webhookUrl: 'https://user@store.example' }],
  ])('cannot have %s', async (_what, change) => {
    expect(await add(change)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('must') })
  })

  test('can move to another origin: key and secret stay, and the old origin is refused', async () => {
    const { id } = api.store
    const origins = ['https://new.example']
    const first = await updateStore({ ...deps(), box }, id, { origins, webhookUrl: 'http://localhost:1/a' })
    expect(first).toMatchObject({ kind: 'updated', webhookSecret: expect.stringContaining('whsec_') })
    const moved = await updateStore({ ...deps(), box }, id, { origins, webhookUrl: 'http://localhost:1/b' })
    expect(moved).toEqual({ kind: 'updated', webhookSecret: null })
    expect((await post(BODY)).json()).toMatchObject({ errors: [{ path: 'backToStoreUrl' }] })
    expect((await post({ ...BODY, backToStoreUrl: 'https://new.example/' })).statusCode).toBe(201)
    const rows = await till.db.selectFrom('webhook_endpoint').select('url').execute()
    expect(rows).toEqual([{ url: 'http://localhost:1/b' }])
    expect(await updateStore({ ...deps(), box }, 99n, { origins })).toMatchObject({ kind: 'refused' })
  })

  test('can have its oldest webhook moved, and enabled if it was disabled', async () => {
    const { id } = api.store
    const hooks = 'http://localhost:1/'
    for (const name of ['a', 'b']) await anEndpoint(till, api.store, hooks + name)
    await till.db
      .updateTable('webhook_endpoint')
      .set({ state: 'disabled', disabled_reason: 'gone' })
      .execute()
    const changes = { origins: ['https://new.example'], webhookUrl: `${hooks}new` }
    expect(await updateStore({ ...deps(), box }, id, changes)).toEqual({
      kind: 'updated',
      webhookSecret: null,
    })
    expect(await listEndpoints(till.db, id)).toMatchObject([
      { url: `${hooks}new`, state: 'enabled', disabledReason: null },
      { url: `${hooks}b`, state: 'disabled', disabledReason: 'gone' },
    ])
  })

  test('can have its colour changed while its origins stay, and the colour is stored in lower case', async () => {
    const { id } = api.store
    const setAccent = (accent: string | null) => updateStore({ ...deps(), box }, id, { accent })
    const storedRow = () =>
      till.db.selectFrom('store').select(['accent', 'origins']).where('id', '=', id).executeTakeFirstOrThrow()
    const { origins } = await storedRow()
    expect(await setAccent('#3366CC')).toMatchObject({ kind: 'updated' })
    expect(await storedRow()).toEqual({ accent: '#3366cc', origins })
    const refused = { kind: 'refused', reason: expect.stringContaining('accent') }
    expect(await setAccent('red;}')).toMatchObject(refused)
    expect(await setAccent(null)).toMatchObject({ kind: 'updated' })
    expect((await storedRow()).accent).toBeNull()
  })
})
