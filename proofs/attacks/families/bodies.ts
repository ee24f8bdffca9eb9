/** The body and the query of a call: families 15 to 18, 26 and 30. */
import { type Case, family } from '../attack.ts'
import { aBody, type Target } from '../target.ts'
import { mustReply } from './checks.ts'

const CONTRACT = 'contract/store-api.ts'
const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=12345678&token=abcDEF12'

const openDeposit = (target: Target, body: unknown) =>
  target.callAsStore({ method: 'POST', url: '/v1/deposits', body })
const honestDeposit = (target: Target) => mustReply(openDeposit(target, aBody()), 201)

/** The body of a deposit with one more field, as text: `JSON.stringify` never produces some of `INVALID_AMOUNTS`. */
const textWith = (field: string, json: string): string =>
  `${JSON.stringify(aBody()).slice(0, -1)},${JSON.stringify(field)}:${json}}`

const INVALID_AMOUNTS = [
  '-1',
  '0',
  '-0',
  '1e309',
  '-1e309',
  '0.1',
  '1.005',
  '1e-7',
  '9007199254740993',
  '9223372036854775808',
  '18446744073709551616',
  '"1"',
  '" 1"',
  '"1e3"',
  '"0x10"',
  '"\uff11"',
  '"NaN"',
  '""',
  'null',
  'true',
  '[]',
  '[1]',
  '{}',
  '{"valueOf":1}',
]
const INVALID_CURRENCIES = [
  '"usd"',
  '"USD "',
  '"XXX"',
  '"XTS"',
  '""',
  '"USD\\u0000"',
  '["USD"]',
  'null',
  '840',
  '{}',
]

export const amounts = family({
  number: 15,
  name: 'invalid amounts and wrong currencies',
  kind: 'till',
  defences: {
    'whole minor units above zero': {
      at: `${CONTRACT} positiveMinorUnits`,
      off: [
        {
          file: CONTRACT,
          from: 'const positiveMinorUnits = z.int().positive()',
          to: 'const positiveMinorUnits = z.any()',
        },
      ],
    },
    'known currencies': {
      at: `${CONTRACT} currency`,
      off: [{ file: CONTRACT, from: 'const currency = z.enum(CURRENCIES)', to: 'const currency = z.any()' }],
    },
    'a valid range': {
      at: `${CONTRACT} createDepositBodySchema`,
      off: [
        {
          file: CONTRACT,
          from: 'minAmount === undefined || minAmount <= maxAmount',
          to: 'true',
        },
      ],
    },
  },
  honest: (target) => mustReply(openDeposit(target, { ...aBody(), minAmount: 1_000, maxAmount: 2_000 }), 201),
  cases: (target) => [
    ...['minAmount', 'maxAmount', 'targetAmount'].flatMap((field) =>
      INVALID_AMOUNTS.map((json) => ({
        what: `${field} ${json}`,
        stoppedBy: 'whole minor units above zero' as const,
        attack: () => mustReply(openDeposit(target, textWith(field, json)), 400),
      })),
    ),
    ...INVALID_CURRENCIES.map((json) => ({
      what: `currency ${json}`,
      stoppedBy: 'known currencies' as const,
      attack: () => mustReply(openDeposit(target, { ...aBody(), currency: JSON.parse(json) }), 400),
    })),
    ...[
      [2_000, 1_000],
      [9_007_199_254_740_991, 1_000],
    ].map(([minAmount, maxAmount]) => ({
      what: `from ${minAmount} to ${maxAmount}`,
      stoppedBy: 'a valid range' as const,
      attack: () => mustReply(openDeposit(target, { ...aBody(), minAmount, maxAmount }), 400),
    })),
  ],
})

const MORE_FIELDS: Record<string, unknown> = {
  id: '1',
  status: 'succeeded',
  amount: 100,
  creditedAmount: 100,
  credited_amount: 100,
  balance: 100,
  store: 1,
  storeId: '1',
  store_id: 1,
  hash: '0'.repeat(32),
  price: 1,
  commissionBps: 0,
  heldAmount: 0,
  heldUntil: null,
  expiresAt: '2100-01-01T00:00:00Z',
  createdAt: '2000-01-01T00:00:00Z',
  botId: '1',
  trade: {},
  user: { steamId: '76561198000000001' },
  isAdmin: true,
  role: 'operator',
  scopes: ['deposits:write'],
  liability: 'operator',
  riskLimitUsdCents: 1e9,
  origins: ['https://evil.example'],
}

