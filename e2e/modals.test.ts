import type { Page, Route } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import type { Messages } from '../widget/i18n/en.ts'
import { levelClass } from '../widget/i18n/format.ts'
import { DESKTOP, MOBILE, withoutShownPayment } from './support/browser.ts'
import { readOffers } from './support/sandbox.ts'
import {
  callsTo,
  createDeposit,
  endDeposit,
  openConfirmation,
  openDeposit,
  openStand,
  query,
  shopper,
  switchMaintenance,
  till,
} from './support/shared-till.ts'
import {
  comeBack,
  giveLink,
  openOffer,
  pickItems,
  stopClock,
  switchLanguage,
  TEXTS,
} from './support/shopper.ts'

const confirmation = (page: Page, texts: Messages) => page.getByRole('dialog', { name: texts.confirmTitle })

/** On a phone, a dialog ends 12 px above the page's lower edge, and it fades out over its last 32 px. */
const FADE_PX = 44

const scrollPosition = (page: Page): Promise<number> => page.evaluate(() => scrollY)

/**
 * Counts the page's wheel events. Runs before the page, because a browser may scroll without an event if the listener
 * is added only a moment before the wheel turns.
 */
function countWheelEvents(): void {
  Reflect.set(window, 'wheelEvents', 0)
  const count = (): unknown => Reflect.set(window, 'wheelEvents', Reflect.get(window, 'wheelEvents') + 1)
  addEventListener('wheel', count, { capture: true, passive: true })
}

/** Turns the wheel. Resolves once the page has received the event and painted twice. */
async function turnWheel(page: Page): Promise<void> {
  const countEvents = () => page.evaluate(() => Number(Reflect.get(window, 'wheelEvents')))
  const eventsBefore = await countEvents()
  await page.mouse.wheel(0, 400)
  await expect.poll(countEvents).toBe(eventsBefore + 1)
  await page.evaluate(
    () => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))),
  )
}

/** Expects the page to scroll with the wheel. */
async function expectScroll(page: Page): Promise<void> {
  const scrollBefore = await scrollPosition(page)
  await turnWheel(page)
  await expect.poll(() => scrollPosition(page)).not.toBe(scrollBefore)
}

test('a double click on Add funds selects no text of the dialog, and later double clicks select its text as usual', async () => {
  const { page, texts } = await openStand()
  await pickItems(page, 1)
  // The call gets no answer, so the dialog stays as it opens.
  await page.route('**/api/trade', () => {})
  const selected = () => page.evaluate(() => String(getSelection()).trim())
  await page.getByRole('button', { name: texts.pay, exact: true }).dblclick()
  const heading = page.getByRole('heading', { name: texts.creatingTitle })
  await heading.waitFor()
  expect(await selected()).toBe('')
  await heading.dblclick({ position: { x: 8, y: 12 } })
  expect(await selected()).toBe(texts.creatingTitle.split(' ')[0])
})

