/** D-32: a deposit in a frame of its store's page, and of a page whose origin is not the store's. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOADER_INTEGRITY, LOADER_PATH } from '../gateway/http/embed-loader.ts'
import { freePort } from '../gateway/testing/free-port.ts'
import { violations } from './support/axe.ts'
import { DESKTOP, MOBILE, type Visit } from './support/browser.ts'
import {
  callsTo,
  createDeposit,
  endDeposit,
  openBrowser,
  openTolerantContext,
  query,
  shopper,
  till,
} from './support/shared-till.ts'
import { TEXTS, tickUntil } from './support/shopper.ts'
import { callerOf, makeOffer } from './support/widget-calls.ts'

/**
 * Serves the store's page under host names of sites other than the till's, so browsers withhold the till's cookies in
 * its frames. The query sets which frames the policy of the page allows.
 */
const server = createServer((request, response) => {
  const frames = new URL(request.url ?? '/', STORE_ORIGIN).searchParams.get('frames') ?? till.gateway
  const policy = `script-src ${till.gateway} 'unsafe-inline'; frame-src ${frames}`
  response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(STORE_PAGE)
})
const port = await freePort()
const STORE_ORIGIN = `http://store.localhost:${port}`
const FOREIGN_ORIGIN = `http://other.localhost:${port}`

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await query('update store set origins = array_append(origins, $1) where not $1 = any(origins)', [
    STORE_ORIGIN,
  ])
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** A store's page that embeds the loader as the guide says, and records the loader's events. */
const STORE_PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
  <script src="${till.gateway}${LOADER_PATH}" integrity="${LOADER_INTEGRITY}" crossorigin="anonymous"></script>
  <script>
    const received = []
    for (const type of ['ready', 'status', 'resize', 'close', 'done', 'load_failed', 'link'])
      document.addEventListener('tradetill:' + type, ({ detail }) => received.push({ type, detail }))
    const open = (url, mode) => {
      window.deposit = tradetill.open(url, { mode, target: document.querySelector(mode === 'inline' ? 'main' : 'body') })
    }
  </script></head>
  <body><main><h1>Shop</h1><button style="padding: 1em">Top up</button></main></body></html>`

/** Removes the loader's deadline of eight seconds, because a busy machine may need longer to load the frame. */
const NO_DEADLINE = `if (location.hostname.endsWith('.localhost')) {
  const begin = window.setTimeout
  window.setTimeout = (act, ms, ...given) => (ms === 8000 ? 0 : begin(act, ms, ...given))
}`

/** Opens a browser without the loader's deadline, and with a clock that tests can advance. */
async function openPatientBrowser(viewport = DESKTOP): Promise<Visit> {
  const visited = await openBrowser({ viewport })
  await visited.page.clock.install()
  await visited.context.addInitScript(NO_DEADLINE)
  return visited
}

/** Opens the store's page, and presses its button, which opens the deposit. */
async function openStorePage(
  page: Page,
  {
    url,
    mode = 'modal',
    origin = STORE_ORIGIN,
    frames = till.gateway,
  }: Record<string, string> & { url: string },
): Promise<void> {
  await page.goto(`${origin}/?${new URLSearchParams({ frames })}`)
  const press = `open(${JSON.stringify(url)}, ${JSON.stringify(mode)})`
  await page.evaluate(`document.querySelector('button').onclick = () => ${press}`)
  await page.getByRole('button', { name: 'Top up' }).click()
}

const GUIDE = readFileSync(join(import.meta.dirname, '../docs/store-guide.md'), 'utf8')

/** Resolves to `ready` or `load_failed`. */
const waitForFrame = (page: Page): Promise<string> => page.evaluate('deposit.ready')

type Received = { type: string; detail: Record<string, unknown> | null }
const readReceived = async (page: Page, type: string): Promise<Received['detail'][]> =>
  (await page.evaluate<Received[]>('received'))
    .filter((event) => event.type === type)
    .map(({ detail }) => detail)

function frameOf(page: Page): Frame {
  const [, frame] = page.frames()
  if (frame === undefined) throw new Error('the page has no frame')
  return frame
}

/** In a frame, every access to storage throws, as in frames of other sites in browsers that block tracking. */
const BLOCKED_STORAGE = `if (window !== window.top)
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
    Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError') } })`

