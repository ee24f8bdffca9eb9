import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Messages } from '../widget/i18n/en.ts'
import { violations } from './support/axe.ts'
import { MOBILE, SMALL_DESKTOP } from './support/browser.ts'
import { readOffersTo } from './support/sandbox.ts'
import {
  callsTo,
  createDeposit,
  openBrowser,
  openConfirmation,
  openDeposit,
  openStand,
  shopper,
  till,
} from './support/shared-till.ts'
import { comeBack, giveLink, openOffer, pickItems, TEXTS } from './support/shopper.ts'

const withoutToken = (link: string): string => link.replace(/&token=.*/, '')
const field = (page: Page, texts: Messages) => page.getByRole('textbox', { name: texts.tradeLink })
const hasFocus = (element: Locator) => element.evaluate((node) => node === document.activeElement)
const changeButton = (page: Page, texts: Messages) =>
  page.getByRole('button', { name: texts.tradeLinkChange })
const guide = (page: Page, texts: Messages) => page.getByRole('region', { name: texts.guideTitle })

describe.each([
  { language: 'en', viewport: undefined, variant: 'desktop', otherVariant: 'mobile' },
  { language: 'ru', viewport: MOBILE, variant: 'mobile', otherVariant: 'desktop' },
] as const)('in $language, $variant', ({ language, viewport, variant, otherVariant }) => {
  const settings = viewport === undefined ? { language } : { language, viewport }

  test('A-007 A-008 A-009 A-059 the guide is shown until a link is accepted, and then the items', async () => {
    const { page, texts } = await openDeposit(settings)
    await guide(page, texts).waitFor()
    await expect.poll(() => page.locator(`.link-panel-${variant}`).count()).toBe(1)
    expect(await page.locator(`.link-panel-${otherVariant}`).count()).toBe(0)
    await expect.poll(() => guide(page, texts).getByRole('listitem').count()).toBe(3)
    await expect.poll(() => guide(page, texts).locator('svg.guide-picture').count()).toBe(3)
    const video = guide(page, texts).getByRole('link', { name: texts.guideVideo })
    await expect.poll(() => video.getAttribute('href')).toBe(`/guide-${language}.webm`)
    await video.click()
    const clip = guide(page, texts).locator('video')
    await expect
      .poll(() => clip.evaluate((element: HTMLVideoElement) => element.currentTime))
      .toBeGreaterThan(0.2)
    const shown = await clip.evaluate(async (element: HTMLVideoElement) => {
      const { duration, videoWidth, controls } = element
      element.pause()
      const sought = new Promise((resolve) => element.addEventListener('seeked', resolve, { once: true }))
      // Seeks to a second near the end.
      element.currentTime = 14
      await sought
      return {
        duration,
        videoWidth,
        controls,
        at: element.currentTime,
        cues: element.textTracks[0]?.cues?.length,
      }
    })
    expect(shown).toMatchObject({ videoWidth: 800, controls: true, at: 14, cues: 3 })
    expect(shown.duration).toBeGreaterThan(15)
    await page.getByText(texts.guideClipNote).waitFor()
    expect(await page.getByRole('grid').count()).toBe(0)
    expect(await page.getByRole('radio').count()).toBe(0)
    await giveLink(page, texts, await shopper())
    await page.getByRole('grid').waitFor()
    expect(await guide(page, texts).count()).toBe(0)
  })

  test('A-081 A-082 A-101 A-122 the field says what is wrong with a link', async () => {
    const visited = await openDeposit(settings)
    const { page, texts } = visited
    const input = field(page, texts)
    await input.fill('https://steamcommunity.com/tradeoffer/new/?partner=1&token=a.b')
    await page.getByText(texts.tradeLinkMistakes.incomplete).waitFor()
    await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true')
    // This hint contains a web address, its longest word. It must fit on the narrowest screen.
    await page.setViewportSize({ width: 320, height: 640 })
    await input.fill('hello')
    await page.getByText(texts.tradeLinkMistakes.other).waitFor()
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    await input.fill('')
    await page.getByText(texts.tradeLinkWhy).waitFor()
    await expect.poll(() => input.getAttribute('aria-invalid')).toBe('false')
    expect(callsTo(visited, '/api/trade-url')).toEqual([])
    await input.fill('https://steamcommunity.com/tradeoffer/new/?partner=12&token=abcdefgh')
    await page.getByText(texts.userFailed).waitFor()
    // A-122 prescribes this wording, grammar included.
    expect(texts.userFailed).toBe(
      { en: 'Failed get user information', ru: 'Не удалось получить данные пользователя' }[language],
    )
    await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true')
    expect(callsTo(visited, '/api/trade-url')).toHaveLength(1)
  })
})

