/** A receipt: a page that a shopper can show to support. It says what happened and to whom, and has no secret. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../contract/languages.ts'
import { NOBODY } from '../../contract/steam-id.ts'
import type { BotContext } from '../bots/bot.ts'
import { END_REASONS } from '../deposits/deposit.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { publishEvents } from '../events/service.ts'
import { handleErrors } from '../http/problem.ts'
import type { UnableReason } from '../http/refusal.ts'
import { find } from '../operations/find.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { nameWithWear } from './name-with-wear.ts'
import { type Receipt, receiptPage } from './page.ts'
import { receiptRoute } from './routes.ts'
import { RECEIPT_TEXTS } from './texts.ts'

const DAY_S = 86_400
const NOW = new Date('2026-11-26T12:00:00Z')

const RECEIPT: Receipt = {
  status: 'tradeDeclined',
  id: '7',
  storeName: 'Ember',
  storeUrl: null,
  currency: 'USD',
  amount: null,
  heldAmount: 0,
  heldUntil: null,
  reversedAmount: 0,
  offerId: null,
  botName: null,
  items: [],
  createdAt: NOW.toISOString(),
  keptUntil: NOW,
  reason: null,
  account: null,
  history: [],
}
const app = fastify()

let unableReason: UnableReason | undefined
const DEPS = {
  config: { publicUrl: new URL('https://pay.test'), keep: { pagesMs: 30 * DAY_S * 1000 } },
  unableReason: () => unableReason,
}
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
  await app.register(receiptRoute({ ...DEPS, db: till.db, clock: till.clock }))
})
afterAll(async () => {
  await app.close()
  await till.close()
})

const receiptOf = async (hash: string) =>
  (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment.receiptUrl

/** The names of the tables in a part of a query. */
const namesOf = (part: unknown): string[] =>
  [...JSON.stringify(part ?? null).matchAll(/"name":"(\w+)"/g)].map(([, name = '']) => name)

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

it('a receipt’s link is shown only by the page of an ended deposit, and does not contain the deposit’s link', async () => {
  const openDeposit = await aDeposit(till, await aStore(till))
  expect(await receiptOf(openDeposit.hash)).toBeUndefined()
  const path = await receiptOf(paid.hash)
  expect(path).toMatch(new RegExp(`^/receipt/${paid.id}-[0-9a-f]{32}$`))
  expect(path).not.toContain(paid.hash)
})

it('a receipt says in each language what happened and whose items they were, and has neither the store’s labels nor a secret', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  const english = await get(path)
  expect(english.statusCode).toBe(200)
  expect(english.body).toMatch(/The items were received and credited.*\$30\.00/s)
  expect((await get(path, { 'accept-language': 'ru' })).body).toMatch(/Предметы получены и зачислены.*30,00/s)
  const chosen = await get(`${path}?lang=en`, { 'accept-language': 'ru' })
  expect(chosen.body).toContain('<html lang="en">')
  expect(english.body).toContain('&lt;b&gt;Ember')
  expect(english.body).toMatch(
    new RegExp(`Items from the Steam account</dt><dd>nova_hound<br>.*7656119800000${paid.id}`),
  )
  for (const hidden of [paid.hash, 'mira_sol', 'order-77', '<b>', '<script>', 'tok-en_1', 'token']) {
    expect(english.body).not.toContain(hidden)
  }
  expect(english.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; script-src 'self'; style-src 'sha256-[^;']+'; base-uri/,
    ),
  })
})

it('a receipt shows the payer as an id if the deposit has another account’s link, and not at all after an erasure', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  const { user_steam_id } = await till.db
    .selectFrom('deposit')
    .select('user_steam_id')
    .where('id', '=', paid.id)
    .executeTakeFirstOrThrow()
  const setUser = (steamId: string | null) =>
    till.db.updateTable('deposit').set({ user_steam_id: steamId }).where('id', '=', paid.id).execute()
  const setPayer = (steamId: string) =>
    till.db
      .updateTable('trade')
      .set({ partner_steam_id: steamId })
      .where('deposit_id', '=', paid.id)
      .execute()
  await setUser('76561198000000099')
  const changed = (await get(path)).body
  expect(changed).toContain(`Items from the Steam account</dt><dd>${user_steam_id}<`)
  expect(changed).not.toContain('nova_hound')
  await setPayer(NOBODY)
  expect((await get(path)).body).not.toMatch(/Steam account|76561/)
  await setUser(user_steam_id)
  await setPayer(user_steam_id ?? '')
})