/** Makes the offer of a deposit without a browser. Resolves to the offer's number. */
async function makeOpenOffer(url: string): Promise<string> {
  const caller = await callerOf(till.gateway, { id: '', url, hash: url.slice(-32) })
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  return (await makeOffer(caller)).offerId
}

test.each(['en', 'ru'] as const)(
  'a shopper pays in a frame over the store’s page, with storage blocked, in %s',
  async (language) => {
    const visited = await openPatientBrowser()
    const { page, context } = visited
    await context.addInitScript(BLOCKED_STORAGE)
    const redirectUrl = `${STORE_ORIGIN}/paid?order={EXTERNAL_ID}`
    const deposit = await createDeposit({ language, embedOrigin: STORE_ORIGIN, redirectUrl })
    const { url, id } = deposit
    await openStorePage(page, { url })
    expect(await waitForFrame(page)).toBe('ready')
    const frame = frameOf(page)
    const texts = TEXTS[language]
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('IFRAME')
    const dialog = page.getByRole('dialog', { name: 'Payment with game items' })
    await expect.poll(() => dialog.count()).toBe(1)
    await expect.poll(() => page.evaluate('document.documentElement.style.overflow')).toBe('hidden')
    const { tradeUrl, name } = await shopper()
    await frame.getByRole('textbox', { name: texts.tradeLink }).fill(tradeUrl)
    await frame.getByRole('link', { name }).waitFor()
    await frame.getByRole('combobox', { name: texts.sort }).selectOption('priceDown')
    await frame.getByRole('gridcell').first().click()
    expect(await violations(page)).toEqual([])
    await frame.getByRole('button', { name: texts.pay, exact: true }).click()
    await frame.getByRole('dialog', { name: texts.confirmTitle }).waitFor()
    const [trade] = callsTo(visited, '/api/trade')
    // The page in a frame has no cookies: it sends the token from its document, which begins with "e1.".
    expect(trade?.headers['x-csrf-token']).toMatch(/^e1\./)
    expect(await context.cookies()).toEqual([])
    const [{ offer }] = (await query('select steam_offer_id as offer from trade where deposit_id = $1', [
      id,
    ])) as [{ offer: string }]
    await endDeposit(deposit, offer)
    // The page redirects after the shopper has had time to read the outcome.
    await tickUntil(page, async () => page.url().startsWith(`${STORE_ORIGIN}/paid?order=`))
  },
)

test('the store’s page receives the outcome, and can prevent the redirect', async () => {
  const { page } = await openPatientBrowser()
  const deposit = await createDeposit({ embedOrigin: STORE_ORIGIN, redirectUrl: `${STORE_ORIGIN}/paid` })
  const { url, id } = deposit
  const offerId = await makeOpenOffer(url)
  await openStorePage(page, { url, mode: 'inline' })
  expect(await waitForFrame(page)).toBe('ready')
  await page.evaluate(`addEventListener('tradetill:done', (event) => event.preventDefault())`)
  await expect.poll(() => readReceived(page, 'status')).toEqual([{ depositId: id, status: 'pending' }])
  const height = async () => (await page.locator('iframe').boundingBox())?.height ?? 0
  // The loader keeps the frame between 480 px and the height of the window.
  expect(await height()).toBeGreaterThanOrEqual(480)
  expect(await height()).toBeLessThanOrEqual(DESKTOP.height)
  await endDeposit(deposit, offerId)
  const done = { depositId: id, status: 'succeeded', redirectUrl: `${STORE_ORIGIN}/paid` }
  await tickUntil(page, async () => (await readReceived(page, 'done')).length > 0)
  expect(await readReceived(page, 'done')).toEqual([done])
  expect(new URL(page.url()).pathname).toBe('/')
  expect(await violations(page)).toEqual([])
  await frameOf(page).getByRole('link', { name: TEXTS.en.backToStore }).click()
  await page.waitForURL(`${till.store}/`)
})

