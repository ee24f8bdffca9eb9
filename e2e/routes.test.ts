/** The addresses of the page, including those outside a deposit: the landing page, help, and "page not found". */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { DEPOSIT_STATUSES } from '../contract/statuses.ts'
import { helpTexts } from '../widget/i18n/help.ts'
import { landingTexts } from '../widget/i18n/landing.ts'
import { withoutShownPayment } from './support/browser.ts'
import { SUPPORT_EMAIL } from './support/setup.ts'
import { createDeposit, openBrowser, openDeposit, till } from './support/shared-till.ts'
import { switchLanguage, TEXTS } from './support/shopper.ts'

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

const UNKNOWN_PATHS = ['/deposit', '/nothing/here', '/deposit/a/b', '/favicon', `/${'g'.repeat(32)}`]

/** Opens an address in a browser that has stored this language. */
async function openIn(language: 'en' | 'ru', path: string): Promise<Page> {
  const { page, context } = await openBrowser()
  await context.addInitScript((value) => localStorage.setItem('language', value), language)
  await page.goto(till.gateway + path)
  return page
}

describe.each(['en', 'ru'] as const)('in %s', (language) => {
  const texts = TEXTS[language]

  test('A-001 the root is a landing page that leads to the demo store', async () => {
    const page = await openIn(language, '/')
    await heading(page, landingTexts[language].title).waitFor()
    await page.getByRole('link', { name: landingTexts[language].demo }).click()
    await page.waitForURL(`${till.store}/`)
  })

  test(`A-002 A-005 A-120 ${UNKNOWN_PATHS.join(', ')} show "page not found"`, async () => {
    expect(texts.notFound).toBe({ en: 'Page not found', ru: 'Страница не найдена' }[language])
    const page = await openIn(language, '/help')
    for (const path of UNKNOWN_PATHS) {
      await page.goto(till.gateway + path)
      await heading(page, texts.notFound).waitFor()
    }
  })

  test('A-004 A-019 A-030 A-034 A-035 A-112 A-113 the help page answers shoppers’ questions', async () => {
    const page = await openIn(language, '/help')
    const help = helpTexts[language]
    for (const { title } of [help.escrow, help.games, help.prices, help.minimum, help.money]) {
      await page.getByRole('heading', { level: 2, name: title }).waitFor()
    }
    const text = (await page.getByRole('main').textContent()) ?? ''
    for (const part of [help.escrow.text, help.games.text, help.prices.text, help.minimum.text]) {
      expect(text).toContain(part)
    }
    expect(help.escrow.text).toMatch(/7/)
    expect(text).toContain(texts.itemConditions)
    expect(texts.itemConditions).toMatch(language === 'en' ? /\$0\.10.*popular/ : /5 рублей.*популярн/)
    const sums = await page.getByRole('listitem').allTextContents()
    const threeDollars = language === 'en' ? '$3.00' : '3,00\u00a0$'
    const oneDollar = language === 'en' ? '$1.00' : '1,00\u00a0$'
    expect(sums).toEqual([
      `Counter-Strike 2: ${threeDollars}`,
      `Dota 2: ${oneDollar}`,
      `Rust: ${oneDollar}`,
      `Team Fortress 2: ${oneDollar}`,
    ])
    expect(text.indexOf(help.money.text)).toBeGreaterThan(0)
    await page.getByRole('link', { name: SUPPORT_EMAIL }).waitFor()
    await page.getByRole('link', { name: help.messenger }).waitFor()
  })

  test('A-121 A-100 the page of an unknown deposit says so, in its heading and in a toast', async () => {
    const page = await openIn(language, `/deposit/${'0'.repeat(32)}`)
    await heading(page, texts.paymentNotFound).waitFor()
    expect(texts.paymentNotFound).toBe(
      { en: 'Failed to find your payment', ru: 'Не удалось найти ваш платёж' }[language],
    )
    const toasts = page.getByRole('region', { name: texts.toasts })
    await toasts.getByRole('button', { name: texts.paymentNotFound }).waitFor()
  })

  test('A-121 A-100 an incomplete link counts as an unknown deposit', async () => {
    const page = await openIn(language, '/deposit/abc')
    await heading(page, texts.paymentNotFound).waitFor()
    const toasts = page.getByRole('region', { name: texts.toasts })
    await toasts.getByRole('button', { name: texts.paymentNotFound }).waitFor()
  })

  test('A-131 A-100 the page uses its own text if the server does not answer', async () => {
    const { page, context } = await openBrowser()
    await context.addInitScript((value) => localStorage.setItem('language', value), language)
    const { url } = await createDeposit({ language })
    await withoutShownPayment(page)
    await page.route('**/api/payment?*', (route) => route.abort())
    await page.goto(url)
    await page.getByRole('button', { name: texts.failedToReceiveDeposit }).waitFor()
    await heading(page, texts.paymentNotLoaded).waitFor()
    await page.getByRole('button', { name: texts.retry }).click()
    await heading(page, texts.paymentNotLoaded).waitFor()
    await page.unroute('**/api/payment?*')
    await page.getByRole('textbox', { name: texts.tradeLink }).waitFor()
  })
})