test('A-042 A-083 A-084 a valid link is sent 700 ms after the last letter, and cannot be edited until the answer arrives', async () => {
  const visited = await openBrowser()
  const { page } = visited
  const { url } = await createDeposit({ language: 'en' })
  const { name, tradeUrl } = await shopper()
  await page.clock.install()
  // The field accepts text earlier, but the 700 ms begin only when all of the page's code runs and makes calls.
  const firstCheck = page.waitForResponse('**/api/payment?*')
  await page.goto(url)
  const input = field(page, TEXTS.en)
  await input.waitFor()
  await firstCheck
  await page.clock.pauseAt(Date.now() + 60_000)
  const release = Promise.withResolvers<void>()
  await page.route('**/api/trade-url', async (route) => {
    await release.promise
    await route.continue()
  })
  const callCount = () => callsTo(visited, '/api/trade-url').length
  await input.fill(tradeUrl.slice(0, -1))
  await page.clock.runFor(500)
  await input.fill(tradeUrl)
  await page.clock.runFor(699)
  expect(callCount()).toBe(0)
  await page.clock.runFor(1)
  await expect.poll(callCount).toBe(1)
  await expect.poll(() => input.getAttribute('readonly')).not.toBeNull()
  await input.press('Backspace')
  await expect.poll(() => input.inputValue()).toBe(tradeUrl)
  const answered = page.waitForResponse('**/api/trade-url')
  release.resolve()
  await page.getByRole('link', { name }).waitFor()
  expect(callCount()).toBe(1)
  expect(await (await answered).json()).toEqual({
    name,
    profileUrl: expect.stringMatching(/^http.*\/profiles\/\d{17}$/),
    avatarUrl: expect.stringMatching(/^http.*\.jpg$/),
    tradeUrl: withoutToken(tradeUrl),
  })
})

test('A-047 A-068 A-070 D-26 the link is kept for the next visit, and clearing it hides the account and its items', async () => {
  const visited = await openDeposit()
  const { page, texts } = visited
  const { name, tradeUrl } = await shopper()
  await giveLink(page, texts, await shopper())
  const stored = await page.evaluate(() => ({
    link: localStorage.getItem('tradeLink'),
    keys: Object.keys(localStorage),
  }))
  expect(stored).toEqual({ link: tradeUrl, keys: ['tradeLink'] })
  const nextDeposit = await createDeposit({ language: 'en' })
  await page.goto(nextDeposit.url)
  await page.getByRole('button', { name: texts.tradeLinkContinue }).click()
  await page.getByRole('link', { name }).waitFor()
  await page.reload()
  await page.getByRole('link', { name }).waitFor()
  await changeButton(page, texts).click()
  await expect.poll(() => field(page, texts).inputValue()).toBe(tradeUrl)
  expect(await page.getByRole('button', { name: texts.tradeLinkContinue }).count()).toBe(0)
  await page.getByRole('button', { name: texts.tradeLinkClear }).click()
  await guide(page, texts).waitFor()
  expect(await page.getByRole('grid').count()).toBe(0)
  expect(await page.getByRole('link', { name }).count()).toBe(0)
})