test('Esc in the frame closes it and gives the focus back; with an open offer, Esc and Close in the page ask before they close it', async () => {
  const { page } = await openPatientBrowser()
  const { url, id } = await createDeposit({ embedOrigin: STORE_ORIGIN })
  await openStorePage(page, { url })
  expect(await waitForFrame(page)).toBe('ready')
  await frameOf(page).getByRole('textbox', { name: TEXTS.en.tradeLink }).press('Escape')
  await page.locator('iframe').waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Top up')
  await expect.poll(() => page.evaluate('document.documentElement.style.overflow')).toBe('')

  await makeOpenOffer(url)
  await page.keyboard.press('Enter')
  expect(await waitForFrame(page)).toBe('ready')
  await expect.poll(() => readReceived(page, 'status')).toContainEqual({ depositId: id, status: 'pending' })
  const questions: string[] = []
  page.on('dialog', (question) => {
    questions.push(question.message())
    return questions.length === 1 ? question.dismiss() : question.accept()
  })
  // The dialog takes the focus when it opens.
  await frameOf(page).getByRole('dialog').waitFor()
  await page.getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('Escape')
  await expect.poll(() => questions).toEqual([TEXTS.en.closeQuestion])
  await expect.poll(() => page.locator('iframe').count()).toBe(1)
  await page.getByRole('button', { name: 'Close' }).click()
  await page.locator('iframe').waitFor({ state: 'detached' })
  expect(questions).toHaveLength(2)
})

test('Esc in the frame first clears a search or closes a popover, and then closes the frame', async () => {
  const { page } = await openPatientBrowser()
  const deposit = await createDeposit({ embedOrigin: STORE_ORIGIN })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  await openStorePage(page, { url: deposit.url })
  expect(await waitForFrame(page)).toBe('ready')
  const frame = frameOf(page)
  await frame.getByRole('gridcell').first().waitFor()
  const [search, popover] = [frame.getByRole('searchbox'), frame.locator('.unavailable .popover')]
  await frame.locator('.unavailable button').click()
  await popover.waitFor()
  await page.keyboard.press('Escape')
  await popover.waitFor({ state: 'hidden' })
  await search.fill('AK-47')
  await search.press('Escape')
  await expect.poll(() => search.inputValue()).toBe('')
  await search.press('Escape')
  await page.locator('iframe').waitFor({ state: 'detached' })
})

test('Close in the page asks before it closes a frame whose offer is still being made', async () => {
  const { page } = await openPatientBrowser()
  const deposit = await createDeposit({ embedOrigin: STORE_ORIGIN })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  await openStorePage(page, { url: deposit.url })
  expect(await waitForFrame(page)).toBe('ready')
  const frame = frameOf(page)
  await frame.getByRole('gridcell').first().click()
  // The answer does not arrive while the test runs.
  await page.route('**/api/trade', () => {})
  await frame.getByRole('button', { name: TEXTS.en.pay, exact: true }).click()
  await frame.getByRole('dialog').waitFor()
  const asked = page.waitForEvent('dialog')
  const pressed = page.getByRole('button', { name: 'Close' }).click()
  const question = await asked
  expect(question.message()).toBe(TEXTS.en.closeQuestion)
  await question.dismiss()
  await pressed
  await expect.poll(() => page.locator('iframe').count()).toBe(1)
})

test('an element loads once although it was moved a hundred times, and leaves nothing behind; the loader opens no foreign address', async () => {
  const { page } = await openPatientBrowser()
  const { url } = await createDeposit({ embedOrigin: STORE_ORIGIN })
  await openStorePage(page, { url })
  await page.evaluate(
    `for (let times = 0; times < 100; times += 1) { deposit.remove(); document.body.append(deposit) }`,
  )
  expect(await waitForFrame(page)).toBe('ready')
  // A frame in another process disappears a moment after its element.
  await expect.poll(() => page.frames().length).toBe(2)
  await page.evaluate('deposit.close()')
  await expect.poll(() => page.frames().length).toBe(1)
  await expect.poll(() => page.evaluate('document.documentElement.style.overflow')).toBe('')
  await expect(page.evaluate(`tradetill.open('https://evil.example/deposit/1')`)).rejects.toThrow('is not of')
})

