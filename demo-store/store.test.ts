import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callersOf, type Demo, eventOf, startDemo, URL_OF_DEPOSIT } from './stub-till.ts'

/** An address at which nothing answers. */
const NO_TILL = 'http://127.0.0.1:9'

let demo: Demo
let callers: ReturnType<typeof callersOf>

beforeEach(async () => {
  demo = await startDemo()
  callers = callersOf(demo)
})
afterEach(() => demo.end())

describe('a top-up', () => {
  test('opens a deposit and sends the shopper to it', async () => {
    const answer = await callers.press({ currency: 'BRL', language: 'ru' })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(URL_OF_DEPOSIT)
    expect(demo.till.calls).toEqual([
      {
        authorization: 'Bearer tt_test_key',
        body: {
          externalId: expect.stringMatching(/^topup-/),
          currency: 'BRL',
          language: 'ru',
          backToStoreUrl: `${demo.store.url}/?order={EXTERNAL_ID}&lang={LANGUAGE}`,
          customerReference: 'ember_guest',
          customerLabel: 'ember_guest',
        },
      },
    ])
    expect(await callers.readParts()).toContain('Waiting for your items')
  })

  test('asks for credit on release if the visitor chose to have the credit held', async () => {
    await callers.press({ hold: 'on' })
    await callers.press()
    expect(demo.till.calls.map(({ body }) => Reflect.get(Object(body), 'creditMode'))).toEqual([
      'on_release',
      undefined,
    ])
  })

  test('is requested a second time if the till fails the first time', async () => {
    demo.till.statuses.push(503)
    expect((await callers.press()).status).toBe(303)
    const ids = demo.till.calls.map((call) => call.body.externalId)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  test('shows a page with the reason, and is not listed, if the till is down', async () => {
    await demo.store.close()
    await demo.open(NO_TILL)
    const answer = await callers.press()
    expect(answer.status).toBe(502)
    expect(await answer.text()).toContain('does not answer right now')
    expect(await callers.readParts()).toContain('None yet')
    expect(demo.reports.join()).toContain('the till does not answer')
  })

  test('cannot be opened by a button on a foreign page', async () => {
    expect((await callers.press({}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect(demo.till.calls).toEqual([])
  })
})

describe('a webhook', () => {
  test('credits the balance once for each deposit, even if events repeat', async () => {
    expect((await callers.send({})).status).toBe(204)
    expect((await callers.send({})).status).toBe(204)
    expect((await callers.send({ id: 'event-9', sequence: 9, type: 'deposit.funds_available' })).status).toBe(
      204,
    )
    expect((await callers.send({ id: 'event-8', sequence: 8 })).status).toBe(204)
    expect(await callers.readBalances()).toEqual({ USD: 1250 })
    await callers.send({
      id: 'event-10',
      sequence: 10,
      data: { id: '1002', externalId: 'topup-2', currency: 'EUR' },
    })
    expect(await callers.readBalances()).toEqual({ EUR: 1250, USD: 1250 })
  })

  test('credits the difference when the amount of a deposit increases', async () => {
    const more = { type: 'deposit.amount_increased', data: { amount: 2000 } }
    await callers.send({ id: 'event-8', sequence: 8 })
    expect((await callers.send({ id: 'event-9', sequence: 9, ...more })).status).toBe(204)
    await callers.send({ id: 'event-8 again', sequence: 8 })
    expect(await callers.readBalances()).toEqual({ USD: 2000 })
  })

  test('that overtakes earlier webhooks is booked, and the earlier ones then change neither status nor balance', async () => {
    const pending = { type: 'deposit.pending', data: { status: 'pending', amount: null } }
    await callers.send({ id: 'late', sequence: 5, type: 'deposit.funds_available' })
    await callers.send({ id: 'first', sequence: 3, ...pending })
    expect(await callers.readParts()).toContain('<span class="status good">Credited</span>')
    await callers.send({ id: 'second', sequence: 4 })
    expect(await callers.readBalances()).toEqual({ USD: 1250 })
    expect(await callers.readParts()).not.toContain('Trade offer sent')
  })

  test('of a full reversal is booked even if it comes first, and the late webhooks of the credit change nothing', async () => {
    const reversed = (reversedAmount: number) => ({ type: 'deposit.reversed', data: { reversedAmount } })
    await callers.send({ id: 'two', sequence: 4, ...reversed(1250) })
    expect(await callers.readBalances()).toEqual({})
    await callers.send({ id: 'one', sequence: 3, ...reversed(250) })
    await callers.send({ id: 'credit', sequence: 2 })
    expect(await callers.readBalances()).toEqual({})
    expect(await callers.readParts()).toMatch(/Items taken back on Steam.*−\$12\.50 taken back/s)
  })

  test('D-36 of a reversal deducts the reversed amount from the shopper, and the charged amount from the store', async () => {
    await callers.send({ id: 'credit', sequence: 2 })
    const data = { reversedAmount: 1250, chargedAmount: 250 }
    await callers.send({ id: 'back', sequence: 3, type: 'deposit.reversed', data })
    await callers.send({ id: 'before', sequence: 1, data: { reversedAmount: 500, chargedAmount: 0 } })
    expect(await callers.readBalances()).toEqual({ USD: 0 })
    const books = await (await fetch(`${demo.store.url}/books.json`)).json()
    expect(books).toMatchObject({ account: { USD: 1000 } })
    expect(await callers.readParts()).toContain('The store’s account with the till, for all shoppers: $10.00')
  })

  test('about held money makes the page show the amount and its release date, and the shopper cannot spend it', async () => {
    await callers.send({ data: { heldAmount: 250, heldUntil: '2026-01-09T12:00:00.000Z' } })
    const shownText = (await callers.readParts()).replace(/<[^>]+>/g, ' ').replace(/ +/g, ' ')
    expect(shownText).toContain('$10.00 on hold $2.50 until 9 Jan')
    expect(shownText).toContain('+$10.00 on hold $2.50 until 9 Jan')
    expect(await callers.readBalances()).toEqual({ USD: 1000 })
    await callers.send({ id: 'free', sequence: 3, type: 'deposit.funds_available' })
    expect(await callers.readBalances()).toEqual({ USD: 1250 })
  })

  test('of an unknown type is answered 2xx and changes nothing, and a test is answered with its challenge', async () => {
    expect((await callers.send({ type: 'till.news' })).status).toBe(204)
    const tested = await callers.send({ type: 'webhook.test', data: { challenge: 'n0nce' } })
    expect([tested.status, await tested.json()]).toEqual([200, { challenge: 'n0nce' }])
    expect(await callers.readBalances()).toEqual({})
  })

  test.each([
    ['a wrong signature', (headers: Record<string, string>) => (headers['webhook-signature'] = 'v1,AAAA')],
    ['another id', (headers: Record<string, string>) => (headers['webhook-id'] = 'event-2')],
    ['an old time', (headers: Record<string, string>) => (headers['webhook-timestamp'] = '1000')],
    ['no signature', (headers: Record<string, string>) => delete headers['webhook-signature']],
  ])('with %s is refused with 400', async (_what, change) => {
    expect((await callers.send({}, (headers) => void change(headers))).status).toBe(400)
    expect(await callers.readBalances()).toEqual({})
  })

  test('credits a balance that survives a restart', async () => {
    await callers.send({})
    await demo.store.close()
    await demo.open(demo.till.url)
    expect(await callers.readBalances()).toEqual({ USD: 1250 })
    expect((await callers.send({})).status).toBe(204)
    expect(await callers.readBalances()).toEqual({ USD: 1250 })
  })
})

describe('the log of the till', () => {
  const logged = (n: number) =>
    eventOf({ id: `logged-${n}`, sequence: n, data: { id: `${n}`, externalId: `topup-${n}` } })

  test('is read at the start, and credits that no webhook reported are booked once', async () => {
    await callers.send(logged(1))
    for (const n of [1, 2, 3]) demo.till.log.push(logged(n))
    await demo.store.close()
    await demo.open(demo.till.url)
    await expect.poll(callers.readBalances).toEqual({ USD: 3 * 1250 })
    demo.till.log.push(logged(4))
    const pressed = await fetch(`${demo.store.url}/reconcile`, { method: 'POST', redirect: 'manual' })
    expect(pressed.status).toBe(303)
    expect(await callers.readBalances()).toEqual({ USD: 4 * 1250 })
    expect((await callers.send(logged(4))).status).toBe(204)
    expect(await (await fetch(`${demo.store.url}/books.json`)).json()).toEqual({
      sequence: 4,
      total: { USD: 4 * 1250 },
      account: { USD: 4 * 1250 },
    })
  })

  test('is still read after an event of an unknown type', async () => {
    demo.till.log.push({ id: 'news-1', type: 'payout.sent', sequence: 1, data: { reference: 'wire 1' } })
    demo.till.log.push({ id: 'news-2', type: 'payout.sent', sequence: 2, data: { reference: 'wire 2' } })
    await fetch(`${demo.store.url}/reconcile`, { method: 'POST', redirect: 'manual' })
    demo.till.log.push(logged(3))
    await fetch(`${demo.store.url}/reconcile`, { method: 'POST', redirect: 'manual' })
    expect(await (await fetch(`${demo.store.url}/books.json`)).json()).toEqual({
      sequence: 3,
      total: { USD: 1250 },
      account: { USD: 1250 },
    })
    expect(demo.reports).toEqual([])
  })

  test('that cannot be read is reported, and the store still answers', async () => {
    await demo.store.close()
    await demo.open(NO_TILL)
    await expect.poll(() => demo.reports.join()).toContain('log could not be read or booked')
    expect((await fetch(demo.store.url)).status).toBe(200)
  })
})

describe('shoppers', () => {
  /** Chooses the shopper. Resolves to the cookie that records the choice. */
  const cookieOf = async (shopper: string): Promise<string> => {
    const body = new URLSearchParams({ shopper })
    const answer = await fetch(`${demo.store.url}/settings`, { method: 'POST', body, redirect: 'manual' })
    return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  test('have their own balances and histories', async () => {
    const cookie = await cookieOf('mira_sol')
    await callers.press({}, { cookie })
    const externalId = String(demo.till.calls[0]?.body.externalId)
    expect(demo.till.calls[0]?.body.customerReference).toBe('mira_sol')
    await callers.send({ data: { externalId } })
    expect(await callers.readBalances()).toEqual({})
    const herBalance = await fetch(`${demo.store.url}/balance.json`, { headers: { cookie } })
    expect(await herBalance.json()).toEqual({ USD: 1250 })
    expect(await callers.readParts()).toContain('None yet')
    const herParts = await (await fetch(`${demo.store.url}/live`, { headers: { cookie } })).text()
    expect(herParts).toContain('<span class="status good">Credited</span>')
  })

  test('are credited for their payments even if the store restored a backup from before the payments', async () => {
    const cookie = await cookieOf('mira_sol')
    await callers.send({ data: { externalId: 'topup-lost', customerReference: 'mira_sol' } })
    expect(await callers.readBalances()).toEqual({})
    const hers = await fetch(`${demo.store.url}/balance.json`, { headers: { cookie } })
    expect(await hers.json()).toEqual({ USD: 1250 })
  })

  test('are chosen from a list, and no other name is accepted', async () => {
    const cookie = await cookieOf('mira_sol')
    expect(await (await fetch(demo.store.url, { headers: { cookie } })).text()).toContain(
      '<option value="mira_sol" selected>',
    )
    expect(await cookieOf('"><script>')).toBe('')
  })
})

test('shoppers in a database of the first version keep their balances', async () => {
  await demo.store.close()
  rmSync(join(demo.folder, 'store.sqlite'))
  const oldDatabase = new DatabaseSync(join(demo.folder, 'store.sqlite'))
  oldDatabase.exec(`
    create table top_up (external_id text primary key, currency text not null, status text not null, amount integer,
      url text, sequence integer not null default 0, created_at text not null) strict;
    create table credit (deposit_id text primary key, currency text not null, amount integer not null) strict;
    create table balance (currency text primary key, amount integer not null) strict;
    insert into balance values ('USD', 700);
    insert into credit values ('1001', 'USD', 700);`)
  oldDatabase.close()
  await demo.open(demo.till.url)
  expect(await callers.readBalances()).toEqual({ USD: 700 })
  await callers.send({ data: { amount: 1000 } })
  expect(await callers.readBalances()).toEqual({ USD: 1000 })
})

describe('the page', () => {
  test('shows the balance, the button and the sandbox’s shoppers, and allows no inline script or style', async () => {
    await callers.send({})
    const answer = await fetch(demo.store.url)
    const policy = answer.headers.get('content-security-policy') ?? ''
    const text = await answer.text()
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
    expect(text).toContain('$12.50')
    expect(text).toContain('Top up with game items')
    expect(text).toContain('&#60;b&#62;nova')
    expect(text).not.toMatch(/<b>nova|<script>|style=|onclick=/)
    expect((await fetch(`${demo.store.url}/static/ember.css`)).headers.get('content-type')).toContain(
      'text/css',
    )
    expect((await fetch(`${demo.store.url}/nothing`)).status).toBe(404)
  })

  test('reports that the sandbox is down', async () => {
    demo.till.server.closeAllConnections()
    await new Promise((resolve) => demo.till.server.close(resolve))
    expect(await (await fetch(demo.store.url)).text()).toContain('sandbox does not answer')
  })
})