describe.each([
  { language: 'en', viewport: DESKTOP, clientLinks: 1 },
  { language: 'ru', viewport: MOBILE, clientLinks: 0 },
] as const)('the confirmation in $language at $viewport.width px', ({ language, viewport, clientLinks }) => {
  test('A-020 A-021 A-041 A-049 A-051 A-092 A-111 A-119 the modal shows everything that identifies the genuine offer', async () => {
    const { page, texts, deposit } = await openConfirmation({ language, viewport })
    const dialog = confirmation(page, texts)
    const [bot, offer] = await page.evaluate(async () => {
      const payment = await (await fetch(`/api/payment?hash=${location.pathname.slice(-32)}`)).json()
      return [payment.bot, { id: payment.steamTradeId, code: payment.steamTradeMessage }]
    })
    await dialog.getByText(bot.name).waitFor()
    const profile = dialog.getByRole('link', { name: texts.botProfile })
    await expect.poll(() => profile.getAttribute('href')).toBe(bot.profileUrl)
    await expect.poll(() => dialog.locator('img.avatar').getAttribute('src')).toBe(bot.avatarUrl)
    await expect
      .poll(() => dialog.locator(`.level.${levelClass(bot.level)}`).textContent())
      .toContain(String(bot.level))
    await expect.poll(() => dialog.getByRole('timer').textContent()).toMatch(/^0[0-5]:\d\d$/)
    await expect.poll(() => dialog.locator('output').textContent()).toBe(offer.code)
    await dialog.getByText(texts.scamWarning).waitFor()
    await dialog.getByText(texts.offerNumber(offer.id)).waitFor()
    const inBrowser = dialog.getByRole('link', { name: texts.acceptInBrowser })
    await expect.poll(() => inBrowser.getAttribute('href')).toBe(`${till.sandbox}/tradeoffer/${offer.id}/`)
    const inClient = dialog.getByRole('link', { name: texts.acceptInClient })
    await expect.poll(() => inClient.count()).toBe(clientLinks)
    if (clientLinks === 1)
      await expect.poll(() => inClient.getAttribute('href')).toBe(`steam://url/ShowTradeOffer/${offer.id}`)
    const sent = (await readOffers(till.sandbox)).find(({ id }) => id === offer.id)
    expect(sent?.message).toBe(offer.code)
    expect(deposit.hash).toMatch(/^[0-9a-f]{32}$/)
  })

  test('A-026 the page behind the modal is locked, and its scroll position is restored', async () => {
    const { page, deposit, texts } = await openStand({ language, viewport }, async ({ page }) => {
      await page.addInitScript(countWheelEvents)
    })
    await page.mouse.move(60, 500)
    await expectScroll(page)
    const scrollBefore = await scrollPosition(page)
    await page
      .getByRole('gridcell')
      .nth(9)
      .evaluate((cell: HTMLElement) => cell.click())
    await openOffer(page, texts)
    const lockedScroll = await scrollPosition(page)
    await turnWheel(page)
    expect(await scrollPosition(page)).toBe(lockedScroll)
    await page.getByRole('button', { name: texts.stepBack }).click()
    await expect.poll(() => scrollPosition(page)).toBe(scrollBefore)
    await expectScroll(page)
    // The outcome locks the page too, and cannot be closed.
    await page.getByRole('button', { name: texts.offerReturn }).click()
    const link = confirmation(page, texts).getByRole('link', { name: texts.acceptInBrowser })
    const offerId = /(\d+)\/$/.exec((await link.getAttribute('href')) ?? '')?.[1] ?? ''
    await endDeposit(deposit, offerId, 'decline')
    await page.getByRole('dialog', { name: texts.outcomes.tradeDeclined.title }).waitFor()
    const outcomeScroll = await scrollPosition(page)
    await turnWheel(page)
    expect(await scrollPosition(page)).toBe(outcomeScroll)
  })
})

test('A-061 A-062 the page polls the trade that it created, and shows offer and time left to a shopper who steps back', async () => {
  const visited = await openDeposit()
  const { page, texts } = visited
  const answers: number[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('/api/trade')) answers.push(response.status())
  })
  await giveLink(page, texts, await shopper())
  await pickItems(page, 1)
  const panelBox = await page.locator('.link-panel').boundingBox()
  await openOffer(page, texts)
  const calls = visited.seen.requests.map(({ url, method }) => `${method} ${new URL(url).pathname}`)
  const created = calls.lastIndexOf('POST /api/trade')
  // The page repeats the call while the till sends the offer, and after the page slept. All calls share one trade.
  expect(answers.at(-1)).toBe(200)
  expect(answers.filter((status) => status !== 200 && status !== 202)).toEqual([])
  expect(await query('select id from trade where deposit_id = $1', [visited.deposit.id])).toHaveLength(1)
  // The browser sends the report of the page's loading times when it is idle.
  const isOfFlow = (call: string) => call.includes('/api/') && !call.endsWith('/api/metrics')
  expect(calls.slice(created + 1).find(isOfFlow)).toBe('GET /api/payment')
  const countPolls = () => callsTo(visited, '/api/payment').length
  const pollsBefore = countPolls()
  await expect.poll(countPolls).toBeGreaterThan(pollsBefore + 2)
  const offer = await confirmation(page, texts).getByText(texts.offerNumber('')).textContent()
  expect(offer).toMatch(/\u00a0\d+$/)
  await page.getByRole('button', { name: texts.stepBack }).click()
  await page.getByText(texts.offerWaiting).waitFor()
  const notice = page.locator('.notices')
  await notice.getByText(offer ?? '').waitFor()
  await expect.poll(() => notice.getByRole('timer').textContent()).toMatch(/ 0[0-5]:\d\d\sleft$/)
  // The notice covers a part of the page and moves nothing.
  expect(await page.locator('.link-panel').boundingBox()).toEqual(panelBox)
})

