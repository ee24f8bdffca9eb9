/** Checks beyond those of axe: wider text spacing cuts no text, focus stays visible, and icons stay beside their words. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DESKTOP, MOBILE } from './support/browser.ts'
import { openConfirmation, openDeposit, openStand } from './support/shared-till.ts'
import { openOffer, pickItems } from './support/shopper.ts'

/** The spacing of text that a shopper may set (WCAG 1.4.12). */
const SPACING =
  '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }'

/** Runs in the page: returns the texts that are cut off, and the page's width if it scrolls sideways. */
function cutTexts(): string[] {
  const cut = [...document.querySelectorAll<HTMLElement>('body *')].filter((element) => {
    const { overflowX, overflowY, display } = getComputedStyle(element)
    if (element.textContent === '' || display === 'none' || element.closest('.visually-hidden') !== null)
      return false
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element
    if (clientWidth === 0) return false
    return (
      (overflowX === 'hidden' && scrollWidth > clientWidth + 1) ||
      (overflowY === 'hidden' && scrollHeight > clientHeight + 1)
    )
  })
  const { scrollWidth, clientWidth } = document.documentElement
  return [
    ...cut.map(({ className, textContent }) => `${className}: ${textContent?.slice(0, 40)}`),
    ...(scrollWidth > clientWidth ? [`${scrollWidth} px`] : []),
  ]
}

test.each([
  { language: 'en', viewport: DESKTOP },
  { language: 'ru', viewport: MOBILE },
] as const)('wider spacing cuts no text: $language, $viewport.width px', async ({ language, viewport }) => {
  const { page, texts } = await openStand({ language, viewport })
  const applySpacing = () =>
    page.evaluate((rules) => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(rules)
      document.adoptedStyleSheets = [sheet]
    }, SPACING)
  await applySpacing()
  await pickItems(page, 1)
  await expect.poll(() => page.evaluate(cutTexts)).toEqual([])
  await openOffer(page, texts)
  await expect.poll(() => page.evaluate(cutTexts)).toEqual([])
})

test.each([320, 390])(
  'the number of the payment covers no part of the store’s name, at %s px',
  async (width) => {
    const { page } = await openStand({ language: 'ru', viewport: { width, height: 640 } })
    const nameEnd = await page
      .locator('.header-name')
      .evaluate((name) => Math.round(name.getBoundingClientRect().bottom * 10) / 10)
    const number = await page.locator('.deposit-id').boundingBox()
    expect(number?.y).toBeGreaterThanOrEqual(nameEnd)
  },
)

/** Presses Tab through the page. Returns the names of the elements that are entirely covered while focused. */
async function coveredFocus(page: Page, presses: number): Promise<string[]> {
  const hidden: string[] = []
  for (let press = 0; press < presses; press += 1) {
    await page.keyboard.press('Tab')
    const coveredElement = await page.evaluate(() => {
      const element = document.activeElement
      if (element === null || element === document.body) return null
      const { left, top, width, height } = element.getBoundingClientRect()
      const isSeen = [0.1, 0.5, 0.9].some((part) => {
        const hit = document.elementFromPoint(left + width / 2, top + height * part)
        return hit !== null && (element.contains(hit) || hit.closest('label')?.contains(element) === true)
      })
      return isSeen ? null : `${element.tagName} ${element.getAttribute('aria-label') ?? element.textContent}`
    })
    if (coveredElement !== null) hidden.push(coveredElement)
  }
  return hidden
}

test.each([
  ['a phone', MOBILE],
  ['a desktop', DESKTOP],
] as const)(
  'on %s the focused element is never entirely covered while an offer is open',
  async (_, viewport) => {
    const { page, texts } = await openConfirmation({ viewport })
    expect(await coveredFocus(page, 8)).toEqual([])
    await page.getByRole('button', { name: texts.stepBack }).click()
    await page.getByText(texts.offerWaiting).waitFor()
    expect(await coveredFocus(page, 24)).toEqual([])
  },
)

test('on a phone, where the label of the link to Steam wraps, its icon is beside the last word', async () => {
  const { page, texts } = await openDeposit({ language: 'ru', viewport: MOBILE })
  const link = page.getByRole('link', { name: texts.tradeSettings })
  const gapPx = await link.locator('svg').evaluate((icon) => {
    const words = document.createRange()
    words.setStartBefore(icon.closest('a')?.firstChild ?? icon)
    words.setEndBefore(icon)
    const lines = [...words.getClientRects()]
    const lastWordRight = Math.max(
      ...lines.filter(({ bottom }) => bottom > icon.getBoundingClientRect().top).map(({ right }) => right),
    )
    return icon.getBoundingClientRect().left - lastWordRight
  })
  expect(gapPx).toBeGreaterThanOrEqual(0)
  expect(gapPx).toBeLessThan(12)
})
