/** Acts of the console, and the calls that its page uses. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { post, signIn, startConsole, type TestConsole } from '../testing/console.ts'
import { ACTS } from './acts.ts'
import { FINDS } from './finds.ts'

let till: TestConsole
let headers: Record<string, string>

beforeAll(async () => {
  till = await startConsole()
  headers = (await signIn(till, 'Ada')).headers
})
afterAll(() => till.close())
beforeEach(() => till.advanceLimits(60_000))

const doAct = (act: string, input: object, reason: string | null = null) =>
  post(till, `act/${act.replaceAll(' ', '-')}`, { headers, body: { reason, input } })
const store = async (storeId: unknown) =>
  (await post(till, 'find/store', { headers, body: { storeId } })).data

const EMBER = {
  name: 'Ember',
  origins: ['https://store.test'],
  riskLimitUsd: '250',
  creditMode: 'on_release',
  liability: 'store',
  scopes: ['deposits:read', 'webhooks:manage'],
}

test('the page uses every query and every act', () => {
  const root = join(import.meta.dirname, '../../console')
  const page = globSync('{pages,ui}/*.tsx', { cwd: root }).map((name) =>
    readFileSync(join(root, name), 'utf8'),
  )
  const isNamed = (name: string) => page.some((text) => new RegExp(`['"]${name}['"]`).test(text))
  expect([...Object.keys(FINDS), ...Object.keys(ACTS)].filter((name) => !isNamed(name))).toEqual([])
})

test('a store is registered, and its key and secret are never shown a second time', async () => {
  const answer = await doAct('store add', { ...EMBER, webhookUrl: 'http://localhost:8080/hook?key=abc' })
  const { storeId, apiKey, webhookSecret } = answer.data
  expect(answer).toMatchObject({ status: 200, data: { apiKey: expect.stringMatching(/^tt_test_/) } })
  expect(await store(storeId)).toMatchObject({
    name: 'Ember',
    origins: ['https://store.test'],
    creditMode: 'on_release',
    liability: 'store',
    riskLimit: { amountMinor: 25_000 },
    keys: [{ scopes: ['deposits:read', 'webhooks:manage'] }],
    endpoints: [{ state: 'enabled' }],
    addresses: [{ address: 'localhost:8080', inside: true }],
  })
  const { data } = await post(till, 'find/acts', { headers, body: { act: 'store add' } })
  expect(data).toMatchObject({ acts: [{ operator: 'Ada', arguments: { storeId, name: 'Ember' } }] })
  for (const secret of [apiKey, webhookSecret, 'key=abc']) expect(JSON.stringify(data)).not.toContain(secret)
  for (const secret of [apiKey, webhookSecret])
    expect(JSON.stringify(await store(storeId))).not.toContain(secret)
})

test('a store without a webhook has no secret, and gets one with its first webhook', async () => {
  const { data } = await doAct('store add', EMBER)
  expect(data).toMatchObject({ webhookSecret: null })
  const { storeId } = data
  const updated = await doAct('store update', {
    storeId,
    webhookUrl: 'http://localhost:8081/hook',
    accent: null,
  })
  expect(updated).toMatchObject({ status: 200, data: { webhookSecret: expect.stringMatching(/^whsec_/) } })
})

test.each([
  ['an origin with a path', { origins: ['https://store.test/a'] }, 'origins of the form https:'],
  ['no origin', { origins: [] }, 'origins of the form https:'],
  ['an unknown scope', { scopes: ['all'] }, 'scopes.0'],
  ['a limit with cents', { riskLimitUsd: '1.50' }, 'must be whole dollars'],
])('a store with %s is refused', async (_title, wrong, message) => {
  const answer = await doAct('store add', { ...EMBER, ...wrong })
  expect(answer).toMatchObject({ status: 400, error: { message: expect.stringContaining(message) } })
})

test.each(['32 %', '2,500', '25.5', '2500', '100.00'])(
  'a commission of %s is refused, and does not become the default',
  async (typed) => {
    const { storeId } = (await doAct('store add', EMBER)).data
    expect(await doAct('store update', { storeId, commission: '30.00' })).toMatchObject({ status: 200 })
    expect(await doAct('store update', { storeId, commission: typed })).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('two decimals, such as 24.50') },
    })
    expect(await store(storeId)).toMatchObject({ commissionBps: 3_000 })
    expect(await doAct('store update', { storeId, commission: null })).toMatchObject({ status: 200 })
    expect(await store(storeId)).toMatchObject({ commissionBps: null })
  },
)

test('a change of a setting under another name, as from a page of an earlier version, is refused and not left out', async () => {
  const { storeId } = (await doAct('store add', EMBER)).data
  expect(await doAct('store update', { storeId, name: 'Flame', commissionBps: '3000' })).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('commissionBps') },
  })
  expect(await store(storeId)).toMatchObject({ name: 'Ember', commissionBps: null })
})

test('an address can be opened to a store’s webhooks and closed again, but never a link-local one', async () => {
  const { storeId } = (await doAct('store add', EMBER)).data
  const address = 'shop.example:8443'
  const opened = await doAct('store allow-address', { storeId, address, inside: false })
  expect(opened).toMatchObject({ status: 200 })
  expect(await store(storeId)).toMatchObject({ addresses: [{ address, inside: false }] })
  expect(
    await doAct('store allow-address', { storeId, address: '169.254.1.1:80', inside: true }),
  ).toMatchObject({ status: 400, error: { message: expect.stringContaining('Webhooks are never sent to') } })
  expect(await doAct('store forbid-address', { storeId, address })).toMatchObject({ status: 200 })
  expect(await store(storeId)).toMatchObject({ addresses: [] })
  expect(await doAct('store forbid-address', { storeId, address })).toMatchObject({ status: 404 })
})

test('an operator needs a reason to free the part of a store’s limit that reversals use', async () => {
  const { storeId } = (await doAct('store add', EMBER)).data
  expect(await doAct('store free-room', { storeId })).toMatchObject({ status: 400 })
  expect(await doAct('store free-room', { storeId }, 'barred')).toMatchObject({
    status: 200,
    data: { storeId, trades: 0 },
  })
})

test('the old secret of an endpoint signs for a week at most', async () => {
  const { storeId } = (await doAct('store add', { ...EMBER, webhookUrl: 'http://localhost:8080/hook' })).data
  const { id } = await till.db
    .selectFrom('webhook_endpoint')
    .select('id')
    .where('store_id', '=', BigInt(String(storeId)))
    .executeTakeFirstOrThrow()
  const rotate = (overlapHours: number) =>
    doAct('webhook rotate', { endpointId: String(id), overlapHours }, 'found in a repository')
  expect(await rotate(169)).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('overlapHours') },
  })
  expect(await rotate(168)).toMatchObject({ status: 200 })
})

test('a replay whose range ends before it begins is refused', async () => {
  const range = { fromSequence: 9, toSequence: 8 }
  expect(await doAct('webhook replay', { endpointId: '1', ...range })).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('from the smaller to the larger number') },
  })
})

test('a replay accepts the large sequences of a store whose till was restored after years', async () => {
  const range = { fromSequence: 1_052_202_005, toSequence: 1_052_202_005 }
  expect(await doAct('webhook replay', { endpointId: '999', ...range })).toMatchObject({
    status: 404,
    error: { message: 'There is no endpoint 999.' },
  })
})

test('a rule that keeps more than 100,000 items with a bot is refused', async () => {
  const rule = { to: 'storage', keep: 100_001 }
  expect(await doAct('items rule', rule, 'more room')).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('keep') },
  })
  expect(await doAct('items rule', { ...rule, keep: 100_000 }, 'more room')).toMatchObject({ status: 200 })
})

test('the notice about maintenance can be changed without changing when maintenance ends', async () => {
  const { until } = (await doAct('maintenance on', { lasts: '2h' })).data
  expect(until).toMatch(/^\d{4}-/)
  const text = { en: 'We are moving.', ru: 'Мы переезжаем.' }
  expect(await doAct('maintenance on', { text, until })).toMatchObject({ status: 200, data: { text, until } })
  await doAct('maintenance off', {})
})
