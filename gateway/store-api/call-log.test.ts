import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApp } from '../http/app.ts'
import { BACK_URL, type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { startTill, type Till } from '../testing/till.ts'
import { logCall } from './call-log.ts'
import { storeRoutes } from './routes.ts'

let till: Till
let api: StoreApi
let app: FastifyInstance
let folder: string

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  folder = mkdtempSync(join(tmpdir(), 'tradetill-page-'))
  writeFileSync(join(folder, 'index.html'), '<html>')
  const { log } = till.deps
  app = await createApp({
    log,
    mode: 'sandbox',
    publicUrl: new URL('http://127.0.0.1:4300'),
    imageOrigins: [],
    widgetFolder: folder,
    observe: (call) => logCall(log, call),
    healthy: async () => true,
    callerLookups: { deposit: async () => false, key: async () => false },
    routes: { store: [storeRoutes(api.deps)] },
  })
})
afterEach(async () => {
  await app.close()
  await api.app.close()
  await till.close()
  rmSync(folder, { recursive: true })
})

type Call = { body?: object; headers?: Record<string, string> }

const call = (method: 'GET' | 'POST', url: string, { body, headers = {} }: Call = {}) =>
  app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${api.key}`, ...headers },
    ...(body !== undefined && { payload: body }),
  })

const order = { externalId: 'order 1', currency: 'USD', backToStoreUrl: BACK_URL }

/** Returns the line `store called` for an answer. Fails unless there is exactly one. */
function lineOf(answer: Awaited<ReturnType<typeof call>>): Record<string, unknown> {
  const id = answer.headers['x-request-id']
  const lines: Record<string, unknown>[] = till.lines.map((line) => JSON.parse(line))
  const ofAnswer = lines.filter(({ requestId, msg }) => requestId === id && msg === 'store called')
  expect(ofAnswer).toHaveLength(1)
  return ofAnswer[0] ?? {}
}

describe('the log line of a store’s call', () => {
  it('has the deposit’s id, however the call names the deposit', async () => {
    const created = await call('POST', '/v1/deposits', { body: order })
    const { id } = created.json()
    const again = await call('POST', '/v1/deposits', { body: order })
    const byOrder = await call('GET', '/v1/deposits/lookup?externalId=order%201')
    const readDeposit = await call('GET', `/v1/deposits/${id}`)
    const events = await call('GET', `/v1/deposits/${id}/events`)
    const cancelled = await call('POST', `/v1/deposits/${id}/cancel`)
    const answers = [created, again, byOrder, readDeposit, events, cancelled]
    expect(answers.map((answer) => answer.statusCode)).toEqual([201, 200, 200, 200, 200, 200])
    for (const answer of answers) {
      expect(lineOf(answer)).toMatchObject({
        deposit: id,
        store: String(api.store.id),
        status: answer.statusCode,
      })
    }
    expect(new Set(answers.map((answer) => answer.headers['x-request-id'])).size).toBe(answers.length)
  })

  it('has the deposit’s id if the call is repeated under its Idempotency-Key, and no id if its body differs', async () => {
    const keyedCall = { body: order, headers: { 'idempotency-key': 'k1' } }
    const first = await call('POST', '/v1/deposits', keyedCall)
    const second = await call('POST', '/v1/deposits', keyedCall)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(lineOf(second)).toMatchObject({ deposit: first.json().id, route: '/v1/deposits', status: 201 })
    const otherOrder = { body: { ...order, externalId: 'order 2' }, headers: { 'idempotency-key': 'k1' } }
    expect(lineOf(await call('POST', '/v1/deposits', otherOrder))).not.toHaveProperty('deposit')
  })

  it('has the answer’s request id, even for a refusal, and no deposit if the call is not about one', async () => {
    for (const url of [
      '/v1/balance',
      '/v1/deposits',
      '/v1/deposits/lookup?externalId=none',
      '/v1/statement',
    ]) {
      const answer = await call('GET', url)
      const line = lineOf(answer)
      expect(line).toMatchObject({ method: 'GET', status: answer.statusCode })
      expect(line).not.toHaveProperty('deposit')
    }
  })

  it('is not written for an unauthenticated call, but the answer has a request id', async () => {
    const answer = await call('GET', '/v1/balance', { headers: { authorization: 'Bearer nobody' } })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(till.lines.join('')).not.toContain('store called')
  })

  it('has the code of a refusal; only an unauthenticated call has the line `call was refused` instead', async () => {
    const unknown = await call('GET', '/v1/deposits/77')
    const malformed = await call('POST', '/v1/deposits', { body: { ...order, currency: 'XXX' } })
    const readOnlyKey = await api.newKey(api.store, ['deposits:read'])
    const refused = await call('GET', '/v1/balance', { headers: { authorization: `Bearer ${readOnlyKey}` } })
    const codes = ['deposit_not_found', 'invalid_request', 'scope_missing']
    for (const [n, answer] of [unknown, malformed, refused].entries()) {
      expect(answer.json().code).toBe(codes[n])
      expect(lineOf(answer)).toMatchObject({ code: codes[n], status: answer.statusCode })
    }
    expect(till.lines.join('')).not.toContain('call was refused')
    expect(lineOf(await call('GET', '/v1/deposits'))).not.toHaveProperty('code')
    await call('GET', '/v1/balance', { headers: { authorization: 'Bearer nobody' } })
    expect(till.lines.filter((line) => line.includes('call was refused'))).toHaveLength(1)
  })

  it('has no API key, hash of a deposit or token of a trade link', async () => {
    const tradeUrl = 'https://steamcommunity.com/tradeoffer/new/?partner=39735273&token=Ab_cd-12'
    const created = await call('POST', '/v1/deposits', { body: { ...order, tradeUrl } })
    const hash = created.json().url.slice(-32)
    lineOf(created)
    // The secret part of a key follows `tt_test_`, eight characters of id and `_`.
    for (const secret of [api.key, api.key.slice(17), hash, 'Ab_cd-12'])
      expect(till.lines.join('')).not.toContain(secret)
  })
})
