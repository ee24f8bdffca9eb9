import { describe, expect, it, vi } from 'vitest'
import {
  answers,
  delayedReply,
  etagged,
  hangs,
  json,
  payItems,
  pending,
  problem,
  type Reply,
  start,
  withoutUser,
} from './test-flow.ts'
import { inventory, item, LINK, OTHER_LINK, payment, USER } from './test-states.ts'

/** The effect of an open offer: the browser remembers it for the pages of later deposits. */
const STORE_OFFER = { kind: 'storeOffer', hash: payment().hash }

describe('opening the page', () => {
  it('A-060 the page asks once for the deposit, and then for the inventory', async () => {
    const { calls, flow, pass } = start(answers)
    await pass(10_000)
    expect(calls.map(({ path }) => path.split('?')[0])).toEqual(['/api/payment', '/api/inventory'])
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('asks again for a deposit that failed to load, at the shopper’s request', async () => {
    const { flow, callsTo, pass } = start({
      ...answers,
      '/api/payment': (_call, times) => (times === 1 ? problem(404, 'deposit_not_found') : json(payment())),
    })
    await pass(5000)
    expect(flow.state().page.stage).toBe('failed')
    expect(callsTo('/api/payment')).toHaveLength(1)
    flow.dispatch({ kind: 'retryPressed' })
    await pass(0)
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })
})

describe('typing a link', () => {
  it('A-083 the link is checked after 700 ms without typing, and not 1 ms earlier', async () => {
    const { flow, callsTo, effects, pass } = start({
      ...answers,
      '/api/payment': () => json(withoutUser()),
      '/api/trade-url': () => json(USER),
    })
    await pass(0)
    flow.dispatch({ kind: 'linkTyped', text: OTHER_LINK })
    await pass(600)
    flow.dispatch({ kind: 'linkTyped', text: LINK })
    await pass(699)
    expect(callsTo('/api/trade-url')).toHaveLength(0)
    await pass(1)
    expect(callsTo('/api/trade-url')).toMatchObject([{ method: 'POST', body: { tradeUrl: LINK } }])
    expect(effects).toEqual([{ kind: 'storeLink', link: LINK }])
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('A-082 a link that is cleared in time is not checked', async () => {
    const { flow, callsTo, pass } = start({ '/api/payment': () => json(withoutUser()) })
    await pass(0)
    flow.dispatch({ kind: 'linkTyped', text: LINK })
    await pass(699)
    flow.dispatch({ kind: 'linkTyped', text: '' })
    await pass(5000)
    expect(callsTo('/api/trade-url')).toHaveLength(0)
  })
})

describe('the inventory', () => {
  it.each([
    { kind: 'gameChosen', game: 'dota' },
    { kind: 'languageChosen', language: 'ru' },
    { kind: 'linkTyped', text: '' },
  ] as const)('A-071 $kind aborts the request under way, whose answer then shows no error', async (event) => {
    const slow = delayedReply()
    const { flow, callsTo, pass } = start({
      ...answers,
      '/api/inventory': (_call, times) => (times === 1 ? slow.reply : json(inventory([item('9')]))),
    })
    await pass(0)
    const [firstCall] = callsTo('/api/inventory')
    expect(firstCall?.signal.aborted).toBe(false)
    flow.dispatch(event)
    expect(firstCall?.signal.aborted).toBe(true)
    slow.answer(problem(500, 'internal'))
    await pass(0)
    const { page } = flow.state()
    if (event.kind === 'linkTyped') expect(page.stage).toBe('wait-for-trade-url-input')
    else expect(page).toMatchObject({ stand: { inventory: { status: 'ready' } } })
  })

  it('has its own error if it is refused for too many calls', async () => {
    const { flow, pass } = start({ ...answers, '/api/inventory': () => problem(429, 'too_many_looks') })
    await pass(0)
    expect(flow.state().page).toMatchObject({ stand: { inventory: { type: 'tooManyLooks' } } })
  })

  it.each([
    ['long field names', { inventoryError: true, inventoryErrorType: 'hidden' }, 'hidden'],
    ['short field names', { error: true, errorType: 'hidden' }, 'hidden'],
    ['short field names beside items', { ...inventory([]), error: true, errorType: 'escrow' }, 'escrow'],
    ['one long and one short field name', { inventoryError: true, errorType: 'escrow' }, 'escrow'],
    ['an unknown type and cause', { error: true, errorType: 'x', inventoryErrorCause: 'y' }, 'internal'],
    ['an error but no type', { inventoryError: true, inventoryErrorType: null }, 'internal'],
    ['no list of items', { minPrice: 300 }, 'internal'],
  ])('A-102 an answer with %s is recognised as an error', async (_what, answer, type) => {
    const { flow, pass } = start({ ...answers, '/api/inventory': () => json(answer) })
    await pass(0)
    expect(flow.state().page).toMatchObject({ stand: { inventory: { status: 'error', type } } })
  })

  it('A-102 has the internal error if its call failed', async () => {
    const { flow, pass } = start({ ...answers, '/api/inventory': () => problem(500, 'internal') })
    await pass(0)
    expect(flow.state().page).toMatchObject({ stand: { inventory: { status: 'error', type: 'internal' } } })
  })
})

describe('creating a trade', () => {
  it('A-062 A-103 the page sends the picked items, and then polls immediately', async () => {
    const { calls } = await payItems({ '/api/trade': () => json({ state: 'active' }) })
    const requests = calls.slice(2).map(({ method, path }) => `${method} ${path.split('?')[0]}`)
    expect(requests).toEqual(['POST /api/trade', 'GET /api/payment'])
    expect(calls[2]?.body).toMatchObject({ game: 'cs', items: ['1', '2'], quoteId: 'quote-1' })
  })

  it.each([
    ['an unexpected', () => json({ anything: 'else' })],
    ['a still-sending', () => json({ state: 'sending' })],
    ['a null', () => json(null)],
    ['a list as the', () => json([])],
    ['no', () => new Response(null, { status: 204 })],
    ['an empty', () => new Response('')],
    ['a broken', () => new Response('{')],
    ['an HTML', () => new Response('<h1>done</h1>')],
  ] satisfies [string, () => Reply][])(
    'A-103 a success with %s body starts the polling',
    async (_what, reply) => {
      const { calls, flow } = await payItems({ '/api/trade': reply })
      const requests = calls.slice(2).map(({ method, path }) => `${method} ${path.split('?')[0]}`)
      expect(requests).toEqual(['POST /api/trade', 'GET /api/payment'])
      expect(flow.state().modal.kind).toBe('confirming')
    },
  )

  it.each([
    ['no answer at all', () => Promise.reject(new TypeError('network'))],
    ['a server that broke', () => problem(500, 'internal')],
    ['a proxy that failed', () => new Response('<h1>Bad Gateway</h1>', { status: 502 })],
    ['an offer still being made', () => json({ state: 'sending', code: 'trade_sending' }, { status: 202 })],
    ['too many requests', () => problem(429, 'too_many_requests')],
  ] satisfies [string, () => Reply][])(
    'D-25 after %s, the same call is repeated after 2 s and the modal stays',
    async (_what, lost) => {
      const { flow, callsTo, pass } = await payItems({
        '/api/trade': (_call, times) => (times < 3 ? lost() : json({ state: 'active' })),
      })
      await pass(1999)
      expect(callsTo('/api/trade')).toHaveLength(1)
      await pass(1)
      expect(callsTo('/api/trade')).toHaveLength(2)
      expect(flow.state().modal.kind).toBe('creating')
      await pass(2000)
      const bodies = callsTo('/api/trade').map(({ body }) => body)
      expect(bodies).toEqual(Array(3).fill(bodies[0]))
      expect(flow.state().modal.kind).toBe('confirming')
    },
  )

  it.each(['trade_refused', 'steam_unavailable', 'no_bot_available'])(
    'A-063 after %s, an error is shown and the call is not repeated',
    async (code) => {
      const status = code === 'trade_refused' ? 422 : 503
      const { flow, callsTo, pass } = await payItems({ '/api/trade': () => problem(status, code) })
      await pass(10_000)
      expect(callsTo('/api/trade')).toHaveLength(1)
      expect(flow.state().modal).toEqual({ kind: 'creationError', refusal: { code, detail: code } })
    },
  )
})

describe('polling', () => {
  it('A-061 polling starts immediately and repeats every second', async () => {
    const { callsTo, pass } = start({ ...answers, '/api/payment': () => json(pending()) })
    await pass(0)
    // The first answer opened the page; the poll follows it immediately.
    expect(callsTo('/api/payment')).toHaveLength(2)
    await pass(999)
    expect(callsTo('/api/payment')).toHaveLength(2)
    await pass(1)
    expect(callsTo('/api/payment')).toHaveLength(3)
    await pass(10_000)
    expect(callsTo('/api/payment')).toHaveLength(13)
  })

  it('D-23 a poll sends the last ETag, and a 304 keeps the deadline', async () => {
    const { flow, callsTo, pass } = start({
      ...answers,
      '/api/payment': ({ headers }) =>
        headers.get('if-none-match') === '"1"'
          ? new Response(null, { status: 304 })
          : etagged(pending(), '"1"'),
    })
    await pass(0)
    const { deadlineMs } = flow.state()
    await pass(3000)
    const etags = callsTo('/api/payment').map(({ headers }) => headers.get('if-none-match'))
    expect(etags).toEqual([null, null, '"1"', '"1"', '"1"'])
    expect(flow.state().deadlineMs).toBe(deadlineMs)
  })

  it('D-23 one poll runs at a time: the next one waits for a slow answer, and then follows immediately', async () => {
    const slow = delayedReply()
    const { callsTo, pass } = start({
      ...answers,
      '/api/payment': (_call, times) => (times === 2 ? slow.reply : json(pending())),
    })
    await pass(5000)
    expect(callsTo('/api/payment')).toHaveLength(2)
    slow.answer(json(pending()))
    await pass(0)
    expect(callsTo('/api/payment')).toHaveLength(3)
  })

  it('A-061 leaving the confirmation aborts the poll, and reopening it asks for a full answer', async () => {
    const slow = delayedReply()
    const { flow, callsTo, pass } = start({
      ...answers,
      '/api/payment': (_call, times) => (times === 3 ? slow.reply : etagged(pending(), '"1"')),
    })
    await pass(1000)
    flow.dispatch({ kind: 'confirmationLeft' })
    expect(callsTo('/api/payment')[2]?.signal.aborted).toBe(true)
    slow.answer(json(payment({ status: 'succeeded' })))
    await pass(4999)
    expect(callsTo('/api/payment')).toHaveLength(3)
    expect(flow.state().modal.kind).toBe('none')
    flow.dispatch({ kind: 'confirmationReopened' })
    await pass(0)
    expect(callsTo('/api/payment')[3]?.headers.get('if-none-match')).toBeNull()
    expect(callsTo('/api/payment')).toHaveLength(4)
  })

  it('A-052 polling ends with the outcome', async () => {
    const { flow, callsTo, pass } = start({
      ...answers,
      '/api/payment': (_call, times) => json(times < 4 ? pending() : payment({ status: 'succeeded' })),
    })
    await pass(20_000)
    expect(callsTo('/api/payment')).toHaveLength(4)
    expect(flow.state().modal).toMatchObject({ kind: 'completed', outcome: 'succeeded' })
  })

  it('D-17 polling continues through an outage, which is shown once', async () => {
    const { flow, effects, callsTo, pass } = start({
      ...answers,
      '/api/payment': (_call, times) => (times === 1 ? json(pending()) : problem(503, 'internal')),
    })
    await pass(5000)
    expect(callsTo('/api/payment')).toHaveLength(7)
    expect(effects).toEqual([
      STORE_OFFER,
      { kind: 'toast', toast: { text: 'depositFailed', detail: 'internal' } },
    ])
    expect(flow.state().modal.kind).toBe('confirming')
  })

  it('D-23 the shopper’s return causes a poll for a full answer immediately', async () => {
    const { flow, callsTo, pass } = start({ ...answers, '/api/payment': () => etagged(pending(), '"1"') })
    await pass(1500)
    const callsBefore = callsTo('/api/payment').length
    flow.returned()
    await pass(0)
    expect(callsTo('/api/payment')).toHaveLength(callsBefore + 1)
    expect(callsTo('/api/payment').at(-1)?.headers.get('if-none-match')).toBeNull()
  })

  it('D-23 a poll that was under way when the shopper came back is repeated, for a full answer', async () => {
    const slow = delayedReply()
    const { flow, callsTo, pass } = start({
      ...answers,
      '/api/payment': (_call, times) => (times === 3 ? slow.reply : etagged(pending(), '"1"')),
    })
    await pass(1000)
    flow.returned()
    slow.answer(etagged(pending(), '"2"'))
    await pass(0)
    expect(callsTo('/api/payment')).toHaveLength(4)
    expect(callsTo('/api/payment')[3]?.headers.get('if-none-match')).toBeNull()
  })

  it('D-23 a poll that has hung since before the page slept is aborted', async () => {
    const { flow, callsTo, pass, effects } = start({
      ...answers,
      '/api/payment': (call, times) => (times === 3 ? hangs(call) : json(pending())),
    })
    await pass(1000)
    expect(callsTo('/api/payment')).toHaveLength(3)
    flow.returned()
    await pass(0)
    expect(callsTo('/api/payment')).toMatchObject([{}, {}, { signal: { aborted: true } }, {}])
    expect(effects).toEqual([STORE_OFFER])
  })

  it('D-23 after a gap of more than 2 s between polls, the next one asks for a full answer', async () => {
    const slow = delayedReply()
    const { callsTo, pass } = start({
      ...answers,
      '/api/payment': (_call, times) => (times === 3 ? slow.reply : etagged(pending(), '"1"')),
    })
    await pass(1000)
    expect(callsTo('/api/payment')[2]?.headers.get('if-none-match')).toBe('"1"')
    await pass(2001)
    slow.answer(etagged(pending(), '"1"'))
    await pass(0)
    expect(callsTo('/api/payment')[3]?.headers.get('if-none-match')).toBeNull()
  })

  it('a stopped flow aborts its calls and makes no new ones', async () => {
    const { flow, callsTo, pass } = start({ ...answers, '/api/payment': () => json(pending()) })
    await pass(1000)
    const calls = callsTo('/api/payment')
    flow.stop()
    expect(calls.at(-1)?.signal.aborted).toBe(true)
    await pass(10_000)
    expect(callsTo('/api/payment')).toHaveLength(calls.length)
  })
})

it('listeners are called for changes only', async () => {
  const { flow, pass } = start({ ...answers, '/api/payment': () => json(withoutUser()) })
  const listener = vi.fn()
  const unsubscribe = flow.subscribe(listener)
  await pass(0)
  expect(listener).toHaveBeenCalledTimes(1)
  flow.dispatch({ kind: 'typingEnded' })
  expect(listener).toHaveBeenCalledTimes(1)
  unsubscribe()
  flow.dispatch({ kind: 'linkTyped', text: 'x' })
  expect(listener).toHaveBeenCalledTimes(1)
})

describe('D-25 an offer that takes long to create', () => {
  const noAnswer = { '/api/trade': () => problem(500, 'internal') }
  it('may be left after 30 s and not before, even if calls are repeated meanwhile', async () => {
    const { flow, pass } = await payItems(noAnswer)
    await pass(29_999)
    flow.dispatch({ kind: 'confirmationLeft' })
    expect(flow.state().modal).toMatchObject({ kind: 'creating', isSlow: false })
    await pass(1)
    expect(flow.state().modal).toMatchObject({ kind: 'creating', isSlow: true })
    flow.dispatch({ kind: 'confirmationLeft' })
    expect(flow.state().modal.kind).toBe('none')
  })

  it('is checked every 5 s after the shopper left, and shown when it is open', async () => {
    let view = payment()
    const { flow, callsTo, pass } = await payItems({ ...noAnswer, '/api/payment': () => json(view) })
    await pass(30_000)
    const [tradeCalls, paymentCalls] = [callsTo('/api/trade').length, callsTo('/api/payment').length]
    flow.dispatch({ kind: 'confirmationLeft' })
    view = payment({ creating: true, itemCount: 2, amount: 400 })
    await pass(5000)
    expect(callsTo('/api/trade')).toHaveLength(tradeCalls)
    expect(callsTo('/api/payment')).toHaveLength(paymentCalls + 2)
    expect(flow.state().modal.kind).toBe('none')
    view = pending()
    await pass(5000)
    expect(flow.state().modal.kind).toBe('confirming')
  })

  it('is shown after a press on Add funds, without another trade call', async () => {
    let view = payment()
    const { flow, callsTo, pass } = await payItems({ ...noAnswer, '/api/payment': () => json(view) })
    await pass(30_000)
    view = payment({ creating: true, itemCount: 2, amount: 400 })
    flow.dispatch({ kind: 'confirmationLeft' })
    await pass(0)
    const tradeCalls = callsTo('/api/trade').length
    flow.dispatch({ kind: 'payPressed' })
    expect(flow.state().modal).toEqual({ kind: 'joining', isSlow: false })
    await pass(3000)
    expect(callsTo('/api/trade')).toHaveLength(tradeCalls)
  })

  it('may be left 30 s after a reload, and not before', async () => {
    const beingCreated = payment({ creating: true, itemCount: 2, amount: 400 })
    const { flow, pass } = start({ ...answers, '/api/payment': () => json(beingCreated) })
    await pass(29_999)
    expect(flow.state().modal).toEqual({ kind: 'joining', isSlow: false })
    await pass(1)
    expect(flow.state().modal).toEqual({ kind: 'joining', isSlow: true })
    flow.dispatch({ kind: 'confirmationLeft' })
    await pass(1000)
    expect(flow.state().modal.kind).toBe('none')
  })
})