describe.each([
  { language: 'en', viewport: undefined, place: 'on the focused button' },
  { language: 'ru', viewport: MOBILE, place: 'in the field' },
] as const)('D-26 in $language', ({ language, viewport, place }) => {
  test(`a stored link is not sent before the shopper presses Enter ${place}`, async () => {
    const settings = viewport === undefined ? {} : { viewport }
    const visited = await openBrowser(settings)
    const { page } = visited
    const texts = TEXTS[language]
    const { name, tradeUrl } = await shopper()
    await page.addInitScript((link) => localStorage.setItem('tradeLink', link), tradeUrl)
    await page.goto((await createDeposit({ language })).url)
    const button = page.getByRole('button', { name: texts.tradeLinkContinue })
    await button.waitFor()
    await expect.poll(() => field(page, texts).inputValue()).toBe(tradeUrl)
    await expect.poll(() => field(page, texts).getAttribute('aria-invalid')).toBe('false')
    await expect.poll(() => hasFocus(button)).toBe(true)
    await page.getByText(texts.tradeLinkStored).waitFor()
    await expect.poll(() => guide(page, texts).count()).toBe(1)
    const sentPosts = () => visited.seen.requests.filter(({ method }) => method === 'POST')
    expect(sentPosts().filter(({ url }) => url.includes('/api/trade'))).toEqual([])
    expect(visited.seen.requests.filter(({ url }) => url.includes(new URL(tradeUrl).search))).toEqual([])
    if (place === 'in the field') await field(page, texts).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name }).waitFor()
    expect(callsTo(visited, '/api/trade-url')).toHaveLength(1)
    await expect.poll(() => hasFocus(changeButton(page, texts))).toBe(true)
  })
})

test.each(['en', 'ru'] as const)(
  'D-31 the field of a locked deposit says that the link belongs to another account, in %s',
  async (language) => {
    const [expected, other] = [await shopper('quiet_lynx'), await shopper()]
    const locked = { shopper: { steamId: expected.steamId, lock: true }, customerLabel: '<i>Nova</i> Ёж 7' }
    const { page, texts } = await openDeposit({ language, viewport: MOBILE, deposit: locked })
    const heading = page.getByRole('heading', { level: 1 })
    await heading.getByText('<i>Nova</i> Ёж 7', { exact: true }).waitFor()
    await field(page, texts).fill(other.tradeUrl)
    await page.getByText(texts.otherShopper).waitFor()
    await expect.poll(() => field(page, texts).getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByRole('button', { name: texts.retry }).count()).toBe(0)
    expect(await violations(page)).toEqual([])
    await giveLink(page, texts, expected)
    await page.getByRole('grid').waitFor()
  },
)

test('A-069 a deposit whose shopper is known shows the link in another browser, and does not check it again', async () => {
  const { page, texts, deposit } = await openDeposit()
  const account = await shopper('quiet_lynx')
  await giveLink(page, texts, account)
  const otherBrowser = await openBrowser()
  await otherBrowser.page.goto(deposit.url)
  await otherBrowser.page.getByRole('link', { name: account.name }).waitFor()
  await changeButton(otherBrowser.page, texts).click()
  await expect.poll(() => field(otherBrowser.page, texts).inputValue()).toBe(withoutToken(account.tradeUrl))
  await expect.poll(() => field(otherBrowser.page, texts).getAttribute('aria-invalid')).toBe('false')
  expect(callsTo(otherBrowser, '/api/trade-url')).toEqual([])
})

test('a phone shows nine items before it is scrolled; scrolling keeps the controls in view, but not the link panel', async () => {
  const { page } = await openStand({ language: 'ru', viewport: MOBILE })
  const ninth = await page.getByRole('gridcell').nth(8).locator('img').boundingBox()
  const bar = await page.locator('.bottom-bar').boundingBox()
  // At least 75 of the 100 px of the ninth picture are above the bar.
  expect((ninth?.y ?? Number.NaN) + 75).toBeLessThan(bar?.y ?? Number.NaN)
  // The controls stick to the top edge, and the account scrolls out of view.
  await page.evaluate(() => scrollTo(0, 800))
  await expect.poll(async () => (await page.locator('.controls').boundingBox())?.y).toBe(0)
  await expect.poll(async () => (await page.locator('.link-panel').boundingBox())?.y).toBeLessThan(-100)
})

