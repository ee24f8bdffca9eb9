/** Sends every example of the reference to a till, unchanged, and compares the answer with the document. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { openApiOf } from './openapi.ts'
import { OPERATIONS } from './table.ts'

const DOCUMENT = openApiOf(OPERATIONS, 'https://pay.example')

let till: Till
let api: StoreApi
let endpointId: string
let depositId: string

let orders = 0

beforeAll(async () => {
  till = await startTill()
  api = await startStoreApi(till, { hasLimits: false })
  await till.db
    .updateTable('store')
    .set({ origins: ['https://store.example'] })
    .execute()
})
beforeEach(async () => {
  orders += 1
  const body = { externalId: `test-${orders}`, currency: 'USD', backToStoreUrl: 'https://store.example/' }
  depositId = (await api.call('POST', '/v1/deposits', { body })).json().id
  await till.db.deleteFrom('webhook_endpoint').execute()
  const added = { body: { url: 'http://127.0.0.1:9/' } }
  endpointId = (await api.call('POST', '/v1/webhook-endpoints', added)).json().id
})
afterAll(async () => {
  await api.app.close()
  await till.close()
})

/** Returns the schema of an answer with everything it refers to, as JSON Schema rather than OpenAPI. */
function schemaOf(answer: object): z.ZodType {
  const { schemas } = DOCUMENT.components
  const text = JSON.stringify({ ...answer, $defs: schemas }).replaceAll('#/components/schemas/', '#/$defs/')
  return z.fromJSONSchema(JSON.parse(text))
}

const calls = OPERATIONS.map(({ id, method, path }) => ({ id, method, path }))

test.each(calls)('$id is answered as documented', async ({ id, method, path }) => {
  const pattern = path.replace(/:(\w+)/g, '{$1}')
  const call = DOCUMENT.paths[pattern]?.[method.toLowerCase()]
  const example = call?.requestBody?.content['application/json'].example
  const query: Record<string, string> = {
    lookupDeposit: `?externalId=test-${orders}`,
    getStatement: '?currency=USD',
    getReport: '?from=2026-01-01T00:00:00Z&before=2026-02-01T00:00:00Z',
  }
  const prices = '?game=cs&currency=USD&name=AK-47%20%7C%20Redline%20(Field-Tested)'
  const resourceId = path.startsWith('/v1/deposits') ? depositId : endpointId
  const url = path.replace(':id', resourceId) + (id === 'getPrices' ? prices : (query[id] ?? ''))
  const answer = await api.call(method, url, { ...(example && { body: example }) })
  const documented = call?.responses[String(answer.statusCode)]
  expect([answer.statusCode, documented?.description]).toEqual([
    expect.toBeOneOf([200, 201, 202]),
    expect.any(String),
  ])
  const schema = documented?.content['application/json']?.schema ?? {}
  expect(schemaOf(schema).safeParse(answer.json()).error?.issues ?? []).toEqual([])
  // A schema that describes its fields refuses symbols. One that accepts everything would prove nothing above.
  const broken = Object.fromEntries(Object.keys(answer.json()).map((key) => [key, Symbol('nothing')]))
  expect(schemaOf(schema).safeParse(broken).success).toBe(false)
})

test('the document has an example for every call with a body', () => {
  const withBody = OPERATIONS.filter(({ takes }) => takes.body !== undefined)
  expect(withBody.filter(({ example }) => example === undefined)).toEqual([])
})

test.each(['README.md', 'docs/store-guide.md'])('the example deposit of %s can be opened', async (file) => {
  const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  const [example = ''] = /\{ "externalId"[^}]*\}/.exec(text) ?? []
  const store = await aStore(till)
  const origins = ['https://store.example', 'http://localhost:8080']
  await till.db.updateTable('store').set({ origins }).where('id', '=', store.id).execute()
  const body = JSON.parse(example)
  // Answers do not repeat this URL.
  const { backToStoreUrl: _, ...shown } = body
  const answer = await api.call('POST', '/v1/deposits', { key: await api.newKey(store), body })
  expect([answer.statusCode, answer.json()]).toMatchObject([201, { ...shown, status: 'created' }])
})

const TEXT = 'Заказ №7, Zoë 😀'

/** `pattern` of every schema. Tools compile them in their own languages, most of them without flags. */
const patternsIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) =>
        name === 'pattern' && typeof inner === 'string' ? [inner] : patternsIn(inner),
      )

test.each([
  { what: 'a language with its region', fields: { language: 'ru-RU' } },
  { what: 'a language in capitals', fields: { language: 'PT-br' } },
  { what: 'texts of any language', fields: { customerReference: TEXT, customerLabel: TEXT } },
  { what: 'metadata of any language', fields: { metadata: { [TEXT]: TEXT, note: '' } } },
  { what: 'a line break', fields: { customerReference: 'two\nlines' } },
  { what: 'a control character', fields: { metadata: { note: 'a\u0085' } } },
  { what: 'a language with an underscore', fields: { language: 'ru_RU' } },
])('the document accepts a deposit with $what if the till does, and only then', async ({ fields }) => {
  const body = {
    externalId: `${TEXT} ${orders}`,
    currency: 'USD',
    backToStoreUrl: 'https://store.example/',
    ...fields,
  }
  const { statusCode } = await api.call('POST', '/v1/deposits', { body })
  const documented = DOCUMENT.paths['/v1/deposits']?.post?.requestBody?.content['application/json'].schema
  const isDocumented = schemaOf(documented ?? {}).safeParse(body).success
  expect([statusCode, isDocumented]).toEqual(statusCode === 201 ? [201, true] : [400, false])
})

test('no pattern of the document needs classes that only some languages have', () => {
  const patterns = patternsIn(DOCUMENT)
  expect(patterns.length).toBeGreaterThan(5)
  // Python refuses to compile them, and JavaScript without the flag u reads `\p` as the letter p.
  expect(patterns.filter((pattern) => /\\p\{/i.test(pattern))).toEqual([])
})
