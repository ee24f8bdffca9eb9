import { describe, expect, it, vi } from 'vitest'
import { createToasts } from './store.ts'

/** A list of toasts on a clock that the test moves. */
function toastsOnClock() {
  let nowMs = 0
  let lastId = 0
  let pending: { atMs: number; run: () => void }[] = []
  const store = createToasts(
    {
      after(ms, run) {
        const timer = { atMs: nowMs + ms, run }
        pending.push(timer)
        return () => {
          pending = pending.filter((other) => other !== timer)
        }
      },
    },
    () => `id ${++lastId}`,
  )
  const pass = (ms: number): void => {
    nowMs += ms
    const due = pending.filter(({ atMs }) => atMs <= nowMs)
    pending = pending.filter(({ atMs }) => atMs > nowMs)
    for (const { run } of due) run()
  }
  const titles = (): string[] => store.list().map(({ title }) => title)
  return { store, pass, titles, countTimers: () => pending.length }
}

describe('A-033 a toast', () => {
  it('with just a title has the type info, lasts 5 s and has no priority', () => {
    const { store } = toastsOnClock()
    const id = store.add({ title: 'hello' })
    expect(store.list()).toEqual([
      { id, type: 'info', title: 'hello', message: '', timeOut: 5000, hasPriority: false },
    ])
  })

  it('keeps the fields it was given', () => {
    const { store } = toastsOnClock()
    const onClick = () => {}
    store.add({ type: 'error', title: 't', message: 'm', timeOut: 1, hasPriority: true, onClick })
    expect(store.list()[0]).toMatchObject({
      type: 'error',
      message: 'm',
      timeOut: 1,
      hasPriority: true,
      onClick,
    })
  })

  it('has its own id', () => {
    const { store } = toastsOnClock()
    expect(store.add({ title: 'a' })).not.toBe(store.add({ title: 'b' }))
  })
})

describe('A-073 the list', () => {
  it('adds a toast at the end, or at the front with priority', () => {
    const { store, titles } = toastsOnClock()
    store.add({ title: 'first' })
    store.add({ title: 'second' })
    store.add({ title: 'urgent', hasPriority: true })
    expect(titles()).toEqual(['urgent', 'first', 'second'])
  })

  it('drops a toast on click, after its own handler has run', () => {
    const { store, titles } = toastsOnClock()
    const titlesAtClick: string[][] = []
    const id = store.add({ title: 'a', onClick: () => titlesAtClick.push(titles()) })
    store.add({ title: 'b' })
    store.click(id)
    expect(titlesAtClick).toEqual([['a', 'b']])
    expect(titles()).toEqual(['b'])
    store.click(id)
    expect(titlesAtClick).toHaveLength(1)
  })

  it('A-118 drops a toast at 5000 ms and not a millisecond before', () => {
    const { store, pass, titles } = toastsOnClock()
    store.add({ title: 'a' })
    pass(4999)
    expect(titles()).toEqual(['a'])
    pass(1)
    expect(titles()).toEqual([])
  })

  it('shows equal toasts as one, until 5000 ms after the last of them', () => {
    const { store, pass, titles, countTimers } = toastsOnClock()
    const id = store.add({ title: 'a', type: 'warning' })
    pass(4999)
    for (let times = 0; times < 10; times += 1) expect(store.add({ title: 'a', type: 'warning' })).toBe(id)
    expect([titles(), countTimers()]).toEqual([['a'], 1])
    pass(4999)
    expect(titles()).toEqual(['a'])
    pass(1)
    expect(titles()).toEqual([])
    expect(store.add({ title: 'a', type: 'warning' })).not.toBe(id)
  })

  it.each([
    ['type', { type: 'error' }],
    ['message', { message: 'm' }],
    ['timeout', { timeOut: 0 }],
    ['priority', { hasPriority: true }],
    ['handler', { onClick: () => {} }],
  ] as const)('has two toasts if they differ only in their %s', (_what, other) => {
    const { store, titles } = toastsOnClock()
    store.add({ title: 'a' })
    store.add({ title: 'a', ...other })
    expect(titles()).toEqual(['a', 'a'])
  })

  it('drops each toast at its own time, and keeps a toast without a time', () => {
    const { store, pass, titles } = toastsOnClock()
    store.add({ title: 'never', timeOut: 0 })
    store.add({ title: 'late', timeOut: 9000 })
    store.add({ title: 'soon', timeOut: 100 })
    pass(100)
    expect(titles()).toEqual(['never', 'late'])
    pass(1e9)
    expect(titles()).toEqual(['never'])
  })

  it('drops a removed toast and its timer', () => {
    const { store, titles, countTimers } = toastsOnClock()
    const id = store.add({ title: 'a' })
    store.add({ title: 'b' })
    store.remove(id)
    store.remove('unknown')
    expect(titles()).toEqual(['b'])
    expect(countTimers()).toBe(1)
  })

  it('drops all toasts together, and their timers', () => {
    const { store, titles, countTimers } = toastsOnClock()
    store.add({ title: 'a' })
    store.add({ title: 'b', timeOut: 0 })
    store.clear()
    expect(titles()).toEqual([])
    expect(countTimers()).toBe(0)
  })

  it('calls its listeners on each change, and at no other time', () => {
    const { store, pass } = toastsOnClock()
    const listener = vi.fn()
    const unsubscribe = store.subscribe(listener)
    store.clear()
    store.remove('unknown')
    expect(listener).toHaveBeenCalledTimes(0)
    const id = store.add({ title: 'a' })
    store.click(id)
    store.add({ title: 'b' })
    pass(5000)
    expect(listener).toHaveBeenCalledTimes(4)
    unsubscribe()
    store.add({ title: 'c' })
    expect(listener).toHaveBeenCalledTimes(4)
  })

  it('is the same array until it changes, and then a new array', () => {
    const { store } = toastsOnClock()
    const empty = store.list()
    expect(store.list()).toBe(empty)
    store.add({ title: 'a' })
    expect(store.list()).not.toBe(empty)
    expect(empty).toEqual([])
  })
})
