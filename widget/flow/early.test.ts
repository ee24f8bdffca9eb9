/** The page before the code of its flow is loaded: nothing the shopper does in the meantime is lost. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DEBOUNCE_MS } from './activities.ts'
import { openFlow } from './early.ts'
import { openOnPayment } from './first-steps.ts'
import type { RunningFlow } from './runner.ts'
import { json, start } from './test-flow.ts'
import { LINK, opening, payment, USER } from './test-states.ts'

/** When the payment that came with the page was read. */
const READ_AT_MS = 400

/** A page that asks for the link, and its code, which loads when the test says so. */
function page(stored: { link?: string } = {}) {
  const flow = openFlow(openOnPayment(opening(stored), payment({ user: null, language: 'ru' }), READ_AT_MS))
  const listener = vi.fn()
  flow.subscribe(listener)
  const linksSent: unknown[] = []
  const loadCode = () => {
    const running: { page?: ReturnType<typeof start> } = {}
    const end = flow.handOver((state): RunningFlow => {
      running.page = start(
        {
          '/api/payment': () => json(payment({ user: null })),
          '/api/trade-url': ({ body }) => {
            linksSent.push(body)
            return json(USER)
          },
          '/api/inventory': () => json({ error: true }),
        },
        state,
      )
      return running.page.flow
    })
    onTestFinished(end)
    if (running.page === undefined) throw new Error('the flow was not started')
    return { ...running.page, end }
  }
  return { flow, listener, linksSent, loadCode }
}

describe('before the code of the flow is loaded', () => {
  it('the page shows the payment that its HTML contains, in the payment’s language', () => {
    const { flow } = page()
    expect(flow.state()).toMatchObject({
      page: { stage: 'wait-for-trade-url-input', link: { status: 'idle' } },
      language: 'ru',
      deadlineMs: READ_AT_MS + 1000 * (payment().timeLeft ?? 0),
    })
  })

  it('a typed link shows in the field immediately, and is checked when the code is loaded', async () => {
    const { flow, listener, linksSent, loadCode } = page()
    flow.dispatch({ kind: 'linkTyped', text: LINK })
    expect(flow.state().page).toMatchObject({ link: { status: 'debouncing', text: LINK } })
    expect(listener).toHaveBeenCalledTimes(1)
    const { pass } = loadCode()
    expect(flow.state().page).toMatchObject({ link: { status: 'debouncing', text: LINK } })
    await pass(DEBOUNCE_MS - 1)
    expect(linksSent).toEqual([])
    await pass(1)
    expect(linksSent).toEqual([expect.objectContaining({ tradeUrl: LINK })])
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('a confirmed stored link is checked when the code is loaded', async () => {
    const { flow, linksSent, loadCode } = page({ link: LINK })
    expect(flow.state().page).toMatchObject({ link: { status: 'stored' } })
    flow.dispatch({ kind: 'storedLinkConfirmed' })
    expect(flow.state().page).toMatchObject({ link: { status: 'checking' } })
    await loadCode().pass(0)
    expect(linksSent).toEqual([expect.objectContaining({ tradeUrl: LINK })])
  })

  it('D-10 events outside the link field wait for the code, and keep their order', async () => {
    const { flow, loadCode } = page()
    flow.dispatch({ kind: 'connectionChanged', isOnline: false })
    for (const language of ['ru', 'en'] as const) flow.dispatch({ kind: 'languageChosen', language })
    expect(flow.state()).toMatchObject({ isOnline: true, language: 'ru', isLanguageChosen: false })
    const { effects, pass } = loadCode()
    expect(flow.state()).toMatchObject({ isOnline: false, language: 'en', isLanguageChosen: true })
    expect(effects).toEqual([
      { kind: 'removeToast', text: 'connectionBack' },
      { kind: 'storeLanguage', language: 'ru' },
      { kind: 'storeLanguage', language: 'en' },
    ])
    await pass(0)
    expect(flow.state().language).toBe('en')
  })
})

it('listeners of the early flow are called for changes of the loaded flow, until that flow ends', async () => {
  const { flow, listener, loadCode } = page()
  const { flow: running, pass, end } = loadCode()
  await pass(0)
  listener.mockClear()
  running.dispatch({ kind: 'connectionChanged', isOnline: false })
  expect(listener).toHaveBeenCalledTimes(1)
  expect(flow.state().isOnline).toBe(false)
  end()
  listener.mockClear()
  running.dispatch({ kind: 'connectionChanged', isOnline: true })
  expect(listener).not.toHaveBeenCalled()
})

it('listeners are called with `soon` for an answer, and with `now` for a change by the shopper', async () => {
  const { flow, listener, loadCode } = page()
  const { pass } = loadCode()
  listener.mockClear()
  await pass(0)
  expect(new Set(listener.mock.calls.flat())).toEqual(new Set(['soon']))
  listener.mockClear()
  flow.dispatch({ kind: 'linkTyped', text: LINK })
  expect(listener.mock.calls).toEqual([['now']])
})
