/** The page's errors if an inventory cannot be shown or a trade is not created: the reason, and a button that helps. */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import type { InventoryErrorType } from '../contract/statuses.ts'
import type { Messages } from '../widget/i18n/en.ts'
import { type SteamPage, steamPage } from '../widget/steam-pages.ts'
import { beginBehaviour } from './support/sandbox.ts'
import { callsTo, openDeposit, openStand, shopper, switchMaintenance, till } from './support/shared-till.ts'
import { giveLink, switchLanguage, TEXTS } from './support/shopper.ts'

/** Functions that undo a test's changes. They run after each test, even a failed one. */
const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function beginForTest(name: string, settings: { steamId?: string; times?: number }): Promise<void> {
  const { off } = await beginBehaviour(till.sandbox, name, settings)
  endings.push(off)
}

/** The titles that the specification fixes. */
const SPECIFIED_TITLES: Record<InventoryErrorType, string> = {
  internal: 'Failed to get your inventory',
  tradeNotAvailable: 'Trade is not available',
  hidden: 'Your inventory is hidden',
  escrow: 'Trade restrictions',
  invalidPartner: 'Incorrect Trade URL',
  engineeringWorks: 'Technical works',
}

const errorAlert = (page: Page, texts: Messages, type: InventoryErrorType) => {
  const { title, description } = texts.inventoryErrors[type]
  return page.getByRole('alert').filter({ hasText: title }).filter({ hasText: description })
}

const addressOf = (to: SteamPage): string => steamPage(to, till.sandbox)

/** The text or address of each error's only primary button, which leads to a solution. */
const BUTTON_TARGETS: Record<InventoryErrorType, string> = {
  internal: TEXTS.en.retry,
  tradeNotAvailable: TEXTS.en.games.dota,
  hidden: addressOf('privacy'),
  escrow: addressOf('guard'),
  invalidPartner: addressOf('tradeSettings'),
  engineeringWorks: TEXTS.en.retry,
}

/** Resolves to the target of the alert's primary button, and the number of panels for paying on the page. */
async function alertParts(page: Page) {
  const primary = page.getByRole('alert').locator('.primary')
  return {
    primary: (await primary.getAttribute('href')) ?? (await primary.textContent()),
    payPanels: await page.locator('.summary, .bottom-bar').count(),
  }
}

/** Expects the error with its texts in both languages, and that 'Try again' requests the inventory again. */
async function expectError(type: InventoryErrorType, who: string) {
  const visited = await openDeposit()
  const { page, texts } = visited
  await giveLink(page, texts, await shopper(who))
  await errorAlert(page, texts, type).waitFor()
  expect(texts.inventoryErrors[type].title).toBe(SPECIFIED_TITLES[type])
  const { primary, payPanels } = await alertParts(page)
  expect(primary).toBe(BUTTON_TARGETS[type])
  expect(payPanels).toBe(0)
  const callsBefore = callsTo(visited, '/api/inventory').length
  await page.getByRole('button', { name: texts.retry }).click()
  await expect.poll(() => callsTo(visited, '/api/inventory').length).toBe(callsBefore + 1)
  await errorAlert(page, texts, type).waitFor()
  await switchLanguage(page, 'ru')
  await errorAlert(page, TEXTS.ru, type).waitFor()
  return { page, texts: TEXTS.ru }
}

describe('A-074 A-110 if an inventory cannot be shown, in both languages', () => {
  test('A-125 the error says that the inventory is hidden, and a button leads to the setting that shows it', async () => {
    const { page } = await expectError('hidden', 'magic_hidden')
    const { steamId } = await shopper('magic_hidden')
    const popup = page.waitForEvent('popup')
    await page.getByRole('alert').locator('.primary').click()
    const steam = await popup
    await steam.getByRole('heading', { name: 'Who are you?' }).waitFor()
    await steam.goto(`${till.sandbox}/profiles/${steamId}/edit/settings`)
    await steam.getByRole('button', { name: 'Make it public' }).click()
    await steam.getByRole('heading', { name: 'Inventory: Public' }).waitFor()
    // The gateway repeats Steam's last answer for a few seconds, so the test tries again.
    const retry = page.getByRole('button', { name: TEXTS.ru.retry })
    const retryAndCount = async () => {
      if (await retry.isVisible()) await retry.click()
      return page.getByRole('gridcell').count()
    }
    await expect.poll(retryAndCount, { interval: 1_000 }).toBeGreaterThan(0)
  })
  test('A-124 the error says that the shopper does not own the game', () =>
    expectError('tradeNotAvailable', 'magic_no_game'))
  test('A-126 A-112 the error says that Steam would delay the transfer', () =>
    expectError('escrow', 'magic_hold'))
  test('A-127 A-089 the error says that the link is no longer valid, and the link’s field is marked as invalid', async () => {
    const { page, texts } = await expectError('invalidPartner', 'magic_new_token')
    const field = page.getByRole('textbox', { name: texts.tradeLink })
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => field.evaluate((input) => input === document.activeElement)).toBe(true)
    await page.getByRole('heading', { name: texts.guideTitle }).waitFor()
    expect(await page.locator('.link-valid').count()).toBe(0)
  })
  test('A-123 A-102 an offline page shows the internal error, and requests the inventory when it is online again', async () => {
    const { page, context, texts } = await openDeposit()
    await giveLink(page, texts, await shopper('magic_seller'))
    await page.getByRole('gridcell').first().waitFor()
    await switchLanguage(page, 'ru')
    await switchLanguage(page, 'en')
    await page.getByRole('gridcell').first().waitFor()
    await context.setOffline(true)
    await page.getByText(texts.offline).waitFor()
    await page.getByRole('radio', { name: 'Rust' }).check({ force: true })
    await errorAlert(page, texts, 'internal').waitFor()
    expect(texts.inventoryErrors.internal.title).toBe(SPECIFIED_TITLES.internal)
    await page.getByRole('button', { name: texts.retry }).click()
    await errorAlert(page, texts, 'internal').waitFor()
    await switchLanguage(page, 'ru')
    await errorAlert(page, TEXTS.ru, 'internal').waitFor()
    await context.setOffline(false)
    await page.getByRole('gridcell').first().waitFor()
  })
  test('A-123 the internal error is shown if Steam does not return the inventory', async () => {
    const { steamId } = await shopper('magic_last_second')
    await beginForTest('inventory-500-20', { steamId })
    await expectError('internal', 'magic_last_second')
  })
})

