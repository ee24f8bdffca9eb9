import { expect, it } from 'vitest'
import { shownToasts } from './shown-toasts.ts'
import type { Toast } from './store.ts'

const toast = (id: string): Toast => ({
  id,
  type: 'info',
  title: id,
  message: '',
  timeOut: 0,
  hasPriority: false,
})
const [a, b, c] = [toast('a'), toast('b'), toast('c')]
const ids = (shown: ReturnType<typeof shownToasts>): string[] =>
  shown.map((each) => `${each.toast.id}${each.isLeaving ? ' leaves' : ''}`)

it('A-118 a removed toast leaves from its place while a new toast enters', () => {
  const shownBoth = shownToasts([], [a, b])
  expect(ids(shownBoth)).toEqual(['a', 'b'])
  const shownOne = shownToasts(shownBoth, [b])
  expect(ids(shownOne)).toEqual(['a leaves', 'b'])
  expect(ids(shownToasts(shownOne, [b, c]))).toEqual(['a leaves', 'b', 'c'])
  expect(ids(shownToasts(shownOne, []))).toEqual(['a leaves', 'b leaves'])
})

it('the same array is returned while the list is unchanged', () => {
  const shown = shownToasts([], [a])
  expect(shownToasts(shown, [a])).toBe(shown)
})
