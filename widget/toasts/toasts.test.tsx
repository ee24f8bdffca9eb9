import { expect, it } from 'vitest'
import { markup } from '../test-markup.tsx'
import { createToasts } from './store.ts'
import { Toasts } from './toasts.tsx'

/** The words read out for each type. */
const WORDS = { info: 'Notice', success: 'Done', warning: 'Warning', error: 'Error' } as const

const TYPES = ['info', 'success', 'warning', 'error'] as const

it('A-032 each type of toast has an icon of its own, and the type as text', () => {
  const toasts = createToasts({ after: () => () => {} }, () => String(Math.random()))
  for (const type of TYPES) toasts.add({ type, title: `about ${type}`, message: 'more' })
  const buttons = markup(<Toasts store={toasts} />).match(/<button.*?<\/button>/gs) ?? []
  expect(buttons).toHaveLength(4)
  for (const [index, type] of TYPES.entries()) {
    expect(buttons[index]).toContain(`toast-${type}"`)
    const text = buttons[index]?.replace(/<[^>]*>/g, '')
    expect(text).toBe(`${WORDS[type]}: about ${type}more`)
  }
  const icons = buttons.map((button) => /<svg.*<\/svg>/s.exec(button)?.[0])
  expect(icons).not.toContain(undefined)
  expect(new Set(icons).size).toBe(4)
})

it('A-073 the container has the class toasts-empty only while it is empty', () => {
  const toasts = createToasts({ after: () => () => {} }, () => '1')
  expect(markup(<Toasts store={toasts} />)).toContain('class="toasts toasts-empty"')
  toasts.add({ title: 'a' })
  expect(markup(<Toasts store={toasts} />)).toContain('class="toasts"')
})
