import { expect, it } from 'vitest'
import { bookOf, parseWishEntry, wishEntriesOf } from './book.ts'

const at = new Date(0)
const bookIn = (...entries: object[]) =>
  bookOf(wishEntriesOf(entries.map((entry, index) => ({ n: index + 1, at, entry }))))

it('the sales in a log are left out of the book of wishes', () => {
  const refused = { kind: 'wish_refused', wish: '1', because: 'no such destination' }
  const book = bookIn({ kind: 'sale', sale: {} }, refused)
  expect([...book]).toEqual([['1', { state: 'refused', because: 'no such destination' }]])
})

it.each([
  ['of a known kind', { kind: 'wish_refused', wish: '1', because: 'no such destination', since: 'later' }],
  ['of an unknown kind', { kind: 'lent', wish: '1' }],
])('an entry %s that only a later version can read stops the vault', (_, entry) => {
  expect(() => bookIn({ kind: 'sale', sale: {} }, entry)).toThrow('Entry 2 of the vault')
})

it('an entry that could not be read from the log again is refused', () => {
  expect(() => parseWishEntry({ kind: 'delivered', wish: '1', steamTradeId: 'soon' })).toThrow('steamTradeId')
  expect(parseWishEntry({ kind: 'confirmed', wish: '1' })).toEqual({ kind: 'confirmed', wish: '1' })
})
