import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import { captureLog } from '../testing/log.ts'
import { type AppOptions, createApp } from './app.ts'
import { createLimits } from './limits.ts'

const HASH = 'a'.repeat(32)
const UNKNOWN_HASH = 'f'.repeat(32)
const BUILD =
  '<html data-mode="live"><style>p{}</style><!--shell-->{{storeName}}<!--shell en--><!--shell ru--><!--/shells-->'
const ALLOWED_GUESSES = 200

const PAYMENT = { hash: HASH, id: '17', storeName: 'Ember Forge', status: 'created', user: null } as Payment

type Change = Partial<Pick<AppOptions, 'readPayment' | 'unableReason' | 'routes'>>

async function appWith(change: Change = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-shown-'))
  writeFileSync(join(folder, 'index.html'), BUILD)
  const app = await createApp({
    log: captureLog().log,
    mode: 'live',
    publicUrl: new URL('http://127.0.0.1:4300'),
    imageOrigins: [],
    widgetFolder: folder,
    healthy: async () => true,
    // The buckets never refill.
    limits: createLimits(() => 0),
    callerLookups: { deposit: async (hash) => hash === HASH, key: async () => false },
    readPayment: async (hash) => (hash === HASH ? PAYMENT : undefined),
    routes: {},
    ...change,
  })
  onTestFinished(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })
  return { app, open: async (path: string) => (await app.inject(path)).payload }
}

test.each([`/deposit/${HASH}`, `/${HASH}`])(
  'the page at %s contains its payment, and browsers must not store it',
  async (path) => {
    const { app } = await appWith()
    const { payload, headers, statusCode } = await app.inject(path)
    expect(statusCode).toBe(200)
    expect(payload).toContain('<div id="shell">Ember Forge</div>')
    expect(payload).toContain('"id":"17"')
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['content-security-policy']).toMatch(/style-src 'self' 'sha256-[\w+/]{43}=';/)
    expect(headers['content-security-policy']).toContain("script-src 'self';")
  },
)

test.each<[what: string, opened: { path?: string; change?: Change }]>([
  ['an unknown hash', { path: `/deposit/${UNKNOWN_HASH}` }],
  ['a path without a deposit’s hash', { path: '/help' }],
  ['too many calls waiting for the database', { change: { unableReason: () => 'overloaded' as const } }],
  ['no database', { change: { readPayment: () => Promise.reject(new Error('away')) } }],
  ['a database that is slow', { change: { readPayment: () => new Promise<undefined>(() => {}) } }],
])('with %s, the page contains no payment', async (_what, { path = `/deposit/${HASH}`, change = {} }) => {
  const { app } = await appWith(change)
  const { payload, statusCode } = await app.inject(path)
  expect(statusCode).toBe(200)
  expect(payload).toBe('<html data-mode="live"><style>p{}</style>')
})

test('a page with an unknown hash is a guess; after 200 guesses, the guesser’s address causes no read, but can open known deposits', async () => {
  let reads = 0
  const read = async (hash: string) => {
    reads += 1
    return hash === HASH ? PAYMENT : undefined
  }
  const { open } = await appWith({ readPayment: read })
  for (let n = 0; n < ALLOWED_GUESSES + 50; n += 1)
    expect(await open(`/deposit/${UNKNOWN_HASH}`)).not.toContain('shell')
  expect(reads).toBe(ALLOWED_GUESSES)
  expect(await open(`/deposit/${HASH}`)).toContain('Ember Forge')
})

test('the page is compressed for a browser that accepts gzip', async () => {
  // Each page contains the time at which it was sent.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { app } = await appWith()
  for (const path of ['/', `/${HASH}`]) {
    const plain = await app.inject(path)
    const { rawPayload, headers } = await app.inject({
      url: path,
      headers: { 'accept-encoding': 'br, gzip' },
    })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
    expect(gunzipSync(rawPayload).toString()).toBe(plain.payload)
  }
})