it('a receipt reads each table once, in addition to the query of the shopper’s view', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  const tablesRead: string[] = []
  const counting = fastify()
  const db = till.db.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === 'SelectQueryNode') tablesRead.push(...namesOf(node.from))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await counting.register(receiptRoute({ ...DEPS, clock: till.clock, db }))
  expect((await counting.inject(path)).statusCode).toBe(200)
  await counting.close()
  expect(tablesRead.toSorted()).toEqual(['deposit', 'event', 'trade', 'trade_item'])
})

it('a receipt has its times in UTC, and loads the script that shows them in the shopper’s own zone', async () => {
  const { body, headers } = await get((await receiptOf(paid.hash)) ?? '')
  const [, source = ''] = /<script src="([^"]+)" defer><\/script>/.exec(body) ?? []
  const script = await get(source)
  expect([script.statusCode, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8'])
  expect(script.body).toBe(readFileSync(join(import.meta.dirname, 'times.js'), 'utf8'))
  expect(headers['content-security-policy']).toContain("script-src 'self';")
  const times = [...body.matchAll(/<time datetime="([^"]+)">([^<]*)</g)]
  expect(times.length).toBeGreaterThanOrEqual(3)
  for (const [, at = '', shown] of times) {
    expect(new Date(at).toISOString()).toBe(at)
    expect(shown).toMatch(/\d{1,2}:\d\d.*UTC$/)
  }
})

it('a receipt lists in order the steps of a deposit that are in the store’s log', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  await publishEvents(till.deps)
  const history = (await get(path)).body.split('Timeline')[1]
  expect(history).toMatch(/Opened<.*Offer sent on Steam<.*Items received: \$30\.00</)
})

describe('the money on a receipt', () => {
  const until = '2026-12-04T12:00:00.000Z'
  const page = (language: 'en' | 'ru', change: Partial<Receipt>) =>
    receiptPage({ ...RECEIPT, status: 'succeeded', amount: 3_375, ...change }, { language, now: NOW })
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')

  it('is shown in one row, as credited, if nothing is held', () => {
    const shown = page('en', {})
    expect(shown).toMatch(/received and credited\. Credited \$33\.75/)
    expect(shown).not.toMatch(/held|taken/i)
  })

  it('that is held in full is not called credited', () => {
    const shown = page('en', { heldAmount: 3_375, heldUntil: until })
    expect(shown).toContain('Their worth is held, and not credited yet.')
    expect(shown).toMatch(
      /Worth of the items \$33\.75 Credited now \$0\.00 Held until December 4, 2026 at 12:00 PM UTC \$33\.75/,
    )
    expect(shown).toContain('take back a trade for some days')
    expect(page('ru', { heldAmount: 3_375, heldUntil: until })).toMatch(
      /Зачислено сейчас 0,00 \$ Удержано до 4 декабря 2026 г\. в 12:00 UTC 33,75 \$/,
    )
  })

  it('is split into its parts: now, held and taken back', () => {
    const held = page('en', { heldAmount: 2_375, heldUntil: until })
    expect(held).toMatch(/A part of their worth is credited.*Credited now \$10\.00 Held until .* \$23\.75/)
    const partBack = page('en', { reversedAmount: 1_000 })
    expect(partBack).toMatch(/took some back\..*Credited now \$23\.75 Taken back by the sender \$10\.00/)
    const allBack = page('en', { reversedAmount: 3_375 })
    expect(allBack).toMatch(/took them back\..*Credited now \$0\.00 Taken back by the sender \$33\.75/)
  })

  it('is described as taken back and as held if a part was taken back and the rest is held', () => {
    const restHeld = { reversedAmount: 1_000, heldAmount: 2_375 }
    expect(page('en', restHeld)).toMatch(
      /Later their sender took some back\. The worth of the rest is held.*Credited now \$0\.00 .*Held \$23\.75 Taken back by the sender \$10\.00/,
    )
    expect(page('ru', restHeld)).toContain(
      'Позже отправитель забрал часть назад. Стоимость остальных удержана и ещё не зачислена.',
    )
    const restPartlyHeld = { reversedAmount: 1_000, heldAmount: 1_375 }
    expect(page('en', restPartlyHeld)).toMatch(
      /took some back\. A part of the remaining worth is credited.*Credited now \$10\.00 .*Held \$13\.75/,
    )
    expect(page('ru', restPartlyHeld)).toContain('Стоимость остальных зачислена частично, остаток удержан.')
  })

  it('is listed change by change: received, released, taken back', () => {
    const credit = (heldAmount: number, reversedAmount = 0) => ({ amount: 3_375, heldAmount, reversedAmount })
    const at = NOW.toISOString()
    const history: Receipt['history'] = [
      { type: 'deposit.succeeded', at, credit: credit(2_375) },
      { type: 'deposit.reversed', at, credit: credit(1_375, 1_000) },
      { type: 'deposit.funds_available', at, credit: credit(0, 1_000) },
    ]
    expect(page('en', { history })).toMatch(
      /Items received: \$33\.75, \$23\.75 of it held .*Taken back by the sender: \$10\.00 .*Held money released: \$13\.75 /,
    )
    expect(page('ru', { history })).toMatch(
      /Предметы получены: 33,75 \$, из них удержано: 23,75 \$ .*Удержанные деньги зачислены: 13,75 \$ /,
    )
  })

  it('is listed with the held part of every increase', () => {
    const at = NOW.toISOString()
    const history: Receipt['history'] = [
      { type: 'deposit.succeeded', at, credit: { amount: 1_000, heldAmount: 600, reversedAmount: 0 } },
      {
        type: 'deposit.amount_increased',
        at,
        credit: { amount: 1_500, heldAmount: 1_050, reversedAmount: 0 },
      },
    ]
    expect(page('en', { history })).toMatch(
      /Items received: \$10\.00, \$6\.00 of it held .*More items received: \$5\.00, \$4\.50 of it held /,
    )
  })
})

