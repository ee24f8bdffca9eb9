/** The page while Steam or the till fails, with the processes of the till started separately. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ERRORS } from '../contract/errors.ts'
import type { Messages } from '../widget/i18n/en.ts'
import { eventually, run } from './support/process.ts'
import { inviteGuest } from './support/sandbox.ts'
import { type Parts, startParts } from './support/separate-processes.ts'
import { openBrowser } from './support/shared-till.ts'
import {
  answerInBrowser,
  giveLinkAndAwaitItems,
  goFromStoreToOffer,
  pickItems,
  sortDearestFirst,
  startTopUp,
  switchLanguage,
  TEXTS,
} from './support/shopper.ts'

let parts: Parts

beforeAll(async () => {
  parts = await startParts()
})

afterAll(async () => {
  await parts?.end()
})

/** Codes of the refusals that the gateway has logged since its log had this length. */
function refusalsSince(logLength: number): (string | undefined)[] {
  const lines = parts.gateway
    .output()
    .slice(logLength)
    .matchAll(/"code":"(\w+)","msg":"call was refused"/g)
  return [...lines].map(([, code]) => code)
}

/** The deadline of a press. Short, because the button may disappear before the press. */
const PRESS_MS = 2_000

/** Presses "Try again" until the items are shown. */
const retryUntilItems = (page: Page, texts: Messages): Promise<boolean> =>
  eventually('the inventory is back', async () => {
    const retry = page.getByRole('button', { name: texts.retry })
    if (await retry.isVisible()) await retry.click({ timeout: PRESS_MS })
    return (await page.getByRole('gridcell').count()) > 0 || undefined
  })

async function reloadUntilItems(page: Page, texts: Messages): Promise<void> {
  const answered = page.waitForResponse((response) => response.url().includes('/api/inventory'))
  await page.getByRole('button', { name: texts.reload }).click()
  await answered
  await page.locator('.stand [aria-busy=false], .stand [role=alert]').first().waitFor()
  await retryUntilItems(page, texts)
}

test('the field reports an incomplete trade link and one that belongs to nobody, and then accepts a correct one', async () => {
  const { page } = await openBrowser()
  const texts = await startTopUp(page, parts.place)
  const field = page.getByRole('textbox', { name: texts.tradeLink })
  await field.fill('https://steamcommunity.com/tradeoffer/new/?partner=12')
  await page.getByText(texts.tradeLinkMistakes.incomplete).waitFor()
  const logLength = parts.gateway.output().length
  await field.fill('https://steamcommunity.com/tradeoffer/new/?partner=12&token=abcdefgh')
  await page.getByText(texts.userFailed).waitFor()
  await expect.poll(() => refusalsSince(logLength)).toEqual(['user_not_found'])
  await giveLinkAndAwaitItems(page, texts, await inviteGuest(parts.place.sandbox))
})

test('a link that Steam no longer accepts leads to the error “Incorrect Trade URL”', async () => {
  const { page } = await openBrowser()
  const texts = await startTopUp(page, parts.place)
  const { tradeUrl } = await inviteGuest(parts.place.sandbox)
  const staleLink = tradeUrl.replace(/token=.*/, 'token=zzzzzzzz')
  await page.getByRole('textbox', { name: texts.tradeLink }).fill(staleLink)
  await page.getByText(texts.inventoryErrors.invalidPartner.title).waitFor()
})

test('A-121 the page of an unknown deposit says that it was not found, in both languages', async () => {
  const { page } = await openBrowser()
  const logLength = parts.gateway.output().length
  await page.goto(`${parts.place.gateway}/deposit/${'0'.repeat(32)}`)
  await page.getByRole('heading', { name: TEXTS.en.paymentNotFound }).waitFor()
  await expect.poll(() => refusalsSince(logLength)).toContain('deposit_not_found')
  await page.evaluate(() => localStorage.setItem('language', 'ru'))
  await page.reload()
  await page.getByRole('heading', { name: TEXTS.ru.paymentNotFound }).waitFor()
})

test('the page and the log report that Steam is down, and the page recovers when Steam is back', async () => {
  const { page } = await openBrowser()
  const texts = await startTopUp(page, parts.place)
  await giveLinkAndAwaitItems(page, texts, await inviteGuest(parts.place.sandbox))
  await parts.sandbox.kill()
  const logLength = parts.gateway.output().length
  await page.getByRole('radio', { name: 'Dota 2' }).check({ force: true })
  const { internal, engineeringWorks } = texts.inventoryErrors
  await page.getByText(internal.title).or(page.getByText(engineeringWorks.title)).first().waitFor()
  await eventually('the log reports the outage', () => {
    return (
      /no inventory could be read|Steam failed for a bot/.test(parts.gateway.output().slice(logLength)) ||
      undefined
    )
  })
  await parts.startSandbox()
  await retryUntilItems(page, texts)
})

test('a trade link entered while Steam is down is kept and accepted later, and the log reports the outage', async () => {
  const { page } = await openBrowser()
  const texts = await startTopUp(page, parts.place)
  const { name, tradeUrl } = await inviteGuest(parts.place.sandbox)
  // Ended with SIGINT, the sandbox saves the new guest.
  await parts.sandbox.interrupt()
  const logLength = parts.gateway.output().length
  await page.getByRole('textbox', { name: texts.tradeLink }).fill(tradeUrl)
  await page.getByText(texts.userUnavailableHint).waitFor()
  await expect
    .poll(() => parts.gateway.output().slice(logLength))
    .toMatch(/profile could not be read from Steam/)
  await expect.poll(() => refusalsSince(logLength)).toEqual(['steam_unavailable'])
  await parts.startSandbox()
  // The gateway repeats its last answer about Steam for a second, so a quick shopper has to press again.
  await eventually('the link is accepted', async () => {
    const retry = page.getByRole('button', { name: texts.retry })
    if (await retry.isVisible()) await retry.click({ timeout: PRESS_MS })
    return (await page.getByRole('link', { name }).isVisible()) || undefined
  })
})

