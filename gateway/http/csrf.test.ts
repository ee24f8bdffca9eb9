import { fastify } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { createCsrf } from './csrf.ts'
import { handleErrors } from './problem.ts'

const TOKEN = 'A'.repeat(43)

type Till = { publicUrl: string; mode: 'sandbox' | 'live' }

/** Returns the status of a state-changing call with the right token, sent to `host` by a page of `origin`. */
async function statusOf({ publicUrl, mode }: Till, call: { host: string; origin: string }): Promise<number> {
  const url = new URL(publicUrl)
  const app = fastify()
  handleErrors(app, captureLog().log)
  app.addHook('onRequest', createCsrf({ publicUrl: url, mode }).check)
  app.post('/', async () => ({}))
  const cookie = `${url.protocol === 'https:' ? '__Host-csrf' : 'csrf'}=${TOKEN}`
  const headers = { ...call, cookie, 'x-csrf-token': TOKEN, 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url: '/', headers, payload: '{}' })
  await app.close()
  return answer.statusCode
}

describe('A-105 the origin of a state-changing call', () => {
  const live: Till = { publicUrl: 'https://pay.example', mode: 'live' }

  test('is accepted if it is the public address', async () => {
    expect(await statusOf(live, { host: 'pay.example', origin: 'https://pay.example' })).toBe(200)
  })

  test.each(['http://pay.example', 'http://127.0.0.1:4300'])(
    'is refused in live mode if it is %s',
    async (origin) => {
      expect(await statusOf(live, { host: origin.slice(7), origin })).toBe(403)
    },
  )

  test.each<[string, Till]>([
    ['in the sandbox', { publicUrl: 'https://pay.example', mode: 'sandbox' }],
    ['behind a public address on this machine', { publicUrl: 'http://localhost:4300', mode: 'live' }],
  ])(
    'is accepted if it is the address that was called, and refused if it is foreign, %s',
    async (_where, till) => {
      const host = '127.0.0.1:4300'
      expect(await statusOf(till, { host, origin: `http://${host}` })).toBe(200)
      expect(await statusOf(till, { host, origin: 'http://evil.example' })).toBe(403)
    },
  )
})

test('A-105 a token with a letter outside ASCII is refused like any wrong token', async () => {
  const { log, lines } = captureLog()
  const app = fastify()
  handleErrors(app, log)
  app.addHook('onRequest', createCsrf({ publicUrl: new URL('http://localhost:4300'), mode: 'live' }).check)
  app.post('/', async () => ({}))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => app.close())
  const headers = { origin: url, cookie: `csrf=${TOKEN}`, 'content-type': 'application/json' }
  const statusWith = async (token: string) => {
    const call = { method: 'POST', headers: { ...headers, 'x-csrf-token': token }, body: '{}' }
    return (await fetch(url, call)).status
  }
  expect(await statusWith(TOKEN)).toBe(200)
  expect(await statusWith('é'.repeat(TOKEN.length))).toBe(403)
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['info'])
})
