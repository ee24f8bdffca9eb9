import { describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../contract/languages.ts'
import { en } from './en.ts'
import { guideTexts } from './guide.ts'
import { helpTexts } from './help.ts'
import { landingTexts } from './landing.ts'
import { modalTexts } from './modals.ts'
import { pageTexts } from './page.ts'
import { restTexts } from './rest.ts'
import { ru } from './ru.ts'
import { standTexts } from './stand.ts'
import { textsIn } from './texts.ts'

type Leaf = { key: string; text: unknown }

/** Returns every text with its path, including texts in lists and tables. */
function leaves(value: unknown, key = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ key, text: value }]
  return Object.entries(value).flatMap(([part, inner]) => leaves(inner, key === '' ? part : `${key}.${part}`))
}

const english = leaves(en)
const russian = new Map(leaves(ru).map(({ key, text }) => [key, text]))

describe('A-065 A-110 the texts', () => {
  it('all exist in Russian', () => {
    const missing = english.filter(({ key }) => !russian.has(key))
    expect(missing.map(({ key }) => key)).toEqual([])
  })

  it('do not exist in Russian alone', () => {
    const englishKeys = new Set(english.map(({ key }) => key))
    expect([...russian.keys()].filter((key) => !englishKeys.has(key))).toEqual([])
  })

  it('of the help and landing pages all exist in Russian', () => {
    for (const texts of [helpTexts, landingTexts]) {
      const [inEnglish, inRussian] = [leaves(texts.en), leaves(texts.ru)]
      expect(inRussian.map(({ key }) => key)).toEqual(inEnglish.map(({ key }) => key))
      for (const { text } of [...inEnglish, ...inRussian]) expect(text).toEqual(expect.stringMatching(/\S/))
      const untranslated = inEnglish.filter(({ text }, index) => inRussian[index]?.text === text)
      expect(untranslated.map(({ key }) => key).filter((key) => key !== 'games.text')).toEqual([])
    }
  })

  it('A-030 A-035 A-112 of the help page give the required information', () => {
    expect(Object.keys(helpTexts.en)).toEqual(
      expect.arrayContaining(['escrow', 'games', 'prices', 'minimum', 'money']),
    )
    expect(helpTexts.en.minimum.text).toMatch(/covers the commission/)
    expect(helpTexts.ru.minimum.text).toMatch(/покрывает комиссию/)
    expect(helpTexts.en.prices.text).toMatch(/sold externally.*large commission/)
    expect(helpTexts.ru.prices.text).toMatch(/внешних площадках.*большую комиссию/)
  })

  it('differ between the languages', () => {
    const untranslated = english.filter(
      ({ key, text }) => typeof text === 'string' && russian.get(key) === text,
    )
    const sameOnPurpose = /^wear\.WearCategory\d\.short$|^games\./
    expect(untranslated.map(({ key }) => key).filter((key) => !sameOnPurpose.test(key))).toEqual([])
  })

  it.each(LANGUAGES)('in %s are not empty for any number or name', (language) => {
    const texts = leaves({
      ...pageTexts[language],
      ...restTexts[language],
      ...guideTexts[language],
      ...standTexts[language],
      ...modalTexts[language],
    })
    expect(texts.length).toBeGreaterThan(150)
    for (const { key, text } of texts) {
      if (typeof text !== 'function') {
        expect(text, key).toEqual(expect.stringMatching(/\S/))
        continue
      }
      for (const number of [0, 1, 2, 5, 11, 21, 60, 300]) {
        const shown: unknown = text(number, 'NAME')
        expect(shown, key).toEqual(expect.stringMatching(/\S/))
        expect(shown, key).not.toMatch(/undefined|null|NaN|object/)
      }
    }
  })

  it('fall back to English where Russian lacks one', () => {
    const texts = { en: { support: 'Support', retry: 'Try again' }, ru: { support: 'Поддержка' } }
    expect(textsIn(texts, 'ru')).toEqual({ support: 'Поддержка', retry: 'Try again' })
    expect(textsIn(texts, 'en')).toEqual(texts.en)
  })
})

