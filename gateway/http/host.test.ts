import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { captureLog } from '../testing/log.ts'
import { type AppOptions, createApp } from './app.ts'
import type { Progress } from './readiness.ts'

const PROXY = '10.0.0.1'
const LIVE = { mode: 'live', publicUrl: new URL('https://pay.example') } as const
const BEHIND_PROXY = { ...LIVE, trustedProxies: [PROXY] }
const SANDBOX = { mode: 'sandbox', publicUrl: new URL('http://localhost:4300') } as const

const apps: FastifyInstance[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

async function anApp(options: Partial<AppOptions> & Pick<AppOptions, 'mode' | 'publicUrl'>) {
  const app = await createApp({
    log: captureLog().log,
    imageOrigins: [],
    widgetFolder: import.meta.dirname,
    callerLookups: { deposit: async () => false, key: async () => false },
    healthy: async () => true,
    routes: {
      polled: [async (scope) => void scope.get('/api/payment', async () => ({ ok: true }))],
      store: [async (scope) => void scope.get('/v1/health', async () => ({ ok: true }))],
    },
    ...options,
  })
  apps.push(app)
  return app
}

async function ask(app: FastifyInstance, call: InjectOptions) {
  const answer = await app.inject({ remoteAddress: PROXY, ...call })
  const isProblem = String(answer.headers['content-type']).startsWith('application/problem+json')
  return { status: answer.statusCode, code: isProblem ? answer.json<{ code: string }>().code : undefined }
}

const OVER_HTTPS = { 'x-forwarded-proto': 'https' }
const PATHS = ['/api/payment', '/v1/health', '/api/unknown', '/', '/help', '/assets/app-1.js', '/%ff']

describe('the check of a call’s host', () => {
  it('tells a store’s developer to use the till’s own address, and a shopper to use the store’s link', async () => {
    const app = await anApp(SANDBOX)
    const detailOf = async (url: string, language: string) => {
      const headers = { host: 'evil.example', 'accept-language': language }
      return (await app.inject({ url, headers })).json().detail
    }
    expect(await detailOf('/v1/health', 'en')).toContain('Host header')
    expect(await detailOf('/v1/health', 'ru')).toContain('заголовок Host')
    expect(await detailOf('/api/payment', 'en')).toContain('that the store gave you')
  })

  it.each(PATHS)('refuses another host at %s in live mode, and in the sandbox', async (url) => {
    const host = 'evil.example'
    const [live, sandbox] = [await anApp(BEHIND_PROXY), await anApp(SANDBOX)]
    const refused = { status: 421, code: 'wrong_host' }
    expect(await ask(live, { url, headers: { host, ...OVER_HTTPS } })).toEqual(refused)
    expect(await ask(sandbox, { url, headers: { host: `${host}:4300` } })).toEqual(refused)
  })

  it.each([
    'pay.example.',
    'pay.example.evil.example',
    'evil.pay.example',
    'pay.example:444',
    'pay.example:80',
    'evil@pay.example',
    'localhost',
    '127.0.0.1:4300',
    '',
  ])('refuses %j in live mode', async (host) => {
    const app = await anApp(BEHIND_PROXY)
    const headers = { host, ...OVER_HTTPS, 'x-forwarded-host': 'pay.example' }
    expect(await ask(app, { url: '/v1/health', headers })).toEqual({ status: 421, code: 'wrong_host' })
  })

  it.each(['Host: evil.example', 'hOST: localhost'])(
    'refuses a call with %j after our own Host',
    async (second) => {
      const app = await anApp(SANDBOX)
      await app.listen({ host: '127.0.0.1', port: 0 })
      const { port } = z.object({ port: z.number() }).parse(app.server.address())
      const answer = text(
        connect(port, '127.0.0.1').on('connect', function (this: Socket) {
          this.write(`GET /v1/health HTTP/1.1\r\nHost: localhost\r\n${second}\r\nConnection: close\r\n\r\n`)
        }),
      )
      expect(await answer).toMatch(/^HTTP\/1.1 421 .*"wrong_host"/s)
    },
  )

  it.each(['pay.example', 'PAY.example', 'pay.example:443'])('accepts %s in live mode', async (host) => {
    const app = await anApp(BEHIND_PROXY)
    expect(await ask(app, { url: '/v1/health', headers: { host, ...OVER_HTTPS } })).toMatchObject({
      status: 200,
    })
  })

  it.each([
    ['localhost', 200],
    ['localhost:4300', 200],
    ['till.localhost:9999', 200],
    ['127.0.0.1:4300', 200],
    ['127.1.2.3', 200],
    ['[::1]:4300', 200],
    ['LOCALHOST', 200],
    ['localhost.evil.example', 421],
    ['localhost.', 421],
    ['127.0.0.1.evil.example', 421],
    ['128.0.0.1', 421],
    ['[::2]', 421],
    ['x@localhost', 421],
    ['localhost/evil', 421],
    ['pay.example', 421],
  ])('answers %s in the sandbox with %i', async (host, status) => {
    const app = await anApp(SANDBOX)
    expect(await ask(app, { url: '/v1/health', headers: { host } })).toMatchObject({ status })
  })

  it('accepts only the till’s own name and loopback in a public sandbox', async () => {
    const app = await anApp({ mode: 'sandbox', publicUrl: new URL('https://demo.example') })
    const statuses = ['demo.example', 'localhost', 'evil.example'].map(
      async (host) => (await ask(app, { url: '/v1/health', headers: { host } })).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 421])
  })
})

