import { expect, test } from 'vitest'
import { nextInventory, openBrowser, shopper, till } from './support/shared-till.ts'
import { enterLink, startTopUp } from './support/shopper.ts'

test.each(['en', 'ru'] as const)(
  'A-043 A-044 in %s: pictures come by class, what cannot be used says why, and an earlier answer tells its age',
  async (language) => {
    const { page } = await openBrowser()
    const texts = await startTopUp(page, till, language)
    const link = await shopper()
    const [inventory] = await Promise.all([nextInventory(page), enterLink(page, link, texts)])
    expect(inventory.items[0]?.iconUrl).toMatch(/\/economy\/image\/class\/730\/\d+\/100fx100f$/)
    const picture = page.getByRole('gridcell').first().locator('img')
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0))
      .toBe(true)

    await page.getByRole('button', { name: texts.why }).click()
    await page.getByText(texts.unavailableReasons.notTradable).waitFor()
    const counts = await page.locator('.popover-row strong').allTextContents()
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(inventory.unavailableItems)

    await expect
      .poll(
        async () => {
          await page.reload()
          await page.getByRole('gridcell').first().waitFor()
          return page.locator('.shelf').textContent()
        },
        { interval: 1_000 },
      )
      .toMatch(
        language === 'en' ? /Inventory as of \d+ seconds? ago/ : /Инвентарь получен \d+ секунд\S* назад/,
      )
  },
)
