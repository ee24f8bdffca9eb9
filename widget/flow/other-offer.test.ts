import { describe, expect, it } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import { answers, json, type Reply, start } from './test-flow.ts'
import { loaded, opening, payment, play } from './test-states.ts'

const OTHER = 'f'.repeat(32)

/** A page that knows the offer of an earlier deposit. `read` answers for the earlier deposit. */
function openWithOtherOffer(read: () => Reply, depositOfPage: Partial<Payment> = {}) {
  const page = start(
    {
      ...answers,
      '/api/payment': ({ path }) => (path.includes(OTHER) ? read() : json(payment(depositOfPage))),
    },
    opening({ offer: OTHER }),
  )
  return {
    ...page,
    countReads: () => page.callsTo('/api/payment').filter(({ path }) => path.includes(OTHER)).length,
  }
}

const stillOpen = (timeLeft: number) =>
  json(payment({ hash: OTHER, id: '1041', status: 'pending', timeLeft }))

describe('the offer of an earlier deposit', () => {
  it('is read every 30 s while it is open, and right after its end', async () => {
    let timeLeft = 100
    const { flow, countReads, pass } = openWithOtherOffer(() => stillOpen(timeLeft))
    await pass(0)
    expect(flow.state().otherOffer?.deposit?.id).toBe('1041')
    expect(flow.state().otherOffer?.deadlineMs).toBe(performance.now() + 100_000)
    expect(countReads()).toBe(1)
    await pass(29_999)
    expect(countReads()).toBe(1)
    timeLeft = 10
    await pass(1)
    expect(countReads()).toBe(2)
    expect(flow.state().otherOffer?.deadlineMs).toBe(performance.now() + 10_000)
    await pass(11_000)
    expect(countReads()).toBe(3)
  })

  it('is read immediately when the shopper comes back', async () => {
    const { flow, countReads, pass } = openWithOtherOffer(() => stillOpen(100))
    await pass(2000)
    expect(countReads()).toBe(1)
    flow.returned()
    await pass(0)
    expect(countReads()).toBe(2)
  })

  it.each([
    ['has ended', () => json(payment({ hash: OTHER, status: 'tradeDeclined', timeLeft: null }))],
    ['is unknown to the server', () => json({ code: 'deposit_not_found', detail: '' }, { status: 404 })],
  ])('is forgotten if it %s, and not read again', async (_why, read) => {
    const { flow, countReads, effects, pass } = openWithOtherOffer(read)
    await pass(120_000)
    expect(countReads()).toBe(1)
    expect(flow.state().otherOffer).toBeNull()
    expect(effects).toEqual([{ kind: 'forgetOffer', hash: OTHER }])
  })

  it.each<[string, () => Reply]>([
    [
      'does not answer',
      () => {
        throw new TypeError('offline')
      },
    ],
    [
      'answers that it got too many calls',
      () => json({ code: 'too_many_requests', detail: '' }, { status: 429 }),
    ],
  ])('stays known while the server %s', async (_why, fail) => {
    let isDown = false
    const { flow, countReads, effects, pass } = openWithOtherOffer(() => (isDown ? fail() : stillOpen(100)))
    await pass(0)
    isDown = true
    await pass(60_000)
    expect(countReads()).toBeGreaterThan(1)
    expect(flow.state().otherOffer?.deadlineMs).toBe(performance.now() + 40_000)
    expect(flow.state().otherOffer?.deposit?.id).toBe('1041')
    expect(effects.filter(({ kind }) => kind === 'forgetOffer')).toEqual([])
  })

  it('is not read while the page’s own deposit has an open offer', async () => {
    const { countReads, pass } = openWithOtherOffer(() => stillOpen(100), {
      status: 'pending',
      timeLeft: 300,
    })
    await pass(60_000)
    expect(countReads()).toBe(0)
  })
})

it('the open offer of the page’s own deposit is remembered for later deposits until the offer ends', () => {
  const { state } = play(opening(), loaded())
  const open = play(state, loaded({ status: 'pending' }))
  expect(open.effects).toEqual([{ kind: 'storeOffer', hash: state.hash }])
  expect(play(open.state, loaded({ status: 'pending' })).effects).toEqual([])
  const ended = play(open.state, loaded({ status: 'tradeDeclined', timeLeft: null }))
  expect(ended.effects).toContainEqual({ kind: 'forgetOffer', hash: state.hash })
  const openedPending = { ...state, payment: payment({ status: 'pending' }) }
  expect(play(openedPending, { kind: 'opened' }).effects).toEqual([{ kind: 'storeOffer', hash: state.hash }])
})

it('the page of the remembered deposit has no other offer', () => {
  const { hash } = opening()
  expect(opening({ offer: hash }).otherOffer).toBeNull()
})
