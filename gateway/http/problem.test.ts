import { type FastifyInstance, fastify } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DatabaseSilent } from '../db/connections.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { handleErrors } from './problem.ts'
import { refuse, refuseIfUnable } from './refusal.ts'

let app: FastifyInstance
let captured: CapturedLog
let nowMs: number

beforeEach(() => {
  captured = captureLog()
  nowMs = 0
  app = fastify()
  handleErrors(app, captured.log, () => nowMs)
  app.get('/refused/:id', async () => refuse('deposit_not_found'))
  app.get('/limited', async () => refuse('too_many_requests', { retryAfterS: 1 }))
  app.get('/broken', async () => {
    throw new Error('a fault of ours')
  })
})
afterEach(() => app.close())

const lines = (): Record<string, unknown>[] => captured.lines.map((line) => JSON.parse(line))

async function makeCalls(count: number, url: string, addressOf: (n: number) => string): Promise<void> {
  for (let n = 0; n < count; n += 1) await app.inject({ url, remoteAddress: addressOf(n) })
}

it('a caller that is not authenticated as a store gets a refusal written for a shopper', async () => {
  const answer = await app.inject('/refused/7')
  expect(answer.json().detail).toBe('Failed to find your payment. Go back to the store and start again.')
})

describe('a call that fails because', () => {
  const errorWith = (code: string, more: object = {}) => Object.assign(new Error(code), { code }, more)
  const unavailable = { status: 503, code: 'database_unavailable' }

  it.each([
    ['the database did not answer', new DatabaseSilent()],
    ['the connection was cut', new Error('Connection terminated unexpectedly')],
    ['the database refuses connections', errorWith('ECONNREFUSED', { syscall: 'connect' })],
    [
      'none of the database’s addresses answers',
      new AggregateError([errorWith('ETIMEDOUT', { syscall: 'connect' })], 'all of them'),
    ],
    ['the database is stopping', errorWith('57P01')],
    ['the database is starting', errorWith('57P03')],
    ['the database has no connection left', errorWith('53300')],
    ['the disk of the database is full', errorWith('53100')],
    ['the database is a read-only copy', errorWith('25006')],
    [
      'the cause of an error is a lost connection',
      new Error('the job could not be sent', { cause: errorWith('08006') }),
    ],
  ])('%s can be repeated, and the error is logged', async (_why, error) => {
    app.get('/away', async () => {
      throw error
    })
    const answer = await app.inject({ url: '/away', headers: { 'accept-language': 'ru' } })
    expect(answer.json()).toMatchObject({
      ...unavailable,
      detail: expect.stringContaining('Ничего не потеряно'),
    })
    expect(answer.headers['retry-after']).toBe('2')
    expect(lines()).toMatchObject([{ level: 'error', code: 'database_unavailable', err: expect.anything() }])
  })

  it.each([
    ['a violated constraint', errorWith('23505')],
    ['a statement that took too long', errorWith('57014')],
    ['a missing file', errorWith('ENOENT', { syscall: 'open' })],
  ])('of %s is an internal failure', async (_what, error) => {
    app.get('/away', async () => {
      throw error
    })
    expect((await app.inject('/away')).json()).toMatchObject({ status: 500, code: 'internal' })
  })

  it('the till knows that the database is away is logged as a refusal, not as an error', async () => {
    app.get('/away', async () => refuseIfUnable('database_unavailable'))
    expect((await app.inject('/away')).json()).toMatchObject({
      ...unavailable,
      detail: expect.stringContaining('Nothing is lost'),
    })
    expect(lines()).toMatchObject([{ level: 'info', msg: 'call was refused' }])
  })
})

describe('the log line of a refused call', () => {
  it('has the code and the registered route, never the call’s own values', async () => {
    await makeCalls(1, '/refused/7', () => '203.0.113.1')
    expect(lines()).toMatchObject([
      { level: 'info', method: 'GET', path: '/refused/:id', code: 'deposit_not_found' },
    ])
    expect(lines()[0]).not.toHaveProperty('leftOut')
  })

  it('is not written for calls that the limits refuse', async () => {
    await makeCalls(3, '/limited', () => '203.0.113.1')
    expect(lines()).toEqual([])
  })

  it('is written a hundred times per address, then every ten seconds with the number of skipped lines', async () => {
    await makeCalls(150, '/refused/7', () => '203.0.113.1')
    expect(lines()).toHaveLength(100)
    nowMs = 9_000
    await makeCalls(1, '/refused/7', () => '203.0.113.1')
    expect(lines()).toHaveLength(100)
    nowMs = 10_000
    await makeCalls(2, '/refused/7', () => '203.0.113.1')
    expect(lines().slice(100)).toMatchObject([{ leftOut: 51, code: 'deposit_not_found' }])
    await makeCalls(1, '/refused/7', () => '203.0.113.2')
    expect(lines().slice(101)).toMatchObject([{ leftOut: 1, code: 'deposit_not_found' }])
  })

  it('is written 500 times in total, then five times a second, even if every call comes from another address', async () => {
    await makeCalls(600, '/refused/7', (n) => `198.51.${Math.floor(n / 250)}.${n % 250}`)
    expect(lines()).toHaveLength(500)
    nowMs = 1_000
    await makeCalls(10, '/refused/7', (n) => `203.0.113.${n}`)
    expect(lines()).toHaveLength(505)
  })

  it('does not displace the log line of a failed call, however many calls were refused', async () => {
    await makeCalls(150, '/refused/7', () => '203.0.113.1')
    await makeCalls(1, '/broken', () => '203.0.113.1')
    expect(lines().at(-1)).toMatchObject({ level: 'error', msg: 'call failed' })
  })
})
