import type { Page, Request } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import type { Messages } from '../widget/i18n/en.ts'
import { launchBrowser, visit } from './support/browser.ts'
import { eventually } from './support/process.ts'
import { readOffersTo } from './support/sandbox.ts'
import {
  callsTo,
  createDeposit,
  endDeposit,
  type Opened,
  openConfirmation,
  openDeposit,
  openStand,
  shopper,
  till,
} from './support/shared-till.ts'
import {
  centsOf,
  comeBack,
  giveLink,
  openOffer,
  pickItems,
  stopClock,
  switchLanguage,
  TEXTS,
  tickUntil,
} from './support/shopper.ts'
import { callerOf } from './support/widget-calls.ts'

async function giveLinkAndPick(opened: Opened): Promise<void> {
  const { page, texts } = opened
  await giveLink(page, texts, await shopper())
  await pickItems(page, 1)
}

const confirmation = (page: Page, texts: Messages) => page.getByRole('dialog', { name: texts.confirmTitle })
const success = (page: Page, texts: Messages) =>
  page.getByRole('dialog', { name: texts.outcomes.succeeded.title })

async function offerOf(page: Page, texts: Messages): Promise<string> {
  const link = confirmation(page, texts).getByRole('link', { name: texts.acceptInBrowser })
  return /(\d+)\/$/.exec((await link.getAttribute('href')) ?? '')?.[1] ?? ''
}

/** `whenIdle` resolves when no poll of the page is under way. */
function watchPolls(page: Page) {
  const pending = new Set<Request>()
  let polls = 0
  page.on('request', (request) => {
    if (!request.url().includes('/api/payment')) return
    polls += 1
    pending.add(request)
  })
  page.on('requestfinished', (request) => pending.delete(request))
  page.on('requestfailed', (request) => pending.delete(request))
  const whenIdle = () => expect.poll(() => pending.size).toBe(0)
  return {
    whenIdle,
    /** Stopping the clock makes it jump ahead, so the page polls. Resolves once that poll has ended. */
    async stopClock() {
      const before = polls
      await stopClock(page)
      await expect.poll(() => polls).toBeGreaterThan(before)
      await whenIdle()
    },
  }
}

test('A-061 A-131 a failing server and a lost connection cause one toast each; back online, the page is current within a second', async () => {
  const opened = await openConfirmation({}, ({ page }) => page.clock.install())
  const { page, context, texts, offerId } = opened
  let failedPolls = 0
  // Stopping the clock makes it jump ahead, which would remove a toast, so this comes before the first failure.
  await stopClock(page)
  await page.route('**/api/payment?*', async (route) => {
    failedPolls += 1
    await route.fulfill({ status: 500, body: 'no' })
  })
  const errors = page.locator('.toast-error')
  for (let polls = 1; polls <= 3; polls += 1) {
    await page.clock.runFor(1000)
    await expect.poll(() => failedPolls).toBeGreaterThanOrEqual(polls)
  }
  await errors.waitFor()
  await expect.poll(() => errors.count()).toBe(1)
  await page.clock.runFor(6000)
  await errors.waitFor({ state: 'detached' })
  await page.unroute('**/api/payment?*')
  let answers = 0
  page.on('response', (response) => {
    // The status is 304 if nothing has changed.
    if (response.url().includes('/api/payment') && response.status() < 400) answers += 1
  })
  // The page polls again only after it has processed the last answer.
  await eventually('polls are answered again', async () => {
    await page.clock.runFor(1000)
    return answers > 1 || undefined
  })
  await context.setOffline(true)
  await page.getByText(texts.offline).waitFor()
  await page.clock.runFor(1000)
  await errors.getByText(texts.failedToReceiveDeposit).waitFor()
  expect(texts.failedToReceiveDeposit).toBe('failed to receive deposit')
  // For a minute, no further toast appears.
  for (let step = 0; step < 6; step += 1) await page.clock.runFor(10_000)
  expect(await errors.count()).toBe(0)
  await expect.poll(() => confirmation(page, texts).isVisible()).toBe(true)
  await context.setOffline(false)
  await page.getByRole('button', { name: texts.online }).waitFor()
  await context.setOffline(true)
  await page.getByText(texts.offline).waitFor()
  // The clock stands still, so only the lost connection can make the toast leave.
  await page.locator('.toast-success.toast-leaving').waitFor()
  await endDeposit(opened.deposit, offerId)
  await context.setOffline(false)
  await success(page, texts).waitFor()
})