test('A-003 A-109 /deposit/HASH and /HASH open a deposit in a fresh browser, without a password', async () => {
  const { hash, id } = await createDeposit()
  for (const path of [`/deposit/${hash}`, `/${hash}`]) {
    const { page } = await openBrowser()
    await page.goto(till.gateway + path)
    await page.getByText(`#${id}`).waitFor()
    await page.getByRole('textbox', { name: TEXTS.en.tradeLink }).waitFor()
    expect(await page.locator('input[type=password], form').count()).toBe(0)
  }
})

test.each([
  { language: 'en', width: 1440 },
  { language: 'en', width: 320 },
  { language: 'ru', width: 320 },
] as const)(
  'A-004 $language at $width px: the word "Support" is shown in full, and opens help in that language in a new tab',
  async ({ language, width }) => {
    const { page, context, texts } = await openDeposit({ language, viewport: { width, height: 640 } })
    const opened = context.waitForEvent('page')
    const link = page.getByRole('link', { name: texts.support, exact: true })
    await page.getByRole('textbox', { name: texts.tradeLink }).waitFor()
    // No part of the word is cut off.
    const word = await link.evaluate((element) => {
      const range = document.createRange()
      range.selectNodeContents(element)
      const { left, right } = range.getBoundingClientRect()
      return { shown: element.textContent, left, right, width: right - left }
    })
    expect(word.shown).toBe({ en: 'Support', ru: 'Поддержка' }[language])
    expect(word.left).toBeGreaterThan(0)
    expect(word.right).toBeLessThan(width)
    // Wider than an icon.
    expect(word.width).toBeGreaterThan(40)
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
      .toBeLessThanOrEqual(width)
    await link.click()
    const tab = await opened
    await heading(tab, helpTexts[language].title).waitFor()
    await tab.reload()
    await heading(tab, helpTexts[language].title).waitFor()
    expect(new URL(tab.url()).pathname).toBe('/help')
    expect(new URL(page.url()).pathname).toMatch(/^\/deposit\//)
  },
)

test('A-030 the money section of the help page ends with a complete sentence, whichever contacts a till has', async () => {
  const { page } = await openBrowser()
  for (const [removed, contacts] of [
    [/ data-(?:support-email|messenger-url)="[^"]*"/g, []],
    [/ data-support-email="[^"]*"/g, [helpTexts.en.messenger]],
    [/ data-messenger-url="[^"]*"/g, [SUPPORT_EMAIL]],
  ] as const) {
    await page.route('**/help', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace(removed, '') })
    })
    await page.goto(`${till.gateway}/help`)
    const money = page.getByRole('main').locator('section').first()
    await money.getByText(helpTexts.en.money.text).waitFor()
    const lastParagraph =
      contacts.length === 0 ? helpTexts.en.money.text : `${helpTexts.en.money.contactIntro} ${contacts[0]}`
    await expect.poll(() => money.getByRole('paragraph').last().textContent()).toBe(lastParagraph)
    await expect.poll(() => money.getByRole('link').allTextContents()).toEqual(contacts)
    await page.unroute('**/help')
  }
})

