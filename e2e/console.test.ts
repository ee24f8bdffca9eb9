import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { violations } from './support/axe.ts'
import { DESKTOP, MOBILE } from './support/browser.ts'
import { enterSandbox, giveAuthenticator, runOperatorCommand } from './support/console.ts'
import { ALWAYS_THERE, giveHostileNames, harmOf, NO_HARM } from './support/hostile-names.ts'
import { answerOffer, approveLogin, replaceQrCode } from './support/sandbox.ts'
import { createDeposit, openBrowser, query, shopper, till } from './support/shared-till.ts'
import { callerOf, makeOffer } from './support/widget-calls.ts'

/** Pays a deposit, so the pages have something to show. */
async function payDeposit(): Promise<{ depositId: string; steamId: string }> {
  const deposit = await createDeposit()
  const caller = await callerOf(till.gateway, deposit)
  const { steamId, tradeUrl } = await shopper()
  await caller.post('/api/trade-url', { tradeUrl })
  const { offerId } = await makeOffer(caller)
  await answerOffer(till.sandbox, offerId, 'accept')
  await expect.poll(async () => (await caller.payment()).status).toBe('succeeded')
  return { depositId: deposit.id, steamId }
}

const pagesOf = (depositId: string, steamId: string): [path: string, shows: RegExp | string][] => [
  ['/', 'Where shoppers leave'],
  ['/', 'could be better'],
  ['/deposits', depositId],
  [`/deposits/${depositId}`, 'What happened'],
  [`/find?text=${depositId}`, 'succeeded'],
  ['/trades', /Save as CSV|Nothing is under way/],
  ['/stores', 'Ember Forge'],
  ['/stores/1', 'Statement'],
  ['/reports/1', 'Movements'],
  ['/bots', 'Tradetill Bot'],
  ['/bots/1', 'Answered 429'],
  ['/shoppers', 'No account is denied.'],
  [`/shoppers/${steamId}`, 'Newest deposits'],
  ['/money', 'Ledger check'],
  ['/webhooks', '/webhooks/tradetill'],
  ['/webhooks/1', 'deposit.succeeded'],
  ['/prices', 'items have been listed by a source'],
  ['/items', 'Tradetill Bot'],
  ['/items?show=departures', 'No item has left a bot yet.'],
  // The amounts depend on when the vault last reported its markets.
  ['/items?show=sales', 'At the markets'],
  ['/items?show=sales', 'Where the vault sells'],
  ['/items?show=drift', 'No differences found.'],
  ['/items?show=wishes', 'Ask the vault'],
  ['/weather?method=send', 'send by bot'],
  ['/acts', 'store add'],
  ['/settings', 'Second operator'],
]

/** Returns the short words and Steam ids that panel titles and facts break over two lines. */
const brokenWords = (page: Page): Promise<string[]> =>
  page.locator('.panel-head h2, .facts dd').evaluateAll((parts) =>
    parts.flatMap((part) => {
      const text = (part.querySelector('a, span') ?? part).firstChild
      if (!(text instanceof Text)) return []
      return [...text.data.matchAll(/\b(?:[A-Za-z]{2,12}|\d{17})\b/g)].flatMap(({ 0: word, index }) => {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        return range.getClientRects().length > 1 ? [word] : []
      })
    }),
  )

describe.each([
  { viewport: DESKTOP, scheme: 'dark', names: 'plain' },
  { viewport: MOBILE, scheme: 'light', names: 'hostile' },
] as const)('at $viewport.width px, $scheme, $names names', ({ viewport, scheme, names }) => {
  test('every page of the console shows its data and meets WCAG', async () => {
    const { depositId, steamId } = await payDeposit()
    const { page } = await openBrowser({ viewport, context: { colorScheme: scheme } })
    await enterSandbox(page)
    // A million pages for each metric, so the few that other tests measured on this till do not change the figures.
    await query(`
      insert into page_vital select date_trunc('day', till_now(), 'UTC'), 'deposit', device, metric, bucket, 1000000
      from unnest(array['phone', 'computer']) device,
        (values ('LCP', 50), ('INP', 40), ('CLS', 41), ('FCP', 48), ('TTFB', 30)) vital (metric, bucket)
      on conflict (day, screen, device, metric, bucket) do update set pages = excluded.pages`)
    const hostile = names === 'hostile' ? await giveHostileNames(page) : undefined
    await page.getByText('without a passkey').waitFor()
    for (const [path, shows] of pagesOf(depositId, steamId)) {
      await page.goto(till.console + path)
      await page.getByRole('main').getByText(shows).first().waitFor()
      expect([path, await violations(page)]).toEqual([path, []])
      const pageWidth = await page.evaluate(() => document.documentElement.scrollWidth)
      expect([path, pageWidth]).toEqual([path, viewport.width])
      expect([path, await harmOf(page)]).toEqual([path, NO_HARM])
      expect([path, await brokenWords(page)]).toEqual([path, []])
    }
    // Checks that the pages did show hostile texts. Otherwise the checks above would prove nothing.
    expect([...(hostile ?? [])].filter((key) => ALWAYS_THERE.includes(key)).sort()).toEqual(
      hostile === undefined ? [] : ALWAYS_THERE,
    )
  })
})