/** Opens the items of this test's guest `who`, and picks the most expensive one. */
async function openStandAndPick(who: string) {
  const opened = await openStand({ who })
  await opened.page.getByRole('gridcell').first().click()
  return opened
}

const creationError = (page: Page, texts: Messages) =>
  page.getByRole('dialog', { name: texts.creationErrorTitle })

const pageScroll = (page: Page) =>
  page.evaluate(() => [getComputedStyle(document.documentElement).overflowY, scrollY])

const pressPay = (page: Page, texts: Messages) =>
  page.getByRole('button', { name: texts.pay, exact: true }).click()

describe('A-025 A-063 A-110 the error of a trade that was not created', () => {
  test('A-129 A-026 says that Steam refused the trade; the page behind it is locked, and stays scrolled as it was', async () => {
    const { page, texts } = await openStandAndPick('magic_reverser')
    const { steamId } = await shopper('magic_reverser')
    await beginForTest('send-15', { steamId })
    await page.evaluate(() => scrollTo(0, 200))
    await pressPay(page, texts)
    const modal = creationError(page, texts)
    await modal.getByText(texts.creationErrorText).waitFor()
    await expect.poll(() => pageScroll(page)).toEqual(['hidden', 200])
    expect(texts.creationErrorTitle).toBe('Failed to create trade')
    await expect.poll(() => modal.locator('.primary').getAttribute('href')).toBe(addressOf('restrictions'))
    await modal.getByRole('button', { name: texts.close }).click()
    await modal.waitFor({ state: 'detached' })
    await expect.poll(() => pageScroll(page)).toEqual(['scroll', 200])
    await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(1)
    await switchLanguage(page, 'ru')
    await pressPay(page, TEXTS.ru)
    await creationError(page, TEXTS.ru).getByText(TEXTS.ru.creationErrorText).waitFor()
  })

  test('says that the link has expired, and leads to Steam’s trade settings; the page behind calls the link incorrect', async () => {
    const { page, texts } = await openStandAndPick('magic_seller')
    const { steamId } = await shopper('magic_seller')
    await beginForTest('token-regenerated', { steamId })
    await pressPay(page, texts)
    const modal = creationError(page, texts)
    await modal.getByText(texts.creationCauses.link_expired ?? '').waitFor()
    await expect.poll(() => modal.locator('.primary').getAttribute('href')).toBe(addressOf('tradeSettings'))
    await modal.getByRole('button', { name: texts.close }).click()
    await errorAlert(page, texts, 'invalidPartner').waitFor()
  })

  test('A-022 A-074 A-128 names maintenance, and the page has a line about it until it ends; another inventory is not shown meanwhile', async () => {
    const { page, texts } = await openStandAndPick('magic_accepts')
    const controlsBox = () => page.locator('.controls').boundingBox()
    const boxBefore = await controlsBox()
    await switchMaintenance('on', '--for', '45m', '--text', 'We are moving.', '--text-ru', 'Мы переезжаем.')
    endings.push(() => switchMaintenance('off'))
    await pressPay(page, texts)
    const modal = creationError(page, texts)
    await modal.getByText(texts.creationErrors.technical_works ?? '').waitFor()
    await modal.getByRole('button', { name: texts.close }).click()
    await page.getByText(`${texts.technicalWorksOnPage} We are moving. We expect to be done by `).waitFor()
    expect(await controlsBox()).toEqual(boxBefore)
    await expectError('engineeringWorks', 'magic_last_second')
    await switchMaintenance('off')
    await page.getByText(texts.technicalWorksOnPage).waitFor({ state: 'detached' })
  })
})