test('the countdown shows a new deadline at once, and never more time than the server said', async () => {
  const { page, texts } = await openConfirmation({}, ({ page }) => page.clock.install())
  await stopClock(page)
  let timeLeft = 300
  await page.route('**/api/payment?*', async (route) => {
    const response = await route.fetch()
    // The body is empty if nothing has changed.
    if (response.status() !== 200) return route.fulfill({ response })
    await route.fulfill({ response, json: { ...(await response.json()), timeLeft } })
  })
  const timer = confirmation(page, texts).getByRole('timer')
  for (const [secondsLeft, shown] of [
    [200, '03:20'],
    [100, '01:40'],
  ] as const) {
    timeLeft = secondsLeft
    // At least one of the two returns falls between two ticks of the countdown.
    await page.clock.runFor(60)
    await comeBack(page)
    await expect.poll(() => timer.textContent()).toBe(shown)
  }
})

test('on a small phone the button that leads to Steam is in the first view, even above the longest reason for held money', async () => {
  const viewport = { width: 320, height: 568 }
  const { page } = await openConfirmation({ language: 'ru', viewport }, async ({ page }) => {
    await withoutShownPayment(page)
    const addHold = async (route: Route): Promise<void> => {
      const response = await route.fetch()
      const payment = await response.json()
      const held = { heldAmount: payment.amount, heldUntil: '2026-12-06T09:00:00.000Z', heldBy: 'limit' }
      await route.fulfill({ response, json: { ...payment, ...held } })
    }
    // Later polls are answered with 304, so the first answer stays.
    await page.route('**/api/payment?*', addHold, { times: 1 })
  })
  const dialog = confirmation(page, TEXTS.ru)
  const [reason = ''] = TEXTS.ru.heldByLimitAtMost('', '').split('.')
  await dialog.getByText(reason).waitFor()
  const button = await dialog.getByRole('link', { name: TEXTS.ru.acceptInBrowser }).boundingBox()
  expect((button?.y ?? 0) + (button?.height ?? Number.NaN)).toBeLessThan(viewport.height - FADE_PX)
})

test('the Russian confirmation fits a page of 320 px; at a zoom of 400 % its primary button is in the first view', async () => {
  const { page } = await openConfirmation({ language: 'ru', viewport: { width: 320, height: 640 } })
  const dialog = confirmation(page, TEXTS.ru)
  await dialog.getByRole('button', { name: TEXTS.ru.copy }).waitFor()
  const overflowing = await dialog.evaluate(
    (element) =>
      [element, ...element.querySelectorAll('.dialog-body > *')].filter(
        (part) => part.scrollWidth > part.clientWidth,
      ).length,
  )
  expect(overflowing).toBe(0)
  await page.setViewportSize({ width: 320, height: 225 })
  await dialog.evaluate((element) => element.scrollTo(0, 0))
  const accept = dialog.getByRole('link', { name: TEXTS.ru.acceptInBrowser })
  // At least 36 px of the button are in view.
  await expect
    .poll(async () => {
      const [button, view] = [await accept.boundingBox(), await dialog.boundingBox()]
      return button !== null && view !== null && button.y + 36 <= view.y + view.height
    })
    .toBe(true)
})

test('A-051 neither Esc nor a click outside closes the confirmation', async () => {
  const { page, texts } = await openConfirmation()
  for (const _ of [1, 2, 3]) await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await expect.poll(() => confirmation(page, texts).isVisible()).toBe(true)
  // Android's second Back closes a dialog. The page cannot prevent that, so it opens the dialog again.
  const isReopened = await page.evaluate(
    () =>
      new Promise<boolean>((resolve) => {
        const dialog = document.querySelector('dialog')
        // The page's own listener ran before this one.
        dialog?.addEventListener('close', () => resolve(dialog.matches(':modal')))
        dialog?.close()
      }),
  )
  expect(isReopened).toBe(true)
  await expect
    .poll(() => confirmation(page, texts).getByRole('link', { name: texts.acceptInBrowser }).isVisible())
    .toBe(true)
})

describe('maintenance', () => {
  afterEach(() => switchMaintenance('off'))

  test('A-022 shows a notice until it ends, and an open trade continues', async () => {
    const { page, texts } = await openConfirmation()
    const dialog = confirmation(page, texts)
    expect(await dialog.getByText(texts.technicalWorks).count()).toBe(0)
    await switchMaintenance('on')
    await dialog.getByText(texts.technicalWorks).waitFor()
    await switchMaintenance('off')
    await dialog.getByText(texts.technicalWorks).waitFor({ state: 'detached' })
    await expect.poll(() => dialog.getByRole('timer').textContent()).toMatch(/^0\d:\d\d$/)
  })
})