describe('plurals', () => {
  it.each([
    [1, '1 предмет'],
    [2, '2 предмета'],
    [4, '4 предмета'],
    [5, '5 предметов'],
    [11, '11 предметов'],
    [12, '12 предметов'],
    [21, '21 предмет'],
    [22, '22 предмета'],
    [25, '25 предметов'],
    [111, '111 предметов'],
  ])('in Russian are right for %j picked items', (n, text) => {
    expect(ru.confirmSummary(n, '5 $')).toBe(`${text} · 5 $`)
  })

  it.each([
    [60, 'Осталась 1 минута'],
    [300, 'Осталось 5 минут'],
    [120, 'Осталось 2 минуты'],
    [30, 'Осталось 30 секунд'],
    [21, 'Осталась 21 секунда'],
    [11, 'Осталось 11 секунд'],
    [2, 'Осталось 2 секунды'],
    [1, 'Осталась 1 секунда'],
  ])('in Russian are right for %j seconds left', (seconds, text) => {
    expect(ru.timeAnnounce(seconds)).toBe(text)
  })

  it.each([
    [1, 'Ещё 1 предмет не подходит'],
    [2, 'Ещё 2 предмета не подходят'],
    [5, 'Ещё 5 предметов не подходят'],
    [21, 'Ещё 21 предмет не подходит'],
  ])('in Russian are right for %j items that cannot be used', (n, text) => {
    expect(ru.unavailable(n)).toBe(text)
  })

  it.each([
    [21, 'Инвентарь получен 21 минуту назад'],
    [3, 'Инвентарь получен 3 минуты назад'],
    [11, 'Инвентарь получен 11 минут назад'],
  ])('in Russian are right for an inventory from %j minutes ago', (n, text) => {
    expect(ru.itemAge(n)).toBe(text)
  })

  it('in English are right for items, minutes and seconds', () => {
    expect(en.confirmSummary(1, '$5')).toBe('1 item · $5')
    expect(en.confirmSummary(11, '$5')).toBe('11 items · $5')
    expect(en.unavailable(1)).toBe('1 more item can’t be used')
    expect(en.unavailable(2)).toBe('2 more items can’t be used')
    expect(en.timeAnnounce(60)).toBe('1 minute left to accept')
    expect(en.timeAnnounce(300)).toBe('5 minutes left to accept')
    expect(en.timeAnnounce(30)).toBe('30 seconds left to accept')
    expect(en.timeAnnounce(1)).toBe('1 second left to accept')
  })
})

