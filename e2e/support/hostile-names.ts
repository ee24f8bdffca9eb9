/** Makes texts in the console's answers hostile: they contain HTML that would run a script. */
import type { Page } from 'playwright-core'

const HOSTILE = `<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>"'>`

/** Fields with texts that shoppers, stores, Steam or operators may have written. */
const WRITTEN_FIELDS = new Set([
  'name',
  'storeName',
  'botName',
  'marketHashName',
  'reference',
  'externalId',
  'reason',
  'message',
  'operator',
  'by',
  'proposedBy',
  'backedBy',
  'decidedBy',
  'failure',
  'detail',
  'description',
  'store',
  'url',
  'item',
  'customerLabel',
  'answer',
  'label',
])
/** Matches a keyword of ours, for which the page may look up a text. */
const OUR_WORD = /^[a-z_]*$/

/** From now on the console's answers contain hostile texts. The returned set collects the keys that were changed. */
export async function giveHostileNames(page: Page): Promise<ReadonlySet<string>> {
  const changedKeys = new Set<string>()
  const makeHostile = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value).map(([key, each]) => {
      if (typeof each !== 'string' || !WRITTEN_FIELDS.has(key) || OUR_WORD.test(each)) return [key, each]
      changedKeys.add(key)
      return [key, `${each} ${HOSTILE}`]
    })
    return Object.fromEntries(entries)
  }
  await page.route('**/ops/find/**', async (route) => {
    // Playwright does not repeat the browser's own headers automatically. The page may be closed before an answer.
    const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' }
    const response = await route.fetch({ headers }).catch(() => undefined)
    if (response === undefined) return
    const text = await response.text()
    await route.fulfill({ response, body: JSON.stringify(JSON.parse(text), makeHostile) }).catch(() => {})
  })
  return changedKeys
}

/**
 * Returns traces of hostile texts that ran or became elements. `shared-till.ts` checks for violations of the content
 * security policy.
 */
export const harmOf = (page: Page): Promise<unknown> =>
  page.evaluate(() => ({
    ran: 'ran' in window,
    elements: document.querySelectorAll('[onerror], img[src="x"], main script').length,
  }))
export const NO_HARM = { ran: false, elements: 0 }

/** Keys that the answers about any till contain, so the test expects them among the changed ones. */
export const ALWAYS_THERE = ['name', 'store', 'url']