test.each([
  ['a phone', 'ru', MOBILE],
  ['a desktop', 'en', undefined],
] as const)(
  'A-069 on %s the field is hidden when the account is known, and one press brings the field back',
  async (_, language, viewport) => {
    const { page, texts } = await openStand({ language, ...(viewport !== undefined && { viewport }) })
    expect(await field(page, texts).count()).toBe(0)
    const button = changeButton(page, texts)
    await button.click()
    await expect.poll(() => hasFocus(field(page, texts))).toBe(true)
    await expect.poll(() => field(page, texts).inputValue()).toBe(withoutToken((await shopper()).tradeUrl))
    const otherShopper = await shopper('quiet_lynx')
    await field(page, texts).fill(otherShopper.tradeUrl)
    await page.getByRole('link', { name: otherShopper.name }).waitFor()
    await expect.poll(() => hasFocus(button)).toBe(true)
    await expect.poll(() => button.getAttribute('aria-expanded')).toBe('false')
    expect(await field(page, texts).count()).toBe(0)
  },
)

test('the account of a link takes one line while the field is hidden', async () => {
  const { page } = await openStand({ language: 'ru', viewport: SMALL_DESKTOP })
  const lines = await page.locator('.link-valid').evaluate((valid) => {
    return Math.round(valid.clientHeight / Number.parseFloat(getComputedStyle(valid).lineHeight))
  })
  expect(lines).toBe(1)
})

test('A-080 a link is accepted with http and www, and with spaces around it', async () => {
  const { page, texts } = await openDeposit()
  const { name, tradeUrl } = await shopper()
  const otherForm = `  ${tradeUrl.replace('https://', 'http://www.')} `
  await field(page, texts).fill(otherForm)
  await page.getByRole('link', { name }).waitFor()
})

test('A-080 A-081 A-083 a paste that contains one trade link puts just that link into the field', async () => {
  const visited = await openDeposit()
  const { page, texts } = visited
  const { name, tradeUrl } = await shopper()
  const input = field(page, texts)
  const text = `my trade url: ${tradeUrl.replace('https://', '')}, thanks`
  await input.fill(text)
  await page.getByText(texts.tradeLinkMistakes.inexact).waitFor()
  await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true')
  expect(callsTo(visited, '/api/trade-url')).toEqual([])
  await input.press('Control+A')
  await input.press('Control+X')
  await page.getByText(texts.tradeLinkWhy).waitFor()
  await input.fill('half a link')
  await input.press('Control+V')
  await expect.poll(() => input.inputValue()).toBe(tradeUrl)
  await page.getByRole('link', { name }).waitFor()
  expect(callsTo(visited, '/api/trade-url')).toHaveLength(1)
})

test('A-083 the Paste button fills in the copied link, or focuses the field if the page may not read the clipboard', async () => {
  const { page, context, texts } = await openDeposit({ language: 'ru', viewport: MOBILE })
  const { name, tradeUrl } = await shopper()
  const button = page.getByRole('button', { name: texts.paste, exact: true })
  const input = field(page, texts)
  // Without a permission the page may not read the clipboard.
  await context.grantPermissions([])
  await button.click()
  await expect.poll(() => hasFocus(input)).toBe(true)
  await expect.poll(() => input.inputValue()).toBe('')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate((text) => navigator.clipboard.writeText(text), `my link: ${tradeUrl} `)
  await button.click()
  await page.getByRole('link', { name }).waitFor()
  expect(await button.count()).toBe(0)
  await expect.poll(() => hasFocus(changeButton(page, texts))).toBe(true)
})

test('D-17 the page says in its own words why a link cannot be changed, or in the server’s if it has none', async () => {
  const { page, texts } = await openConfirmation()
  await page.getByRole('button', { name: texts.stepBack }).click()
  await changeButton(page, texts).click()
  await field(page, texts).fill((await shopper('quiet_lynx')).tradeUrl)
  await page.getByText(texts.linkOfOpenOffer).waitFor()
  expect(await page.getByRole('button', { name: texts.retry }).count()).toBe(0)
  // The button under the field leads to the open offer, which prevents the change.
  const main = page.getByRole('main')
  await main.getByRole('button', { name: texts.offerReturn }).click()
  await page.getByRole('dialog', { name: texts.confirmTitle }).waitFor()
  await page.getByRole('button', { name: texts.stepBack }).click()
  await page.route('**/api/trade-url', (route) =>
    route.fulfill({ status: 409, json: { code: 'moon_phase', detail: 'The moon is not full.' } }),
  )
  await field(page, texts).fill((await shopper('magic_hoarder')).tradeUrl)
  await page.getByText(`${texts.userFailed}. The moon is not full.`).waitFor()
})