test('on a narrow screen the loader leaves the store for the deposit’s page, and an element becomes a link to it', async () => {
  const visited = await openBrowser({ viewport: MOBILE })
  const { page, context } = visited
  const { url } = await createDeposit({ embedOrigin: STORE_ORIGIN })
  await openStorePage(page, { url })
  await page.waitForURL(url)
  await page.getByRole('textbox', { name: TEXTS.en.tradeLink }).waitFor()
  expect((await context.cookies(till.gateway)).map(({ name }) => name)).toEqual(['csrf'])
  await page.goto(`${STORE_ORIGIN}/`)
  await page.evaluate(
    `document.body.insertAdjacentHTML('beforeend', '<tradetill-deposit src="${url}"></tradetill-deposit>')`,
  )
  await expect
    .poll(() => page.getByRole('link', { name: 'Open the payment page' }).getAttribute('href'))
    .toBe(url)
  expect(await violations(page)).toEqual([])
})

test('with the code of the guide, a popup notifies the page that opened it, and closes', async () => {
  const [, inPopup = '', inOpener = ''] =
    /```js\n(\/\/[^\n]*in the popup\n.*?)\n\n(\/\/ the page that opened it.*?)```/s.exec(GUIDE) ?? []
  const { page, context } = await openPatientBrowser()
  await context.route(`${STORE_ORIGIN}/returned?*`, (route) =>
    route.fulfill({ contentType: 'text/html', body: `<script>${inPopup}</script>` }),
  )
  const deposit = await createDeposit({ redirectUrl: `${STORE_ORIGIN}/returned?order={EXTERNAL_ID}` })
  const offerId = await makeOpenOffer(deposit.url)
  await page.goto(`${STORE_ORIGIN}/`)
  await page.evaluate(`window.asked = []; const askMyServerAbout = (order) => asked.push(order)
    ${inOpener}
    document.querySelector('button').onclick = () => { window.popup = window.open(${JSON.stringify(deposit.url)}) }`)
  const opening = context.waitForEvent('page')
  await page.getByRole('button', { name: 'Top up' }).click()
  const popup = await opening
  await popup.getByRole('dialog', { name: TEXTS.en.confirmTitle }).waitFor()
  // The till's page has cut the connection to its opener.
  await expect.poll(() => popup.evaluate('window.opener')).toBeNull()
  await expect.poll(() => page.evaluate('popup.closed')).toBe(true)
  const closed = popup.waitForEvent('close')
  await endDeposit(deposit, offerId)
  await tickUntil(page, async () => (await page.evaluate<string[]>('asked')).length > 0)
  const [{ order }] = (await query('select external_id as order from deposit where id = $1', [
    deposit.id,
  ])) as [{ order: string }]
  await expect.poll(() => page.evaluate('asked')).toEqual([order])
  await closed
})

describe('a frame that does not load', () => {
  test.each([
    [
      'a page of an origin other than the deposit’s',
      { embedOrigin: STORE_ORIGIN },
      { origin: FOREIGN_ORIGIN },
    ],
    ['a page whose policy lacks the till', { embedOrigin: STORE_ORIGIN }, { frames: "'none'" }],
    ['a page of a deposit that names no origin', {}, {}],
  ])(
    'in %s gets a link to the deposit’s page, and the browser’s console names what may be missing',
    async (_what, deposit: Record<string, string>, shop: Record<string, string>) => {
      const page = await (await openTolerantContext({ viewport: DESKTOP })).newPage()
      const lines: string[] = []
      page.on('console', (line) => lines.push(line.text()))
      await page.clock.install()
      const { url } = await createDeposit(deposit)
      await openStorePage(page, { url, ...shop })
      // A greeting from the page itself does not count as the till's answer.
      await page.evaluate(`postMessage({ tradetill: 1 }, '*')`)
      await page.clock.runFor(8_000)
      expect(await waitForFrame(page)).toBe('load_failed')
      await expect
        .poll(() => page.getByRole('link', { name: 'Open the payment page' }).getAttribute('href'))
        .toBe(url)
      expect(lines.filter((line) => line.startsWith('tradetill-deposit'))).toEqual([
        expect.stringContaining(`"frame-src ${till.gateway}"`),
      ])
      expect(await readReceived(page, 'ready')).toEqual([])
      expect(await violations(page)).toEqual([])
    },
  )
})
