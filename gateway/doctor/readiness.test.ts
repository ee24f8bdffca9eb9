/** The doctor's findings about sources of prices and about tokens of bots. */
import { expect, it } from 'vitest'
import { botFindings, priceFindings } from './readiness.ts'

it.each([
  ['csfloat', 'cs', /take csfloat out of TRADETILL_PRICE_SOURCES and restart/],
  ['er-api', 'rates', /take rates out of TRADETILL_PRICE_SOURCES/],
  ['file', 'cs', /^fix the file that TRADETILL_PRICES_FILE names$/],
])('if %s has never answered, the advice names the setting of that source', (source, feed, advice) => {
  const feeds = [{ source, feed, goodAt: null, lastError: 'HTTP 403' }]
  const findings = priceFindings({ feeds, rates: [], coverage: [], now: new Date(0) })
  expect(findings).toMatchObject([{ state: 'mend', advice: expect.stringMatching(advice) }])
})

it.each([
  [48, 'ends in 2 days'],
  [0, 'has expired'],
  [-24, 'has expired'],
])('a token with %i hours left %s', (hours, end) => {
  const now = new Date('2026-01-01T12:00:00Z')
  const tokenExpiresAt = new Date(now.getTime() + hours * 3_600_000)
  const bot = { botId: 3n, name: 'Till One', level: 12, state: 'active', reachable: true, hasGateway: true }
  expect(botFindings([{ ...bot, bars: [], noticeAcknowledged: true, tokenExpiresAt }], now)).toMatchObject([
    { says: `Till One (level 12) is online, its token ${end}`, advice: 'tradetill bot renew 3' },
  ])
})
