import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startStore } from './server.ts'

const SECRET = `whsec_${Buffer.from('a secret of the demo store').toString('base64')}`
const URL_OF_DEPOSIT = 'http://localhost:4300/deposit/0123456789abcdef0123456789abcdef'

type Call = { authorization: string | undefined; body: Record<string, unknown> }
type Stub = { url: string; server: Server; calls: Call[]; statuses: number[]; log: object[] }

let folder: string
let till: Stub
let reports: string[]
let store: Awaited<ReturnType<typeof startStore>>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'demo-store-'))
  reports = []
  till = await startTill()
  store = await openStore(till.url)
})
afterEach(async () => {
  await store.close()
  await new Promise((resolve) => till.server.close(resolve))
  rmSync(folder, { recursive: true })
})

const openStore = (url: string) =>
  startStore({
    port: 0,
    dataFile: join(folder, 'store.sqlite'),
    till: { url, apiKey: 'tt_test_key', webhookSecret: SECRET },
    sandboxUrl: till.url,
    report: (problem) => reports.push(problem),
  })

/** A till and a sandbox as their documents describe them: answers with `statuses`, then with 201. */
async function startTill(): Promise<Stub> {
  const calls: Call[] = []
  const statuses: number[] = []
  const log: object[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url === '/control/players') {
      response.end(
        JSON.stringify([{ name: '<b>nova', tradeUrl: 'https://steamcommunity.com/tradeoffer/new/' }]),
      )
      return
    }
    if (request.url?.startsWith('/v1/events')) {
      const after = Number(new URL(request.url, 'http://x').searchParams.get('after'))
      const events = log.slice(after, after + 2)
      const next = after + events.length
      response.end(JSON.stringify({ events, next, hasMore: next < log.length }))
      return
    }
    const body = JSON.parse(Buffer.concat(chunks).toString())
    calls.push({ authorization: request.headers.authorization, body })
    response.statusCode = statuses.shift() ?? 201
    response.end(JSON.stringify(depositOf({ ...body, url: URL_OF_DEPOSIT })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, server, calls, statuses, log }
}

const depositOf = (more: Record<string, unknown>) => ({
  id: '1001',
  externalId: 'topup-1',
  url: URL_OF_DEPOSIT,
  status: 'created',
  currency: 'USD',
  amount: null,
  heldAmount: 0,
  heldUntil: null,
  reversedAmount: 0,
  chargedAmount: 0,
  endReason: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  ...more,
})

const press = (form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  fetch(`${store.url}/top-ups`, {
    method: 'POST',
    body: new URLSearchParams({ currency: 'USD', language: '', ...form }),
    headers,
    redirect: 'manual',
  })

type Event = { id?: string; type?: string; sequence?: number; data?: Record<string, unknown> }

const eventOf = ({ id = 'event-1', type = 'deposit.succeeded', sequence = 2, data = {} }: Event) => ({
  id,
  type,
  timestamp: new Date().toISOString(),
  sequence,
  data: depositOf({ status: 'succeeded', amount: 1250, ...data }),
})

function send(event: Event, change: (headers: Record<string, string>) => void = () => {}) {
  const { id = 'event-1', type = 'deposit.succeeded', sequence = 2, data = {} } = event
  const body = JSON.stringify(eventOf({ id, type, sequence, data }))
  const at = new Date()
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  }
  change(headers)
  return fetch(`${store.url}/webhooks/tradetill`, { method: 'POST', body, headers })
}

const balances = async (): Promise<unknown> => (await fetch(`${store.url}/balance.json`)).json()
const live = async (): Promise<string> => (await fetch(`${store.url}/live`)).text()

describe('a top-up', () => {
  test('opens a deposit and sends the shopper to it', async () => {
    const answer = await press({ currency: 'BRL', language: 'ru' })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(URL_OF_DEPOSIT)
    expect(till.calls).toEqual([
      {
        authorization: 'Bearer tt_test_key',
        body: {
          externalId: expect.stringMatching(/^topup-/),
          currency: 'BRL',
          language: 'ru',
          backToStoreUrl: `${store.url}/`,
          customerReference: 'ember_guest',
          customerLabel: 'ember_guest',
        },
      },
    ])
    expect(await live()).toContain('Waiting for your items')
  })

  test('is held whole until the protection ends if the shopper of the demo wants to see that', async () => {
    await press({ hold: 'on' })
    await press()
    expect(till.calls.map(({ body }) => Reflect.get(Object(body), 'creditMode'))).toEqual([
      'on_release',
      undefined,
    ])
  })

  test('a till that stumbles is asked again for the same deposit', async () => {
    till.statuses.push(503)
    expect((await press()).status).toBe(303)
    const ids = till.calls.map((call) => call.body.externalId)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  test('a till that is down gives a clear page and leaves no open top-up', async () => {
    await store.close()
    store = await openStore('http://127.0.0.1:9')
    const answer = await press()
    expect(answer.status).toBe(502)
    expect(await answer.text()).toContain('does not answer right now')
    expect(await live()).toContain('None yet')
    expect(reports.join()).toContain('the till does not answer')
  })

  test('a button on a foreign page opens nothing', async () => {
    expect((await press({}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect(till.calls).toEqual([])
  })
})

describe('the webhook', () => {
  test('credits the balance once for each deposit, whatever comes again', async () => {
    expect((await send({})).status).toBe(204)
    expect((await send({})).status).toBe(204)
    expect((await send({ id: 'event-9', sequence: 9, type: 'deposit.funds_available' })).status).toBe(204)
    expect((await send({ id: 'event-8', sequence: 8 })).status).toBe(204)
    expect((await send({ sequence: 12, data: { id: '1003', externalId: 'topup-3' } })).status).toBe(204)
    expect(await balances()).toEqual({ USD: 1250 })
    await send({ id: 'event-10', sequence: 10, data: { id: '1002', externalId: 'topup-2', currency: 'EUR' } })
    expect(await balances()).toEqual({ EUR: 1250, USD: 1250 })
  })

  test('a deposit that brings more later is credited the difference', async () => {
    const more = { type: 'deposit.amount_increased', data: { amount: 2000 } }
    await send({ id: 'event-8', sequence: 8 })
    expect((await send({ id: 'event-9', sequence: 9, ...more })).status).toBe(204)
    await send({ id: 'event-8 again', sequence: 8 })
    expect(await balances()).toEqual({ USD: 2000 })
  })

  test('events out of order: old news changes no status, a credit counts all the same', async () => {
    const pending = { type: 'deposit.pending', data: { status: 'pending', amount: null } }
    await send({ id: 'late', sequence: 5, type: 'deposit.funds_available' })
    await send({ id: 'first', sequence: 3, ...pending })
    expect(await live()).toContain('<span class="status good">Credited</span>')
    await send({ id: 'second', sequence: 4 })
    expect(await balances()).toEqual({ USD: 1250 })
    expect(await live()).not.toContain('Trade offer sent')
  })

  test('what its sender takes back is taken from the shopper again, part by part and in any order', async () => {
    const reversed = (reversedAmount: number) => ({ type: 'deposit.reversed', data: { reversedAmount } })
    await send({ id: 'two', sequence: 4, ...reversed(1250) })
    expect(await balances()).toEqual({})
    await send({ id: 'one', sequence: 3, ...reversed(250) })
    await send({ id: 'credit', sequence: 2 })
    expect(await balances()).toEqual({})
    expect(await live()).toMatch(/Taken back by its sender.*−\$12\.50 taken back/s)
  })

  test('D-36 a reversal costs the shopper what was taken back, and the store what it is charged', async () => {
    await send({ id: 'credit', sequence: 2 })
    const data = { reversedAmount: 1250, chargedAmount: 250 }
    await send({ id: 'back', sequence: 3, type: 'deposit.reversed', data })
    await send({ id: 'before', sequence: 1, data: { reversedAmount: 500, chargedAmount: 0 } })
    expect(await balances()).toEqual({ USD: 0 })
    const books = await (await fetch(`${store.url}/books.json`)).json()
    expect(books).toMatchObject({ account: { USD: 1000 } })
    expect(await live()).toContain('The store’s account with the till, of all shoppers: $10.00')
  })

  test('shows what is held and until when', async () => {
    await send({ data: { heldAmount: 250, heldUntil: '2026-01-09T12:00:00.000Z' } })
    const shown = (await live()).replace(/<[^>]+>/g, ' ').replace(/ +/g, ' ')
    expect(shown).toContain('$10.00 on hold $2.50 until 9 Jan')
    expect(shown).toContain('+$12.50 on hold $2.50 until 9 Jan')
    expect(await balances()).toEqual({ USD: 1250 })
  })

  test('of a type that it does not know is answered 2xx and changes nothing, a test with its challenge', async () => {
    expect((await send({ type: 'till.news' })).status).toBe(204)
    const tested = await send({ type: 'webhook.test', data: { challenge: 'n0nce' } })
    expect([tested.status, await tested.json()]).toEqual([200, { challenge: 'n0nce' }])
    expect(await balances()).toEqual({})
  })

  test.each([
    ['a wrong signature', (headers: Record<string, string>) => (headers['webhook-signature'] = 'v1,AAAA')],
    ['another id', (headers: Record<string, string>) => (headers['webhook-id'] = 'event-2')],
    ['an old time', (headers: Record<string, string>) => (headers['webhook-timestamp'] = '1000')],
    ['no signature', (headers: Record<string, string>) => delete headers['webhook-signature']],
  ])('refuses %s with 400', async (_what, change) => {
    expect((await send({}, (headers) => void change(headers))).status).toBe(400)
    expect(await balances()).toEqual({})
  })

  test('the balance outlives a restart', async () => {
    await send({})
    await store.close()
    store = await openStore(till.url)
    expect(await balances()).toEqual({ USD: 1250 })
    expect((await send({})).status).toBe(204)
    expect(await balances()).toEqual({ USD: 1250 })
  })
})

describe('the log of the till', () => {
  const logged = (n: number) =>
    eventOf({ id: `logged-${n}`, sequence: n, data: { id: `${n}`, externalId: `topup-${n}` } })

  test('is read at the start: what no webhook brought is credited once', async () => {
    await send(logged(1))
    for (const n of [1, 2, 3]) till.log.push(logged(n))
    await store.close()
    store = await openStore(till.url)
    await expect.poll(balances).toEqual({ USD: 3 * 1250 })
    till.log.push(logged(4))
    const pressed = await fetch(`${store.url}/reconcile`, { method: 'POST', redirect: 'manual' })
    expect(pressed.status).toBe(303)
    expect(await balances()).toEqual({ USD: 4 * 1250 })
    expect((await send(logged(4))).status).toBe(204)
    expect(await (await fetch(`${store.url}/books.json`)).json()).toEqual({
      position: 4,
      total: { USD: 4 * 1250 },
      account: { USD: 4 * 1250 },
    })
  })

  test('goes on behind a type that the store does not know', async () => {
    till.log.push({ id: 'news-1', type: 'payout.sent', sequence: 1, data: { reference: 'wire 1' } })
    till.log.push({ id: 'news-2', type: 'payout.sent', sequence: 2, data: { reference: 'wire 2' } })
    await fetch(`${store.url}/reconcile`, { method: 'POST', redirect: 'manual' })
    till.log.push(logged(3))
    await fetch(`${store.url}/reconcile`, { method: 'POST', redirect: 'manual' })
    expect(await (await fetch(`${store.url}/books.json`)).json()).toEqual({
      position: 3,
      total: { USD: 1250 },
      account: { USD: 1250 },
    })
    expect(reports).toEqual([])
  })

  test('that cannot be read is reported, and the store goes on', async () => {
    await store.close()
    store = await openStore('http://127.0.0.1:9')
    await expect.poll(() => reports.join()).toContain('log could not be read')
    expect((await fetch(store.url)).status).toBe(200)
  })
})

describe('shoppers', () => {
  const as = async (shopper: string): Promise<string> => {
    const body = new URLSearchParams({ shopper })
    const answer = await fetch(`${store.url}/shopper`, { method: 'POST', body, redirect: 'manual' })
    return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  test('have balances and histories of their own', async () => {
    const cookie = await as('mira_sol')
    await press({}, { cookie })
    const externalId = String(till.calls[0]?.body.externalId)
    expect(till.calls[0]?.body.customerReference).toBe('mira_sol')
    await send({ data: { externalId } })
    expect(await balances()).toEqual({})
    const hers = await fetch(`${store.url}/balance.json`, { headers: { cookie } })
    expect(await hers.json()).toEqual({ USD: 1250 })
    expect(await (await fetch(store.url, { headers: { cookie } })).text()).toContain(
      '<option selected>mira_sol',
    )
    expect(await as('"><script>')).toContain('ember_guest')
  })
})

test('a database of the first version goes on with its balance', async () => {
  await store.close()
  rmSync(join(folder, 'store.sqlite'))
  const old = new DatabaseSync(join(folder, 'store.sqlite'))
  old.exec(`
    create table top_up (external_id text primary key, currency text not null, status text not null, amount integer,
      url text, sequence integer not null default 0, created_at text not null) strict;
    create table credit (deposit_id text primary key, currency text not null, amount integer not null) strict;
    create table balance (currency text primary key, amount integer not null) strict;
    insert into balance values ('USD', 700);
    insert into credit values ('1001', 'USD', 700);`)
  old.close()
  store = await openStore(till.url)
  expect(await balances()).toEqual({ USD: 700 })
  await send({ data: { amount: 1000 } })
  expect(await balances()).toEqual({ USD: 1000 })
})

describe('the page', () => {
  test('shows balance, button and the trade links, and runs no foreign or inline script', async () => {
    await send({})
    const answer = await fetch(store.url)
    const policy = answer.headers.get('content-security-policy') ?? ''
    const text = await answer.text()
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
    expect(text).toContain('$12.50')
    expect(text).toContain('Top up with game items')
    expect(text).toContain('&#60;b&#62;nova')
    expect(text).not.toMatch(/<b>nova|<script>|style=|onclick=/)
    expect((await fetch(`${store.url}/static/ember.css`)).headers.get('content-type')).toContain('text/css')
    expect((await fetch(`${store.url}/nothing`)).status).toBe(404)
  })

  test('says so when the sandbox is down', async () => {
    till.server.closeAllConnections()
    await new Promise((resolve) => till.server.close(resolve))
    expect(await (await fetch(store.url)).text()).toContain('sandbox does not answer')
  })
})
