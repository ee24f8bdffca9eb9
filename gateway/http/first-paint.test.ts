import { describe, expect, test } from 'vitest'
import { aPayment } from '../../contract/testing/payment.ts'
import type { Payment } from '../../contract/widget-api.ts'
import { readDocument } from './first-paint.ts'

const BUILD = [
  '<html lang="en" data-mode="live"><title>Tradetill</title><style>p{margin:0}</style><body>',
  '<!--shell-->{{#sandbox}}TEST {{/sandbox}}<h1>{{storeName}}</h1>#{{id}}{{#customer}} for {{customer}}{{/customer}}',
  '<!--shell en--><h1>Deposit to {{storeName}}</h1>{{#works}}works{{#worksText}}: {{worksText}}{{/worksText}}{{/works}}{{#unknownShopper}}link{{/unknownShopper}}{{#knownShopper}}items{{/knownShopper}}',
  '<!--shell ru--><h1>Пополнение {{storeName}}</h1>',
  '<!--/shells--><div id="root"></div></body></html>',
].join('')

const SENT_AT = new Date('2026-11-26T12:00:00Z')

const pageOf = (change: Partial<Payment>, mode: 'sandbox' | 'live' = 'live'): string =>
  readDocument(BUILD, mode).withPayment(aPayment(change), SENT_AT)

const DATA = /<script type="application\/json" id="payment" data-sent-at="1795694400000">(.*?)<\/script>/s

/** The payment as the page's code reads it. */
const readBack = (html: string): unknown => JSON.parse(DATA.exec(html)?.[1] ?? 'null')

const HOSTILE = [
  '</script><script>alert(1)</script>',
  '<!--<script>',
  '\u2028\u2029',
  '"><img src=x onerror=alert(1)>',
  '{{id}} {{#works}}',
  '$& $1 $`',
  '&lt;b&gt;',
  '<!--shell en-->',
]

describe('the page of a deposit', () => {
  test.each(HOSTILE)(
    'contains the value %j of a store or a shopper as text, and the page’s code reads the same value',
    (value) => {
      const user = { name: value, profileUrl: value, avatarUrl: value, tradeUrl: value }
      const change = { storeName: value, customerLabel: value, backToStoreUrl: value, user }
      const html = pageOf(change)
      expect(readBack(html)).toEqual(aPayment(change))
      const data = DATA.exec(html)?.[1] ?? ''
      expect(data).not.toMatch(/[<>&\u2028\u2029]/)
      // Outside the data there are only the tags of the build.
      const tags = html.replace(DATA, '').match(/<[^>]*>/g)
      expect(tags).toEqual(
        pageOf({ customerLabel: 'Ada' })
          .replace(DATA, '')
          .match(/<[^>]*>/g),
      )
      const escaped = value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
      expect(html).toContain(`<h1>${escaped.replaceAll('"', '&quot;')}</h1>`)
    },
  )

  test('names store, deposit and customer, in the language of the deposit if it has one', () => {
    expect(pageOf({ customerLabel: 'Ada' }, 'sandbox')).toContain('TEST <h1>Ember Forge</h1>#17 for Ada')
    expect(pageOf({})).not.toContain('TEST')
    expect(pageOf({})).toContain('<title>Ember Forge #17</title>')
    expect(pageOf({ language: 'en' })).toContain('<h1>Deposit to Ember Forge</h1>link')
    const russian = pageOf({ language: 'ru' })
    expect(russian).toContain('<html lang="ru"')
    expect(russian).toContain('Пополнение Ember Forge')
    for (const html of [pageOf({}), russian]) expect(html).not.toMatch(/\{\{|<!--/)
  })

  test('announces maintenance only while the deposit has the status created, and shows a known shopper items, not the link form', () => {
    const works = { language: 'en', technicalWorks: true } as const
    expect(pageOf(works)).toContain('workslink')
    const technicalWorksText = { en: 'We <move>.', ru: 'Мы переезжаем.' }
    expect(pageOf({ ...works, technicalWorksText })).toContain('works: We &lt;move&gt;.link')
    for (const status of ['pending', 'tradeDeclined'] as const)
      expect(pageOf({ ...works, status })).not.toContain('works')
    const user = { name: 'Ada', profileUrl: '', avatarUrl: '', tradeUrl: '' }
    expect(pageOf({ language: 'en', user })).toContain('</h1>items')
  })
})

test('links to Steam lead to the sandbox if the till uses it', () => {
  const build = BUILD.replace(
    '{{#unknownShopper}}link',
    '{{#unknownShopper}}<a href="{{steam}}/my/tradeoffers">',
  )
  const linkIn = (steam?: string) =>
    /<a href="([^"]*)">/.exec(
      readDocument(build, 'sandbox', steam).withPayment(aPayment({ language: 'en' }), SENT_AT),
    )?.[1]
  expect(linkIn()).toBe('https://steamcommunity.com/my/tradeoffers')
  expect(linkIn('http://localhost:4301')).toBe('http://localhost:4301/my/tradeoffers')
})

test('a page without a deposit has neither shell nor payment', () => {
  expect(readDocument(BUILD, 'live').plain).toBe(BUILD.replace(/<!--shell-->.*<!--\/shells-->/, ''))
})

test('each style has a hash for the content security policy', () => {
  // echo -n 'p{margin:0}' | openssl dgst -sha256 -binary | base64
  expect(readDocument(BUILD, 'live').styleHashes).toEqual([
    "'sha256-QRQPRLGyxt3RJiKpYNjpkgHcmHU2PywsfL2e8oI0LQA='",
  ])
})

test('a build without shells is sent unchanged', () => {
  expect(readDocument('<html data-mode="live">', 'live').withPayment(aPayment(), SENT_AT)).toBe(
    '<html data-mode="live">',
  )
})
