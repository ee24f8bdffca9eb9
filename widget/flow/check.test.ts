/** When the page checks a deposit that it does not poll. */
import { describe, expect, it } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import { activitiesOf } from './activities.ts'
import { openOnPayment } from './first-steps.ts'
import type { FlowState } from './state.ts'
import { answers, json, pending, start } from './test-flow.ts'
import {
  awaitingLink,
  confirming,
  creating,
  inventory,
  inventoryRequest,
  LINK,
  loaded,
  openedOn,
  opening,
  payment,
  play,
  shownActivities,
  standOf,
  withInventory,
  withItems,
} from './test-states.ts'

const check = (state: FlowState) => activitiesOf(state).find(({ kind }) => kind === 'check')
const RETURNED = { kind: 'returned' } as const

describe('the deposit', () => {
  it('is checked at its deadline, then every 5 s until the server has ended it', () => {
    const state = play(opening(), loaded({ timeLeft: 60 }, 1000)).state
    expect(check(state)).toMatchObject({ delayMs: 5000, notBeforeMs: 61_000 })
    const over = play(state, loaded({ timeLeft: 0 }, 61_000)).state
    expect(check(over)).toMatchObject({ delayMs: 5000, notBeforeMs: 61_000 })
    expect(check(over)?.key).not.toBe(check(state)?.key)
    expect(check(play(over, loaded({ status: 'paymentTimeout', timeLeft: null })).state)).toBeUndefined()
  })

  it('is checked every 5 s during technical works, and afterwards not before its deadline', () => {
    const state = play(awaitingLink(), loaded({ user: null, technicalWorks: true, timeLeft: null })).state
    expect(check(state)).toMatchObject({ delayMs: 5000, notBeforeMs: 0 })
    const unchanged = play(state, { kind: 'paymentUnchanged' }).state
    expect(check(unchanged)?.key).not.toBe(check(state)?.key)
    const failed = play(state, { kind: 'paymentFailed', refusal: { code: null, detail: null } }).state
    expect(check(failed)?.key).not.toBe(check(state)?.key)
    const over = play(state, loaded({ user: null, timeLeft: 7200 })).state
    expect(check(over)).toMatchObject({ notBeforeMs: 7_200_000 })
  })

  it('A-061 is checked every 5 s while an offer is open whose dialog was closed', () => {
    const left = play(confirming(), { kind: 'confirmationLeft' }).state
    expect(check(left)).toMatchObject({ delayMs: 5000, notBeforeMs: 0 })
    const unchanged = play(left, { kind: 'paymentUnchanged' }).state
    expect(check(unchanged)?.key).not.toBe(check(left)?.key)
    const accepted = play(left, loaded({ status: 'pending', timeLeft: null })).state
    expect(check(accepted)).toMatchObject({ delayMs: 5000, notBeforeMs: 0 })
    const over = play(accepted, loaded({ status: 'succeeded', timeLeft: null, storeTold: true })).state
    expect(over.modal).toMatchObject({ kind: 'completed', outcome: 'succeeded' })
    expect(check(over)).toBeUndefined()
  })

  it('is checked within 5 s after the dialog of its offer was closed, so the outcome is shown although no poll runs', async () => {
    let view = pending()
    const { flow, callsTo, pass } = start({ ...answers, '/api/payment': () => json(view) })
    await pass(0)
    flow.dispatch({ kind: 'confirmationLeft' })
    const before = callsTo('/api/payment').length
    view = payment({ status: 'succeeded', timeLeft: null })
    await pass(5000)
    expect(flow.state().modal).toMatchObject({ kind: 'completed', outcome: 'succeeded' })
    expect(callsTo('/api/payment')).toHaveLength(before + 1)
  })

  it('is checked once, immediately, when the shopper comes back', () => {
    const state = play(withItems(), RETURNED).state
    expect(check(state)).toMatchObject({ delayMs: 0, notBeforeMs: 0 })
    expect(check(play(state, loaded()).state)).toMatchObject({ delayMs: 5000 })
  })

  it('is checked every 5 s while the checks fail, and not after a successful check', () => {
    const lost = { kind: 'paymentFailed', refusal: { code: null, detail: null } } as const
    const failed = play(opening(), loaded({ timeLeft: null }), lost).state
    expect(check(failed)).toMatchObject({ delayMs: 5000, notBeforeMs: 0 })
    expect(check(play(failed, lost).state)?.key).not.toBe(check(failed)?.key)
    expect(check(play(failed, { kind: 'paymentUnchanged' }).state)).toBeUndefined()
  })

  const withRefusedLink = (code: string) => {
    const typed = play(awaitingLink(), { kind: 'linkTyped', text: LINK }, { kind: 'typingEnded' }).state
    return play(typed, { kind: 'userFailed', request: 1, refusal: { code, detail: null } }).state
  }

  it.each(['trade_in_progress', 'deposit_closed'])(
    'is checked immediately when a link is refused with %s',
    (code) => {
      expect(check(withRefusedLink(code))).toMatchObject({ delayMs: 0, notBeforeMs: 0 })
    },
  )

  it('is checked immediately when the inventory is refused with deposit_closed, but not again immediately if the deposit is unchanged', () => {
    const { state } = play(openedOn('created'), {
      kind: 'inventoryFailed',
      request: 1,
      code: 'deposit_closed',
    })
    expect(check(state)).toMatchObject({ delayMs: 0, notBeforeMs: 0 })
    const { modal } = play(state, loaded({ status: 'paymentTimeout', timeLeft: null })).state
    expect(modal).toMatchObject({ kind: 'completed', outcome: 'paymentTimeout' })
    expect(check(play(state, { kind: 'paymentUnchanged' }).state)).not.toMatchObject({ delayMs: 0 })
  })

  it('is not checked before its deadline when a link is refused with user_not_found', () => {
    const { deadlineMs } = awaitingLink()
    expect(check(withRefusedLink('user_not_found'))).toMatchObject({ delayMs: 5000, notBeforeMs: deadlineMs })
  })

  it.each(['deposit_closed', 'trade_in_progress'])(
    'is checked immediately when a trade is refused with %s',
    (code) => {
      const refusal = { code, detail: null }
      const { state } = play(creating(), { kind: 'tradeRefused', attempt: 1, refusal })
      expect(check(state)).toMatchObject({ delayMs: 0, notBeforeMs: 0 })
      const { modal } = play(state, loaded({ status: 'succeeded', timeLeft: null })).state
      expect(modal).toMatchObject({ kind: 'completed', outcome: 'succeeded' })
    },
  )

  it('is not checked in addition to the polls, or while an offer is being created', () => {
    for (const state of [confirming(), creating()]) {
      expect(check(play(state, RETURNED).state)).toBeUndefined()
    }
  })
})

