/** Texts of stores and shoppers inside the page's first answer, as data and as its first paint: family 57. */
import { LANGUAGES } from '../../../contract/languages.ts'
import { aPayment } from '../../../contract/testing/payment.ts'
import type { Payment } from '../../../contract/widget-api.ts'
import { readDocument } from '../../../gateway/http/first-paint.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const FIRST_PAINT = 'gateway/http/first-paint.ts'
const HTML = 'gateway/http/html.ts'

const BUILD = [
  '<html lang="en" data-mode="live"><title>Tradetill</title><style>p{margin:0}</style><body>',
  '<!--shell--><h1>{{storeName}}</h1>{{#customer}}<p>{{customer}}</p>{{/customer}}',
  ...LANGUAGES.map(
    (language) =>
      `<!--shell ${language}--><h1>${language} {{storeName}}</h1>{{#customer}}<p>{{customer}}</p>{{/customer}}`,
  ),
  '<!--/shells--><div id="root"></div></body></html>',
].join('')

/** Texts that begin or end an element or a comment. */
const HOSTILE = [
  '</script><script>alert(1)</script>',
  '</SCRIPT ><img src=x onerror=alert(1)>',
  '<!--<script>',
  '<script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<base href=https://evil.example>',
  '<meta http-equiv=refresh content=0;url=https://evil.example>',
  '</title><script>alert(1)</script>',
  '</h1><iframe srcdoc=x>',
  '-->]]><b>',
]

const tagsOf = (html: string): string[] => html.match(/<[^>]*>?/g) ?? []

const pageOf = (change: Partial<Payment>): string =>
  readDocument(BUILD, 'live').withPayment(aPayment(change), new Date(0))

/** Returns undefined if the page has exactly the tags of an honest one. */
const mustHaveSameTags = (change: Partial<Payment>, honest: Partial<Payment>): string | undefined =>
  problemIf(tagsOf(pageOf(change)).join() !== tagsOf(pageOf(honest)).join(), 'the page has other tags')

type Defence = 'inert data' | 'escaped text'

/** Fields that the page contains as data only. */
const DATA_FIELDS: [name: string, make: (text: string) => Partial<Payment>][] = [
  ['steamTradeMessage', (steamTradeMessage) => ({ steamTradeMessage })],
  ['backToStoreUrl', (backToStoreUrl) => ({ backToStoreUrl })],
  ['acceptUrl', (acceptUrl) => ({ acceptUrl })],
  ['storeAccent', (storeAccent) => ({ storeAccent })],
  ['the shopper’s name', (name) => ({ user: { name, profileUrl: 'p', avatarUrl: 'a', tradeUrl: 't' } })],
  [
    'the shopper’s picture',
    (avatarUrl) => ({ user: { name: 'n', profileUrl: 'p', avatarUrl, tradeUrl: 't' } }),
  ],
]

/** Fields that the first paint shows too. */
const SHOWN_FIELDS: [name: string, make: (text: string) => Partial<Payment>][] = [
  ['storeName', (storeName) => ({ storeName })],
  ['customerLabel', (customerLabel) => ({ customerLabel })],
]

const casesOf = (fields: typeof DATA_FIELDS, stoppedBy: Defence): Case<Defence>[] =>
  fields.flatMap(([name, make]) =>
    [null, ...LANGUAGES].flatMap((language) =>
      HOSTILE.map((text) => ({
        what: `${name} ${text} in ${language ?? 'no language'}`,
        stoppedBy,
        attack: () => mustHaveSameTags({ ...make(text), language }, { ...make('plain'), language }),
      })),
    ),
  )

export const firstPaint: Family = family<Defence>({
  number: 57,
  name: 'hostile texts in the first HTML',
  kind: 'parts',
  defences: {
    'inert data': {
      at: `${FIRST_PAINT} inertJson`,
      off: [
        {
          file: FIRST_PAINT,
          from: 'const SPECIAL = /[<>&\\u2028\\u2029]/g',
          to: 'const SPECIAL = /[^\\s\\S]/g',
        },
      ],
    },
    'escaped text': {
      at: `${HTML} escapeHtml`,
      off: [{ file: HTML, from: '/[&"<>]/g', to: '/[^\\s\\S]/g' }],
    },
  },
  honest: () =>
    problemIf(!pageOf({ storeName: 'Ember' }).includes('<h1>Ember</h1>'), 'the page has no shell'),
  cases: () => [...casesOf(DATA_FIELDS, 'inert data'), ...casesOf(SHOWN_FIELDS, 'escaped text')],
})
