/** Every example of a call that the documents give, sent as it stands to a till that is real. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

type Operation = { requestBody?: { content: { 'application/json': { example?: object } } } }
const paths: Record<string, Record<string, Operation>> = JSON.parse(read('docs/openapi.json')).paths
const EXAMPLES = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]) => {
    const example = requestBody?.content['application/json'].example
    return example === undefined ? [] : [{ call: `${method.toUpperCase()} ${path}`, path, example }]
  }),
)

let till: Till
let api: StoreApi

beforeAll(async () => {
  till = await startTill()
  api = await startStoreApi(till)
})
afterAll(() => till.close())

/** A store with the origins that the documents name, an endpoint, and nothing else. */
async function aNewStore() {
  const store = await aStore(till)
  const origins = ['https://store.example', 'http://localhost:8080']
  await till.db.updateTable('store').set({ origins }).where('id', '=', store.id).execute()
  const key = await api.newKey(store)
  const body = { url: 'https://store.example/before' }
  const endpoint = (await api.call('POST', '/v1/webhook-endpoints', { key, body })).json()
  return { key, endpointId: String(endpoint.id) }
}

describe('an example is taken by a till', () => {
  it.each(EXAMPLES)('of the OpenAPI document: $call', async ({ path, example }) => {
    const { key, endpointId } = await aNewStore()
    const { statusCode, body } = await api.call('POST', path.replace('{id}', endpointId), {
      key,
      body: example,
    })
    expect(statusCode, body).toSatisfy(isDone)
  })

  it.each(['README.md', 'docs/store-guide.md'])('of %s: a deposit', async (file) => {
    const [example = ''] = /\{ "externalId"[^}]*\}/.exec(read(file)) ?? []
    const { key } = await aNewStore()
    const { backToStoreUrl, ...told } = JSON.parse(example)
    const answer = await api.call('POST', '/v1/deposits', { key, body: { backToStoreUrl, ...told } })
    expect([answer.statusCode, answer.json()]).toMatchObject([201, { ...told, status: 'created' }])
  })
})

const isDone = (status: number): boolean => status >= 200 && status < 300
