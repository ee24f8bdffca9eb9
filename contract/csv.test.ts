import { expect, it } from 'vitest'
import { textCell } from './csv.ts'

it.each([
  ['=1+1', "'=1+1"],
  [' =1+1', "' =1+1"],
  ['Knife;=1+1;', "Knife;'=1+1;"],
  ['Knife; =1+1;', "Knife; '=1+1;"],
  ['Knife;"=1+1";', `"Knife;""'=1+1"";"`],
  ['Knife\t=1+1', "Knife\t'=1+1"],
])('a cell with %j begins no formula, even where lines are split at semicolons or tabs', (text, cell) => {
  expect(textCell(text)).toBe(cell)
})

it.each(['AK-47 | Redline', 'Knife; used', 'one=1', '★ StatTrak™ - 5 + 1 = 6'])(
  'a cell with %j is not changed',
  (text) => {
    expect(textCell(text)).toBe(text)
  },
)
