import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { viewReader } from '../deposits/shopper-view.ts'
import { embedOriginOf } from '../deposits/store.ts'
import { publishEvents } from '../events/service.ts'
import { saveRate } from '../pricing/store.ts'
import { parseApiKey } from '../stores/api-key.ts'
import { BACK_URL, type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { openApiOf } from './openapi.ts'
import { OPERATIONS } from './table.ts'

type Mistake = { path: string }

const BODY = { externalId: 'a', currency: 'USD', backToStoreUrl: BACK_URL }
const IN_EUR = { ...BODY, currency: 'EUR' }

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

const post = (body: object) => api.call('POST', '/v1/deposits', { body })
const rate = (perUsd: string) => ({ currency: 'EUR', perUsd, asOf: till.clock.now() }) as const

describe('GET /v1/deposits', () => {
  test('refuses to continue after an unknown deposit, such as one that a restored till lost', async () => {
    const { id } = (await post(BODY)).json()
    const foreign = await aDeposit(till, await aStore(till))
    for (const after of [String(foreign.id), '999']) {
      const answer = await api.call('GET', `/v1/deposits?after=${after}`)
      expect([answer.statusCode, answer.json().errors]).toEqual([
        400,
        [{ path: 'after', message: 'is not a deposit of your store: begin the list again' }],
      ])
    }
    const last = await api.call('GET', `/v1/deposits?after=${id}`)
    expect([last.statusCode, last.json()]).toEqual([200, { deposits: [], next: null }])
  })
})

describe('POST /v1/deposits', () => {
  test('explains an invalid field in terms of the API, as other calls do', async () => {
    const errorsOf = async (answer: ReturnType<typeof post>) => (await answer).json().errors
    expect(await errorsOf(post({ externalId: 'a', customerId: 1, backToStoreUrl: BACK_URL }))).toEqual([
      { path: 'currency', message: 'is required' },
      { path: 'customerId', message: 'is not a field of this call' },
    ])
    expect(await errorsOf(post({ ...BODY, redirectUrl: 'https://evil.example/' }))).toEqual([
      {
        path: 'redirectUrl',
        message: expect.stringContaining('registered for the store: https://store.test'),
      },
    ])
    for (const character of [' ', '\\', '\u200b']) {
      expect(await errorsOf(post({ ...BODY, backToStoreUrl: `${BACK_URL}?a=${character}b` }))).toEqual([
        {
          path: 'backToStoreUrl',
          message: 'must not contain a space, a backslash or an invisible character: write them URL-encoded',
        },
      ])
    }
    expect(await errorsOf(post({ ...BODY, metadata: { size: 1, ['x'.repeat(41)]: 'l' } }))).toEqual([
      { path: 'metadata.size', message: 'must be a text of at most 500 characters' },
      {
        path: `metadata.${'x'.repeat(41)}`,
        message: 'the key is invalid: must have at most 40 characters',
      },
    ])
    expect(await errorsOf(post({ ...BODY, minAmount: 1e300 }))).toEqual([
      { path: 'minAmount', message: expect.stringContaining('9007199254740991') },
    ])
    expect(await errorsOf(post({ ...BODY, currency: null, minAmount: null, metadata: null }))).toEqual(
      ['currency', 'minAmount', 'metadata'].map((path) => ({
        path,
        message: 'must not be null: leave out a field without a value',
      })),
    )
    expect(await errorsOf(api.call('POST', '/v1/deposits'))).toEqual([
      { path: '', message: 'the body must be a JSON object' },
    ])
    expect(await errorsOf(api.call('GET', '/v1/statement'))).toEqual([
      { path: 'currency', message: 'is required' },
    ])
  })

  test('names the scope and the key if the key lacks the scope', async () => {
    const key = await api.newKey(api.store, ['deposits:read'])
    const { code, detail } = (await api.call('POST', '/v1/deposits', { key, body: BODY })).json()
    expect(code).toBe('scope_missing')
    const id = parseApiKey(key, 'sandbox')?.id
    expect(detail).toContain(`This API key (${id}) lacks the scope deposits:write.`)
  })

  test('names the fields in which a call with a used externalId differs', async () => {
    await post(BODY)
    const { code, detail } = (await post({ ...BODY, currency: 'EUR', minAmount: 500 })).json()
    expect(code).toBe('order_conflict')
    expect(detail).toContain('was created with other values of currency, minAmount.')
  })

  test('refuses a maximum below the minimums of all accepted games, and gives the smallest minimum', async () => {
    // At this rate the minimum is 3.00 for Counter-Strike, and 1.00 for every other game.
    await saveRate(till.db, 'fixed', rate('1'))
    const refused = await post({ ...IN_EUR, externalId: 'small', maxAmount: 299, games: ['cs'] })
    expect(refused.json()).toMatchObject({ code: 'invalid_request', errors: [{ path: 'maxAmount' }] })
    expect(refused.json().errors[0].message).toContain('at least 300')
    expect(
      (await post({ ...IN_EUR, externalId: 'small', maxAmount: 99 })).json().errors[0].message,
    ).toContain('at least 100')
    const payable = { ...IN_EUR, externalId: 'payable', maxAmount: 299, games: ['cs', 'tf'] }
    expect((await post(payable)).statusCode).toBe(201)
    // A deposit that is already open is returned, whatever the minimums are now.
    await saveRate(till.db, 'fixed', rate('10'))
    expect((await post(payable)).statusCode).toBe(200)
  })

  test('refuses a maximum below the minimums of the games that the store takes', async () => {
    await saveRate(till.db, 'fixed', rate('1'))
    await till.db
      .updateTable('store')
      .set({ games: ['cs'] })
      .execute()
    for (const games of [undefined, ['cs', 'tf']]) {
      const refused = await post({ ...IN_EUR, externalId: 'small', maxAmount: 299, games })
      expect(refused.json().errors[0].message).toContain('at least 300')
    }
  })

  test('returns the deposit of an earlier call, although the operator has since taken an origin and a game from the store', async () => {
    const body = { ...BODY, redirectUrl: BACK_URL, games: ['cs'] }
    const { id } = (await post(body)).json()
    const changed = { origins: ['https://other.test'], games: ['tf' as const] }
    await till.db.updateTable('store').set(changed).execute()
    const again = await post(body)
    expect([again.statusCode, again.json().id]).toEqual([200, id])
    const refusedPaths = async (change: object) =>
      (await post({ ...body, externalId: 'new', ...change })).json().errors.map(({ path }: Mistake) => path)
    expect(await refusedPaths({})).toEqual(['backToStoreUrl', 'redirectUrl'])
    const otherUrl = 'https://other.test/'
    expect(await refusedPaths({ backToStoreUrl: otherUrl, redirectUrl: otherUrl })).toEqual(['games'])
  })

  test.each([
    ['xx', null],
    ['la-VA', null],
    ['ru-RU', 'ru'],
    ['EN', 'en'],
  ])(
    'A-065 accepts the language %s and returns the language of the page: %s',
    async (language, pageLanguage) => {
      const answer = await post({ ...BODY, language })
      expect([answer.statusCode, answer.json().language]).toEqual([201, pageLanguage])
      expect((await post({ ...BODY, language })).statusCode).toBe(200)
    },
  )

  test('a return URL gets the encoded ids in place of its placeholders', async () => {
    const answer = await post({
      ...BODY,
      externalId: 'order #7/é',
      backToStoreUrl: `${BACK_URL}?deposit={DEPOSIT_ID}&order={EXTERNAL_ID}&other={OTHER}`,
      redirectUrl: `${BACK_URL}/{EXTERNAL_ID}/done#{DEPOSIT_ID}`,
    })
    const { id, url } = answer.json()
    const hash = url.slice(-32)
    const readPayment = async () =>
      (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment
    const order = 'order%20%237%2F%C3%A9'
    expect((await readPayment())?.backToStoreUrl).toBe(
      `${BACK_URL}?deposit=${id}&order=${order}&other={OTHER}`,
    )
    await till.db.updateTable('deposit').set({ status: 'succeeded', credited_amount: 5n }).execute()
    expect((await readPayment())?.redirectUrl).toBe(`${BACK_URL}/${order}/done#${id}`)
  })

  test('a return URL gets the ids even if the store’s library encoded its placeholders', async () => {
    const back = new URL(BACK_URL)
    back.searchParams.set('order', '{EXTERNAL_ID}')
    back.searchParams.set('lang', '{LANGUAGE}')
    const { url } = (await post({ ...BODY, externalId: 'order #7', backToStoreUrl: back.href })).json()
    const hash = url.slice(-32)
    const view = (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)
    // The page itself replaces `{LANGUAGE}`.
    expect(view?.payment.backToStoreUrl).toBe(`${BACK_URL}?order=order%20%237&lang={LANGUAGE}`)
  })

  test('D-32 a page can frame the deposit while its origin is registered for the store', async () => {
    const origin = 'https://store.test'
    const answer = await post({ ...BODY, embedOrigin: 'https://STORE.test/' })
    expect([answer.statusCode, answer.json().embedOrigin]).toEqual([201, origin])
    expect((await post({ ...BODY, embedOrigin: origin })).statusCode).toBe(200)
    const hash = answer.json().url.slice(-32)
    expect(await embedOriginOf(till.db, hash)).toBe(origin)
    await till.db
      .updateTable('store')
      .set({ origins: ['https://other.test'] })
      .execute()
    expect(await embedOriginOf(till.db, hash)).toBeUndefined()
    expect(await embedOriginOf(till.db, '0'.repeat(32))).toBeUndefined()
  })

  test.each([
    'https://evil.example',
    'https://store.test/wallet',
    'https://store.test:444',
    'http://store.test',
    '*',
    "'self'",
    'null',
  ])('D-32 %s cannot frame the deposit', async (embedOrigin) => {
    const message = expect.stringContaining(
      'must be an origin that is registered for the store, without a path',
    )
    expect((await post({ ...BODY, embedOrigin })).json().errors).toEqual([{ path: 'embedOrigin', message }])
  })
})

describe('a query', () => {
  test.each(['x', '', '%20', '1e2', '0x10', '-0', '1.0', 'Infinity'])(
    'with "%s" in place of a number is refused',
    async (after) => {
      const answer = await api.call('GET', `/v1/events?after=${after}`)
      expect(answer.json().errors).toEqual([
        { path: 'after', message: 'must be a whole number, such as 100' },
      ])
    },
  )

  test.each([
    ['after', '/v1/events?after=1&after=2'],
    ['status', '/v1/deposits?status=created&status=pending'],
    ['customerReference', '/v1/deposits?customerReference=a&customerReference=b'],
  ])('that has %s twice is refused', async (path, url) => {
    expect((await api.call('GET', url)).json().errors).toEqual([{ path, message: 'must be given only once' }])
  })

  test.each([
    ['a letter of another encoding', 'M%FCller'],
    ['half a letter', 'M%C3'],
    ['a percent sign that is not encoded', '5%25%20or%205%'],
  ])('with %s is refused, because it would be read as another text', async (_, text) => {
    const message = 'must be UTF-8, and URL-encoded'
    for (const url of [`/v1/deposits/lookup?externalId=${text}`, `/v1/deposits?limit=2&externalId=${text}`]) {
      const answer = await api.call('GET', url)
      expect([answer.statusCode, answer.json().errors]).toEqual([400, [{ path: 'externalId', message }]])
    }
  })

  test('finds an order by letters of any language', async () => {
    const externalId = 'Заказ +5 % Müller 😀'
    await api.call('POST', '/v1/deposits', { body: { ...BODY, externalId } })
    const query = new URLSearchParams({ externalId })
    expect((await api.call('GET', `/v1/deposits/lookup?${query}`)).json()).toMatchObject({ externalId })
  })
})

test('a body that is not UTF-8 is refused, because two order ids could become the same text', async () => {
  const body = (orderId: Buffer) => {
    const [before, after] = JSON.stringify({ ...BODY, externalId: '@' }).split('@')
    return Buffer.concat([Buffer.from(`${before}`), orderId, Buffer.from(`${after}`)])
  }
  const send = (payload: Buffer) =>
    api.app.inject({
      method: 'POST',
      url: '/v1/deposits',
      headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
      payload,
    })
  for (const letter of ['ö', 'ü'])
    expect((await send(body(Buffer.from(`M${letter}ller`, 'latin1')))).json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: '', message: 'the body must be UTF-8, and not compressed' }],
    })
  expect((await send(body(Buffer.from('\u{feff}Müller')))).json()).toMatchObject({ status: 'created' })
})