test('the secret code can be copied without a permission to read the clipboard', async () => {
  const { page, context, texts } = await openConfirmation()
  await context.grantPermissions(['clipboard-write'], { origin: till.gateway })
  await context.grantPermissions(['clipboard-read'], { origin: till.sandbox })
  const dialog = confirmation(page, texts)
  await dialog.getByRole('button', { name: texts.copy }).click()
  await dialog.getByRole('button', { name: texts.copied }).waitFor()
  const code = await dialog.locator('output').textContent()
  const readClipboard = () => navigator.clipboard.readText()
  await expect(page.evaluate(readClipboard)).rejects.toThrow('Read permission denied')
  const otherPage = await context.newPage()
  await otherPage.goto(till.sandbox)
  await otherPage.bringToFront()
  await expect.poll(() => otherPage.evaluate(readClipboard)).toBe(code)
})

test('the secret code is selected for the shopper if the browser refuses to copy it', async () => {
  const { page, texts } = await openConfirmation()
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))
  })
  const dialog = confirmation(page, texts)
  await dialog.getByRole('button', { name: texts.copy }).click()
  const selected = () => page.evaluate(() => String(getSelection()))
  await expect.poll(selected).toBe(await dialog.locator('output').textContent())
})

test('A-065 an open modal uses the deposit’s language, not the stored one; D-10 a language that is chosen on the page survives a reload', async () => {
  const { page } = await openConfirmation({ deposit: { language: 'en' } })
  await page.evaluate(() => localStorage.setItem('language', 'ru'))
  await page.reload()
  await confirmation(page, TEXTS.en).waitFor()
  await page.getByRole('button', { name: TEXTS.en.stepBack }).click()
  await switchLanguage(page, 'ru')
  await page.getByRole('button', { name: TEXTS.ru.offerReturn }).click()
  await confirmation(page, TEXTS.ru).waitFor()
  await page.reload()
  await confirmation(page, TEXTS.ru).waitFor()
  await expect.poll(() => page.title()).toMatch(/^0[0-5]:\d\d · Примите в Steam – Ember Forge #\d+$/)
})

describe('another payment', () => {
  test('leads back to an open offer until that offer ends', async () => {
    const { page, texts, deposit, offerId } = await openConfirmation({ language: 'en' })
    const { url } = await createDeposit({ language: 'ru' })
    await page.goto(url)
    const notice = page.getByText(TEXTS.ru.otherOffer(deposit.id))
    await notice.waitFor()
    await page.getByRole('link', { name: TEXTS.ru.otherOfferOpen }).click()
    await confirmation(page, texts).waitFor()
    await page.goto(url)
    await notice.waitFor()
    await endDeposit(deposit, offerId, 'decline')
    await page.reload()
    await page.getByRole('textbox', { name: TEXTS.ru.tradeLink }).waitFor()
    const stored = () => page.evaluate(() => localStorage.getItem('openOffer'))
    await expect.poll(stored).toBeNull()
    expect(await notice.count()).toBe(0)
  })
})

/** Closes the dialog as Android's Back does, which the page cannot prevent the second time. */
const pressBack = (page: Page): Promise<void> =>
  page.evaluate(() => document.querySelector('dialog')?.close())

describe('Android’s Back', () => {
  test('closes the error of a trade that was not created, and keeps the picks', async () => {
    const { page, texts } = await openStand()
    await page.route('**/api/trade', (route) =>
      route.fulfill({
        status: 422,
        contentType: 'application/problem+json',
        body: '{"code":"trade_refused"}',
      }),
    )
    await pickItems(page, 2)
    const failed = page.getByRole('dialog', { name: texts.creationErrorTitle })
    // Chromium treats Esc and Back as the same request.
    for (const close of [() => page.keyboard.press('Escape'), () => pressBack(page)]) {
      await page.getByRole('button', { name: texts.pay, exact: true }).click()
      await failed.waitFor()
      await close()
      await failed.waitFor({ state: 'detached' })
      await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(2)
      expect(page.url()).toContain('/deposit/')
    }
  })

  test('does not close an outcome, even if pressed three times, and the link to the store stays', async () => {
    const { page, texts, deposit, offerId } = await openConfirmation()
    await endDeposit(deposit, offerId, 'decline')
    const outcome = page.getByRole('dialog', { name: texts.outcomes.tradeDeclined.title })
    await outcome.waitFor()
    for (const _ of [1, 2, 3]) {
      await pressBack(page)
      await expect.poll(() => outcome.evaluate((dialog) => dialog.matches(':modal'))).toBe(true)
    }
    await outcome.getByRole('link', { name: texts.startAgain }).waitFor()
  })
})
