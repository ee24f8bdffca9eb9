/** The doctor's findings about price sources, bots' tokens, webhooks' secrets and stores' commissions. */
import { expect, it } from 'vitest'
import type { Game } from '../../contract/games.ts'
import { rulesWith } from '../pricing/price.ts'
import { botFindings, commissionFindings, priceFindings, storeFindings } from './readiness.ts'

it.each([
  ['csfloat', 'cs', /take csfloat out of TRADETILL_PRICE_SOURCES and restart/],
  ['er-api', 'rates', /take rates out of TRADETILL_PRICE_SOURCES/],
  ['file', 'cs', /^fix the file that TRADETILL_PRICES_FILE names$/],
])('if %s has never answered, the advice names the setting of that source', (source, feed, advice) => {
  const feeds = [{ source, feed, goodAt: null, lastError: 'HTTP 403' }]
  const findings = priceFindings({ feeds, rates: [], coverage: [], now: new Date(0) })
  expect(findings).toMatchObject([{ state: 'mend', advice: expect.stringMatching(advice) }])
})

const BOT = {
  botId: 3n,
  name: 'Till One',
  level: 12,
  state: 'active',
  reachable: true,
  hasGateway: true,
  loginAfter: null,
  tokenExpiresAt: null,
  bars: [],
  noticeAcknowledged: true,
}

it.each([
  [48, 'expires in 2 days'],
  [0, 'has expired'],
  [-24, 'has expired'],
])('a token with %i hours left %s', (hours, end) => {
  const now = new Date('2026-01-01T12:00:00Z')
  const tokenExpiresAt = new Date(now.getTime() + hours * 3_600_000)
  expect(botFindings([{ ...BOT, tokenExpiresAt }], now)).toMatchObject([
    { says: `Till One (level 12) is online, its token ${end}`, advice: 'tradetill bot renew 3' },
  ])
})

it('a bot whose token Steam refused is not reported as a bot without a gateway', () => {
  const loginAfter = new Date('2026-01-01T12:05:00Z')
  const refused = { ...BOT, reachable: false, hasGateway: false, loginAfter }
  expect(botFindings([refused], new Date('2026-01-01T12:00:00Z'))).toMatchObject([
    {
      state: 'mend',
      says: 'Till One (level 12): Steam refuses its token, which is tried again at 2026-01-01T12:05:00.000Z',
      advice: expect.stringMatching(/^tradetill bot renew 3/),
    },
  ])
})

it('a webhook whose secret no master key opens needs another secret', () => {
  const endpoint = { endpointId: 5n, state: 'enabled', url: 'https://store.example/hook' }
  const sealed = { ...endpoint, answer: { kind: 'sealed' } } as const
  expect(
    storeFindings([{ storeId: 1n, name: 'Ember', isDisabled: false, endpoints: [sealed] }]),
  ).toMatchObject([
    {
      check: 'stores.1.webhook.5',
      state: 'mend',
      advice: expect.stringMatching(/webhook rotate 5 --reason/),
    },
  ])
})

it.each<[games: Game[], commissionBps: number | null, spikeBps: number, advice: RegExp | null]>([
  [[], 2_350, 3_000, null],
  [[], null, 5_000, null],
  [[], 2_350, 5_000, /--commission 33\.34, or set TRADETILL_PRICE_ABOVE_LEVEL=cs,dota,rust,tf/],
  [['cs'], 2_350, 5_000, /TRADETILL_PRICE_ABOVE_LEVEL=cs,dota,rust,tf/],
  [['cs', 'dota', 'rust', 'tf'], 2_350, 5_000, null],
])(
  'D-13 a store’s commission is reported if it is too small in a game that may not pay above the weekly level: %j may, commission %s, spike %i',
  (games, commissionBps, spikeBps, advice) => {
    const config = { priceRules: rulesWith(() => ({ spikeBps })), mayPayAboveLevel: new Set(games) }
    const findings = commissionFindings([{ id: 1n, name: 'Ember', commissionBps, disabledAt: null }], config)
    expect(findings).toMatchObject(
      advice === null
        ? []
        : [{ check: 'stores.1.commission', state: 'mend', advice: expect.stringMatching(advice) }],
    )
  },
)