test('a deposit is refused before a restore is finished, as the OpenAPI document and the health say', async () => {
  await till.db.insertInto('halt').values({ kind: 'behind', since: till.clock.now() }).execute()
  const refused = await post(BODY)
  expect(refused.json()).toMatchObject({ status: 503, code: 'technical_works' })
  expect(refused.headers['retry-after']).toBe('30')
  const { description } =
    openApiOf(OPERATIONS, 'https://pay.example').paths['/v1/deposits']?.post?.responses['503'] ?? {}
  expect(description).toContain(
    `\`technical_works\`: ${refused.json().detail} \`Retry-After\` gives the seconds.`,
  )
  const health = { status: 'degraded', trades: false, inventories: true, maintenance: false }
  expect((await api.call('GET', '/v1/health')).json()).toMatchObject(health)
})

test('a deposit and its events can be ordered by one number', async () => {
  const opened = (await post(BODY)).json()
  await api.call('POST', `/v1/deposits/${opened.id}/cancel`)
  const readDeposit = async () => (await api.call('GET', `/v1/deposits/${opened.id}`)).json()
  // The deposit may be newer than its `sequence`, but never older.
  expect([opened.sequence, (await readDeposit()).sequence, (await readDeposit()).status]).toEqual([
    0,
    0,
    'paymentTimeout',
  ])
  await publishEvents(till.deps)
  expect((await readDeposit()).sequence).toBe(1)
  expect((await api.call('GET', '/v1/deposits')).json().deposits[0].sequence).toBe(1)
  const { events } = (await api.call('GET', `/v1/deposits/${opened.id}/events`)).json()
  expect(events).toMatchObject([{ sequence: 1, data: { sequence: 1 } }])
})

// Libraries for Ruby, Java and PHP name this type themselves, even if there is no body.
test('a call without a body may name the type of a form, but a form is refused', async () => {
  const { id } = (await post(BODY)).json()
  const cancel = (payload: string) =>
    api.app.inject({
      method: 'POST',
      url: `/v1/deposits/${id}/cancel`,
      headers: {
        authorization: `Bearer ${api.key}`,
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': String(payload.length),
      },
      payload,
    })
  expect((await cancel('a=1')).json()).toMatchObject({ status: 415, code: 'unsupported_media_type' })
  expect((await cancel('')).json()).toMatchObject({ endReason: 'cancelled_by_store' })
})