export const massAssignment = family({
  number: 16,
  name: 'fields and parameters that the caller may not set',
  kind: 'till',
  defences: {
    'named fields only': {
      at: `${CONTRACT} createDepositFields`,
      off: [
        {
          file: CONTRACT,
          from: 'const createDepositFields = z.strictObject({',
          to: 'const createDepositFields = z.object({',
        },
      ],
    },
    'named parameters only': {
      at: `${CONTRACT} listDepositsQuerySchema`,
      off: [
        {
          file: CONTRACT,
          from: 'export const listDepositsQuerySchema = z.strictObject({',
          to: 'export const listDepositsQuerySchema = z.object({',
        },
      ],
    },
  },
  honest: honestDeposit,
  cases: (target) => [
    ...Object.entries(MORE_FIELDS).map(([field, value]) => ({
      what: `${field} in a new deposit`,
      stoppedBy: 'named fields only' as const,
      attack: () => mustReply(openDeposit(target, { ...aBody(), [field]: value }), 400),
    })),
    ...['storeId', 'store_id', 'store', 'scope', 'all', 'admin', 'deleted'].map((name) => ({
      what: `?${name}= in a list`,
      stoppedBy: 'named parameters only' as const,
      attack: () => mustReply(target.callAsStore({ url: `/v1/deposits?${name}=${target.attacker.id}` }), 400),
    })),
  ],
})

const JSON_BODY = 'gateway/http/json-body.ts'
const PARSER = "app.getDefaultJsonParser('error', 'error')"

/** Sends a trade link, as the page does. */
const linkCall = (target: Target, body: string) =>
  target.callAsPage({ url: '/api/trade-url', headers: { 'content-type': 'application/json' }, body })

/** The body of `linkCall`, with more fields. */
const linkBody = (target: Target, more: string): string =>
  `${JSON.stringify({ hash: target.shoppers[0]?.hash, tradeUrl: LINK }).slice(0, -1)},${more}}`

const POLLUTIONS: [stoppedBy: 'no __proto__' | 'no constructor', more: string][] = [
  ['no __proto__', '"__proto__":{"polluted":1}'],
  ['no __proto__', '"__proto__":null'],
  ['no __proto__', '"__proto__":[]'],
  ['no __proto__', '"\\u005f_proto__":{"polluted":1}'],
  ['no __proto__', '"more":{"__proto__":{"polluted":1}}'],
  ['no __proto__', '"more":[{"__proto__":{"polluted":1}}]'],
  ['no __proto__', '"__proto__" : {"hash":"x"}'],
  ['no constructor', '"constructor":{"prototype":{"polluted":1}}'],
  ['no constructor', '"more":{"constructor":{"prototype":{"polluted":1}}}'],
  ['no constructor', '"\\u0063onstructor":{"prototype":{"polluted":1}}'],
]

export const prototypes = family({
  number: 17,
  name: 'prototypes in bodies',
  kind: 'till',
  defences: {
    'no __proto__': {
      at: `${JSON_BODY} boundedJson`,
      off: [{ file: JSON_BODY, from: PARSER, to: "app.getDefaultJsonParser('ignore', 'error')" }],
    },
    'no constructor': {
      at: `${JSON_BODY} boundedJson`,
      off: [{ file: JSON_BODY, from: PARSER, to: "app.getDefaultJsonParser('error', 'ignore')" }],
    },
  },
  honest: (target) => mustReply(linkCall(target, linkBody(target, '"more":{}')), 200),
  cases: (target) =>
    POLLUTIONS.map(([stoppedBy, more]) => ({
      what: more,
      stoppedBy,
      async attack() {
        const result = await mustReply(linkCall(target, linkBody(target, more)), 400)
        return Reflect.get({}, 'polluted') === undefined ? result : 'every object is polluted'
      },
    })),
})

const WIDGET = 'contract/widget-api.ts'

export const repeatedParameters = family({
  number: 18,
  name: 'repeated parameters',
  kind: 'till',
  defences: {
    'one hash': {
      at: `${WIDGET} paymentQuerySchema`,
      off: [
        {
          file: WIDGET,
          from: 'z.object({ hash: z.string().max(512) })',
          to: 'z.object({ hash: z.preprocess((given) => (Array.isArray(given) ? given.at(-1) : given), z.string()) })',
        },
      ],
    },
  },
  honest: (target) => mustReply(target.ask({ url: `/api/payment?hash=${target.shoppers[0]?.hash}` }), 200),
  cases: (target) => {
    const [own = '', other = ''] = target.shoppers.map(({ hash }) => hash)
    const queries = [
      `hash=${own}&hash=${other}`,
      `hash=${other}&hash=${own}`,
      `hash=${own}&hash=${own}`,
      `hash=&hash=${own}`,
      `hash=x&hash=${own}`,
      `hash=${other}&language=en&hash=${own}`,
      `h%61sh=${other}&hash=${own}`,
      `hash=${own}&hash=${other}&hash=${own}`,
    ]
    return queries.map((query) => ({
      what: `/api/payment?${query.replaceAll(own, 'A').replaceAll(other, 'B')}`,
      stoppedBy: 'one hash' as const,
      attack: () => mustReply(target.ask({ url: `/api/payment?${query}` }), 400),
    }))
  },
})

const deep = (levels: number, open: string, close: string): string =>
  open.repeat(levels) + close.repeat(levels)

type SizeDefence = 'a limit of 64 KB' | 'a limit on nesting'

