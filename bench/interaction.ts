/**
 * `npm run bench -- interaction`: time from a tap or key to the next paint on a phone, with 5,000 items, compared with
 * 50.
 */
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, MOBILE, visit } from '../e2e/support/browser.ts'
import { prepare } from '../e2e/support/setup.ts'
import { endTill, startTill } from '../e2e/support/till.ts'
import { showItems } from './grid.ts'
import { type Outcome, percentile95 } from './outcome.ts'

const FEW = 50
const MANY = 5_000
/** The factor by which an interaction may take longer with many items. */
const MOST_RATIO = 1.2
const ROUNDS = 40
/** The factor by which Lighthouse's average phone is slower than a desktop. */
const TIMES_SLOWER = 4
/** The shortest interaction that browsers report. They round to 8 ms. */
const SHORTEST_MS = 16

/** Runs in the page: records how long each interaction took until the next paint, by its id. */
function watchInteractions(shortestMs: number): void {
  const took: Record<number, number> = {}
  Reflect.set(window, 'interactions', took)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const id: number = Reflect.get(entry, 'interactionId') ?? 0
      if (id > 0) took[id] = Math.max(took[id] ?? 0, entry.duration)
    }
  }).observe({ type: 'event', durationThreshold: shortestMs } as PerformanceObserverInit)
}

async function openPhone(browser: Browser, gateway: string, count: number): Promise<Page> {
  const { page, context } = await visit(browser, MOBILE, { hasTouch: true, isMobile: true })
  await page.addInitScript(watchInteractions, SHORTEST_MS)
  await showItems(page, gateway, count)
  await page.locator('.controls [aria-expanded=false]').tap()
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: TIMES_SLOWER })
  return page
}

/** Taps a card, then types a letter or deletes it. Either way, more items remain than are visible. */
async function interact(page: Page, round: number): Promise<void> {
  await page
    .locator('.card')
    .nth(round % 6)
    .tap()
  const search = page.locator('.search input')
  // Selects all, because the caret may be anywhere.
  await search.press('ControlOrMeta+a')
  await search.press(round % 2 === 0 ? 'e' : 'Backspace')
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

const readDurations = (page: Page): Promise<number[]> =>
  page.evaluate(() => Object.values(Reflect.get(window, 'interactions') as Record<number, number>))

export async function benchInteraction(): Promise<Outcome> {
  await prepare()
  const [till, browser] = [await startTill(), await launchBrowser()]
  try {
    const few = await openPhone(browser, till.gateway, FEW)
    const many = await openPhone(browser, till.gateway, MANY)
    // The two pages alternate, so both run under the same load.
    for (let round = 0; round < ROUNDS; round += 1)
      for (const page of [few, many]) await interact(page, round)
    const [fewMs, manyMs] = await Promise.all([few, many].map(readDurations))
    if (fewMs === undefined || manyMs === undefined || Math.min(fewMs.length, manyMs.length) < ROUNDS / 2)
      throw new Error('the browser reported too few interactions')
    const [floor, ours] = [percentile95(fewMs), percentile95(manyMs)]
    return {
      name: 'interaction',
      ours: `${ours}ms`,
      floor: `${floor}ms`,
      ratio: ours / floor,
      limit: `<=${MOST_RATIO}`,
      passed: ours / floor <= MOST_RATIO,
    }
  } finally {
    await browser.close()
    await endTill(till)
  }
}
