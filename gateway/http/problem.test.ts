import { type FastifyInstance, fastify } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DatabaseSilent } from '../db/lines.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { handleErrors } from './problem.ts'
import { refuse, refuseIf } from './refusal.ts'

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

async function calls(count: number, url: string, addressOf: (n: number) => string): Promise<void> {
  for (let n = 0; n < count; n += 1) await app.inject({ url, remoteAddress: addressOf(n) })
}

it('a refusal to a caller who is not known as a store is written for a shopper', async () => {
  const answer = await app.inject('/refused/7')
  expect(answer.json().detail).toBe('Failed to find your payment. Go back to the store and start again.')
})

describe('a call for which the database is away', () => {
  const coded = (code: string, more: object = {}) => Object.assign(new Error(code), { code }, more)
  const refused = { status: 503, code: 'database_unavailable' }

  it.each([
    ['it did not answer', new DatabaseSilent()],
    ['the connection was cut', new Error('Connection terminated unexpectedly')],
    ['it refuses connections', coded('ECONNREFUSED', { syscall: 'connect' })],
    [
      'none of its addresses answers',
      new AggregateError([coded('ETIMEDOUT', { syscall: 'connect' })], 'all of them'),
    ],
    ['it stops', coded('57P01')],
    ['it starts', coded('57P03')],
    ['it has no connection left', coded('53300')],
    ['its disk is full', coded('53100')],
    ['it is a copy', coded('25006')],
    ['and the cause says so', new Error('the job could not be sent', { cause: coded('08006') })],
  ])('because %s is to be made again, and its error is told', async (_why, error) => {
    app.get('/away', async () => {
      throw error
    })
    const answer = await app.inject({ url: '/away', headers: { 'accept-language': 'ru' } })
    expect(answer.json()).toMatchObject({ ...refused, detail: expect.stringContaining('Ничего не потеряно') })
    expect(answer.headers['retry-after']).toBe('2')
    expect(lines()).toMatchObject([{ level: 'error', code: 'database_unavailable', err: expect.anything() }])
  })

  it.each([
    ['a constraint', coded('23505')],
    ['a statement that took too long', coded('57014')],
    ['a file that is not there', coded('ENOENT', { syscall: 'open' })],
  ])('is another matter than %s', async (_what, error) => {
    app.get('/away', async () => {
      throw error
    })
    expect((await app.inject('/away')).json()).toMatchObject({ status: 500, code: 'internal' })
  })

  it('that is refused at once writes the line of a refusal', async () => {
    app.get('/away', async () => refuseIf('database_unavailable'))
    expect((await app.inject('/away')).json()).toMatchObject({
      ...refused,
      detail: expect.stringContaining('Nothing is lost'),
    })
    expect(lines()).toMatchObject([{ level: 'info', msg: 'call was refused' }])
  })
})

describe('the line of a refused call', () => {
  it('has the code and the route as it is registered, never the call’s own values', async () => {
    await calls(1, '/refused/7', () => '203.0.113.1')
    expect(lines()).toMatchObject([
      { level: 'info', method: 'GET', path: '/refused/:id', code: 'deposit_not_found' },
    ])
    expect(lines()[0]).not.toHaveProperty('leftOut')
  })

  it('is not written for calls that the limits refuse', async () => {
    await calls(3, '/limited', () => '203.0.113.1')
    expect(lines()).toEqual([])
  })

  it('is written a hundred times for one address and then every ten seconds, with how many were left out', async () => {
    await calls(150, '/refused/7', () => '203.0.113.1')
    expect(lines()).toHaveLength(100)
    nowMs = 9_000
    await calls(1, '/refused/7', () => '203.0.113.1')
    expect(lines()).toHaveLength(100)
    nowMs = 10_000
    await calls(2, '/refused/7', () => '203.0.113.1')
    expect(lines().slice(100)).toMatchObject([{ leftOut: 51, code: 'deposit_not_found' }])
    await calls(1, '/refused/7', () => '203.0.113.2')
    expect(lines().slice(101)).toMatchObject([{ leftOut: 1, code: 'deposit_not_found' }])
  })

  it('has a limit, even if every call comes from another address', async () => {
    await calls(600, '/refused/7', (n) => `198.51.${Math.floor(n / 250)}.${n % 250}`)
    expect(lines()).toHaveLength(500)
    nowMs = 1_000
    await calls(10, '/refused/7', (n) => `203.0.113.${n}`)
    expect(lines()).toHaveLength(505)
  })

  it('a failure of the till is logged, however many calls were refused', async () => {
    await calls(150, '/refused/7', () => '203.0.113.1')
    await calls(1, '/broken', () => '203.0.113.1')
    expect(lines().at(-1)).toMatchObject({ level: 'error', msg: 'call failed' })
  })
})