export const sizes = family<SizeDefence>({
  number: 26,
  name: 'huge and deep bodies',
  kind: 'till',
  defences: {
    'a limit of 64 KB': {
      at: `${JSON_BODY} MOST_BODY_BYTES`,
      off: [
        {
          file: JSON_BODY,
          from: 'const MOST_BODY_BYTES = 64 * 1024',
          to: 'const MOST_BODY_BYTES = 2 ** 30',
        },
      ],
    },
    'a limit on nesting': {
      at: `${JSON_BODY} isTooDeep`,
      off: [
        {
          file: JSON_BODY,
          from: 'const MOST_LEVELS = 32',
          to: 'const MOST_LEVELS = Number.POSITIVE_INFINITY',
        },
      ],
    },
  },
  honest: (target) => mustReply(linkCall(target, linkBody(target, `"more":${deep(20, '[', ']')}`)), 200),
  cases: (target) => {
    const large = [65_537, 100_000, 1_000_000, 5_000_000].flatMap((bytes) => [
      { what: `a text of ${bytes} bytes`, more: `"more":"${'x'.repeat(bytes)}"` },
      { what: `${bytes} bytes of blanks`, more: `"more":1${' '.repeat(bytes)}` },
      { what: `a list of ${bytes} bytes`, more: `"more":[${'1,'.repeat(bytes / 2)}1]` },
    ])
    const nested = [33, 100, 1_000, 5_000].flatMap((levels) => [
      { what: `${levels} nested lists`, more: `"more":${deep(levels, '[', ']')}` },
      {
        what: `${levels} nested objects`,
        more: `"more":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`,
      },
    ])
    const cases = (stoppedBy: SizeDefence, status: number, tries: typeof large): Case<SizeDefence>[] =>
      tries.map(({ what, more }) => ({
        what,
        stoppedBy,
        attack: () => mustReply(linkCall(target, linkBody(target, more)), status),
      }))
    return [...cases('a limit of 64 KB', 413, large), ...cases('a limit on nesting', 400, nested)]
  },
})

const FIELDS = ['externalId', 'customerReference', 'customerLabel'] as const
/** Control characters, alone and in escape sequences. */
const CONTROLS = ['\u0000', '\r\n', '\n', '\t', '\u001b[31m', '\u007f', '\u0085', '\u009b31m']
/** Lone halves of surrogate pairs. */
const LONE_SURROGATES = ['\ud800', '\udfff', 'a\ud83d', '\udc00\ud800']
/** Marks that change the direction of text. */
const DIRECTION_MARKS = ['\u202e', '\u202a', '\u2066', '\u2069', '\u061c', '\u200f', '\u200e']

const withText = (target: Target, field: string, text: string) =>
  mustReply(openDeposit(target, { ...aBody(), [field]: `a${text}b` }), 400)

export const texts = family({
  number: 30,
  name: 'NUL, control characters, lone surrogates, reversed text and long text',
  kind: 'till',
  defences: {
    'no control characters': {
      at: `${CONTRACT} plainText`,
      off: [{ file: CONTRACT, from: ".regex(NO_CONTROLS, 'must have no control characters')", to: '' }],
    },
    'well-formed text': {
      at: `${CONTRACT} plainText`,
      off: [
        {
          file: CONTRACT,
          from: ".refine((text) => text.isWellFormed(), 'must be well-formed Unicode')",
          to: '',
        },
      ],
    },
    'no reversed text': {
      at: `${CONTRACT} customerLabel`,
      off: [
        {
          file: CONTRACT,
          from: '.refine((text) => !TEXT_DIRECTION.test(text), ',
          to: '.refine(() => true, ',
        },
      ],
    },
    'bounded texts': {
      at: `${CONTRACT} plainText`,
      off: [{ file: CONTRACT, from: '.min(1)\n    .max(most)', to: '.min(1)' }],
    },
  },
  honest: (target) => mustReply(openDeposit(target, { ...aBody(), customerLabel: 'Łódź 🎮 дом' }), 201),
  cases: (target) => [
    ...FIELDS.flatMap((field) =>
      CONTROLS.map((text) => ({
        what: `${field} with ${JSON.stringify(text)}`,
        stoppedBy: 'no control characters' as const,
        attack: () => withText(target, field, text),
      })),
    ),
    ...FIELDS.flatMap((field) =>
      LONE_SURROGATES.map((text) => ({
        what: `${field} with ${JSON.stringify(text)}`,
        stoppedBy: 'well-formed text' as const,
        attack: () => withText(target, field, text),
      })),
    ),
    ...DIRECTION_MARKS.map((text) => ({
      what: `customerLabel with ${JSON.stringify(text)}`,
      stoppedBy: 'no reversed text' as const,
      attack: () => withText(target, 'customerLabel', text),
    })),
    ...FIELDS.flatMap((field) =>
      [129, 10_000].map((length) => ({
        what: `${field} of ${length} letters`,
        stoppedBy: 'bounded texts' as const,
        // `withText` adds two letters.
        attack: () => withText(target, field, 'x'.repeat(length - 2)),
      })),
    ),
  ],
})
