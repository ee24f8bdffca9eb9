/** The doctor's advice about sources of prices uses the words of the settings. */
import { expect, it } from 'vitest'
import { priceFindings } from './trade.ts'

it.each([
  ['csfloat', 'cs', /take csfloat out of TRADETILL_PRICE_SOURCES, and restart/],
  ['er-api', 'rates', /take rates out of TRADETILL_PRICE_SOURCES/],
  ['file', 'cs', /^mend the file that TRADETILL_PRICES_FILE names$/],
])('%s never answered: the advice names the setting that can change it', (source, feed, advice) => {
  const feeds = [{ source, feed, goodAt: null, lastError: 'HTTP 403' }]
  const findings = priceFindings({ feeds, rates: [], coverage: [], now: new Date(0) })
  expect(findings).toMatchObject([{ state: 'mend', advice: expect.stringMatching(advice) }])
})
