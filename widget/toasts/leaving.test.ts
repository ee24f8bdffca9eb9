import { expect, it } from 'vitest'
import { stillShown } from './leaving.ts'
import type { Toast } from './store.ts'

const toast = (id: string): Toast => ({
  id,
  type: 'info',
  title: id,
  message: '',
  timeOut: 0,
  priority: false,
})
const [a, b, c] = [toast('a'), toast('b'), toast('c')]
const ids = (shown: ReturnType<typeof stillShown>): string[] =>
  shown.map((each) => `${each.toast.id}${each.leaving ? ' leaves' : ''}`)

it('A-118 a removed toast leaves from its place while a new one enters', () => {
  const both = stillShown([], [a, b])
  expect(ids(both)).toEqual(['a', 'b'])
  const one = stillShown(both, [b])
  expect(ids(one)).toEqual(['a leaves', 'b'])
  expect(ids(stillShown(one, [b, c]))).toEqual(['a leaves', 'b', 'c'])
  expect(ids(stillShown(one, []))).toEqual(['a leaves', 'b leaves'])
})

it('an unchanged list returns the same value', () => {
  const shown = stillShown([], [a])
  expect(stillShown(shown, [a])).toBe(shown)
})
