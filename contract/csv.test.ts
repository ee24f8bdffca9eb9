import { expect, it } from 'vitest'
import { textCell } from './csv.ts'

it.each([
  ['=1+1', "'=1+1"],
  [' =1+1', "' =1+1"],
  ['Knife;=1+1;', "Knife;'=1+1;"],
  ['Knife; =1+1;', "Knife; '=1+1;"],
  ['Knife;"=1+1";', `"Knife;""'=1+1"";"`],
  ['Knife\t=1+1', "Knife\t'=1+1"],
])(
  'a cell with %j starts no formula, even in a spreadsheet that splits lines at semicolons or tabs',
  (text, cell) => {
    expect(textCell(text)).toBe(cell)
  },
)

it.each(['AK-47 | Redline', 'Knife; used', 'one=1', '★ StatTrak™ - 5 + 1 = 6'])(
  'a cell with %j is not changed',
  (text) => {
    expect(textCell(text)).toBe(text)
  },
)