test('the first page of the console weighs at most 120 KB, gzipped', () => {
  const folder = join(import.meta.dirname, '../console/dist')
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const files = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file = '']) => file)
  expect(files.some((file) => file.endsWith('.js'))).toBe(true)
  const bytes = ['index.html', ...files].map((file) => gzipSync(readFileSync(join(folder, file))).length)
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(120 * 1024)
})

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? '')

/** Presses Tab until the focused element has this text. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.keyboard.press('Tab')
        return focused(page)
      },
      { interval: 0 },
    )
    .toBe(wanted)
}

test('an operator registers a passkey and credits a store with the keyboard, and with the mouse registers a store, reads the acts and signs in again', async () => {
  const { depositId } = await payDeposit()
  const { page } = await openBrowser({ viewport: DESKTOP })
  await giveAuthenticator(page)
  const name = `nina ${depositId}`
  const link = /http:\S+\/enter#\S+/.exec(
    await runOperatorCommand('operator', 'add', name, '--role', 'operator'),
  )?.[0]
  await page.goto(link ?? '')
  await page.getByText(`You will sign in as ${name}`).waitFor()
  await tabTo(page, 'Register a passkey')
  await press(page, 'Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()

  // The search opens its only result; from a list, Enter opens the deposit of the row.
  await press(page, '/')
  await page.keyboard.type(depositId)
  await press(page, 'Enter')
  await page.getByRole('heading', { name: `Deposit ${depositId}` }).waitFor()
  await page.getByText('credited').first().waitFor()
  await press(page, 'g', 'd')
  await page.getByRole('cell', { name: depositId, exact: true }).first().waitFor()
  await page.getByRole('main').focus()
  await press(page, 'j', 'Enter')
  await page.getByRole('heading', { name: /^Deposit \d+$/ }).waitFor()

  // `?` lists the keys, and Escape closes the list.
  await press(page, '?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  expect(await violations(page)).toEqual([])
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  // An act that concerns money asks for the passkey again, because the last check was too long ago.
  await query("update operator_session set verified_at = now() - interval '6 minutes'")
  await page.goto(`${till.console}/stores/1`)
  await page.getByRole('button', { name: 'Credit', exact: true }).waitFor()
  await tabTo(page, 'Credit')
  await press(page, 'Enter')
  const dialog = page.getByRole('dialog', { name: 'Credit' })
  await dialog.waitFor()
  expect(await violations(page)).toEqual([])
  await dialog.getByLabel('Amount').focus()
  await page.keyboard.type('1.00')
  await press(page, 'Tab')
  await page.keyboard.type(`gift ${depositId}`)
  await press(page, 'Tab')
  await page.keyboard.type('a test')
  await press(page, 'Enter')
  await dialog.getByRole('status').waitFor()
  const [session] = await query(
    "select verified_at > now() - interval '5 minutes' as fresh from operator_session order by begun_at desc limit 1",
  )
  expect(session).toEqual({ fresh: true })
  await press(page, 'Tab', 'Enter')
  await dialog.waitFor({ state: 'hidden' })

  // Registering a store shows its key.
  await page.goto(`${till.console}/stores`)
  await page.getByRole('button', { name: 'Register a store' }).click()
  const register = page.getByRole('dialog', { name: 'Register a store' })
  await register.getByLabel('Name, as shoppers see it').fill(`Store of ${name}`)
  await register.getByLabel('Origins, separated by commas').fill('http://localhost:8123')
  expect(await violations(page)).toEqual([])
  await register.getByRole('button', { name: 'Register a store' }).click()
  await register.getByText(/^tt_test_/).waitFor()
  expect(await violations(page)).toEqual([])
  await register.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: `Store of ${name}` }).click()
  await page.getByRole('button', { name: 'Open an address' }).click()
  const address = page.getByRole('dialog', { name: 'Open an address' })
  await address.getByLabel('Host and port').fill('localhost:8123')
  await address.getByRole('button', { name: 'Open an address' }).click()
  await address.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('cell', { name: 'localhost:8123' }).waitFor()
  await query('update store set disabled_at = now() where name = $1', [`Store of ${name}`])

  // The dialog shows a replaced code, and the phone of another account cannot give the bot a token.
  await page.goto(`${till.console}/bots/1`)
  await page.getByRole('button', { name: 'Renew the token' }).click()
  const renewal = page.getByRole('dialog', { name: 'Renew the token' })
  await renewal.getByRole('button', { name: 'Renew the token' }).click()
  await renewal.getByRole('img', { name: 'QR code for the Steam app' }).waitFor()
  expect(await violations(page)).toEqual([])
  const clientIdOf = async () => /\d+$/.exec((await renewal.locator('code').textContent()) ?? '')?.[0] ?? ''
  const firstId = await clientIdOf()
  await replaceQrCode(till.sandbox, firstId)
  await expect.poll(clientIdOf).not.toBe(firstId)
  await approveLogin(till.sandbox, await clientIdOf(), await shopper())
  await renewal.getByText('Another account approved').waitFor()
  await renewal.getByRole('button', { name: 'Cancel' }).click()

  // The credit above is on record, and the open page shows the next act as it happens.
  await page.goto(`${till.console}/acts?operator=${encodeURIComponent(name)}`)
  await page.getByRole('cell', { name: 'store credit' }).waitFor()
  await runOperatorCommand('maintenance', 'on', '--by', name)
  await page.getByRole('cell', { name: 'maintenance on' }).waitFor()
  await runOperatorCommand('maintenance', 'off', '--by', name)

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByText(`${name} (operator)`).waitFor()
})

test('an operator removes an endpoint with a reason, and only the record of this act remains', async () => {
  const [endpoint] = await query(`
    insert into webhook_endpoint (store_id, url, secret, event_types)
    select store_id, url || '/removed', secret, '{deposit.reversed}' from webhook_endpoint
    order by id limit 1 returning id::text, url`)
  const { page } = await openBrowser({ viewport: DESKTOP })
  await enterSandbox(page)
  await page.goto(`${till.console}/webhooks`)
  const row = page.getByRole('row', { name: String(endpoint?.url) })
  await row.getByRole('button', { name: 'Remove' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove' })
  await dialog.getByLabel('Reason, for the record').fill('the store moved')
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Remove' }).click()
  // The dialog stays after its row has left the page.
  await page.locator('tr', { hasText: String(endpoint?.url) }).waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.poll(() => query('select 1 from webhook_endpoint where id = $1', [endpoint?.id])).toEqual([])
  await page.goto(`${till.console}/acts`)
  await page.getByRole('cell', { name: 'webhook remove' }).first().waitFor()
})

test('a list whose next page cannot be loaded keeps its rows, reports the failure, and loads the page after a press', async () => {
  const [older, newer] = [await createDeposit(), await createDeposit()]
  const { page } = await openBrowser({ viewport: DESKTOP })
  await enterSandbox(page)
  let isBroken = true
  await page.route('**/ops/find/deposits', async (route) => {
    const input = route.request().postDataJSON() as { before?: string }
    if (input.before !== undefined && isBroken) return route.abort()
    return route.continue({ postData: { ...input, limit: 1 } })
  })
  await page.goto(`${till.console}/deposits`)
  await page.getByRole('cell', { name: newer.id }).waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  const failure = page.getByRole('alert').filter({ hasText: 'The console does not answer.' })
  await failure.waitFor()
  await page.getByRole('cell', { name: newer.id }).waitFor()
  isBroken = false
  await failure.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('cell', { name: older.id }).waitFor()
  await failure.waitFor({ state: 'detached' })
})

