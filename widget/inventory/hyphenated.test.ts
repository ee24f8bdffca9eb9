import { expect, it } from 'vitest'
import { capitalised, hyphenated } from './hyphenated.ts'

it.each([
  ['Экстраординарного типа', 'Экс-тра-ор-ди-нар-ного типа'],
  ['Промышленное качество', 'Про-мыш-лен-ное качество'],
  ['Высшего класса', 'Высшего класса'],
  ['Экзотичного вида', 'Экзо-тич-ного вида'],
  ['Армейское качество', 'Армейское качество'],
  ['Extraordinary', 'Extraordinary'],
  ['', ''],
])('%s may be divided as %s', (text, divided) => {
  expect(hyphenated(text).replaceAll('\u00ad', '-')).toBe(divided)
})

it.each([
  ['тайное', 'Тайное'],
  ['Covert', 'Covert'],
  ['', ''],
])('the rarity %j is shown as %j', (text, shown) => {
  expect(capitalised(text)).toBe(shown)
})

it('a word of 100,000 letters keeps its letters', () => {
  const word = 'ща'.repeat(50_000)
  expect(hyphenated(word).replaceAll('\u00ad', '')).toBe(word)
})
