/** A link that a shopper can show to support: its page says what happened and reveals nothing else. */
import { fastify } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LANGUAGES } from '../../contract/languages.ts'
import type { BotContext } from '../bots/bot.ts'
import { END_REASONS } from '../deposits/deposit.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { handleErrors } from '../http/problem.ts'
import type { Unable } from '../http/refusal.ts'
import { find } from '../operations/find.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { type Receipt, receiptPage } from './page.ts'
import { receiptRoute } from './routes.ts'
import { RECEIPT_TEXTS } from './texts.ts'

const DAY_S = 86_400
const NOW = new Date('2026-11-26T12:00:00Z')

const RECEIPT: Receipt = {
  status: 'tradeDeclined',
  ...{ id: '7', storeName: 'Ember', currency: 'USD', amount: null },
  ...{ heldAmount: 0, heldUntil: null, reversedAmount: 0, offerId: null, botName: null, items: [] },
  ...{ createdAt: NOW.toISOString(), keptUntil: NOW, reason: null },
}
const app = fastify()

let unable: Unable | undefined
let till: Till
let bot: { bot: BotContext; session: FakeSession }
let paid: Awaited<ReturnType<typeof aDeposit>>

beforeAll(async () => {
  till = await startTill()
  const store = await aStore(till)
  bot = await aBot(till)
  paid = await aDeposit(till, store)
  await till.db.updateTable('deposit').set({ customer_label: 'mira_sol', external_id: 'order-77' }).execute()
  await till.db.updateTable('store').set({ name: '<b>Ember' }).execute()
  await payFor(till, bot, paid)
  handleErrors(app, till.deps.log)
  await app.register(
    receiptRoute({
      ...{
        db: till.db,
        clock: till.clock,
        config: { publicUrl: new URL('https://pay.test'), keep: { pagesMs: 30 * DAY_S * 1000 } },
      },
      unable: () => unable,
    }),
  )
})
afterAll(async () => {
  await app.close()
  await till.close()
})

const receiptOf = async (hash: string) =>
  (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment.receiptUrl

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

it('a receipt’s link is shown only by the page of an ended deposit, and cannot be derived from the deposit’s link', async () => {
  const open = await aDeposit(till, await aStore(till))
  expect(await receiptOf(open.hash)).toBeUndefined()
  const path = await receiptOf(paid.hash)
  expect(path).toMatch(new RegExp(`^/receipt/${paid.id}-[0-9a-f]{32}$`))
  expect(path).not.toContain(paid.hash)
})

it('a receipt says what happened in both languages, and nothing about the shopper, the customer or the keys', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  const english = await get(path)
  expect(english.statusCode).toBe(200)
  expect(english.body).toMatch(/The items were received and credited.*\$30\.00/s)
  expect((await get(path, { 'accept-language': 'ru' })).body).toMatch(/Предметы получены и зачислены.*30,00/s)
  const chosen = await get(`${path}?lang=en`, { 'accept-language': 'ru' })
  expect(chosen.body).toContain('<html lang="en">')
  expect(english.body).toContain('&lt;b&gt;Ember')
  for (const hidden of [
    paid.hash,
    'nova_hound',
    'mira_sol',
    'order-77',
    '76561',
    '<b>',
    '<script',
    'token',
  ]) {
    expect(english.body).not.toContain(hidden)
  }
  expect(english.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-[^;']+'; base-uri/,
    ),
  })
})

it.each(LANGUAGES)(
  'a receipt gives every reason in words, and an unknown one not at all, in %s',
  (language) => {
    const saying = (reason: string) => receiptPage({ ...RECEIPT, reason }, { language, now: NOW })
    for (const reason of END_REASONS) {
      const words = RECEIPT_TEXTS[language].reasons[reason]
      expect(saying(reason)).toContain(`<dd>${words}</dd>`)
      expect(saying(reason)).not.toMatch(new RegExp(`>${reason}<|_`))
    }
    expect(saying('moon_phase')).not.toMatch(new RegExp(`moon|<dt>${RECEIPT_TEXTS[language].reason}<`))
  },
)

it('a receipt opens under no other name, and the operator’s search accepts its name', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  const forged = path.replace(/-[0-9a-f]{4}/, '-0000')
  for (const wrong of [forged, `/receipt/${paid.id}`, '/receipt/99999-00000000000000000000000000000000']) {
    const { statusCode, headers, body } = await get(wrong)
    expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'/)
    expect(body).toContain('There is no payment at this address')
    expect((await get(`${wrong}?lang=ru`)).body).toMatch(/<html lang="ru">.*По этому адресу нет платежа/s)
  }
  const found = await find(till, `https://pay.test${path}?lang=ru`)
  expect(found).toMatchObject({
    kind: 'done',
    data: { deposits: [{ depositId: paid.id, as: ['receipt'] }] },
  })
  expect((await find(till, `https://pay.test${forged}`)).kind).toBe('refused')
})

it('a receipt that cannot be shown now has a page that says so', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  unable = 'database_unavailable'
  const { statusCode, headers, body } = await get(path, { 'accept-language': 'ru-RU' })
  unable = undefined
  expect([statusCode, headers['retry-after'], headers['content-type']]).toEqual([
    503,
    '2',
    'text/html; charset=utf-8',
  ])
  expect(body).toMatch(/<html lang="ru">.*Сейчас квитанцию показать нельзя/s)
})

it('a receipt ends together with the deposit’s own page', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  await jump(till, 31 * DAY_S)
  expect(await receiptOf(paid.hash)).toBeUndefined()
  const answer = await get(path)
  expect(answer.statusCode).toBe(410)
  expect(answer.body).toContain('too old')
  expect(answer.body).not.toMatch(/30\.00|Ember/)
})
