/** The stand, where a shopper picks items: controls, sums, limits, games, currencies and languages. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { LANGUAGES, type Language } from '../contract/languages.ts'
import { MOST_UNAVAILABLE_NAMES } from '../contract/limits.ts'
import { UNAVAILABLE_REASONS } from '../contract/statuses.ts'
import type { Inventory, Item } from '../contract/widget-api.ts'
import { DEFAULT_PROTECTION_DAYS } from '../gateway/config.ts'
import type { Messages } from '../widget/i18n/en.ts'
import { formatMoney } from '../widget/i18n/format.ts'
import { DESKTOP, MOBILE } from './support/browser.ts'
import { callsTo, openStand } from './support/shared-till.ts'
import { centsOf, switchLanguage, TEXTS } from './support/shopper.ts'

type Settings = Parameters<typeof openStand>[0]

const openStandAs = (settings: Settings = {}, who = 'magic_tuesday') => openStand({ ...settings, who })

const prices = async (page: Page): Promise<number[]> =>
  (await page.locator('.card-price').allTextContents()).map(centsOf)
/** The full names. A card shows weapon, skin and wear separately. */
const readNames = (page: Page): Promise<(string | null)[]> =>
  page.locator('.card-name').evaluateAll((elements) => elements.map((name) => name.getAttribute('title')))
const cell = (page: Page, index: number) => page.getByRole('gridcell').nth(index)
const payButton = (page: Page, texts: Messages) => page.getByRole('button', { name: texts.pay, exact: true })
/** One item of each card. Equal items share a card. */
const cardsOf = (items: readonly Item[]): Item[] => {
  const appearances = items.map(({ name, price, iconUrl, rarityName, phase }) =>
    [name, price, iconUrl, rarityName, phase].join(),
  )
  return items.filter((_, index) => appearances.indexOf(appearances[index] ?? '') === index)
}
const pricesDearestFirst = (items: readonly Item[]): number[] =>
  items.map(({ price }) => price).sort((a, b) => b - a)

const PANEL = ['.summary-total dd', '.money-rows', '.pay']
const placesOf = (page: Page, parts: readonly string[]) =>
  Promise.all(parts.map((part) => page.locator(part).boundingBox()))

/** Expects that picking moves no part of `PANEL`, on the narrowest page for each of the panel's two widths. */
async function expectStillness(page: Page): Promise<void> {
  for (const width of [901, 1101]) {
    await page.setViewportSize({ width, height: 900 })
    await page.locator('.summary').waitFor()
    const placesBefore = await placesOf(page, PANEL)
    for (const index of [0, 1, 2]) {
      await cell(page, index).click()
      expect(await placesOf(page, PANEL)).toEqual(placesBefore)
    }
    for (const index of [2, 1, 0]) await cell(page, index).click()
  }
}

/** Expects on a phone: the button's amount below its label, no dot between them, and a title of two lines at most. */
async function expectNarrowTexts(page: Page): Promise<void> {
  const [label, amount, title] = await placesOf(page, ['.pay-label', '.pay-amount', '.header-name'])
  expect(await page.locator('.pay-dot').isVisible()).toBe(false)
  expect(amount?.y).toBeGreaterThanOrEqual((label?.y ?? 0) + (label?.height ?? 0))
  const lineHeight = await page
    .locator('.header-name')
    .evaluate((name) => Number.parseFloat(getComputedStyle(name).lineHeight))
  expect(title?.height).toBeLessThan(2.5 * lineHeight)
}

/** The days for which the page says that money is held: longer than Steam’s seven days of protection for CS2. */
const HOLD_DAYS = DEFAULT_PROTECTION_DAYS.cs

/** Expects the phone's bar to say when the money arrives and, after a press on its button, why. */
async function expectReason(page: Page, texts: Messages): Promise<void> {
  const bar = page.locator('.bottom-bar')
  // The store's limit, which other tests use up too, decides how much of the money is available immediately.
  const reason = [texts.whyLater, texts.whyParts, texts.whyLimit, texts.whyExpected]
    .map((why) => bar.getByText(why(HOLD_DAYS, 'CS2')))
    .reduce((reasons, reason) => reasons.or(reason))
  await expect.poll(() => bar.locator('.money-rows dd').count()).toBeGreaterThan(0)
  expect(await reason.isVisible()).toBe(false)
  await bar.getByRole('button', { name: texts.why }).click()
  await reason.waitFor()
  const reasonBox = await reason.boundingBox()
  expect(reasonBox?.x).toBeGreaterThanOrEqual(0)
  expect((reasonBox?.x ?? 0) + (reasonBox?.width ?? 0)).toBeLessThanOrEqual(MOBILE.width)
  await page.keyboard.press('Escape')
  await reason.waitFor({ state: 'hidden' })
}

