import { describe, expect, it } from 'vitest'
import {
  answers,
  type Call,
  etagged,
  hangs,
  json,
  payItems,
  problem,
  start,
  withoutUser,
} from './test-flow.ts'
import { inventory, item, LINK, loaded, opening, payment, play, USER } from './test-states.ts'

describe('after maintenance, when the page asks for the deposit again', () => {
  it('A-022 the notice disappears, even if the deposit did not change', async () => {
    const unchanged = ({ headers }: Call) =>
      headers.get('if-none-match') === '"1"' ? new Response(null, { status: 304 }) : etagged(payment(), '"1"')
    const { flow, pass } = await payItems({
      '/api/payment': unchanged,
      '/api/trade': () => problem(503, 'technical_works'),
    })
    expect(flow.state().payment?.technicalWorks).toBe(true)
    await pass(5000)
    expect(flow.state().payment?.technicalWorks).toBe(false)
  })
})

describe('coming back while an answer is missing', () => {
  const hangsFirst = (answer: () => Response) => (call: Call, times: number) =>
    times === 1 ? hangs(call) : answer()

  it('asks for the deposit again', async () => {
    const { flow, callsTo, pass } = start({ ...answers, '/api/payment': hangsFirst(() => json(payment())) })
    await pass(5000)
    flow.returned()
    await pass(0)
    expect(callsTo('/api/payment')).toHaveLength(2)
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('asks for the inventory again, so the spinner disappears', async () => {
    const { flow, callsTo, pass } = start({
      ...answers,
      '/api/inventory': hangsFirst(() => json(inventory([item('1')]))),
    })
    await pass(5000)
    flow.returned()
    await pass(0)
    expect(callsTo('/api/inventory')[0]?.signal.aborted).toBe(true)
    expect(flow.state().page).toMatchObject({ stand: { inventory: { status: 'ready' } } })
  })

  it('asks for the user again', async () => {
    const { flow, pass } = start({
      ...answers,
      '/api/payment': () => json(withoutUser()),
      '/api/trade-url': hangsFirst(() => json(USER)),
    })
    await pass(0)
    flow.dispatch({ kind: 'linkTyped', text: LINK })
    await pass(5000)
    flow.returned()
    await pass(0)
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('D-25 repeats the trade call, and the page shows the answer', async () => {
    const { flow, callsTo, pass } = await payItems({
      '/api/trade': hangsFirst(() => json({ state: 'active' })),
    })
    await pass(5000)
    flow.returned()
    await pass(0)
    const bodies = callsTo('/api/trade').map(({ body }) => body)
    expect(bodies).toHaveLength(2)
    expect(bodies[1]).toEqual(bodies[0])
    expect(flow.state().modal.kind).toBe('confirming')
  })

  it('D-25 repeats the trade call immediately, before the next repetition is due', async () => {
    const { flow, callsTo, pass } = await payItems({
      '/api/trade': (_call, times) => (times === 1 ? problem(500, 'internal') : json({ state: 'active' })),
    })
    await pass(100)
    flow.returned()
    await pass(0)
    expect(callsTo('/api/trade')).toHaveLength(2)
  })

  it('does not restart the 30 s after which an offer counts as slow', async () => {
    const { flow, pass } = await payItems({ '/api/trade': hangs })
    await pass(29_000)
    flow.returned()
    await pass(999)
    expect(flow.state().modal).toMatchObject({ kind: 'creating', isSlow: false })
    await pass(1)
    expect(flow.state().modal).toMatchObject({ kind: 'creating', isSlow: true })
  })

  it('does not repeat a call that has just begun', async () => {
    const { flow, callsTo, pass } = start({ ...answers, '/api/inventory': hangs })
    await pass(999)
    flow.returned()
    await pass(0)
    expect(callsTo('/api/inventory')).toHaveLength(1)
  })
})

it.each(['en', 'ru'] as const)(
  'D-10 the language %s, chosen before a reload, is still chosen after it',
  (chosenLanguage) => {
    const language = chosenLanguage === 'en' ? 'ru' : 'en'
    const { state } = play(opening({ chosenLanguage, language }), loaded({ language }))
    expect(state).toMatchObject({ language: chosenLanguage, isLanguageChosen: true })
  },
)