test('D-39 the till serves a clip of less than 400 KB in each language; the guide links to the operator’s own video if there is one', async () => {
  for (const language of ['en', 'ru']) {
    const answer = await fetch(`${till.gateway}/guide-${language}.webm`, { headers: { range: 'bytes=0-99' } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([206, 'video/webm'])
    expect(Number(answer.headers.get('content-range')?.split('/')[1])).toBeLessThan(400_000)
  }
  const { page, seen } = await openBrowser()
  const otherVideo = 'https://videos.example/trade-link'
  const { url } = await createDeposit({ language: 'en' })
  await page.route(url, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace('<html', `<html data-guide-video="${otherVideo}"`)
    await route.fulfill({ response, body })
  })
  await page.goto(url)
  const link = page.getByRole('link', { name: TEXTS.en.guideVideo })
  await expect.poll(() => link.getAttribute('href')).toBe(otherVideo)
  await expect.poll(() => link.getAttribute('target')).toBe('_blank')
  expect(seen.requests.filter(({ type }) => type === 'media')).toEqual([])
})

test.each<[string, (page: Page, texts: Messages) => Promise<unknown>]>([
  ['on return', (page) => comeBack(page)],
  ['with the next items', (page, texts) => page.getByRole('button', { name: texts.reload }).click()],
])(
  'D-27 after a second tab gave the deposit to another account, the first tab shows that account %s',
  async (_when, act) => {
    const { page, context, texts, deposit } = await openStand()
    const otherShopper = await shopper('magic_seller')
    const secondTab = await context.newPage()
    await secondTab.goto(deposit.url)
    await changeButton(secondTab, texts).click()
    await giveLink(secondTab, texts, otherShopper)
    await page.getByRole('gridcell').first().click()
    await expect.poll(() => page.locator('.card-selected').count()).toBe(1)
    await act(page, texts)
    await page.getByRole('link', { name: otherShopper.name }).waitFor()
    await expect.poll(() => page.locator('.card-selected').count()).toBe(0)
    await pickItems(page, 1)
    await openOffer(page, texts)
    expect(await readOffersTo(till.sandbox, otherShopper)).toHaveLength(1)
  },
)

test('A-089 A-122 the field shows an error if Steam cannot name the account at the moment, and Enter or the same paste asks again', async () => {
  const { page, texts } = await openDeposit()
  const { tradeUrl } = await shopper('magic_down')
  await field(page, texts).fill(tradeUrl)
  await page.getByText(texts.userFailed).waitFor()
  // The link may well be right, so the page offers another try, and not Steam's settings.
  const main = page.getByRole('main')
  await main.getByRole('button', { name: texts.retry }).waitFor()
  expect(await main.getByRole('link', { name: texts.steamPages.tradeSettings }).count()).toBe(0)
  for (const keys of [['Enter'], ['Control+A', 'Control+C', 'Control+V']]) {
    const askedAgain = page.waitForRequest('**/api/trade-url')
    for (const key of keys) await field(page, texts).press(key)
    await askedAgain
    await main.getByRole('button', { name: texts.retry }).waitFor()
  }
})

test('D-29 A-105 the page says what to do if the browser blocks cookies', async () => {
  const { page } = await openBrowser()
  await page.addInitScript(() => Object.defineProperty(document, 'cookie', { get: () => '' }))
  await page.goto((await createDeposit()).url)
  const texts = TEXTS.en
  await field(page, texts).fill((await shopper()).tradeUrl)
  await page.getByText(texts.cookiesNeeded).waitFor()
  await page.getByRole('button', { name: texts.reloadPage }).waitFor()
})
