/** The limits of stores that call from one address, with the real calls and keys. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { storeRoutes } from '../store-api/routes.ts'
import { parseApiKey } from '../stores/api-key.ts'
import { revokeKey } from '../stores/keys.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { createApp } from './app.ts'
import { createLimits } from './limits.ts'

/** The calls that a store may make at once. */
const BURST = 120

let till: Till
let api: StoreApi
let app: FastifyInstance
let folder: string

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  folder = mkdtempSync(join(tmpdir(), 'tradetill-store-calls-'))
  // The buckets never refill.
  const limits = createLimits(() => 0)
  app = await createApp({
    log: till.deps.log,
    mode: 'sandbox',
    publicUrl: new URL('http://127.0.0.1:4300'),
    imageOrigins: [],
    widgetFolder: folder,
    healthy: async () => true,
    limits,
    callerLookups: { deposit: async () => false, key: async () => true },
    hasPage: false,
    routes: { store: [storeRoutes({ ...api.deps, limitStore: limits.limitStore })] },
  })
})
afterEach(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
  await api.app.close()
  await till.close()
})

/** Makes calls from one address, and returns how often each status came. */
async function call(key: string, times: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let n = 0; n < times; n += 1) {
    const headers = { authorization: `Bearer ${key}` }
    const { statusCode } = await app.inject({ url: '/v1/games', headers })
    counts[statusCode] = (counts[statusCode] ?? 0) + 1
  }
  return counts
}

const keyOfAnotherStore = async () => api.newKey(await aStore(till))

test('a store that calls far too often uses up no calls of another store at its address', async () => {
  const neighbour = await keyOfAnotherStore()
  expect(await call(api.key, 400)).toEqual({ 200: BURST, 429: 400 - BURST })
  expect(await call(neighbour, BURST)).toEqual({ 200: BURST })
})

test('four stores at one address can each make the calls that they may make', async () => {
  const keys = [api.key]
  while (keys.length < 4) keys.push(await keyOfAnotherStore())
  for (const key of keys) expect(await call(key, BURST)).toEqual({ 200: BURST })
})

test('a revoked key uses up no more calls of its store', async () => {
  const stolen = await api.newKey(api.store)
  expect(await call(stolen, 1)).toEqual({ 200: 1 })
  await revokeKey({ db: till.db, clock: till.clock }, parseApiKey(stolen, 'sandbox')?.id ?? '')
  expect(await call(stolen, 200)).toEqual({ 401: 200 })
  // One call was made before the key was revoked, and one showed that it is.
  expect(await call(api.key, BURST)).toEqual({ 200: BURST - 2, 429: 2 })
})