it('a receipt names items as the shopper’s page does, and by their market names, with the phase of a Doppler', () => {
  const item = {
    name: '★ Керамбит | Волны (Прямо с завода)',
    marketName: '★ Karambit | Doppler (Factory New)',
    phase: 'ruby',
    price: 95_000,
    reversed: true,
  } as const
  const page = (language: 'en' | 'ru', change: object = {}) =>
    receiptPage({ ...RECEIPT, items: [{ ...item, ...change }] }, { language, now: NOW })
  expect(page('ru')).toContain(
    '<li>★ Керамбит | Волны Рубин (Прямо с завода), 950,00\u00a0$ (забран обратно)<',
  )
  expect(page('ru')).toContain('<span class="quiet">★ Karambit | Doppler (Factory New)</span>')
  const english = page('en', { name: item.marketName, reversed: false })
  expect(english).toContain('<li>★ Karambit | Doppler Ruby (Factory New), $950.00</li>')
})

it.each([
  ['AK-47 | Redline (Field-Tested)', 'AK-47 | Redline (После полевых испытаний)'],
  ['AK-47 | Красная линия (После полевых испытаний)', 'AK-47 | Красная линия (После полевых испытаний)'],
  ['AK-47 | Красная линия', 'AK-47 | Красная линия (После полевых испытаний)'],
  ['M4A4 | 龍王 (Dragon King)', 'M4A4 | 龍王 (Dragon King) (После полевых испытаний)'],
  ['<i>(Battle Scarred)', '<i>(Battle Scarred) (После полевых испытаний)'],
  ['Civic Duty (Battle Scarred)', 'Civic Duty (Закалённое в боях)'],
])('a Russian receipt names the wear of %s in Russian', (name, shown) => {
  expect(nameWithWear(name, 'AK-47 | Redline (Field-Tested)', 'ru')).toBe(shown)
})

