import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { type AppOptions, createApp } from './app.ts'
import type { ConnectionLimits } from './connections.ts'
import { onceASecond } from './health.ts'

const HASH = '0123456789abcdef0123456789abcdef'
const OTHER_HASH = 'f'.repeat(32)
/** More bytes than the system keeps for a client that does not read. */
const LARGE = 'x'.repeat(16 * 1024 * 1024)

let app: FastifyInstance
let port: number
let folder: string
let sockets: Socket[]
/** Calls of /api/slow that wait for their answer. */
let waiting: (() => void)[]
let databaseChecks: number
const captured = captureLog()

const routes: FastifyPluginAsync = async (scope) => {
  scope.get('/api/slow', () => new Promise((resolve) => waiting.push(() => resolve({ ok: true }))))
  scope.get('/api/large', async () => LARGE)
  scope.post('/api/change', async () => ({ ok: true }))
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-ends-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<html data-mode="sandbox">')
  writeFileSync(join(folder, 'assets/app-1a2b.js'), LARGE)
  sockets = []
  waiting = []
  databaseChecks = 0
  captured.lines.length = 0
})

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const answer of waiting) answer()
  await app.close()
  rmSync(folder, { recursive: true })
})

async function listen(connections: Partial<ConnectionLimits>, options: Partial<AppOptions> = {}) {
  app = await createApp({
    log: captured.log,
    mode: 'sandbox',
    publicUrl: new URL('http://pay.example'),
    imageOrigins: [],
    widgetFolder: folder,
    callerLookups: { deposit: async () => false, key: async () => false },
    healthy: async () => {
      databaseChecks += 1
      return true
    },
    connections: { checkEveryMs: 5, ...connections },
    routes: { widget: [routes] },
    ...options,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
}

type Client = { socket: Socket; received(): string; isClosed(): boolean; keep(text: string): void }

/** Opens a plain connection. It reads all answers, unless `reads` is false. */
function openClient(text = '', reads = true): Client {
  const socket = connect({ host: '127.0.0.1', port })
  let received = ''
  let isClosed = false
  // A cut connection is an error for its client.
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  const keep = (more: string): void => {
    received += more
  }
  if (text !== '') socket.write(text)
  sockets.push(socket)
  const client = { socket, received: () => received, isClosed: () => isClosed, keep }
  if (reads) read(client)
  else socket.pause()
  return client
}

function read({ socket, keep }: Client): void {
  socket.on('data', (chunk) => keep(chunk.toString('latin1')))
  socket.resume()
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: pay.example\r\n\r\n`
const openConnections = () =>
  new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))
const countAnswers = ({ received }: Client): number => received().split('HTTP/1.1 ').length - 1
const expectHealthy = async () => {
  const healthCheck = openClient(get('/healthz'))
  await expect.poll(healthCheck.received).toContain('HTTP/1.1 200')
}
const cutLines = (cause: string) => captured.lines.filter((line) => line.includes(`"${cause}":`))

describe('connections', () => {
  test('beyond the total limit are closed, and new ones are accepted after others have ended', async () => {
    await listen({ inAll: 2 })
    const [first, second] = [openClient(get('/healthz')), openClient(get('/healthz'))]
    await expect.poll(() => countAnswers(first) + countAnswers(second)).toBe(2)
    const third = openClient(get('/healthz'))
    await expect.poll(third.isClosed).toBe(true)
    expect(third.received()).toBe('')
    first.socket.destroy()
    await expect.poll(openConnections).toBe(1)
    await expectHealthy()
    await expect.poll(() => cutLines('overAll').length).toBeGreaterThan(0)
  })

  test('beyond the limit of their address are closed, and new ones are accepted after others have ended', async () => {
    await listen({ perAddress: 2 })
    const accepted = [openClient(get('/healthz')), openClient(get('/healthz'))]
    await expect.poll(() => accepted.map(countAnswers)).toEqual([1, 1])
    const third = openClient(get('/healthz'))
    await expect.poll(third.isClosed).toBe(true)
    expect(third.received()).toBe('')
    for (const { socket } of accepted) socket.destroy()
    await expect.poll(openConnections).toBe(0)
    await expectHealthy()
  })

  test('of a trusted proxy do not count as connections of one address', async () => {
    await listen({ perAddress: 1 }, { trustedProxies: ['127.0.0.1'] })
    const clients = [openClient(get('/healthz')), openClient(get('/healthz')), openClient(get('/healthz'))]
    await expect.poll(() => clients.map(countAnswers)).toEqual([1, 1, 1])
  })

  test.each([
    ['nothing', ''],
    ['headers that do not end', 'GET / HTTP/1.1\r\nhost: pay.example\r\nx-slow: '],
  ])('that send %s are cut', async (_what, text) => {
    await listen({ headersMs: 20 })
    const slow = openClient(text)
    await expect.poll(slow.isClosed).toBe(true)
    expect(slow.received()).not.toContain('HTTP/1.1 200')
  })

  test('that send a body that does not end are cut', async () => {
    await listen({ headersMs: 20, requestMs: 20 })
    const slow = openClient(
      'POST /api/change HTTP/1.1\r\nhost: pay.example\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    )
    await expect.poll(slow.isClosed).toBe(true)
    expect(slow.received()).not.toContain('HTTP/1.1 200')
  })
})

describe('a client that pipelines requests, or does not read its answers', () => {
  test('is served one request after another', async () => {
    await listen({})
    const pipelining = openClient(get('/api/slow') + get('/api/slow') + get('/api/slow'))
    for (let answers = 0; answers < 3; answers += 1) {
      await expect.poll(() => waiting.length).toBe(1)
      await expectHealthy()
      expect(countAnswers(pipelining)).toBe(answers)
      waiting.pop()?.()
    }
    await expect.poll(() => countAnswers(pipelining)).toBe(3)
    expect(waiting).toHaveLength(0)
  })

  test('is cut when too many of its requests wait, and no waiting request is started', async () => {
    await listen({ waiting: 2 })
    const many = openClient(get('/api/slow').repeat(40))
    await expect.poll(many.isClosed).toBe(true)
    await expectHealthy()
    expect(waiting).toHaveLength(1)
    await expect.poll(() => cutLines('askedTooMuch').length).toBeGreaterThan(0)
  })

  test.each(['/api/large', '/assets/app-1a2b.js'])(
    'is cut when it does not read %s in time',
    async (path) => {
      await listen({ answerMs: 30 })
      openClient(get(path), false)
      await expect.poll(() => cutLines('readTooSlowly').length).toBe(1)
      await expect.poll(openConnections).toBe(0)
      await expectHealthy()
    },
  )

  test('is cut if its request is the oldest when all clients together leave too many bytes unread', async () => {
    await listen({ unreadBytes: LARGE.length + LARGE.length / 2 })
    const oldest = openClient(get('/api/slow') + get('/api/large'), false)
    await expect.poll(() => waiting.length).toBe(1)
    waiting.pop()?.()
    const reader = openClient(get('/api/large'))
    await expect.poll(() => reader.received().length).toBeGreaterThan(LARGE.length)
    const younger = openClient(get('/api/large'), false)
    await expect.poll(openConnections).toBe(2)
    expect(reader.isClosed()).toBe(false)
    read(younger)
    await expect.poll(() => younger.received().length).toBeGreaterThan(LARGE.length)
    read(oldest)
    await expect.poll(oldest.isClosed).toBe(true)
    expect(oldest.received().length).toBeLessThan(LARGE.length)
  })

  test('cannot keep others from being answered, even with hundreds of connections and forty requests on each', async () => {
    await listen({ perAddress: 1_000 })
    for (let n = 0; n < 300; n += 1) openClient(get('/assets/app-1a2b.js').repeat(40), false)
    await expectHealthy()
    // Only the connection of the health check is left.
    await expect.poll(openConnections).toBe(1)
  })
})

describe('open calls', () => {
  const forwarded = (ip: string, path: string) =>
    app.inject({ url: path, headers: { 'x-forwarded-for': ip }, remoteAddress: '127.0.0.1' })

  test('of one address are limited like its connections, and a /64 counts as one address', async () => {
    await listen({ perAddress: 100 }, { trustedProxies: ['127.0.0.1'] })
    const openCalls = Array.from({ length: 100 }, (_, n) =>
      forwarded(`2001:db8::${n.toString(16)}`, '/api/slow'),
    )
    await expect.poll(() => waiting.length).toBe(100)
    const beyond = await forwarded('2001:0db8:0:0:9:9:9:9', '/help')
    expect(beyond.json()).toMatchObject({ status: 429, code: 'too_many_requests' })
    expect(beyond.headers['retry-after']).toBe('1')
    expect((await forwarded('2001:db8:0:1::1', '/help')).statusCode).toBe(200)
    for (const answer of waiting.splice(0)) answer()
    expect((await Promise.all(openCalls)).map(({ statusCode }) => statusCode)).toEqual(Array(100).fill(200))
    expect((await forwarded('2001:db8::1', '/help')).statusCode).toBe(200)
  })

  test('of one deposit are limited to four, counting each call until its work is done', async () => {
    await listen({})
    const slow = `/api/slow?hash=${HASH}`
    const callers = Array.from({ length: 4 }, () => openClient(get(slow)))
    await expect.poll(() => waiting.length).toBe(4)
    for (const { socket } of callers) socket.destroy()
    await expect.poll(openConnections).toBe(0)
    expect((await app.inject(slow)).statusCode).toBe(429)
    const otherCall = app.inject(`/api/slow?hash=${OTHER_HASH}`)
    await expect.poll(() => waiting.length).toBe(5)
    for (const answer of waiting.splice(0)) answer()
    expect((await otherCall).statusCode).toBe(200)
    const again = app.inject(slow)
    await expect.poll(() => waiting.length).toBe(1)
    waiting.pop()?.()
    expect((await again).statusCode).toBe(200)
  })
})

test('while too many calls wait for the database, a new call is refused, but the page is not', async () => {
  await listen({}, { unableReason: () => 'overloaded' })
  const refused = await app.inject(`/api/slow?hash=${HASH}`)
  expect(refused.json()).toMatchObject({ status: 503, code: 'overloaded' })
  expect(refused.headers['retry-after']).toBe('1')
  expect((await app.inject('/help')).statusCode).toBe(200)
})

test('a health check asks the database at most once a second', async () => {
  let nowMs = 0
  let checks = 0
  const check = onceASecond(
    async () => {
      checks += 1
      return true
    },
    () => nowMs,
  )
  await Promise.all([check(), check()])
  nowMs = 999
  await check()
  expect(checks).toBe(1)
  nowMs = 1_000
  expect(await check()).toBe(true)
  expect(checks).toBe(2)
})

test('many health checks share the answers of the database', async () => {
  await listen({})
  const answers = await Promise.all(Array.from({ length: 50 }, () => app.inject('/healthz')))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(50).fill(200))
  expect(databaseChecks).toBeLessThan(50)
})
