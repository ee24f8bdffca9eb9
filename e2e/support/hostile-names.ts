/** The console with names of somebody who would like to run in it. */
import type { Page } from 'playwright-core'

const HOSTILE = `<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>"'>`

/** Fields that others wrote, or may have: shoppers, stores, Steam, a command line. */
const WRITTEN = new Set([
  ...['name', 'storeName', 'botName', 'marketHashName', 'reference', 'externalId', 'reason', 'message'],
  ...['operator', 'by', 'proposedBy', 'backedBy', 'decidedBy', 'failure', 'detail', 'description'],
  ...['store', 'url', 'item', 'customerLabel', 'answer', 'label'],
])
/** A word of our own, which the page may look up. */
const OUR_WORD = /^[a-z_]*$/

/** Every answer that the page finds has them from now on. Resolves to the keys under which some were. */
export async function giveHostileNames(page: Page): Promise<ReadonlySet<string>> {
  const given = new Set<string>()
  const changed = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value).map(([key, each]) => {
      if (typeof each !== 'string' || !WRITTEN.has(key) || OUR_WORD.test(each)) return [key, each]
      given.add(key)
      return [key, `${each} ${HOSTILE}`]
    })
    return Object.fromEntries(entries)
  }
  await page.route('**/ops/find/**', async (route) => {
    // The browser's own headers are not repeated otherwise. The page may be gone before its last answer.
    const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' }
    const response = await route.fetch({ headers }).catch(() => undefined)
    if (response === undefined) return
    const text = await response.text()
    await route.fulfill({ response, body: JSON.stringify(JSON.parse(text), changed) }).catch(() => {})
  })
  return given
}

/** Tells whether names became more than text. Violations of the policy are seen at the end of every test. */
export const came = (page: Page): Promise<unknown> =>
  page.evaluate(() => ({
    ran: 'ran' in window,
    elements: document.querySelectorAll('[onerror], img[src="x"], main script').length,
  }))
export const NOTHING = { ran: false, elements: 0 }

/** Keys under which every till has such a text. */
export const ALWAYS_THERE = ['name', 'store', 'url']