it('a receipt names the wear in the receipt’s language, and the market name if it differs', () => {
  const item = {
    name: 'AK-47 | Redline (Field-Tested)',
    marketName: 'AK-47 | Redline (Field-Tested)',
    phase: null,
    price: 1_000,
    reversed: false,
  }
  const page = (language: 'en' | 'ru', change: object = {}) =>
    receiptPage({ ...RECEIPT, items: [{ ...item, ...change }] }, { language, now: NOW })
  expect(page('ru')).toMatch(
    /<li>AK-47 \| Redline \(После полевых испытаний\), 10,00.*<span class="quiet">AK-47 \| Redline \(Field-Tested\)</,
  )
  expect(page('en', { name: 'AK-47 | Redline' })).toContain('<li>AK-47 | Redline (Field-Tested), $10.00</li>')
  expect(nameWithWear('Sticker | Crown (Foil)', 'Sticker | Crown (Foil)', 'ru')).toBe(
    'Sticker | Crown (Foil)',
  )
  expect(nameWithWear('Hat', null, 'ru')).toBe('Hat')
  expect(nameWithWear('Civic Duty (Battle Scarred)', null, 'en')).toBe('Civic Duty (Battle Scarred)')
})

describe('the link from a receipt to its store', () => {
  it('is on the store’s name, and reveals neither the order nor the shopper', async () => {
    await till.db
      .updateTable('deposit')
      .set({ back_to_store_url: 'https://store.test/wallet?order={EXTERNAL_ID}&as=mira_sol' })
      .where('id', '=', paid.id)
      .execute()
    const { body } = await get((await receiptOf(paid.hash)) ?? '')
    expect(body).toContain(
      '<dt>Store</dt><dd><a href="https://store.test/" rel="noreferrer">&lt;b&gt;Ember</a></dd>',
    )
    expect(body).not.toMatch(/order-77|mira_sol|EXTERNAL_ID/)
    expect(receiptPage(RECEIPT, { language: 'en', now: NOW })).toContain('<dt>Store</dt><dd>Ember</dd>')
  })

  it('leads to the store’s present first page once the store has given up the origin', async () => {
    await till.db
      .updateTable('store')
      .set({ origins: ['https://new.test'] })
      .execute()
    const { body } = await get((await receiptOf(paid.hash)) ?? '')
    expect(body).toContain('<dd><a href="https://new.test/" rel="noreferrer">')
  })
})

it.each(LANGUAGES)(
  'a receipt gives every reason in words, and an unknown one not at all, in %s',
  (language) => {
    const pageWith = (reason: string) => receiptPage({ ...RECEIPT, reason }, { language, now: NOW })
    for (const reason of END_REASONS) {
      const words = RECEIPT_TEXTS[language].reasons[reason]
      expect(pageWith(reason)).toContain(`<dd>${words}</dd>`)
      expect(pageWith(reason)).not.toMatch(new RegExp(`>${reason}<|_`))
    }
    expect(pageWith('moon_phase')).not.toMatch(new RegExp(`moon|<dt>${RECEIPT_TEXTS[language].reason}<`))
  },
)

it('a receipt opens at its address only, and the operator’s search accepts that address', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  const forged = path.replace(/-[0-9a-f]{4}/, '-0000')
  for (const wrong of [forged, `/receipt/${paid.id}`, '/receipt/99999-00000000000000000000000000000000']) {
    const { statusCode, headers, body } = await get(wrong)
    expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'/)
    expect(body).toContain('There is no payment at this address')
    expect((await get(`${wrong}?lang=ru`)).body).toMatch(/<html lang="ru">.*По этому адресу нет платежа/s)
  }
  const findings = await find(till, `https://pay.test${path}?lang=ru`)
  expect(findings).toMatchObject({
    kind: 'done',
    data: { deposits: [{ depositId: paid.id, as: ['receipt'] }] },
  })
  expect((await find(till, `https://pay.test${forged}`)).kind).toBe('refused')
})

it('a receipt that cannot be shown at the moment has a page that says so', async () => {
  const path = (await receiptOf(paid.hash)) ?? ''
  unableReason = 'database_unavailable'
  const { statusCode, headers, body } = await get(path, { 'accept-language': 'ru-RU' })
  unableReason = undefined
  expect([statusCode, headers['retry-after'], headers['content-type']]).toEqual([
    503,
    '2',
    'text/html; charset=utf-8',
  ])
  expect(body).toMatch(/<html lang="ru">.*Сейчас квитанцию показать нельзя/s)
})

it('a page without a receipt is in the first of our languages that the browser accepts', async () => {
  const { statusCode, body } = await get('/receipt/1-0', { 'accept-language': 'de, ru;q=0.5' })
  expect(statusCode).toBe(404)
  expect(body).toContain('<html lang="ru">')
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