test('D-25 a tab that slept repeats calls that hung, removes the spinner, and causes only one offer', async () => {
  const opened = await openStand({}, ({ page }) => page.clock.install())
  const { page, texts } = opened
  await pickItems(page, 1)
  await stopClock(page)
  // Simulates a closed laptop: time passes while the page does not run.
  const closeTheLid = () => page.clock.fastForward(60_000)
  let inventoryCalls = 0
  await page.route('**/api/inventory?*', async (route) => {
    inventoryCalls += 1
    if (inventoryCalls > 1) await route.continue()
  })
  await page.getByRole('button', { name: texts.reload }).click()
  await page.locator('[aria-busy=true]').waitFor()
  await closeTheLid()
  await page.locator('.shelf[aria-busy=false]').waitFor()
  await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(1)
  let trades = 0
  await page.route('**/api/trade', async (route) => {
    trades += 1
    const call = trades
    // The first answer never arrives and the second is lost, but the till makes the offer.
    if (call > 2) return route.continue()
    await route.fetch()
    if (call === 2) await route.abort()
  })
  await page.getByRole('button', { name: texts.pay, exact: true }).dblclick()
  await page.getByRole('dialog', { name: texts.creatingTitle }).waitFor()
  await expect.poll(() => trades).toBe(1)
  await closeTheLid()
  await expect.poll(() => trades).toBe(2)
  await tickUntil(page, () => confirmation(page, texts).isVisible())
  expect(trades).toBe(3)
  expect(await readOffersTo(till.sandbox, await shopper())).toHaveLength(1)
})

test('nobody can pay while the dialogs’ code cannot be loaded, and the page requests that code at another address', async () => {
  const dialogs = /\/assets\/modals-[\w-]+\.js/
  const visited = await openStand({}, async ({ page }) => {
    await page.clock.install()
    await page.route(dialogs, (route) => route.abort())
  })
  const { page, texts } = visited
  await pickItems(page, 2)
  await stopClock(page)
  const button = page.getByRole('button', { name: texts.pay, exact: true })
  await button.click()
  const missing = page.getByRole('alert').filter({ hasText: texts.payFailed })
  await missing.getByRole('button', { name: texts.reloadPage }).waitFor()
  expect(callsTo(visited, '/api/trade')).toEqual([])
  await page.unroute(dialogs)
  await page.clock.runFor(2000)
  await missing.waitFor({ state: 'detached' })
  const asked = visited.seen.requests.filter(({ url }) => dialogs.test(url))
  expect(asked.at(-1)?.url).toMatch(/\.js\?attempt=\d+$/)
  expect(callsTo(visited, '/api/trade')).toEqual([])
  await button.click()
  await tickUntil(page, () => confirmation(page, texts).isVisible())
})

test('reload, back and forward show the true state of a deposit at every step', async () => {
  const { page, texts, deposit } = await openDeposit()
  const link = page.getByRole('textbox', { name: texts.tradeLink })
  await link.waitFor()
  await page.reload()
  await giveLink(page, texts, await shopper())
  await page.reload()
  await page.getByRole('radio', { name: 'Dota 2' }).check({ force: true })
  await pickItems(page, 1)
  const picked = page.getByRole('gridcell', { selected: true })
  const name = await picked.getAttribute('aria-label')
  await page.reload()
  await page.goto(`${till.gateway}/help`)
  await page.goBack()
  await expect.poll(() => picked.getAttribute('aria-label')).toBe(name)
  const [asked, reloaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/api/trade', async (route) => {
    await route.fetch()
    asked.resolve()
    await reloaded.promise
    await route.abort().catch(() => {})
  })
  await page.getByRole('button', { name: texts.pay, exact: true }).click()
  await page.getByRole('dialog', { name: texts.creatingTitle }).waitFor()
  // The till has received the call, but the page never gets the answer.
  await asked.promise
  await page.reload()
  reloaded.resolve()
  await confirmation(page, texts).waitFor()
  await page.goto(`${till.gateway}/help`)
  await page.goBack()
  await confirmation(page, texts).waitFor()
  await page.goForward()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goBack()
  await endDeposit(deposit, await offerOf(page, texts))
  await success(page, texts).waitFor()
  await page.reload()
  await success(page, texts).waitFor()
})

