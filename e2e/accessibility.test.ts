import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DESKTOP, launchBrowser, MOBILE, visit } from './browser.ts'
import { enterLink, pay, pickItems, startTopUp } from './shopper.ts'
import { endTill, startTill, type Till } from './till.ts'

let till: Till
let browser: Browser

beforeAll(async () => {
  ;[till, browser] = await Promise.all([startTill(), launchBrowser()])
})

afterAll(async () => {
  await browser?.close()
  if (till !== undefined) await endTill(till)
})

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).withTags(WCAG).analyze()
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`)
}

test.each([
  { name: 'desktop', viewport: DESKTOP, language: 'en' },
  { name: 'phone', viewport: MOBILE, language: 'ru' },
] as const)('every step of a deposit can be used by everybody on a $name', async ({ viewport, language }) => {
  const { page, end } = await visit(browser, viewport)
  const texts = await startTopUp(page, till, language)
  expect(await violations(page)).toEqual([])
  await enterLink(page, till, texts)
  await pickItems(page, 3)
  expect(await violations(page)).toEqual([])
  await pay(page, texts)
  expect(await violations(page)).toEqual([])
  await end()
})
