/**
 * Checks every scene of the gallery with axe, each in one language, width and scheme. Two test files split the scenes.
 */
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import { violations } from './axe.ts'
import { DESKTOP, MOBILE, type Visit, visit } from './browser.ts'
import { baseOf, playScene } from './play-scene.ts'
import type { Base } from './scene.ts'
import { SCENES } from './scenes.ts'
import { saveEvidenceOnFailure, sharedBrowser, till } from './shared-till.ts'
import { targetsTooSmall } from './targets.ts'

/** A window 1280 px wide at 400 % zoom. */
const ZOOMED = { width: 320, height: 640 }

/** Every pair of language and width, of language and scheme, and of width and scheme occurs. */
const LOOKS = [
  { language: 'en', viewport: DESKTOP, scheme: 'dark' },
  { language: 'ru', viewport: DESKTOP, scheme: 'light' },
  { language: 'en', viewport: MOBILE, scheme: 'light' },
  { language: 'ru', viewport: MOBILE, scheme: 'dark' },
  { language: 'ru', viewport: ZOOMED, scheme: 'light' },
  { language: 'en', viewport: ZOOMED, scheme: 'dark' },
] as const

type Look = (typeof LOOKS)[number]

/** Each scene in one look (language, width and scheme), chosen by its place in the gallery. */
export const RUNS = SCENES.flatMap((scene, index) => {
  const look = LOOKS[index % LOOKS.length]
  return look === undefined ? [] : [{ name: scene.name, scene, look }]
})

/** Scenes that need all items. The others get a dozen, because axe checks each item. */
const NEED_ALL_ITEMS = ['inventory', 'inventory-untouched', 'inventory-search', 'inventory-long-names']
const DOZEN = 12

/** Minutes between two scenes of a page: more than a scene can take before its test times out. */
const MINUTES_A_SCENE = 10

/** Keeps one page for each look, because opening one for each scene takes time. */
function pagesOfLooks() {
  const opened = new Map<Look, Visit & { scenes: number }>()
  return {
    async next(look: Look): Promise<{ visited: Visit; minute: number }> {
      const { viewport, scheme } = look
      const known = opened.get(look)
      const visited = known ?? {
        ...(await visit(await sharedBrowser(), viewport, { colorScheme: scheme })),
        scenes: 0,
      }
      visited.scenes += 1
      opened.set(look, visited)
      await visited.context.setOffline(false)
      return { visited, minute: 1 + (visited.scenes - 1) * MINUTES_A_SCENE }
    },
    /** Closes the look's page after a scene failed on it. The look's next scene gets a new one. */
    async leave(look: Look): Promise<void> {
      const visited = opened.get(look)
      opened.delete(look)
      await visited?.end()
    },
    end: () => Promise.all([...opened.values()].map(({ end }) => end())),
  }
}

/** Declares a test for each run: of axe's rules, the page's width, errors, and on a phone the sizes of targets. */
export function testAccessibility(runs: typeof RUNS): void {
  const pages = pagesOfLooks()
  let base: Base
  let smallBase: Base
  beforeAll(async () => {
    base = await baseOf(till)
    smallBase = { ...base, inventory: { ...base.inventory, items: base.inventory.items.slice(0, DOZEN) } }
  })
  afterAll(pages.end)

  test.each(runs)(
    '$name in $look.language at $look.viewport.width px, $look.scheme',
    async ({ scene, look }) => {
      const { language, viewport } = look
      const { visited, minute } = await pages.next(look)
      saveEvidenceOnFailure(visited)
      onTestFailed(() => pages.leave(look))
      const { page, seen } = visited
      const shownBase = NEED_ALL_ITEMS.includes(scene.name) ? base : smallBase
      await playScene(page, { gateway: till.gateway, base: shownBase, scene, language, minute })
      // axe waits on the page's clock.
      await page.clock.resume()
      expect(await violations(page)).toEqual([])
      const pageWidth = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(pageWidth).toBeLessThanOrEqual(viewport.width)
      if (viewport === MOBILE) expect(await targetsTooSmall(page)).toEqual([])
      expect(seen.complaints).toEqual([])
    },
  )
}
