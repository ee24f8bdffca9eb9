import { describe, expect, onTestFinished, test } from 'vitest'
import type { Payment } from '../contract/widget-api.ts'
import { formatDate, formatMoney } from '../widget/i18n/format.ts'
import { withoutShownPayment } from './support/browser.ts'
import { eventually } from './support/process.ts'
import { readOffersTo } from './support/sandbox.ts'
import {
  callsTo,
  createDeposit,
  openBrowser,
  openDeposit,
  openStand,
  query,
  shopper,
  till,
} from './support/shared-till.ts'
import { answerInBrowser, giveLink, openOffer, pickItems, TEXTS } from './support/shopper.ts'
import { callerOf } from './support/widget-calls.ts'

/** Matches the counts of first paints; the metrics have a line for each class of device. */
const METRIC = /^tradetill_page_seconds_count\{metric="FCP",screen="deposit",device="\w+"\} (\d+)/gm

async function countFirstPaints(): Promise<number> {
  const text = await (await fetch(till.metrics)).text()
  return [...text.matchAll(METRIC)].reduce((sum, [, count]) => sum + Number(count), 0)
}

test('A-106 a page reports its loading times, and a lost report changes nothing', async () => {
  const paintsBefore = await countFirstPaints()
  const opened = await openDeposit()
  await expect.poll(() => callsTo(opened, '/api/metrics')[0]?.method).toBe('POST')
  // All test files report from one address, and reports per address are limited. So a report may need another try.
  await eventually('a report is counted', async () => {
    if ((await countFirstPaints()) > paintsBefore) return true
    await opened.page.reload()
    await opened.page.getByRole('textbox', { name: opened.texts.tradeLink }).waitFor()
    return undefined
  })
  const { page } = await openBrowser()
  await page.route('**/api/metrics', (route) => route.abort())
  const lost = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/metrics'))
  await page.goto((await createDeposit()).url)
  await lost
  await page.getByRole('textbox', { name: TEXTS.en.tradeLink }).waitFor()
})

describe('A-104 the error report', () => {
  test('A-105 describes an uncaught error and an unhandled rejection, and is sent with the token', async () => {
    const { page, context, texts } = await openDeposit()
    await page.getByRole('textbox', { name: texts.tradeLink }).waitFor()
    const reported = page.waitForRequest((request) => request.url().endsWith('/api/error-report'))
    await page.evaluate(() => {
      window.dispatchEvent(new ErrorEvent('error', { message: 'broken', filename: 'x.js', lineno: 7 }))
    })
    const request = await reported
    const { url, ...report } = request.postDataJSON()
    expect(report).toEqual({ message: 'broken', type: 'error', filename: 'x.js', lineno: 7, empty: true })
    expect(url).toBe(page.url())
    const cookies = await context.cookies(till.gateway)
    expect(request.headers()['x-csrf-token']).toBe(cookies.find(({ name }) => name === 'csrf')?.value)
    expect((await request.response())?.status()).toBe(204)
    const second = page.waitForRequest((other) => other.url().endsWith('/api/error-report'))
    await page.evaluate(() => {
      window.dispatchEvent(
        new PromiseRejectionEvent('unhandledrejection', {
          promise: Promise.resolve(),
          reason: new TypeError('nothing there'),
        }),
      )
    })
    expect((await second).postDataJSON()).toMatchObject({ message: 'nothing there', empty: false })
  })

  test('omits errors of other origins’ scripts, and the shopper sees nothing if the report fails', async () => {
    const opened = await openDeposit()
    const { page, texts } = opened
    await page.getByRole('textbox', { name: texts.tradeLink }).waitFor()
    await page.route('**/api/error-report', (route) => route.abort())
    await page.evaluate(() => {
      window.dispatchEvent(new ErrorEvent('error', { message: 'Script error.' }))
      window.dispatchEvent(new ErrorEvent('error', { message: 'broken' }))
    })
    await expect.poll(() => callsTo(opened, '/api/error-report').length).toBe(1)
    await expect.poll(() => page.getByRole('textbox', { name: texts.tradeLink }).isVisible()).toBe(true)
    expect(await page.locator('.toast').count()).toBe(0)
  })
})

test('A-103 A-062 the page accepts an empty answer to the trade call', async () => {
  const opened = await openStand()
  const { page, texts } = opened
  await page.route('**/api/trade', async (route) => {
    await route.fetch()
    await route.fulfill({ status: 200, body: '' })
  })
  const asked = page.waitForRequest((request) => request.url().endsWith('/api/trade'))
  await pickItems(page, 1)
  await openOffer(page, texts)
  const { hash, game, items } = (await asked).postDataJSON()
  expect({ hash, game, items }).toEqual({
    hash: opened.deposit.hash,
    game: 'cs',
    items: [expect.stringMatching(/^\d+$/)],
  })
})

test('A-105 a page that lost its token gets a new one, and repeats the call once', async () => {
  const opened = await openBrowser()
  const { page, context } = opened
  // Otherwise the report of the page's loading times could get the new token first.
  await page.route('**/api/metrics', (route) => route.abort())
  await page.goto((await createDeposit()).url)
  await page.getByRole('textbox', { name: TEXTS.en.tradeLink }).waitFor()
  await context.clearCookies()
  await giveLink(page, TEXTS.en, await shopper())
  expect(callsTo(opened, '/api/trade-url')).toHaveLength(2)
})