describe('a page that could not be opened', () => {
  const refused = (code: string | null, retryAfterS?: number) => {
    const refusal = { code, detail: code, ...(retryAfterS !== undefined && { retryAfterS }) }
    return play(opening(), { kind: 'paymentFailed', refusal })
  }

  it.each([null, 'internal', 'overloaded', 'database_unavailable', 'too_many_requests'])(
    'is tried again automatically after the code %s, and shows one toast',
    (code) => {
      const { state, effects } = refused(code)
      expect(effects.map(({ kind }) => kind)).toEqual(['toast'])
      expect(check(state)).toMatchObject({ delayMs: 5000 })
      const second = play(state, { kind: 'paymentFailed', refusal: { code, detail: null } })
      expect(second.effects).toEqual([])
      expect(check(second.state)?.key).not.toBe(check(state)?.key)
      const open = play(second.state, loaded()).state
      expect(open.page.stage).toBe('wait-for-select-items')
    },
  )

  it('waits as long as the server demands', () => {
    expect(check(refused('too_many_requests', 20).state)).toMatchObject({ delayMs: 20_000 })
  })

  it('is not tried again if the deposit does not exist', () => {
    expect(check(refused('deposit_not_found').state)).toBeUndefined()
  })
})

describe('an ended deposit', () => {
  const timedOut = play(confirming(), loaded({ status: 'tradeTimeout', timeLeft: null })).state

  it('D-6 is checked once when the shopper comes back, and shows a late success', () => {
    expect(check(timedOut)).toBeUndefined()
    const returned = play(timedOut, RETURNED).state
    expect(check(returned)).toMatchObject({ delayMs: 0, notBeforeMs: 0 })
    expect(check(play(returned, { kind: 'paymentUnchanged' }).state)).toBeUndefined()
    const late = play(returned, loaded({ status: 'succeeded', amount: 400, timeLeft: null })).state
    expect(late.modal).toEqual({ kind: 'completed', outcome: 'succeeded', hasAlarm: false })
  })

  it('that succeeded is checked once when the shopper comes back, and shows that the items were taken back', () => {
    const succeeded = play(confirming(), loaded({ status: 'succeeded', amount: 400, timeLeft: null })).state
    expect(check(succeeded)).toBeUndefined()
    const returned = play(succeeded, RETURNED).state
    expect(check(returned)).toMatchObject({ delayMs: 0, notBeforeMs: 0 })
    const takenBack = loaded({ status: 'succeeded', amount: 0, takenBack: 'all', timeLeft: null })
    const { state, effects } = play(returned, takenBack)
    expect(state.payment?.takenBack).toBe('all')
    expect(effects).toEqual([])
    expect(check(state)).toBeUndefined()
  })

  it('ignores a failed check', () => {
    const back = play(timedOut, RETURNED).state
    const failed = play(back, { kind: 'paymentFailed', refusal: { code: null, detail: null } })
    expect(failed.effects).toEqual([])
    expect(check(failed.state)).toBeUndefined()
  })
})

