import { expect, it } from 'vitest'
import type { Item } from '../../contract/widget-api.ts'
import { item } from '../flow/test-states.ts'
import { markup } from '../test-markup.tsx'
import { areOffered, ItemRows, offeredRowsOf, rowsOf } from './items.tsx'

const worn = (id: string, change: Partial<Item> = {}): Item => ({
  ...item(id, 1_000, 'AK-47 | Redline (Field-Tested)'),
  iconUrl: 'https://img.test/1.png',
  wearCategory: 'WearCategory2',
  ...change,
})

const KNIFE = worn('3', {
  name: '★ Karambit | Doppler (Factory New)',
  price: 400_000,
  wearCategory: 'WearCategory0',
  phase: 'phase2',
})

type Given = Partial<Parameters<typeof ItemRows>[0]>

const listMarkup = (given: Given, language: 'en' | 'ru' = 'en'): string =>
  markup(<ItemRows rows={[]} label="Selected" currency="USD" {...given} />, language)

const text = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/[\s\u00a0]+/g, ' ')
    .trim()

it.each([
  ['en', 'AK-47 | Redline Field-Tested 2 × $10.00 ★ Karambit | Doppler Phase 2 Factory New $4,000.00'],
  [
    'ru',
    'AK-47 | Redline После полевых испытаний 2 × 10,00 $ ★ Karambit | Doppler Фаза 2 Прямо с завода 4 000,00 $',
  ],
] as const)(
  'a row has the name, wear, phase, count and price of equal items, in %s',
  (language, shownText) => {
    expect(text(listMarkup({ rows: rowsOf([worn('1'), KNIFE, worn('2')]) }, language))).toBe(shownText)
  },
)

it('each row of picks has a button that names the item to remove', () => {
  const html = listMarkup({ rows: rowsOf([worn('1'), KNIFE]), onRemove: () => {} })
  expect([...html.matchAll(/<button[^>]*aria-label="([^"]*)"/g)].map(([, name]) => name)).toEqual([
    'Remove AK-47 | Redline, Field-Tested',
    'Remove ★ Karambit | Doppler Phase 2, Factory New',
  ])
})

it('the items of an offer have the wear from their names, and neither pictures nor buttons', () => {
  const rows = offeredRowsOf([
    { name: 'AK-47 | Redline (Field-Tested)', price: 1_000, count: 2 },
    { name: '★ Karambit | Doppler (Прямо с завода)', phase: 'phase2', price: 400_000, count: 1 },
    { name: 'Sticker | Crown (Foil)', price: 500, count: 1 },
  ])
  const html = listMarkup({ rows })
  expect(text(html)).toBe(
    'AK-47 | Redline Field-Tested 2 × $10.00 ★ Karambit | Doppler Phase 2 Factory New $4,000.00 Sticker | Crown (Foil) $5.00',
  )
  expect(text(listMarkup({ rows }, 'ru'))).toContain('AK-47 | Redline После полевых испытаний 2 ×')
  expect(html).not.toMatch(/<img|<button|tabindex/)
})

it('a list without buttons that scrolls can be reached by keyboard', () => {
  const four = ['1', '2', '3', '4'].map((id) => item(id, 100))
  expect(listMarkup({ rows: rowsOf(four) })).toMatch(/<ul[^>]*aria-label="Selected"[^>]*tabindex="0"/i)
})

it('picks count as those of an offer if name, phase, price and count are equal', () => {
  const offered = [
    { name: 'AK-47 | Redline (Field-Tested)', price: 1_000, count: 2 },
    { name: KNIFE.name, phase: 'phase2', price: 400_000, count: 1 },
  ] as const
  const picks = [worn('1'), KNIFE, worn('2')]
  expect(areOffered(picks, [...offered])).toBe(true)
  expect(areOffered([], [...offered])).toBe(false)
  expect(areOffered(picks.slice(1), [...offered])).toBe(false)
  expect(areOffered([...picks, worn('4')], [...offered])).toBe(false)
  // The same number of items, but one differs in price, name or phase.
  expect(areOffered([worn('1', { price: 999 }), KNIFE, worn('2')], [...offered])).toBe(false)
  expect(
    areOffered([worn('1', { name: 'AWP | Asiimov (Field-Tested)' }), KNIFE, worn('2')], [...offered]),
  ).toBe(false)
  expect(areOffered([worn('1'), { ...KNIFE, phase: 'phase3' }, worn('2')], [...offered])).toBe(false)
})