test('A-065 A-066 after the page has loaded, the other language can be chosen without a connection', async () => {
  const { page } = await openDeposit({ deposit: { language: 'ru' } })
  await page.getByRole('link', { name: TEXTS.ru.tradeSettings }).waitFor()
  // This link's text is in the document itself. The file with the other texts is loaded later.
  await page.waitForFunction(() => {
    const loaded = performance.getEntriesByType('resource').map(({ name }) => name)
    return ['js', 'css'].every((type) =>
      loaded.some((name) => /\/assets\/rest-/.test(name) && name.endsWith(type)),
    )
  })
  await page.context().setOffline(true)
  await switchLanguage(page, 'en')
  await page.getByRole('textbox', { name: TEXTS.en.tradeLink }).waitFor()
  await page.getByText(TEXTS.en.offline).waitFor()
})

test('A-005 a route whose code fails to load shows "page not found"', async () => {
  const { page } = await openBrowser()
  await page.route('**/assets/help-*.js', (route) => route.abort())
  await page.goto(`${till.gateway}/help`)
  await heading(page, TEXTS.en.notFound).waitFor()
})

test('A-005 A-104 a route that throws while it renders shows "page not found", and is reported', async () => {
  const { page } = await openBrowser()
  const { url } = await createDeposit({ language: 'ru' })
  const texts = TEXTS.ru
  await withoutShownPayment(page)
  await page.route('**/api/payment?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), id: { no: 'text' } } })
  })
  const reported = page.waitForRequest((request) => request.url().endsWith('/api/error-report'))
  await page.goto(url)
  await heading(page, texts.notFound).waitFor()
  // This is a crash, not a wrong address: the page must offer a reload.
  await page.getByText(texts.crashHint).waitFor()
  expect((await reported).postDataJSON()).toMatchObject({
    message: expect.stringContaining('React error #31'),
    type: 'Error',
    empty: false,
    url,
  })
  await page.unroute('**/api/payment?*')
  await page.getByRole('button', { name: texts.reloadPage }).click()
  await page.getByRole('textbox', { name: texts.tradeLink }).waitFor()
})

test('A-006 the header names the store, the deposit and the purpose of the page', async () => {
  const { page, deposit, texts } = await openDeposit()
  await heading(page, `${texts.depositTo('Ember Forge')} ${texts.addFunds}`).waitFor()
  expect(texts.depositTo('Ember Forge')).toBe('Deposit to the Ember Forge')
  expect(texts.addFunds).toBe('add funds')
  await page.getByRole('banner').getByText(`#${deposit.id}`, { exact: true }).waitFor()
})

test('A-031 /home shows "page not found" if the operator has no home page', async () => {
  const { page } = await openBrowser()
  await page.route('**/home', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace(/ data-home="[^"]*"/, '') })
  })
  await page.goto(`${till.gateway}/home`)
  await heading(page, TEXTS.en.notFound).waitFor()
})

test('A-031 /home leads to the operator’s home page', async () => {
  const { page } = await openBrowser()
  await page.goto(`${till.gateway}/home`)
  await page.waitForURL(`${till.store}/`)
})

test('A-040 the payment that the page reads has the fields of the specification', async () => {
  const { page, texts } = await openDeposit({ deposit: { language: 'en' } })
  const payment = await page.evaluate(async (): Promise<Record<string, unknown>> => {
    const answer = await fetch(`/api/payment?hash=${location.pathname.slice(-32)}`)
    return answer.json()
  })
  const fields = [
    ...['hash', 'id', 'storeName', 'status', 'currency', 'amount', 'user', 'bot', 'timeLeft'],
    'technicalWorks',
    'technicalWorksText',
    'technicalWorksUntil',
    'steamTradeId',
    'steamTradeMessage',
    'backToStoreUrl',
    'language',
  ]
  expect(Object.keys(payment)).toEqual(expect.arrayContaining(fields))
  expect(payment).not.toHaveProperty('redirectUrl')
  expect(DEPOSIT_STATUSES).toContain(payment.status)
  expect(texts.pay).toBe('Add funds')
})
