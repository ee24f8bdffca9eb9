/** A shopper's steps in the browser. */
import type { Page } from 'playwright-core'
import type { Language } from '../../contract/languages.ts'
import { en, type Messages } from '../../widget/i18n/en.ts'
import { ru } from '../../widget/i18n/ru.ts'
import { eventually } from './process.ts'
import type { Player } from './sandbox.ts'
import type { Place } from './till.ts'

export const TEXTS: Record<Language, Messages> = { en, ru: { ...en, ...ru } }

/** Reads an amount as a page shows it, in either language. Returns cents. */
export function centsOf(text: string): number {
  const [whole = '', cents = ''] = text.replace(/[^\d.,]/g, '').split(/[.,](?=\d{2}$)/)
  return Number(whole.replace(/\D/g, '')) * 100 + Number(cents)
}

/** Goes from the demo store's button to the page that asks for the trade link. */
export async function startTopUp(page: Page, place: Place, language: Language = 'en'): Promise<Messages> {
  await page.goto(place.store)
  await page.getByRole('button', { name: 'Top up with game items' }).click()
  await page.waitForURL(/\/deposit\/[0-9a-f]{32}$/)
  return switchLanguage(page, language)
}

export async function switchLanguage(page: Page, language: Language): Promise<Messages> {
  await page.locator(`.language [lang=${language}]`).click()
  await page.locator(`html[lang=${language}]`).waitFor()
  return TEXTS[language]
}

/** Pastes this shopper's trade link and waits for priced items. */
export async function giveLinkAndAwaitItems(page: Page, texts: Messages, who: Player): Promise<void> {
  await giveLink(page, texts, who)
  await page.getByRole('gridcell').first().waitFor()
}

/** Pastes this shopper's trade link and waits for their name. */
export async function giveLink(page: Page, texts: Messages, { tradeUrl, name }: Player): Promise<void> {
  await page.getByRole('textbox', { name: texts.tradeLink }).fill(tradeUrl)
  await page.getByRole('link', { name }).waitFor()
}

/** Picks the first items of the grid. Resolves to their sum in cents. */
export async function pickItems(page: Page, count: number): Promise<number> {
  await page.getByRole('gridcell').first().waitFor()
  let sum = 0
  for (let index = 0; index < count; index += 1) {
    const cell = page.getByRole('gridcell').nth(index)
    await cell.click()
    sum += centsOf((await cell.locator('.card-price').textContent()) ?? '')
  }
  return sum
}

/** Sorts by price, the most expensive first, so the first items are worth at least the minimum. */
export async function sortDearestFirst(page: Page, texts: Messages): Promise<void> {
  await page.getByRole('combobox', { name: texts.sort }).selectOption('priceDown')
}

/** Presses the button that opens an offer for the picked items, and waits for the dialog about the offer. */
export async function openOffer(page: Page, texts: Messages): Promise<void> {
  await page.getByRole('button', { name: texts.pay, exact: true }).click()
  await page.getByRole('dialog', { name: texts.confirmTitle }).waitFor()
}

/** The buttons that a shopper presses on Steam, in order: accept, confirm the gift, confirm on the phone. */
export const ACCEPTING = ['Accept', 'Yes, this is a gift', 'Confirm'] as const

const RETURN_EVENTS = {
  visibilitychange: `document.dispatchEvent(new Event('visibilitychange'))`,
  pageshow: `window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`,
}

/** Fires an event that a page gets when it becomes visible again. */
export const comeBack = (
  page: Page,
  how: keyof typeof RETURN_EVENTS = 'visibilitychange',
): Promise<boolean> => page.evaluate(RETURN_EVENTS[how])

/** Opens the offer on Steam in another tab, answers it, and closes the tab. */
export async function answerInBrowser(
  page: Page,
  texts: Messages,
  answer: 'Accept' | 'Decline',
): Promise<void> {
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: texts.acceptInBrowser }).click()
  const tab = await opened
  for (const name of answer === 'Accept' ? ACCEPTING : [answer]) {
    await tab.getByRole('button', { name, exact: true }).click()
  }
  await tab.getByRole('status').waitFor()
  await tab.close()
  // A headless browser never hides a page behind another tab, so it fires no event when the page is in front again.
  await comeBack(page)
}

/** Goes from the demo store to an open offer for the two most expensive items. Resolves to their sum in cents. */
export async function goFromStoreToOffer(page: Page, place: Place, who: Player): Promise<number> {
  const texts = await startTopUp(page, place)
  await giveLinkAndAwaitItems(page, texts, who)
  await sortDearestFirst(page, texts)
  const sum = await pickItems(page, 2)
  await openOffer(page, texts)
  return sum
}

/**
 * Stops the page's clock, so no timer of the page fires until the test advances the clock, however slow the machine is.
 * The clock stops a minute ahead, because it cannot stop in the past, and the call may be slow.
 */
export const stopClock = (page: Page): Promise<void> => page.clock.pauseAt(Date.now() + 60_000)

/** Advances the page's clock second by second until the condition holds. */
export const tickUntil = (page: Page, isReached: () => Promise<boolean>): Promise<boolean> =>
  eventually('the page reaches the state', async () => {
    await page.clock.runFor(1000)
    return (await isReached()) || undefined
  })
