import { expect, test } from 'vitest'
import { ERRORS } from './errors.ts'

test('if no bot can take the items, the shopper reads what happened to the items and what to do', () => {
  const { en, ru } = ERRORS.no_bot_available.detail
  expect(en).toMatch(/nothing was sent.*in a minute.*go back to the store/i)
  expect(ru).toMatch(/ничего не отправлено.*через минуту.*вернитесь в магазин/i)
})