test('a page that the browser froze and kept is up to date within a second of coming back', async () => {
  const browser = await launchBrowser({ keepsPages: true })
  onTestFinished(() => browser.close())
  const visited = await visit(browser)
  onTestFinished(visited.end)
  const { page } = visited
  const texts = TEXTS.en
  // Chromium reloads pages with no-store, but Safari keeps them. Without that header Chromium behaves like Safari.
  await page.route(/deposit|\/api\//, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, headers: { ...response.headers(), 'cache-control': 'no-cache' } })
  })
  const opened = { ...visited, texts, deposit: await createDeposit() }
  await page.clock.install()
  const polls = watchPolls(page)
  await page.goto(opened.deposit.url)
  await giveLinkAndPick(opened)
  await openOffer(page, texts)
  const offer = await offerOf(page, texts)
  // With a call under way, the browser might not keep the page.
  await polls.stopClock()
  await page.evaluate(() => document.addEventListener('freeze', () => Reflect.set(window, 'frozen', true)))
  await page.goto(`${till.gateway}/help`)
  await endDeposit(opened.deposit, offer)
  // A page from the browser's memory fires no load event.
  await page.goBack({ waitUntil: 'commit' })
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'frozen'))).toBe(true)
  await success(page, texts).waitFor()
})

test('a change in one of two tabs is visible in the other when the shopper returns to it', async () => {
  const opened = await openStand({}, ({ page }) => page.clock.install())
  const { page, context, deposit, texts } = opened
  await pickItems(page, 1)
  const otherTab = await context.newPage()
  const polls = watchPolls(otherTab)
  await otherTab.goto(deposit.url)
  await otherTab.getByRole('gridcell').first().waitFor()
  // Both tabs share the clock. The other tab's last poll must end before there is an offer.
  await polls.stopClock()
  await page.getByRole('button', { name: texts.pay, exact: true }).click()
  await tickUntil(page, () => confirmation(page, texts).isVisible())
  expect(await otherTab.getByRole('dialog').count()).toBe(0)
  await comeBack(otherTab, 'pageshow')
  await confirmation(otherTab, texts).getByRole('button', { name: texts.stepBack }).click()
  // The other tab's last calls must not be answered after the offer is accepted.
  await polls.whenIdle()
  await endDeposit(deposit, await offerOf(page, texts))
  await comeBack(page)
  await success(page, texts).waitFor()
  expect(await otherTab.getByRole('dialog').count()).toBe(0)
  await comeBack(otherTab)
  await success(otherTab, texts).waitFor()
})

/** Runs in the page: records the most polls under way at one time. */
function countPolls(): void {
  const { fetch } = window
  let polls = 0
  Reflect.set(window, 'mostPolls', 0)
  window.fetch = async (input, init) => {
    if (!String(input).startsWith('/api/payment')) return fetch(input, init)
    polls += 1
    Reflect.set(window, 'mostPolls', Math.max(polls, Reflect.get(window, 'mostPolls')))
    try {
      return await fetch(input, init)
    } finally {
      polls -= 1
    }
  }
}

test('on a slow connection polls do not pile up, and the payment succeeds', async () => {
  const opened = await openDeposit()
  const { page, context, deposit, texts } = opened
  const browser = await context.newCDPSession(page)
  await browser.send('Network.enable')
  const slow3g = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 } // ms, bytes/s
  await browser.send('Network.emulateNetworkConditions', slow3g)
  await context.addInitScript(countPolls)
  await page.reload()
  await giveLinkAndPick(opened)
  await openOffer(page, texts)
  const pollsBefore = callsTo(opened, '/api/payment').length
  await expect.poll(() => callsTo(opened, '/api/payment').length).toBeGreaterThan(pollsBefore + 1)
  await endDeposit(deposit, await offerOf(page, texts))
  await success(page, texts).waitFor()
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'mostPolls'))).toBe(1)
})