describe('a call over plain http in live mode', () => {
  const headers = { host: 'pay.example' }

  it.each([
    ['the proxy reports http', { ...headers, 'x-forwarded-proto': 'http' }, PROXY],
    ['the proxy reports nothing', headers, PROXY],
    ['the last proxy reports http', { ...headers, 'x-forwarded-proto': 'https, http' }, PROXY],
    ['an untrusted caller reports https', { ...headers, ...OVER_HTTPS }, '203.0.113.9'],
  ])('is refused if %s', async (_what, headers, remoteAddress) => {
    const app = await anApp(BEHIND_PROXY)
    for (const url of PATHS) {
      expect(await ask(app, { url, headers, remoteAddress })).toEqual({ status: 400, code: 'https_required' })
    }
  })

  it('passes if no trusted proxy is set', async () => {
    const app = await anApp(LIVE)
    expect(await ask(app, { url: '/v1/health', headers })).toMatchObject({ status: 200 })
  })
})

it.each(['/healthz', '/readyz'])('%s is served under any host name, even over plain http', async (url) => {
  for (const options of [BEHIND_PROXY, LIVE, SANDBOX]) {
    const app = await anApp(options)
    const headers = { host: '10.1.2.3:4300' }
    expect(await ask(app, { url, headers, remoteAddress: '203.0.113.9' })).toMatchObject({ status: 200 })
  }
})

describe('the check of readiness', () => {
  it.each(['starting', 'draining'] as const)(
    'answers 503 while the process is %s, and does not query the database',
    async (state) => {
      const healthy = vi.fn<() => Promise<boolean>>()
      const app = await anApp({ ...LIVE, healthy, progress: { state } })
      const answer = await app.inject('/readyz')
      expect({ status: answer.statusCode, body: answer.json() }).toEqual({
        status: 503,
        body: { status: state },
      })
      expect(healthy).not.toHaveBeenCalled()
    },
  )

  it('answers 200 if the process is ready and the database answers, but asks the database at most once a second', async () => {
    const nowMs = vi.spyOn(performance, 'now').mockReturnValue(10_000)
    const healthy = vi.fn<() => Promise<boolean>>().mockResolvedValueOnce(true).mockResolvedValue(false)
    const progress: Progress = { state: 'starting' }
    const app = await anApp({ ...LIVE, healthy, progress })
    progress.state = 'ready'
    const statuses = async () =>
      (await Promise.all([app.inject('/readyz'), app.inject('/readyz')])).map(({ statusCode }) => statusCode)
    expect(await statuses()).toEqual([200, 200])
    nowMs.mockReturnValue(11_000)
    expect(await statuses()).toEqual([503, 503])
    expect(healthy).toHaveBeenCalledTimes(2)
    nowMs.mockRestore()
  })
})

describe('the health check', () => {
  const build = { version: '1.2.3', commit: 'abc' }
  const isDoctor = (proof: unknown) => proof === 'good'

  it('names the running version, and shows only the doctor how the gateway sees the caller', async () => {
    const app = await anApp({ ...BEHIND_PROXY, build, isDoctor })
    const health = async (proof: string, forwardedFor: string) => {
      const headers = { 'x-tradetill-doctor': proof, 'x-forwarded-for': forwardedFor, ...OVER_HTTPS }
      return (await app.inject({ url: '/healthz', remoteAddress: PROXY, headers })).json()
    }
    expect(await health('bad', '198.51.100.1')).toEqual({ status: 'ok', ...build })
    const caller = { address: '198.51.100.1', protocol: 'https', isProxy: false }
    expect(await health('good', '203.0.113.1, 198.51.100.1')).toEqual({ status: 'ok', ...build, caller })
    expect(await health('good', '')).toMatchObject({ caller: { address: PROXY, isProxy: true } })
  })
})