test('rows that were requested before the filter changed are dropped', async () => {
  const ids = [(await createDeposit()).id, (await createDeposit()).id, (await createDeposit()).id].reverse()
  const { page } = await openBrowser({ viewport: DESKTOP })
  await enterSandbox(page)
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/ops/find/deposits', async (route) => {
    const input = route.request().postDataJSON() as { before?: string }
    if (input.before === ids[1]) {
      asked.resolve()
      await answered.promise
    }
    return route.continue({ postData: { ...input, limit: 1 } })
  })
  const shownIds = () => page.getByRole('main').locator('a[href^="/deposits/"]').allTextContents()
  await page.goto(`${till.console}/deposits`)
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(shownIds).toEqual(ids.slice(0, 2))
  await page.getByRole('button', { name: 'Show more' }).click()
  await asked.promise
  await page.getByLabel('Status').selectOption('created')
  await expect.poll(shownIds).toEqual(ids.slice(0, 1))
  await page.getByLabel('Status').selectOption('')
  answered.resolve()
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(shownIds).toEqual(ids.slice(0, 2))
})

/** A server on another port of localhost. Serves `html` and records the cookies that it receives. */
async function hostileServer(html: string) {
  const cookies: string[] = []
  const server = createServer(({ headers }, response) => {
    cookies.push(headers.cookie ?? '')
    response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { url: `http://localhost:${address.port}/`, cookies }
}

/** Calls the console without a browser, with a stolen cookie and forged headers. */
async function callForged(cookie: string): Promise<number | undefined> {
  const { host, origin, port } = new URL(till.console)
  const call = httpRequest({ host: '127.0.0.1', port, path: '/ops/find/acts', method: 'POST' })
  const headers = {
    host,
    origin,
    cookie,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  }
  for (const [name, value] of Object.entries(headers)) call.setHeader(name, value)
  call.end('{}')
  const [response] = await once(call, 'response')
  response.resume()
  return response.statusCode
}

test('D-33 a hostile page on another port of localhost gets nothing, and the cookie that its server receives opens nothing', async () => {
  const { page, context, seen } = await openBrowser()
  await enterSandbox(page)
  const { url, cookies } = await hostileServer('<!doctype html><title>another</title><p>hello')
  const otherPage = await context.newPage()
  await otherPage.goto(url)
  const consoleUrl = till.console
  const tried = await otherPage.evaluate(async (target) => {
    const call = async (path: string, init: RequestInit): Promise<string> => {
      try {
        const response = await fetch(target + path, { credentials: 'include', ...init })
        return `${response.status} ${await response.text()}`
      } catch {
        return 'nothing'
      }
    }
    const json = { 'content-type': 'application/json' }
    const frame = document.createElement('iframe')
    frame.src = target
    document.body.append(frame)
    await new Promise((resolve) => frame.addEventListener('load', resolve))
    let framed = 'nothing'
    try {
      framed = frame.contentWindow?.document.body.innerHTML ?? 'nothing'
    } catch {
      framed = 'nothing'
    }
    return {
      read: await call('/ops/find/acts', { method: 'POST', body: '{}' }),
      asJson: await call('/ops/find/acts', { method: 'POST', headers: json, body: '{}' }),
      page: await call('/', {}),
      act: await call('/ops/act/maintenance-on', { method: 'POST', mode: 'no-cors', body: '{}' }),
      halfOfSession: localStorage.getItem('console-session') ?? 'nothing',
      cookie: document.cookie === '' ? 'nothing' : document.cookie,
      framed,
    }
  }, consoleUrl)
  expect(tried).toEqual({
    read: 'nothing',
    asJson: 'nothing',
    page: 'nothing',
    // A page reads 0 as the status of an answer to a no-cors call.
    act: expect.stringMatching(/^(?:nothing|0 )/),
    halfOfSession: 'nothing',
    cookie: 'nothing',
    framed: expect.not.stringContaining('Overview'),
  })
  // The browser refused to frame the console.
  await expect.poll(() => seen.complaints).toHaveLength(1)
  expect(seen.complaints.splice(0)).toEqual([expect.stringContaining("frame-ancestors 'none'")])
  expect(await query("select 1 from outage where kind = 'maintenance'")).toEqual([])
  // Browsers send a cookie to every port of its host, so the hostile server received it. Alone it is not a session.
  const stolenCookie = cookies.find((cookie) => cookie.includes('__Host-console='))
  expect(stolenCookie).toBeDefined()
  expect(await callForged(stolenCookie ?? '')).toBe(401)
  await page.reload()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
})
