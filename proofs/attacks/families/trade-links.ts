/** Malformed trade links, and links of accounts that may not pay: family 37. */
import { parseTradeLink } from '../../../contract/trade-link.ts'
import { type Family, family } from '../attack.ts'
import { aBody } from '../target.ts'
import { mustReply, problemIf } from './checks.ts'
import { openDeposit } from './tenants.ts'

const LINK = 'contract/trade-link.ts'
const GOOD = 'https://steamcommunity.com/tradeoffer/new/?partner=12345678&token=abcDEF12'
const BAD = [
  'partner=1&token=abcdefgh',
  '//evil.example/?partner=1&token=abcdefgh',
  `${GOOD}&x=1`,
  `${GOOD}#x`,
  `${GOOD}%0a`,
  'https://steamcommunity.com.evil.example/tradeoffer/new/?partner=1&token=abcdefgh',
  'https://evil.example/tradeoffer/new/?partner=1&token=abcdefgh',
  'https://steamcommunity.com@evil.example/tradeoffer/new/?partner=1&token=abcdefgh',
  // A Cyrillic letter that looks like e.
  'https://st\u0435amcommunity.com/tradeoffer/new/?partner=1&token=abcdefgh',
  `javascript:${GOOD}`,
  `x${GOOD}`,
  'https://steamcommunity.com/tradeoffer/new/?partner=1&token=a b',
  GOOD.replace('abcDEF12', "a'--"),
  GOOD.replace('abcDEF12', '<script>'),
  GOOD.replace('abcDEF12', 'x'.repeat(512)),
  GOOD.replace('abcDEF12', 'ab'),
  GOOD.replace('12345678', '1e3'),
  GOOD.replace('12345678', '-1'),
  GOOD.replace('12345678', '１２３'),
  GOOD.replace('12345678', '0x1'),
  GOOD.replace('?', '?partner=2&'),
  `${GOOD}&token=other123`,
  GOOD.replace('abcDEF12', 'x'.repeat(1_000_000)),
]

export const links: Family = family({
  number: 37,
  name: 'malformed trade links, and links of other hosts or accounts',
  kind: 'till',
  defences: {
    'one form of link': {
      at: `${LINK} parseTradeLink`,
      off: [
        { file: LINK, from: 'TRADE_LINK.exec(text.trim())', to: '/partner=([^&]*)&token=(.*)/s.exec(text)' },
        { file: LINK, from: 'if (account < 1 || account > LARGEST_ACCOUNT_ID) return undefined', to: '' },
      ],
    },
    'possible accounts only': {
      at: `${LINK} parseTradeLink`,
      off: [
        { file: LINK, from: 'if (account < 1 || account > LARGEST_ACCOUNT_ID) return undefined', to: '' },
      ],
    },
    'the shopper that the store named': {
      at: 'gateway/deposits/service.ts resolveUser',
      off: [
        {
          file: 'gateway/deposits/service.ts',
          from: 'if (unlockedDeposit.shopper_locked && unlockedDeposit.shopper_steam_id !== steamId)',
          to: 'if (false)',
        },
      ],
    },
  },
  honest: (target) =>
    mustReply(
      target.callAsPage({ url: '/api/trade-url', body: { hash: target.shoppers[0]?.hash, tradeUrl: GOOD } }),
      200,
    ),
  async cases(target) {
    const shopper = { steamId: '76561198000000123', lock: true }
    const created = await openDeposit(target, target.victim.key, { body: { ...aBody(), shopper } })
    const hash = String(JSON.parse(created.body).url).slice(-32)
    return [
      ...BAD.map((text) => ({
        what: text.slice(0, 90),
        stoppedBy: 'one form of link' as const,
        attack: () => problemIf(parseTradeLink(text) !== undefined, 'is accepted'),
      })),
      ...['0', '4294967296', '9999999999'].map((account) => ({
        what: `the account ${account}`,
        stoppedBy: 'possible accounts only' as const,
        attack: () =>
          problemIf(parseTradeLink(GOOD.replace('12345678', account)) !== undefined, 'is accepted'),
      })),
      ...['12345678', '1', '4294967295'].map((account) => ({
        what: `the account ${account} for the deposit of another account`,
        stoppedBy: 'the shopper that the store named' as const,
        attack: () =>
          mustReply(
            target.callAsPage({
              url: '/api/trade-url',
              body: { hash, tradeUrl: GOOD.replace('12345678', account) },
            }),
            409,
          ),
      })),
    ]
  },
})