describe('coming back', () => {
  it('to a page that failed temporarily loads it again, but not if the deposit does not exist', () => {
    const stageAfterReturn = (code: string | null) =>
      play(opening(), { kind: 'paymentFailed', refusal: { code, detail: null } }, RETURNED).state.page.stage
    expect(stageAfterReturn(null)).toBe('none')
    expect(stageAfterReturn('internal')).toBe('none')
    expect(stageAfterReturn('deposit_not_found')).toBe('failed')
  })

  it('online asks again for an inventory that could not be loaded, but not for a hidden inventory', () => {
    const reconnection = [
      { kind: 'connectionChanged', isOnline: false },
      { kind: 'connectionChanged', isOnline: true },
    ] as const
    const loading = play(opening(), loaded()).state
    const failed = play(loading, { kind: 'inventoryFailed', request: inventoryRequest(loading) }).state
    expect(standOf(play(failed, ...reconnection).state).inventory.status).toBe('loading')
    const hidden = inventory([], { inventoryError: true, inventoryErrorType: 'hidden' })
    const refused = play(loading, {
      kind: 'inventoryLoaded',
      request: inventoryRequest(loading),
      inventory: hidden,
    }).state
    expect(standOf(play(refused, ...reconnection).state).inventory.status).toBe('error')
  })
})

it('a trade refused for technical works shows their notice', () => {
  const refusal = { code: 'technical_works', detail: null }
  const { state } = play(creating(), { kind: 'tradeRefused', attempt: 1, refusal })
  expect(state.modal).toEqual({ kind: 'creationError', refusal })
  expect(state.payment?.technicalWorks).toBe(true)
  expect(state.deadlineMs).toBeNull()
})