describe('the texts of the specification', () => {
  const { inventoryErrors } = en
  it.each([
    ['A-120', en.notFound, 'Page not found'],
    ['A-121', en.paymentNotFound, 'Failed to find your payment'],
    ['A-122', en.userFailed, 'Failed get user information'],
    ['A-123', inventoryErrors.internal.title, 'Failed to get your inventory'],
    ['A-124', inventoryErrors.tradeNotAvailable.title, 'Trade is not available'],
    ['A-125', inventoryErrors.hidden.title, 'Your inventory is hidden'],
    ['A-126', inventoryErrors.escrow.title, 'Trade restrictions'],
    ['A-127', inventoryErrors.invalidPartner.title, 'Incorrect Trade URL'],
    ['A-128', inventoryErrors.engineeringWorks.title, 'Technical works'],
    ['A-129', en.creationErrorTitle, 'Failed to create trade'],
    ['A-130', en.tooManyItems, 'You have chosen too many items to trade'],
    ['A-131', en.failedToReceiveDeposit, 'failed to receive deposit'],
  ])('%s: %j, word for word', (_label, text, expected) => {
    expect(text).toBe(expected)
  })

  it.each([
    ['A-123', 'internal', /again later or contact support/, /позже или обратитесь в поддержку/],
    [
      'A-124',
      'tradeNotAvailable',
      /no items to trade.*probably.*own this game/,
      /Нет предметов.*вероятно.*нет этой игры/,
    ],
    ['A-125', 'hidden', /to Open \(Public\)|to Public/, /откройте «Инвентарь» для всех/],
    [
      'A-126',
      'escrow',
      /mobile authenticator for 7 days.*delay/,
      /мобильным аутентификатором 7 дней.*задержит/,
    ],
  ] as const)(
    '%s the error %s has the required description, in both languages',
    (_label, type, english, russian) => {
      expect(inventoryErrors[type].description).toMatch(english)
      expect(ru.inventoryErrors?.[type].description).toMatch(russian)
    },
  )

  it('A-129 say in both languages what to do about a trade that was not created', () => {
    expect(en.creationErrorText).toMatch(/[Cc]heck the trade URL or try .*later.*restrictions/)
    expect(ru.creationErrorText).toMatch(/Проверьте ссылку на обмен.*позже.*ограничения/)
  })

  it('have the specified titles for errors in Russian, word for word', () => {
    const types = [
      'internal',
      'tradeNotAvailable',
      'hidden',
      'escrow',
      'invalidPartner',
      'engineeringWorks',
    ] as const
    expect(types.map((type) => ru.inventoryErrors?.[type].title)).toEqual([
      'Не удалось получить инвентарь',
      'Обмен недоступен',
      'Ваш инвентарь скрыт',
      'Ограничения обмена',
      'Неверная ссылка на обмен',
      'Технические работы',
    ])
    expect([ru.notFound, ru.paymentNotFound, ru.userFailed, ru.creationErrorTitle]).toEqual([
      'Страница не найдена',
      'Не удалось найти ваш платёж',
      'Не удалось получить данные пользователя',
      'Не удалось создать обмен',
    ])
  })

  it('A-045 name the wear of an item in both languages', () => {
    expect(en.wear).toEqual({
      WearCategory0: { short: 'FN', word: 'Factory New' },
      WearCategory1: { short: 'MW', word: 'Minimal Wear' },
      WearCategory2: { short: 'FT', word: 'Field-Tested' },
      WearCategory3: { short: 'WW', word: 'Well-Worn' },
      WearCategory4: { short: 'BS', word: 'Battle-Scarred' },
    })
    expect(Object.values(ru.wear ?? {})).toEqual([
      { short: 'FN', word: 'Прямо с завода' },
      { short: 'MW', word: 'Немного поношенное' },
      { short: 'FT', word: 'После полевых испытаний' },
      { short: 'WW', word: 'Поношенное' },
      { short: 'BS', word: 'Закалённое в боях' },
    ])
  })

  it('A-088 A-112 A-034 refuse too many items in the same words everywhere, and name the required numbers', () => {
    expect(en.creationErrors.too_many_items).toBe(en.tooManyItems)
    for (const text of [inventoryErrors.escrow.description, helpTexts.en.escrow.text]) {
      expect(text).toMatch(/7 days/)
      expect(text).toMatch(/mobile authenticator/)
    }
    for (const text of [ru.inventoryErrors?.escrow.description, helpTexts.ru.escrow.text]) {
      expect(text).toMatch(/7 дней/)
      expect(text).toMatch(/мобильным аутентификатором/)
    }
    expect(en.itemConditions).toMatch(/\$0\.10/)
    expect(ru.itemConditions).toMatch(/5 рублей/)
  })
})

describe('D-9 the texts before Add funds is pressed', () => {
  it.each([
    ['en', ['Add funds · $5.00', 'Add $2.85 more', 'Remove $1.20'], 'On 30 November', /CS2 .*8 days/],
    ['ru', ['Пополнить · $5.00', 'Добавьте ещё $2.85', 'Уберите $1.20'], '30 November', /CS2 .*8 дней/],
  ] as const)(
    'in %s name the amounts, the day and the reason, and promise nothing',
    (language, faces, day, why) => {
      const texts = { ...restTexts[language], ...standTexts[language] }
      expect([texts.payAmount('$5.00'), texts.payMissing('$2.85'), texts.payTooMuch('$1.20')]).toEqual(faces)
      expect(texts.onDay('30 November')).toBe(day)
      const reasons = [texts.whyLater, texts.whyParts, texts.whyLimit, texts.whyExpected].map((reason) =>
        reason(8, 'CS2'),
      )
      for (const reason of reasons) {
        expect(reason).toMatch(why)
        // The till holds money longer than Steam lets a sender take a trade back: seven days for CS2.
        expect(reason).toMatch(/CS2 trades to be reversed for some days|обмен в CS2 ещё несколько дней/)
      }
      // The part credited at once may still change, so the reasons promise nothing.
      expect(reasons.join()).not.toMatch(/at once|immediately|instantly|сразу|немедленно|мгновенно/i)
    },
  )
})