test('a trade link entered while the till is down is kept, and the page does not blame Steam', async () => {
  const { page } = await openBrowser()
  const texts = await startTopUp(page, parts.place, 'ru')
  const { name, tradeUrl } = await inviteGuest(parts.place.sandbox)
  await parts.gateway.interrupt()
  await page.getByRole('textbox', { name: texts.tradeLink }).fill(tradeUrl)
  await page.getByText(texts.userUncheckedHint).waitFor()
  await parts.startGateway()
  await page.getByRole('button', { name: texts.retry }).click()
  await page.getByRole('link', { name }).waitFor()
})

/** Runs in the page: counts the error toasts from now on. */
function countErrorToasts(): void {
  Reflect.set(window, 'errorToasts', 0)
  const count = (changes: MutationRecord[]) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes])
    const toasts = added.filter((node) => node instanceof Element && node.matches('.toast-error'))
    Reflect.set(window, 'errorToasts', Reflect.get(window, 'errorToasts') + toasts.length)
  }
  new MutationObserver(count).observe(document.body, { childList: true, subtree: true })
}

test('A-061 A-100 A-131 failing polls cause one toast, in the till’s words, and the outcome arrives afterwards', async () => {
  const { page } = await openBrowser()
  const texts = await startTopUp(page, parts.place)
  await goFromStoreToOffer(page, parts.place, await inviteGuest(parts.place.sandbox))
  let failedPolls = 0
  page.on('response', (response) => {
    if (response.url().includes('/api/payment') && response.status() === 500) failedPolls += 1
  })
  await page.evaluate(countErrorToasts)
  await parts.query('alter table deposit rename to deposit_hidden')
  await page.locator('.toast-error').getByText(ERRORS.internal.detail.en).waitFor()
  await eventually('three polls have failed', () => failedPolls >= 3 || undefined)
  // On a slow machine the toast may be gone before the third poll, so this counts every toast that appeared.
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'errorToasts'))).toBe(1)
  await expect.poll(() => page.getByRole('dialog', { name: texts.confirmTitle }).isVisible()).toBe(true)
  await parts.query('alter table deposit_hidden rename to deposit')
  await answerInBrowser(page, texts, 'Accept')
  await page.getByRole('dialog', { name: texts.outcomes.succeeded.title }).waitFor()
})

test('A-130 A-088 A-063 after the limit of items was lowered, the server refuses too many items, and then the page does', async () => {
  const { page } = await openBrowser()
  const texts = await startTopUp(page, parts.place)
  await giveLinkAndAwaitItems(page, texts, await inviteGuest(parts.place.sandbox))
  await sortDearestFirst(page, texts)
  await pickItems(page, 3)
  await parts.gateway.interrupt()
  await parts.startGateway({ TRADETILL_MAX_ITEMS: '2' })
  await page.getByRole('button', { name: texts.pay, exact: true }).click()
  const error = page.getByRole('dialog', { name: texts.creationErrorTitle })
  await error.locator('p').getByText(texts.tooManyItems).waitFor()
  expect(texts.tooManyItems).toBe('You have chosen too many items to trade')
  await error.getByRole('button', { name: texts.close }).click()
  await reloadUntilItems(page, texts)
  await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(3)
  await page.getByRole('gridcell').nth(3).click()
  await page.getByRole('button', { name: texts.tooManyItems }).waitFor()
  await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(3)
  await switchLanguage(page, 'ru')
  await page.getByRole('gridcell').nth(3).click()
  await page.getByRole('button', { name: TEXTS.ru.tooManyItems }).waitFor()
  await page.getByRole('button', { name: TEXTS.ru.pay, exact: true }).click()
  await page
    .getByRole('dialog', { name: TEXTS.ru.creationErrorTitle })
    .locator('p')
    .getByText(TEXTS.ru.tooManyItems)
    .waitFor()
  await parts.gateway.interrupt()
  await parts.startGateway()
})

test('the pages of the till, the sandbox and the demo store show a notice of sandbox mode', async () => {
  const { page } = await openBrowser()
  for (const path of ['/', '/help', '/deposit', '/nothing/here', `/deposit/${'0'.repeat(32)}`]) {
    await page.goto(parts.place.gateway + path)
    await page.getByRole('note').getByText(TEXTS.en.sandboxBanner).waitFor()
  }
  await page.goto(parts.place.sandbox)
  await expect.poll(() => page.locator('.banner').textContent()).toMatch(/sandbox/i)
  await page.goto(parts.place.store)
  await page.getByText('No real money, no real items').waitFor()
  const texts = await startTopUp(page, parts.place, 'ru')
  await page.getByRole('note').getByText(texts.sandboxBanner).waitFor()
})

test('live mode refuses a sandbox address, a missing master key and a missing database, and lists all three', async () => {
  const refused = run('gateway/main.ts', {
    TRADETILL_MODE: 'live',
    TRADETILL_STEAM_SANDBOX_URL: parts.place.sandbox,
  })
  expect(await refused.ended).toBe(1)
  for (const name of ['TRADETILL_STEAM_SANDBOX_URL', 'TRADETILL_MASTER_KEY', 'DATABASE_URL']) {
    expect(refused.output()).toMatch(new RegExp(`- ${name} `))
  }
})
