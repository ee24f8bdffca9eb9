import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { violations } from './support/axe.ts'
import { DESKTOP, MOBILE } from './support/browser.ts'
import { answerOffer, readOffers } from './support/sandbox.ts'
import { openBrowser, query, shopper, till } from './support/shared-till.ts'
import { TEXTS } from './support/shopper.ts'

// Other tests pay at this store too. Above its limit, payments would be held, and held money buys no cart.
beforeAll(() => query('update store set risk_limit_usd_cents = 1000000000'))

test('a shopper pays for a cart inside the store and then owns the goods, and the drawer shows the webhook without secrets', async () => {
  const { page } = await openBrowser({ viewport: DESKTOP, context: { timezoneId: 'Asia/Kolkata' } })
  const texts = TEXTS.en
  await page.goto(till.store)
  await page.getByRole('combobox', { name: 'Signed in as' }).selectOption('mira_sol')
  await page.getByRole('button', { name: 'Add to cart: 500 embers' }).click()
  await page.getByRole('button', { name: 'One more: 500 embers' }).click()
  await page.locator('#cart').getByText('$9.98').first().waitFor()
  const here = page.getByRole('radio', { name: 'Here, inside the store' })
  await here.check()
  // Enter on this choice presses the form's own button.
  await here.press('Enter')

  const frame = page.frameLocator('iframe')
  const { tradeUrl, name } = await shopper()
  await frame.getByRole('textbox', { name: texts.tradeLink }).fill(tradeUrl)
  await frame.getByRole('link', { name }).waitFor()
  await frame.getByRole('gridcell').first().waitFor()
  expect(await violations(page)).toEqual([])
  await frame.getByRole('combobox', { name: texts.sort }).selectOption('priceDown')
  await frame.getByRole('gridcell').first().click()
  await frame.getByRole('button', { name: texts.pay, exact: true }).click()
  const dialog = frame.getByRole('dialog', { name: texts.confirmTitle })
  const code = await dialog.locator('output').textContent()
  const offer = (await readOffers(till.sandbox)).find(({ message }) => message === code)
  await answerOffer(till.sandbox, offer?.id ?? '', 'accept')

  await page.waitForURL(`${till.store}/?paid=*`)
  await page.locator('#bought').getByText('500 embers × 2').waitFor()
  const drawer = page.locator('#notes')
  await drawer.getByText('deposit.succeeded').first().click()
  await drawer.locator('pre', { hasText: '"status": "succeeded"' }).first().waitFor()
  // The zone shows that these are the visitor's own times.
  for (const part of ['#notes', '#top-ups']) {
    await expect.poll(() => page.locator(`${part} time`).first().textContent()).toMatch(/:\d\d .*GMT\+5:30$/)
  }
  await expect.poll(() => drawer.textContent()).not.toMatch(/[0-9a-f]{32}"|tt_test_|whsec_/)
  expect(await violations(page)).toEqual([])
})

/** Returns the goods whose price is not level with the others in its row, as when a name takes two lines. */
const unevenPrices = (page: Page): Promise<string[]> =>
  page.locator('.good-card').evaluateAll((cards) => {
    const places = cards.map((card) => {
      const price = card.querySelector('.price')
      return {
        cardTop: card.getBoundingClientRect().top,
        priceTop: price?.getBoundingClientRect().top,
        text: card.textContent,
      }
    })
    return places
      .filter(({ cardTop, priceTop }) =>
        places.some((each) => each.cardTop === cardTop && each.priceTop !== priceTop),
      )
      .map(({ text }) => text)
  })

test('on a phone, the demo store in both languages and the Steam sandbox are accessible, in both schemes', async () => {
  const { page } = await openBrowser({ viewport: MOBILE })
  const width = () => page.evaluate(() => document.documentElement.scrollWidth)
  await page.goto(till.store)
  // No other test pays as this shopper, so the balance is still empty.
  await page.getByRole('combobox', { name: 'Signed in as' }).selectOption('frost_byte')
  await page.getByRole('button', { name: 'Add to cart: Young drake' }).click()
  await page.getByRole('link', { name: 'Your cart · $39.99' }).click()
  const button = page.getByRole('button', { name: 'Pay with Steam items' })
  await expect.poll(async () => (await button.boundingBox())?.y).toBeLessThan(MOBILE.height)
  expect(await page.getByRole('radio').count()).toBe(0)
  // Two of the four pairs are enough, because language and scheme do not affect each other.
  for (const [language, colorScheme] of [
    ['English', 'dark'],
    ['Русский', 'light'],
  ] as const) {
    await page.getByRole('combobox').first().selectOption({ label: language })
    await page.locator(`html[lang=${language === 'English' ? 'en' : 'ru'}]`).waitFor()
    await page.emulateMedia({ colorScheme })
    expect(await unevenPrices(page)).toEqual([])
    // At the end of the page, the sticky link to the cart covers no part of a button.
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
    expect(await violations(page)).toEqual([])
    expect(await width()).toBe(MOBILE.width)
  }
  for (const [path, colorScheme] of [
    ['/', 'light'],
    ['/behaviours/', 'dark'],
  ] as const) {
    await page.goto(`${till.sandbox}${path}`)
    await page.emulateMedia({ colorScheme })
    expect(await violations(page)).toEqual([])
    expect(await width()).toBe(MOBILE.width)
  }
})