test.each([
  { days: -1, blocked: 'storage' },
  { days: 1, blocked: 'sound' },
] as const)(
  'A-067 with a clock $days day off, the page shows the till’s time left; with $blocked blocked, a payment still works',
  async ({ days, blocked }) => {
    const { page, context, deposit, texts } = await openDeposit()
    await context.addInitScript((blockedFeature) => {
      if (blockedFeature === 'sound') {
        HTMLMediaElement.prototype.play = () => Promise.reject(new DOMException('blocked', 'NotAllowedError'))
        return
      }
      Object.defineProperty(window, 'localStorage', {
        get() {
          throw new DOMException('denied', 'SecurityError')
        },
      })
    }, blocked)
    await page.clock.install({ time: Date.now() + days * 86_400_000 })
    await page.reload()
    await giveLink(page, texts, await shopper())
    const spoken = blocked === 'storage' ? await switchLanguage(page, 'ru') : texts
    await pickItems(page, 1)
    await openOffer(page, spoken)
    const timerForm = /^0(\d):(\d\d)$/
    await expect.poll(() => page.getByRole('timer').textContent()).toMatch(timerForm)
    const [, minutes, seconds] = timerForm.exec((await page.getByRole('timer').textContent()) ?? '') ?? []
    const shownS = Number(minutes) * 60 + Number(seconds)
    // The till is asked later, so its time left is at most the page's, apart from a second of rounding.
    const { timeLeft } = await (await callerOf(till.gateway, deposit)).payment()
    expect(shownS).toBeLessThanOrEqual(300)
    expect(shownS).toBeGreaterThanOrEqual((timeLeft ?? Number.NaN) - 1)
    await endDeposit(deposit, await offerOf(page, spoken), 'decline')
    await page.getByRole('dialog', { name: spoken.outcomes.tradeDeclined.title }).waitFor()
    // A blocked sound has no button to stop it.
    const stop = page.getByRole('button', { name: spoken.stopSound })
    if (blocked === 'sound') await stop.waitFor({ state: 'detached' })
  },
)

/** Runs in the page: replaces each text with one of two kinds of element, as browsers' translators do. */
function translate(): void {
  const translateTexts = (root: Node): void => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const found: Node[] = []
    while (walker.nextNode()) found.push(walker.currentNode)
    for (const [index, text] of found.entries()) {
      if (text.parentElement?.matches('font, ya-tr-span') || text.textContent?.trim() === '') continue
      const standIn = document.createElement(index % 2 === 0 ? 'font' : 'ya-tr-span')
      standIn.textContent = text.textContent
      text.parentNode?.replaceChild(standIn, text)
    }
  }
  const root = document.getElementById('root')
  if (root === null) return
  translateTexts(root)
  new MutationObserver(() => translateTexts(root)).observe(root, { childList: true, subtree: true })
}

test('the page asks not to be translated; a browser that translates it anyway breaks nothing, and amounts stay correct', async () => {
  const { page, context, deposit, texts } = await openDeposit()
  await context.addInitScript(translate)
  await giveLink(page, texts, await shopper())
  await expect.poll(() => page.locator('html').getAttribute('translate')).toBe('no')
  await expect.poll(() => page.locator('.notranslate').count()).toBe(1)
  await page.getByRole('gridcell').first().waitFor()
  await page.evaluate(translate)
  for (const standIn of ['font', 'ya-tr-span']) await page.locator(`.grid ${standIn}`).first().waitFor()
  const total = async () => centsOf((await page.locator('.summary-total dd').textContent()) ?? '')
  const firstPrice = await pickItems(page, 1)
  await expect.poll(total).toBe(firstPrice)
  await page.getByRole('gridcell').nth(1).click()
  await page.getByRole('gridcell').first().click()
  const secondPrice = centsOf((await page.locator('.card-price').nth(1).textContent()) ?? '')
  await expect.poll(total).toBe(secondPrice)
  await page.getByRole('combobox', { name: texts.sort }).selectOption('priceUp')
  await page.getByRole('searchbox', { name: texts.search }).fill('no such item')
  await page.getByText(texts.nothingFound('no such item')).waitFor()
  await page.getByRole('searchbox', { name: texts.search }).fill('')
  await page.locator('.language [lang=ru]').click()
  await page.getByRole('gridcell').first().waitFor()
  // Here only a text next to an icon changes, and the old text must not stay.
  await expect.poll(() => page.locator('.link-valid').textContent()).toContain(TEXTS.ru.tradeLinkValid)
  await page.getByRole('button', { name: TEXTS.ru.pay, exact: true }).click()
  await endDeposit(deposit, await offerOf(page, TEXTS.ru))
  await success(page, TEXTS.ru).waitFor()
  await expect
    .poll(async () => centsOf((await page.locator('.received strong').textContent()) ?? ''))
    .toBe(secondPrice)
})