test('A-107 A-109 the page calls only the till, and loads nothing but pictures from elsewhere', async () => {
  const { seen } = await openStand()
  const foreign = seen.requests.filter(({ url }) => new URL(url).origin !== till.gateway)
  expect(new Set(foreign.map(({ type }) => type))).toEqual(new Set(['image']))
  expect(new Set(foreign.map(({ url }) => new URL(url).port))).toEqual(new Set([new URL(till.sandbox).port]))
})

test('A-017 A-023 A-053 the page shows, in reais, the amount of a credit, and that all of it is held', async () => {
  // Other tests add stores to the till of this worker.
  const [store] = await query("select id, risk_limit_usd_cents as risk from store where name = 'Ember Forge'")
  onTestFinished(async () => {
    await query('update store set risk_limit_usd_cents = $1 where id = $2', [store?.risk, store?.id])
  })
  await query('update store set risk_limit_usd_cents = 0 where id = $1', [store?.id])
  const { page, texts, deposit } = await openStand({ deposit: { currency: 'BRL' }, who: 'magic_tuesday' })
  const total = await pickItems(page, 2)
  await openOffer(page, texts)
  const coins = page.getByRole('dialog').locator('.coin[data-currency=BRL]')
  await expect.poll(() => coins.count()).toBe(1)
  await answerInBrowser(page, texts, 'Accept')
  const done = page.getByRole('dialog', { name: texts.outcomes.succeeded.title })
  await done.waitFor()
  await expect.poll(() => coins.count()).toBe(1)
  await done
    .getByText(formatMoney(total, 'BRL', 'en'))
    .first()
    .waitFor()
  const [row] = await query(
    'select credited_amount::int as amount, held_amount::int as held from deposit where id = $1',
    [deposit.id],
  )
  expect(row).toEqual({ amount: total, held: total })
  const [books] = await query(
    `select balance::int as held from account where kind = 'held' and currency = 'BRL' and store_id = $1`,
    [store?.id],
  )
  expect(books?.held).toBeGreaterThanOrEqual(total)
  const { heldUntil }: Payment = await (await callerOf(till.gateway, deposit)).payment()
  const until = formatDate(heldUntil ?? '', 'en')
  await done.getByText(texts.heldByLimit(formatMoney(total, 'BRL', 'en'), until)).waitFor()
})

test('A-087 the server refuses trades that the page would not offer', async () => {
  const caller = await callerOf(till.gateway, await createDeposit())
  const guest = await shopper('magic_hoarder')
  await caller.post('/api/trade-url', { tradeUrl: guest.tradeUrl })
  const { items } = await caller.inventory()
  // Items of 10 cents or less are not offered.
  expect(items.every(({ price }) => price > 10)).toBe(true)
  const refused = await caller.post('/api/trade', { game: 'cs', items: ['1'] })
  expect([refused.status, (await refused.json()).code]).toEqual([409, 'items_unavailable'])
  // The minimum for Counter-Strike is $3.00.
  const cheap = items.filter(({ price }) => price < 300).at(-1)
  const below = await caller.post('/api/trade', { game: 'cs', items: [cheap?.id] })
  expect([below.status, (await below.json()).code]).toEqual([409, 'below_minimum'])
  const unknown = await caller.post('/api/trade', { game: 'csgo', items: ['1'] })
  expect(unknown.status).toBe(400)
  expect(await readOffersTo(till.sandbox, guest)).toEqual([])
})

describe('A-032 A-033 A-073 A-118 toasts', () => {
  test('have an icon and a type, disappear after their time or at a click, and leave their container marked as empty', async () => {
    const { page, context } = await openBrowser({ context: { reducedMotion: 'no-preference' } })
    const { url } = await createDeposit({ language: 'en' })
    await withoutShownPayment(page)
    await page.route('**/api/payment?*', (route) => route.abort())
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.goto(url)
    const texts = TEXTS.en
    const toast = page.locator('.toast')
    await toast.waitFor()
    await expect
      .poll(() => toast.textContent())
      .toBe(`${texts.toastTypes.error}: ${texts.failedToReceiveDeposit}`)
    await expect.poll(() => toast.locator('svg').count()).toBe(1)
    expect(await page.locator('.toasts-empty').count()).toBe(0)
    const animation = await toast.evaluate((element) => getComputedStyle(element).animationDuration)
    expect(animation).toBe('0.4s')
    await toast.click()
    await page.locator('.toast-leaving').waitFor()
    await page.clock.runFor(399)
    await expect.poll(() => toast.count()).toBe(1)
    await page.clock.runFor(1)
    await toast.waitFor({ state: 'detached' })
    await page.locator('.toasts-empty').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: texts.retry }).click()
    await toast.waitFor()
    await page.clock.runFor(4999)
    expect(await page.locator('.toast-leaving').count()).toBe(0)
    await page.clock.runFor(1)
    await page.locator('.toast-leaving').waitFor()
    await page.clock.runFor(400)
    await toast.waitFor({ state: 'detached' })
    expect(await context.pages().length).toBe(1)
  })
})