it('an inventory refused for technical works that the page does not know of leads to one check', () => {
  const refused = inventory([], { inventoryError: true, inventoryErrorType: 'engineeringWorks' })
  const state = withInventory(openedOn('created'), refused)
  expect(check(state)).toMatchObject({ delayMs: 0 })
  const known = play(state, loaded({ technicalWorks: true })).state
  expect(check(known)).toMatchObject({ delayMs: 5000 })
  // Only the inventories may be down, and then the payment does not change: the page must not ask in a loop.
  expect(check(play(state, { kind: 'paymentUnchanged' }).state)).not.toMatchObject({ delayMs: 0 })
})

it('D-26 if the store sent the trade link, the page checks until the shopper’s account is known', () => {
  const { state } = play(opening(), loaded({ user: null, userPending: true }))
  expect(activitiesOf(state)).toMatchObject([{ kind: 'check', delayMs: 2000, notBeforeMs: 0 }])
  const checkedAgain = play(state, { kind: 'paymentUnchanged' }).state
  expect(activitiesOf(checkedAgain)[0]?.key).not.toBe(activitiesOf(state)[0]?.key)
  expect(shownActivities(play(checkedAgain, loaded()).state).map(({ kind }) => kind)).toEqual([
    'loadInventory',
  ])
})

describe('the payment that is sent with the page', () => {
  const readAtMs = 400
  const openWith = (change: Partial<Payment> = {}) =>
    play(openOnPayment(opening(), payment(change), readAtMs), { kind: 'opened' })

  it('opens the page, has its time counted from when it was read, and is refreshed immediately', () => {
    const { state } = openWith({ timeLeft: 60 })
    expect(state).toMatchObject({ page: { stage: 'wait-for-select-items' }, deadlineMs: readAtMs + 60_000 })
    expect(check(state)).toMatchObject({ delayMs: 0, notBeforeMs: 0 })
    expect(activitiesOf(state).map(({ kind }) => kind)).toEqual(['loadInventory', 'check'])
    const refreshed = play(state, loaded({ timeLeft: 60 }, 1000)).state
    expect(check(refreshed)).toMatchObject({ notBeforeMs: 61_000 })
  })

  it.each(['succeeded', 'paymentTimeout', 'tradeDeclined'] as const)(
    'is refreshed only once if it has the final status %s, even if that fails',
    (status) => {
      const { state } = openWith({ status, timeLeft: null, user: null })
      expect(state.modal).toEqual({ kind: 'completed', outcome: status, hasAlarm: false })
      expect(check(state)).toMatchObject({ delayMs: 0 })
      expect(check(play(state, loaded({ status, timeLeft: null, user: null })).state)).toBeUndefined()
      const lost = play(state, { kind: 'paymentFailed', refusal: { code: null, detail: null } }).state
      expect(check(lost)).toBeUndefined()
    },
  )

  it('is polled if an offer is open, and leads to the store after a success', () => {
    const pending = openWith({ status: 'pending', timeLeft: 200 }).state
    expect(activitiesOf(pending).map(({ kind }) => kind)).toEqual(['loadInventory', 'poll'])
    const { effects } = openWith({
      status: 'succeeded',
      timeLeft: null,
      redirectUrl: 'https://store.example/thanks',
    })
    expect(effects).toEqual([
      { kind: 'forgetOffer', hash: opening().hash },
      { kind: 'forgetPicks' },
      { kind: 'redirect', url: 'https://store.example/thanks', afterMs: 0 },
    ])
  })

  it('is requested if it is missing', () => {
    const { state } = play(opening(), { kind: 'opened' })
    expect(activitiesOf(state).map(({ kind }) => kind)).toEqual(['loadPayment'])
  })
})

it.each(['succeeded', 'tradeDeclined', 'paymentTimeout'] as const)(
  'the items of a deposit that ended as %s are not loaded, but those beside an open offer are',
  (status) => {
    const loadsItems = (change: Partial<Payment>) =>
      shownActivities(play(opening(), loaded(change)).state).some(({ kind }) => kind === 'loadInventory')
    expect(loadsItems({ status, timeLeft: null })).toBe(false)
    expect(loadsItems({ status: 'pending' })).toBe(true)
  },
)