describe.each([
  { language: 'en', viewport: DESKTOP },
  { language: 'ru', viewport: MOBILE },
] as const)('in $language at $viewport.width px', ({ language, viewport }) => {
  const money = (minor: number): string => formatMoney(minor, 'USD', language)

  test('A-010 A-011 A-019 A-114 A-115 A-116 A-117 the controls work, and cards and pictures have the required sizes', async () => {
    const { page, texts, inventory } = await openStandAs({ language, viewport })
    const cards = cardsOf(inventory.items)
    const width = async (selector: string): Promise<number> =>
      (await page.locator(selector).first().boundingBox())?.width ?? 0
    expect(await width('.card')).toBeGreaterThan(0)
    expect(await width('.card')).toBeLessThanOrEqual(viewport === MOBILE ? 110 : 165)
    const picture = await page.locator('.card img').first().boundingBox()
    expect([picture?.width, picture?.height]).toEqual([100, 100])
    if (viewport === DESKTOP) {
      await cell(page, 0).click()
      expect(await width('.summary-item')).toBe(65)
      await cell(page, 0).click()
    }
    const games = page.getByRole('radio')
    await expect
      .poll(() => games.evaluateAll((elements) => elements.map((each) => each.getAttribute('value'))))
      .toEqual(['cs', 'dota', 'rust', 'tf'])
    await expect.poll(() => page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('cs')
    const sort = page.getByRole('combobox', { name: texts.sort })
    await expect.poll(() => sort.inputValue()).toBe('priceDown')
    expect(await prices(page)).toEqual(pricesDearestFirst(cards))
    await sort.selectOption('priceUp')
    expect(await prices(page)).toEqual(pricesDearestFirst(cards).reverse())
    await sort.selectOption('default')
    expect(await readNames(page)).toEqual(cards.map(({ name }) => name))
    const search = page.getByRole('searchbox', { name: texts.search })
    const toggle = page.getByRole('button', { name: texts.searchOpen })
    await expect.poll(() => search.count()).toBe(viewport === MOBILE ? 0 : 1)
    await expect.poll(() => toggle.count()).toBe(viewport === MOBILE ? 1 : 0)
    if (viewport === MOBILE) {
      await toggle.click()
      await search.waitFor()
      await expect.poll(() => search.evaluate((field) => field === document.activeElement)).toBe(true)
    }
    const searchText = inventory.items[0]?.name.slice(1, 6).toUpperCase() ?? ''
    await search.fill(searchText)
    const foundCards = cards.filter(({ name }) => name.toUpperCase().includes(searchText))
    expect(await readNames(page)).toEqual(foundCards.map(({ name }) => name))
    // No item's name contains this character.
    await search.fill('¬')
    await page.getByText(texts.nothingFound('¬')).waitFor()
    await page.getByRole('button', { name: texts.searchClear, exact: true }).click()
    await expect.poll(() => search.inputValue()).toBe('')
    // The pressed button is gone, so the field gets the focus.
    await expect.poll(() => search.evaluate((field) => field === document.activeElement)).toBe(true)
    expect(await readNames(page)).toEqual(cards.map(({ name }) => name))
    await page.getByRole('button', { name: texts.reload }).waitFor()
  })

  test('A-012 A-013 A-014 A-072 A-085 A-091 picking and clearing update the sum, which is checked against the minimum', async () => {
    const { page, texts, inventory } = await openStandAs({ language, viewport }, 'nova_hound')
    const summary = page.getByRole('complementary', { name: texts.summary })
    const summaryText = async (): Promise<string> => (await summary.textContent()) ?? ''
    const sum = (...amounts: number[]): string => money(amounts.reduce((total, price) => total + price, 0))
    await expect.poll(() => page.locator('.summary').count()).toBe(viewport === MOBILE ? 0 : 1)
    await expect.poll(() => page.locator('.bottom-bar').count()).toBe(viewport === MOBILE ? 1 : 0)
    await expect.poll(() => payButton(page, texts).isDisabled()).toBe(true)
    const places = () => placesOf(page, viewport === MOBILE ? ['.pay'] : PANEL)
    const placesBefore = await places()
    expect(placesBefore).not.toContain(null)
    const minTotal = inventory.minPrice
    const [cheapest = 0] = pricesDearestFirst(inventory.items).reverse()
    expect(cheapest).toBeLessThan(minTotal)
    await page.getByRole('combobox', { name: texts.sort }).selectOption('priceUp')
    await cell(page, 0).click()
    await summary.getByText(texts.payBlocks.belowMinimum(money(minTotal))).waitFor()
    await expect.poll(() => payButton(page, texts).isDisabled()).toBe(true)
    expect(await places()).toEqual(placesBefore)
    await page.getByRole('combobox', { name: texts.sort }).selectOption('priceDown')
    const [dearest = 0] = pricesDearestFirst(inventory.items)
    await cell(page, 0).click()
    expect(await summaryText()).toContain(sum(dearest, cheapest))
    expect(await payButton(page, texts).isDisabled()).toBe(false)
    // The panel does not move: buttons and total stay in place while items are picked.
    for (const index of [1, 2, 3, 4]) {
      await cell(page, index).click()
      expect(await places()).toEqual(placesBefore)
    }
    for (const index of [4, 3, 2, 1]) await cell(page, index).click()
    if (viewport === MOBILE) {
      await expectNarrowTexts(page)
      await expectReason(page, texts)
    }
    // A long grid draws only the rows in view, and the cheapest item is in the last row.
    await expect
      .poll(() => page.getByRole('gridcell', { selected: true }).count())
      .toBe(inventory.items.length > 30 ? 1 : 2)
    await cell(page, 0).click()
    expect(await summaryText()).toContain(sum(cheapest))
    await page.getByRole('button', { name: texts.clearAll }).click()
    expect(await page.getByRole('gridcell', { selected: true }).count()).toBe(0)
    expect(await summaryText()).toContain(money(0))
    expect(await summaryText()).toContain(texts.payBlocks.nothingPicked(money(minTotal)))
    // In Russian, whose texts are the longest.
    if (language === 'ru') await expectStillness(page)
  })

  test('A-015 A-034 the page counts the items that cannot be used, and lists their names by reason', async () => {
    const { page, texts, inventory } = await openStandAs({ language, viewport }, 'magic_hoarder')
    expect(inventory.unavailableItems).toBeGreaterThan(0)
    const line = page.locator('.unavailable')
    await line.scrollIntoViewIfNeeded()
    await expect.poll(() => line.textContent()).toContain(texts.unavailable(inventory.unavailableItems))
    await page.getByRole('button', { name: texts.why }).click()
    await page.getByText(texts.alsoNeeded).waitFor()
    const listed = page.locator('.unavailable .popover-names')
    await expect.poll(() => listed.allTextContents()).toEqual(namesIn(inventory))
  })
})

/** The names of unusable items as the page lists them: some for each reason, and "…" if there are more. */
const namesIn = ({
  unavailableNames = {},
  unavailableCounts = {},
  unavailableByReason,
}: Inventory): string[] =>
  UNAVAILABLE_REASONS.flatMap((reason) => {
    const counts = unavailableCounts[reason] ?? []
    const names = (unavailableNames[reason] ?? []).map((name, index) =>
      (counts[index] ?? 0) > 1 ? `${name} ×${counts[index]}` : name,
    )
    const named = counts.reduce((sum, count) => sum + count, 0)
    const isCut = names.length === MOST_UNAVAILABLE_NAMES && named < (unavailableByReason[reason] ?? 0)
    const more = isCut ? ', …' : ''
    return names.length > 0 ? [names.join(', ') + more] : []
  })

test('A-117 the layout is narrow at 900 px and wide at 901, with one variant of each part', async () => {
  const { page } = await openStandAs()
  const partsOnPage = async (): Promise<string[]> =>
    page.evaluate(() =>
      ['.summary', '.bottom-bar', '.controls-desktop', '.controls-mobile', '.link-panel-desktop']
        .concat('.link-panel-mobile')
        .filter((part) => document.querySelectorAll(part).length === 1),
    )
  await page.setViewportSize({ width: 901, height: 800 })
  await expect.poll(partsOnPage).toEqual(['.summary', '.controls-desktop', '.link-panel-desktop'])
  // The controls are one row.
  await expect.poll(async () => (await page.locator('.controls').boundingBox())?.height).toBeLessThan(80)
  await page.setViewportSize({ width: 900, height: 800 })
  await expect.poll(partsOnPage).toEqual(['.bottom-bar', '.controls-mobile', '.link-panel-mobile'])
})

test('A-045 wear and StatTrak are marked, and screen readers get the full name of the wear', async () => {
  const { page, texts, inventory } = await openStandAs({}, 'nova_hound')
  const worn = inventory.items.filter(({ wearCategory }) => wearCategory !== null).slice(0, 12)
  expect(worn.length).toBeGreaterThan(0)
  expect(inventory.items.some(({ isStatTrak }) => isStatTrak)).toBe(true)
  await page.getByRole('searchbox', { name: texts.search }).fill(worn[0]?.name ?? '')
  const { short, word } = texts.wear[worn[0]?.wearCategory ?? 'WearCategory0']
  await expect.poll(() => cell(page, 0).getAttribute('aria-label')).toContain(word)
  await expect.poll(() => cell(page, 0).locator('.mark').last().textContent()).toBe(short)
  const statTrakItem = inventory.items.find(({ isStatTrak }) => isStatTrak)
  await page.getByRole('searchbox', { name: texts.search }).fill(statTrakItem?.name ?? '')
  await page.locator('.mark-stattrak').first().waitFor()
})

test.each(['EUR', 'BRL'] as const)('A-046 A-048 A-113 all amounts are in %s', async (currency) => {
  const { page, texts, inventory } = await openStandAs({ deposit: { currency } })
  expect(inventory.currency).toBe(currency)
  const sign = { EUR: '€', BRL: 'R$' }[currency]
  await cell(page, 0).click()
  for (const text of await page.locator('.card-price').allTextContents()) expect(text).toContain(sign)
  const coins = (place: string) => page.locator(`${place} .coin[data-currency=${currency}]`).count()
  await expect.poll(() => coins('.card')).toBe(await page.locator('.card').count())
  // One currency sign for the minimum and one for the total.
  await expect.poll(() => coins('.summary-facts dd')).toBe(2)
  const facts = await page.locator('.summary-facts dd').allTextContents()
  expect(facts.filter((fact) => fact.includes(sign))).toHaveLength(2)
  await page.setViewportSize(MOBILE)
  await expect.poll(() => coins('.bottom-sum')).toBe(1)
  await page.setViewportSize(DESKTOP)
  await page.locator('.summary').waitFor()
  // The minimum of $3.00 at any likely exchange rate, in hundredths of the currency.
  const bounds = { EUR: [200, 320], BRL: [1000, 2500] } as const
  const [least, most] = bounds[currency]
  expect(inventory.minPrice).toBeGreaterThan(least)
  expect(inventory.minPrice).toBeLessThan(most)
  expect(await payButton(page, texts).isDisabled()).toBe(false)
})

test('A-113 the page shows and applies the minimum of the chosen game', async () => {
  const { page } = await openStandAs({}, 'quiet_lynx')
  const minimum = async () => centsOf((await page.locator('.summary-facts dd').first().textContent()) ?? '')
  const minima = [
    ['Dota 2', 100],
    ['Counter-Strike 2', 300],
    ['Rust', 100],
    ['Counter-Strike 2', 300],
    ['Team Fortress 2', 100],
  ] as const
  await expect.poll(minimum).toBe(300)
  for (const [game, cents] of minima) {
    await page.getByRole('radio', { name: game }).check({ force: true })
    await expect.poll(minimum, { message: `the minimum of ${game}` }).toBe(cents)
  }
})

/** A language's name in that language, with a capital letter. */
function nameOfLanguage(language: Language): string {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? ''
  return name.charAt(0).toUpperCase() + name.slice(1)
}

test('A-016 A-065 A-066 the language selector switches the texts, and the choice is remembered', async () => {
  const { page, texts } = await openStandAs()
  await cell(page, 0).click()
  const choices = page.getByRole('group', { name: texts.language }).getByRole('button')
  await expect
    .poll(() => choices.evaluateAll((elements) => elements.map((each) => each.ariaLabel)))
    .toEqual(LANGUAGES.map(nameOfLanguage))
  const flags = await choices.evaluateAll((elements) =>
    elements.map((each) => each.querySelector('svg.flag')?.innerHTML),
  )
  expect(new Set(flags.filter((flag) => flag !== undefined)).size).toBe(LANGUAGES.length)
  for (const [index, language] of LANGUAGES.entries())
    await expect.poll(() => choices.nth(index).getAttribute('aria-pressed')).toBe(String(language === 'en'))
  await switchLanguage(page, 'ru')
  await payButton(page, TEXTS.ru).waitFor()
  await expect
    .poll(() => page.evaluate(() => [document.documentElement.lang, localStorage.getItem('language')]))
    .toEqual(['ru', 'ru'])
  await page.getByRole('gridcell', { selected: true }).first().waitFor()
  const english = [texts.pay, texts.total, texts.minimum, texts.support, texts.tradeLinkValid, texts.addFunds]
  for (const text of english) expect(await page.getByText(text, { exact: true }).count()).toBe(0)
})

test('A-071 choosing another game aborts the request for the previous game, and shows no error', async () => {
  const visited = await openStandAs({}, 'quiet_lynx')
  const { page } = visited
  const release = Promise.withResolvers<void>()
  await page.route('**/api/inventory?*game=dota*', async (route) => {
    await release.promise
    await route.continue().catch(() => {})
  })
  const aborted = page.waitForEvent('requestfailed', (request) => request.url().includes('game=dota'))
  await page.getByRole('radio', { name: 'Dota 2' }).check({ force: true })
  await expect.poll(() => callsTo(visited, '/api/inventory').length).toBe(2)
  await page.getByRole('radio', { name: 'Rust' }).check({ force: true })
  expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED')
  release.resolve()
  await page.getByRole('gridcell').first().waitFor()
  await expect.poll(() => page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('rust')
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('A-086 with no item picked, neither a click nor Enter nor a script can pay', async () => {
  const visited = await openStandAs()
  const { page, texts } = visited
  const button = payButton(page, texts)
  await button.click({ force: true })
  await button.focus()
  await page.keyboard.press('Enter')
  await button.evaluate((element: HTMLButtonElement) => {
    element.ariaDisabled = 'false'
    element.click()
  })
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(callsTo(visited, '/api/trade')).toEqual([])
})

test('at a zoom of 400 % the first item is in view without scrolling', async () => {
  const { page } = await openStandAs({ language: 'ru', viewport: { width: 320, height: 256 } })
  const bar = page.locator('.bottom-bar')
  await expect
    .poll(async () => {
      const [item, lowerBar] = [await cell(page, 0).boundingBox(), await bar.boundingBox()]
      // At least 60 px of the item are above the bar.
      return item !== null && lowerBar !== null && item.y >= 0 && item.y + 60 < lowerBar.y
    })
    .toBe(true)
  // The bar's button says how much is missing, so the hint can make room for the items.
  expect(await page.locator('.bottom-hint').isVisible()).toBe(false)
})

test('A-019 A-114 a deposit for two games shows two tabs, with one of them selected', async () => {
  const { page, texts, inventory } = await openStand({
    who: 'magic_seller',
    deposit: { games: ['rust', 'dota'] },
  })
  await page.getByText(texts.onlyGames('Rust and Dota 2')).waitFor()
  const games = page.getByRole('radio')
  await expect
    .poll(() => games.evaluateAll((elements) => elements.map((each) => each.getAttribute('value'))))
    .toEqual(['rust', 'dota'])
  await expect.poll(() => page.getByRole('radio', { checked: true }).getAttribute('value')).toBe('rust')
  expect(await prices(page)).toEqual(pricesDearestFirst(cardsOf(inventory.items)))
})

test('above the deposit’s maximum the button is disabled, and the reason is shown', async () => {
  const { page, texts } = await openStandAs({ deposit: { maxAmount: 301 } })
  await page
    .locator('.summary-facts')
    .getByText(formatMoney(301, 'USD', 'en'))
    .waitFor()
  await cell(page, 0).click()
  await page.getByText(texts.payBlocks.aboveMaximum(formatMoney(301, 'USD', 'en'))).waitFor()
  await expect.poll(() => payButton(page, texts).isDisabled()).toBe(true)
})
