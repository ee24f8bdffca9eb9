/** Picking items: for an amount, on a phone, with the keyboard, and several equal items at once. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Messages } from '../widget/i18n/en.ts'
import { MOBILE } from './support/browser.ts'
import { openStand } from './support/shared-till.ts'
import { centsOf, openOffer, pickItems } from './support/shopper.ts'

const amountField = (page: Page, texts: Messages) => page.getByRole('textbox', { name: texts.pickAmount })

test('the page picks items that cover a typed amount, worth no more than the cheapest single item that would', async () => {
  const { page, texts, inventory } = await openStand()
  await amountField(page, texts).focus()
  await page.keyboard.type('12,34')
  await page.keyboard.press('Enter')
  const picker = page.getByRole('group', { name: texts.pickForMe })
  await picker.getByText(/^Picked: /).waitFor()
  await page
    .getByRole('status')
    .getByText(/^Picked: .* selected, \$/)
    .waitFor()
  const total = centsOf((await page.locator('.summary-total dd').textContent()) ?? '')
  const cheapestEnough = Math.min(
    ...inventory.items.map(({ price }) => price).filter((price) => price >= 1_234),
  )
  expect(total).toBeGreaterThanOrEqual(1_234)
  expect(total).toBeLessThanOrEqual(cheapestEnough)
  await expect
    .poll(() => page.getByRole('progressbar', { name: texts.pickTarget }).getAttribute('max'))
    .toBe('1234')
  await openOffer(page, texts)
})

test('D-15 on a phone a button picks items for the store’s amount, and its menu closes and returns the focus', async () => {
  const { page, texts } = await openStand({
    language: 'ru',
    viewport: MOBILE,
    deposit: { targetAmount: 2_000 },
  })
  const opener = page.getByRole('button', { name: texts.pickForMe })
  await opener.click()
  await page.getByRole('button', { name: /^Подобрать предметы на 20,00/ }).click()
  await expect.poll(() => opener.getAttribute('aria-expanded')).toBe('false')
  await expect.poll(() => opener.evaluate((element) => element === document.activeElement)).toBe(true)
  const bar = page.getByRole('progressbar', { name: texts.target })
  await expect.poll(() => bar.getAttribute('value')).toBe('2000')
  expect(centsOf((await page.locator('.bottom-sum strong').textContent()) ?? '')).toBeGreaterThanOrEqual(
    2_000,
  )
})

test('on a phone the count opens the list of picks; the confirmation lists those left, with the same prices after a reload', async () => {
  const { page, texts } = await openStand({ language: 'ru', viewport: MOBILE })
  await pickItems(page, 3)
  const count = (n: number) => page.getByRole('button', { name: texts.selectedCount(n) })
  const pickedList = page.getByRole('list', { name: texts.selected })
  const removeButtons = pickedList.getByRole('button')
  const places = () =>
    page.evaluate(() =>
      ['.pay', '.bottom-picked', '.card'].map(
        (part) => document.querySelector(part)?.getBoundingClientRect().y,
      ),
    )
  const placesBefore = await places()
  // The arrow at the end of the count lies next to the link that clears the picks.
  await page.locator('.bottom-picked > span svg').click()
  await pickedList.waitFor()
  expect(await places()).toEqual(placesBefore)
  await expect.poll(() => count(3).getAttribute('aria-expanded')).toBe('true')
  await expect.poll(() => removeButtons.count()).toBe(3)
  await removeButtons.nth(1).press('Escape')
  await pickedList.waitFor({ state: 'hidden' })
  await expect.poll(() => count(3).evaluate((element) => element === document.activeElement)).toBe(true)
  await count(3).press('Enter')
  const names = await removeButtons.evaluateAll((elements) =>
    elements.map((button) => button.getAttribute('aria-label')),
  )
  await removeButtons.first().press('Enter')
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await expect.poll(focused).toBe(names[1])
  await expect.poll(() => removeButtons.count()).toBe(2)
  await page.locator('.link-panel').click({ position: { x: 8, y: 30 } })
  await pickedList.waitFor({ state: 'hidden' })
  await expect.poll(() => count(2).getAttribute('aria-expanded')).toBe('false')

  await openOffer(page, texts)
  const taken = page.getByRole('dialog').getByRole('list', { name: texts.itemsToGive }).getByRole('listitem')
  await expect.poll(() => taken.count()).toBe(2)
  const pricesBefore = await taken.locator('.item-row-price').allTextContents()
  await page.reload()
  await expect
    .poll(async () => (await taken.locator('.item-row-price').allTextContents()).toSorted())
    .toEqual(pricesBefore.toSorted())
})

test('on a phone, removing the only pick moves the focus to the button that picks for the shopper', async () => {
  const { page, texts } = await openStand({ viewport: MOBILE })
  await pickItems(page, 1)
  await page.getByRole('button', { name: texts.selectedCount(1) }).click()
  await page.getByRole('list', { name: texts.selected }).getByRole('button').press('Enter')
  await page.getByText(texts.selectedCount(0)).waitFor()
  const opener = page.getByRole('button', { name: texts.pickForMe })
  await expect.poll(() => opener.evaluate((element) => element === document.activeElement)).toBe(true)
  // The list closed when its last row went, and the next pick does not open it.
  await page.getByRole('gridcell').first().press('Space')
  const count = page.getByRole('button', { name: texts.selectedCount(1) })
  await expect.poll(() => count.getAttribute('aria-expanded')).toBe('false')
})

test('Shift picks a range, Ctrl+A picks all items that the search found, and / focuses the search', async () => {
  const { page, texts } = await openStand()
  const cell = (index: number) => page.getByRole('gridcell').nth(index)
  const picked = () => page.getByRole('gridcell', { selected: true }).count()
  await cell(1).click()
  await cell(3).click({ modifiers: ['Shift'] })
  await expect.poll(picked).toBe(3)
  // The range begins at the last press without Shift.
  await cell(0).click({ modifiers: ['Shift'] })
  await expect.poll(picked).toBe(4)
  await page.getByRole('button', { name: texts.clearAll }).click()
  await cell(2).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowRight')
  await expect.poll(picked).toBe(2)
  await page.keyboard.press('/')
  await expect
    .poll(() => page.getByRole('searchbox').evaluate((input) => input === document.activeElement))
    .toBe(true)
  await page.keyboard.type('AK-47')
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('AK-47')
  await cell(0).focus()
  await page.keyboard.press('Control+a')
  await expect.poll(picked).toBe(await page.getByRole('gridcell').count())
})

test('equal items share a card: a press picks one, its buttons and keys pick more, fewer or all', async () => {
  const { page, texts } = await openStand({ language: 'ru', viewport: MOBILE })
  const card = page
    .getByRole('gridcell')
    .filter({ has: page.locator('.card-stepper') })
    .first()
  const name = (await card.locator('.card-name').getAttribute('title')) ?? ''
  const price = centsOf((await card.locator('.card-price').textContent()) ?? '')
  const count = Number((await card.locator('.card-stepper').textContent())?.slice(1))
  expect(count).toBeGreaterThan(1)
  const expectTaken = async (taken: number) => {
    const sum = page.locator('.bottom-sum strong')
    await expect.poll(async () => centsOf((await sum.textContent()) ?? '')).toBe(taken * price)
    await expect.poll(() => card.getAttribute('aria-label')).toContain(texts.takenOf(taken, count))
    await expect.poll(() => card.getAttribute('aria-selected')).toBe(String(taken > 0))
  }
  const button = (label: string) => card.getByRole('button', { name: label, exact: true })
  await card.locator('img').click()
  await expectTaken(1)
  await button(texts.takeAll(`1/${count}`, name)).click()
  await expectTaken(count)
  // All copies of the item are already picked.
  await button(texts.oneMore(name)).click({ force: true })
  await expectTaken(count)
  await button(texts.oneFewer(name)).click()
  await expectTaken(count - 1)
  await card.press('+')
  await expectTaken(count)
  for (let taken = count - 1; taken >= 0; taken -= 1) {
    await card.press('-')
    await expectTaken(taken)
  }
  await expect.poll(() => card.evaluate((element) => element === document.activeElement)).toBe(true)
})
