/** Every scene of the gallery in one of the looks of the page, looked at by axe. Two test files share them. */
import { beforeAll, expect, test } from 'vitest'
import { violations } from './axe.ts'
import { DESKTOP, MOBILE } from './browser.ts'
import { type Base, SCENES } from './gallery-scenes.ts'
import { openBrowser, till } from './stage.ts'
import { baseOf, playScene } from './studio.ts'

/** 1280 px at 400 % zoom. */
const ZOOMED = { width: 320, height: 640 }

/** Every pair of language, width and scheme is among these. */
const LOOKS = [
  { language: 'en', viewport: DESKTOP, scheme: 'dark' },
  { language: 'ru', viewport: DESKTOP, scheme: 'light' },
  { language: 'en', viewport: MOBILE, scheme: 'light' },
  { language: 'ru', viewport: MOBILE, scheme: 'dark' },
  { language: 'ru', viewport: ZOOMED, scheme: 'light' },
  { language: 'en', viewport: ZOOMED, scheme: 'dark' },
] as const

/** Each scene has the look that its place in the gallery gives it. */
export const RUNS = SCENES.flatMap((scene, index) => {
  const look = LOOKS[index % LOOKS.length]
  return look === undefined ? [] : [{ name: scene.name, scene, ...look }]
})

/** Scenes about many items keep them all; elsewhere a dozen show as much, and axe looks at each. */
const OF_MANY = ['inventory', 'inventory-untouched', 'inventory-search', 'inventory-long-names']
const DOZEN = 12

/** Declares a test for each of these runs. */
export function lookAt(runs: typeof RUNS): void {
  let base: Base
  let small: Base
  beforeAll(async () => {
    base = await baseOf(till)
    small = { ...base, inventory: { ...base.inventory, items: base.inventory.items.slice(0, DOZEN) } }
  })

  test.each(runs)('$name in $language at $viewport.width px, $scheme', async ({ scene, ...look }) => {
    const { language, viewport, scheme } = look
    const { page } = await openBrowser({ viewport, context: { colorScheme: scheme } })
    const shown = OF_MANY.includes(scene.name) ? base : small
    await playScene(page, { gateway: till.gateway, base: shown, scene, language })
    // axe waits by the clock of the page.
    await page.clock.resume()
    expect(await violations(page)).toEqual([])
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBeLessThanOrEqual(viewport.width)
  })
}
