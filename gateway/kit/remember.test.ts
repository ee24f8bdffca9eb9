import { expect, it, vi } from 'vitest'
import { remember } from './remember.ts'

const LIMITS = { texts: 2, length: 5 }

it('a remembered function is called once for each text', () => {
  const read = vi.fn((text: string) => text.length > 3)
  const readOnce = remember(read, LIMITS)
  expect(['a', 'Фыва', 'a', 'Фыва'].map(readOnce)).toEqual([false, true, false, true])
  expect(read.mock.calls).toEqual([['a'], ['Фыва']])
})

it('a remembered function forgets all answers when there are too many', () => {
  const read = vi.fn((text: string) => text)
  const readOnce = remember(read, LIMITS)
  for (const text of ['a', 'b', 'c', 'c', 'a']) expect(readOnce(text)).toBe(text)
  expect(read.mock.calls.map(([text]) => text)).toEqual(['a', 'b', 'c', 'a'])
})

it('a remembered function is called each time for a long text', () => {
  const read = vi.fn((text: string) => text)
  const readOnce = remember(read, LIMITS)
  for (const text of ['abcdef', 'abcdef', 'abcde', 'abcde']) expect(readOnce(text)).toBe(text)
  expect(read.mock.calls.map(([text]) => text)).toEqual(['abcdef', 'abcdef', 'abcde'])
})
