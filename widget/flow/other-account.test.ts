/** Another page of the same deposit, such as a second tab, has entered another account. */
import { expect, it } from 'vitest'
import { activitiesOf } from './activities.ts'
import type { FlowEvent } from './events.ts'
import { answers, type Call, delayedReply, etagged, json, problem, start, withoutUser } from './test-flow.ts'
import {
  creating,
  loaded,
  OTHER_LINK,
  payment,
  play,
  shownActivities,
  standOf,
  toggle,
  USER,
  withItems,
} from './test-states.ts'

const OTHER_USER = {
  ...USER,
  name: 'Bob',
  tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=654321',
}

it('D-27 after a change of account elsewhere, the page shows the new account’s items, and clears the picks', () => {
  const picked = play(withItems(), toggle('1'), { kind: 'gameChosen', game: 'dota' }).state
  const { state } = play(picked, loaded({ user: OTHER_USER }))
  expect(standOf(state)).toMatchObject({ user: OTHER_USER, game: 'dota', selection: [], elsewhere: {} })
  expect(state.page).toMatchObject({ link: { status: 'resolved', text: OTHER_USER.tradeUrl } })
  expect(shownActivities(state)).toMatchObject([{ kind: 'loadInventory', game: 'dota' }])
})

it('A-070 the page asks for a link that the shopper has cleared, even after a change of account elsewhere', () => {
  const cleared = play(withItems(), { kind: 'linkTyped', text: '' }).state
  expect(play(cleared, loaded({ user: OTHER_USER })).state.page.stage).toBe('wait-for-trade-url-input')
})

it('an answer without a change keeps the items and the picks', () => {
  const picked = play(withItems(), toggle('1')).state
  expect(standOf(play(picked, loaded({ user: { ...USER } })).state)).toBe(standOf(picked))
})

it('if the items are refused, the page checks the deposit, because they may be an earlier account’s', () => {
  const refusal = { code: 'items_unavailable', detail: null }
  const { state } = play(creating(), { kind: 'tradeRefused', attempt: 1, refusal })
  expect(activitiesOf(state)).toMatchObject([{ kind: 'loadInventory' }, { kind: 'check', delayMs: 0 }])
})

it('a check that began before this page entered an account does not bring back the earlier account', async () => {
  const earlierReply = delayedReply()
  let user = USER
  const { flow, pass } = start({
    ...answers,
    '/api/payment': (_call, times) => (times === 2 ? earlierReply.reply : json(payment({ user }))),
    '/api/trade-url': () => {
      user = OTHER_USER
      return json(user)
    },
  })
  await pass(0)
  flow.dispatch({ kind: 'linkTyped', text: OTHER_LINK })
  flow.returned()
  await pass(700)
  expect(standOf(flow.state()).user).toEqual(OTHER_USER)
  earlierReply.answer(json(payment()))
  await pass(0)
  expect(standOf(flow.state()).user).toEqual(OTHER_USER)
})

it('a link that was refused during an offer of another page is checked again once that offer has failed', async () => {
  let creating = true
  const { flow, pass } = start({
    ...answers,
    '/api/payment': (_call, times) =>
      json(payment({ user: times === 1 ? null : USER, creating: times > 1 && creating })),
    '/api/trade-url': () => (creating ? problem(409, 'trade_in_progress') : json(OTHER_USER)),
  })
  await pass(0)
  flow.dispatch({ kind: 'linkTyped', text: OTHER_LINK })
  await pass(700)
  expect(flow.state()).toMatchObject({ modal: { kind: 'joining' }, page: { link: { status: 'failed' } } })
  creating = false
  await pass(1000)
  expect(flow.state().modal.kind).toBe('creationError')
  expect(standOf(flow.state()).user).toEqual(OTHER_USER)
})

it('a link that was refused during an offer is checked again even if the deposit is as before, because the offer has failed', async () => {
  const unchanged = ({ headers }: Call) =>
    headers.get('if-none-match') === '"1"'
      ? new Response(null, { status: 304 })
      : etagged(withoutUser(), '"1"')
  const { flow, pass } = start({
    ...answers,
    '/api/payment': unchanged,
    '/api/trade-url': (_call, times) => (times === 1 ? problem(409, 'trade_in_progress') : json(OTHER_USER)),
  })
  await pass(0)
  flow.dispatch({ kind: 'linkTyped', text: OTHER_LINK })
  await pass(700)
  expect(standOf(flow.state()).user).toEqual(OTHER_USER)
})

it.each<FlowEvent>([
  { kind: 'reloadPressed' },
  { kind: 'gameChosen', game: 'dota' },
  { kind: 'languageChosen', language: 'ru' },
])(
  'with new items ($kind), the page checks whose they are, because another device may have changed the account',
  async (event) => {
    let user = USER
    const { flow, pass } = start({ ...answers, '/api/payment': () => json(payment({ user })) })
    await pass(0)
    user = OTHER_USER
    flow.dispatch(event)
    await pass(0)
    expect(standOf(flow.state()).user).toEqual(OTHER_USER)
  },
)
