/** The items on the page: pictures, names, age and prices, and the reasons why some are not offered. */
import { expect, test } from 'vitest'
import { inventorySchema } from '../contract/widget-api.ts'
import { MOBILE } from './support/browser.ts'
import { nextInventory, openBrowser, openStand, query, shopper, till } from './support/shared-till.ts'
import { giveLinkAndAwaitItems, startTopUp } from './support/shopper.ts'
import { callerOf } from './support/widget-calls.ts'

test.each(['en', 'ru'] as const)(
  'A-043 A-044 in %s: pictures are loaded by the item’s class, and the page says why items are unusable, and how old the inventory is',
  async (language) => {
    const { page } = await openBrowser()
    await page.clock.install()
    const texts = await startTopUp(page, till, language)
    const guest = await shopper()
    const [inventory] = await Promise.all([nextInventory(page), giveLinkAndAwaitItems(page, texts, guest)])
    expect(inventory.items[0]?.iconUrl).toMatch(/\/economy\/image\/class\/730\/\d+\/100fx100f$/)
    const picture = page.getByRole('gridcell').first().locator('img')
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0))
      .toBe(true)

    await page.getByRole('button', { name: texts.why }).click()
    await page.getByText(texts.unavailableReasons.notTradable).waitFor()
    const counts = await page.locator('.popover-row strong').allTextContents()
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(inventory.unavailableItems)

    // A little more than three minutes.
    await page.clock.fastForward(185_000)
    const age = language === 'en' ? /Inventory from [34] minutes ago/ : /Инвентарь получен [34] минуты назад/
    await expect.poll(() => page.locator('.shelf').textContent()).toMatch(age)
  },
)

const STICKERS = ['Natus Vincere (Holo) | Stockholm 2021', 'Natus Vincere (Holo) | Antwerp 2022 Legends']

test('a phone shows long names in full, because they differ at their ends', async () => {
  const { page } = await openStand({ viewport: MOBILE }, async ({ page: before }) => {
    await before.route('**/api/inventory?*', async (route) => {
      const response = await route.fetch()
      const inventory = inventorySchema.parse(await response.json())
      const items = inventory.items.map((item, index) => ({
        ...item,
        name: `Sticker | ${STICKERS[index % 2]}`,
      }))
      await route.fulfill({ response, json: { ...inventory, items } })
    })
  })
  const cutNames = await page
    .locator('.card-name')
    .evaluateAll((elements) => elements.filter((name) => name.scrollHeight > name.clientHeight + 1).length)
  expect(cutNames).toBe(0)
  const shownNames = (await page.locator('.card-name').allTextContents()).join('\n')
  for (const name of STICKERS) expect(shownNames).toContain(name)
})

test.each(['en', 'ru'] as const)(
  'D-13 D-14 in %s: items that are not marketable, or have no price of their own, are not offered, and the page says why',
  async (language) => {
    const { page, texts, inventory } = await openStand({ who: 'magic_twins', language })
    const countShown = async (reason: 'notMarketable' | 'noOwnPrice') => {
      await page.getByRole('button', { name: texts.why }).click()
      const row = page.locator('.popover-row', { hasText: texts.unavailableReasons[reason] })
      const count = await row.locator('strong').textContent()
      await page.keyboard.press('Escape')
      return Number(count)
    }
    expect(inventory.unavailableByReason.notMarketable).toBe(1)
    await expect.poll(() => countShown('notMarketable')).toBe(1)
    const [tf2] = await Promise.all([
      nextInventory(page),
      page.getByRole('radio', { name: 'Team Fortress 2' }).check({ force: true }),
    ])
    await page.getByRole('button', { name: texts.why }).waitFor()
    expect(tf2.unavailableByReason).toMatchObject({ notMarketable: 1 })
    expect(tf2.unavailableByReason.noOwnPrice).toBeGreaterThanOrEqual(2)
    await expect.poll(() => countShown('noOwnPrice')).toBe(tf2.unavailableByReason.noOwnPrice)
    await expect.poll(() => countShown('notMarketable')).toBe(1)
  },
)

test.each(['en', 'ru'] as const)(
  'in %s: the question mark on a card, or the key ?, explains its price and picks nothing',
  async (language) => {
    const { page, texts } = await openStand({ language })
    const cell = (index: number) => page.getByRole('gridcell').nth(index)
    const priceOf = async (index: number) => (await cell(index).locator('.card-price').textContent()) ?? ''
    const answer = page.locator('.why-price')
    const expectAnswerAbout = async (index: number) => {
      await answer.getByText(texts.whyPrice(await priceOf(index)), { exact: true }).waitFor()
      // The sandbox has its own price list.
      await answer.getByText(texts.ownList).waitFor()
      await answer.getByText(texts.whyPriceNote(1)).waitFor()
    }
    await cell(1).getByRole('button').click()
    await expectAnswerAbout(1)
    await cell(0).getByRole('button').click()
    await expectAnswerAbout(0)
    // The press that closes the answer picks nothing.
    await cell(2).locator('.card-price').click()
    await answer.waitFor({ state: 'hidden' })
    expect(await page.getByRole('gridcell', { selected: true }).count()).toBe(0)
    // A screen reader presses without a pointer.
    await cell(2).dispatchEvent('click')
    await expect.poll(() => cell(2).getAttribute('aria-selected')).toBe('true')
    await cell(2).dispatchEvent('click')
    await expect.poll(() => cell(2).getAttribute('aria-selected')).toBe('false')
    await cell(0).getByRole('button').click()
    await expectAnswerAbout(0)
    await page.keyboard.press('Escape')
    await answer.waitFor({ state: 'hidden' })

    await cell(0).focus()
    // With Alt, an arrow key belongs to the browser and moves to no other card.
    await page.keyboard.press('Alt+ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('?')
    await expectAnswerAbout(1)
    await expect.poll(() => cell(1).evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await page.getByRole('gridcell', { selected: true }).count()).toBe(0)
    await cell(1).press('Control+End')
    await answer.waitFor({ state: 'hidden' })
  },
)

test('a deposit that ended while its items were shown is shown as closed once the shopper reloads them', async () => {
  const { page, texts, deposit } = await openStand()
  await query(`update deposit set expires_at = now() where id = $1`, [deposit.id])
  const caller = await callerOf(till.gateway, deposit)
  await expect.poll(async () => (await caller.payment()).status).toBe('paymentTimeout')
  await page.getByRole('button', { name: texts.reload }).click()
  await page.getByRole('dialog').getByText(texts.closedNote).waitFor()
})
