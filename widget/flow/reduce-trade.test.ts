import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import type { FlowEvent } from './events.ts'
import type { FlowState } from './state.ts'
import {
  confirming,
  creating,
  inventory,
  item,
  loaded,
  modalKind,
  openedOn,
  play,
  shownActivities,
  standOf,
  toggle,
  withInventory,
  withItems,
} from './test-states.ts'

const PAY: FlowEvent = { kind: 'payPressed' }
const LEAVE: FlowEvent = { kind: 'confirmationLeft' }
const REOPEN: FlowEvent = { kind: 'confirmationReopened' }

const isPolling = (state: FlowState): boolean => shownActivities(state).some(({ kind }) => kind === 'poll')
const creation = (state: FlowState) => shownActivities(state).find(({ kind }) => kind === 'createTrade')
const refused = (code: string | null, attempt = 1): FlowEvent => ({
  kind: 'tradeRefused',
  attempt,
  refusal: { code, detail: null },
})

describe('paying', () => {
  it('A-062 a press creates the trade of the picked items at their quote, and then the page polls', () => {
    const state = creating()
    const trade = { game: 'cs', items: ['1', '2'], quoteId: 'quote-1' }
    expect(creation(state)).toMatchObject({ attempt: 1, trade, delayMs: 0 })
    expect(isPolling(state)).toBe(false)
    const active = play(state, { kind: 'tradeActive', attempt: 1 }).state
    expect(modalKind(active)).toBe('confirming')
    expect(creation(active)).toBeUndefined()
    expect(isPolling(active)).toBe(true)
  })

  describe('before the code of the dialogs is loaded', () => {
    const dialogsChanged = (to: 'loading' | 'failed' | 'ready'): FlowEvent => ({ kind: 'dialogsChanged', to })
    const waiting: FlowState = {
      ...play(withItems(), toggle('1'), toggle('2')).state,
      dialogs: { kind: 'loading', isPayPressed: false },
    }

    it('waits until that code has loaded', () => {
      const pressed = play(waiting, PAY).state
      expect(creation(pressed)).toBeUndefined()
      expect(creation(play(pressed, dialogsChanged('ready')).state)).toMatchObject({ attempt: 1 })
    })

    it('ends with a failed load: only a press after the code has loaded sends a call', () => {
      const failed = play(waiting, PAY, dialogsChanged('failed')).state
      expect(failed.dialogs).toEqual({ kind: 'failed', isPayPressed: true })
      const ready = play(failed, PAY, dialogsChanged('ready')).state
      expect(creation(ready)).toBeUndefined()
      expect(creation(play(ready, PAY).state)).toMatchObject({ attempt: 1 })
    })

    it('is forgotten when the picks change in the meantime', () => {
      const changed = play(waiting, PAY, toggle('3'), dialogsChanged('ready')).state
      expect(creation(changed)).toBeUndefined()
      expect(changed.modal.kind).toBe('none')
    })
  })

  it('twice in a row creates one trade', () => {
    const state = creating()
    expect(play(state, PAY).state.modal).toBe(state.modal)
  })

  it.each([
    ['A-086 nothing picked', withItems()],
    ['A-085 a total below the minimum', play(withItems(), toggle('1')).state],
    [
      'an inventory that is loading',
      play(withItems(), toggle('1'), toggle('2'), { kind: 'reloadPressed' }).state,
    ],
    ['no user', openedOn('created', { user: null })],
    [
      'D-15 a total above what the deposit takes',
      play(withItems(), loaded({ maxAmount: 399 }), toggle('1'), toggle('2')).state,
    ],
    [
      'a deposit that is pending',
      play(withItems(), toggle('1'), toggle('2'), loaded({ status: 'pending' }), LEAVE).state,
    ],
  ])('does nothing with %s', (_what, state) => {
    const { state: after, effects } = play(state, PAY)
    expect(after.modal).toEqual(state.modal)
    expect(creation(after)).toBeUndefined()
    expect(effects).toEqual([])
  })

  it('A-085 paying is possible at exactly the minimum and at exactly the maximum', () => {
    const items = [item('1', 300)]
    const state = play(withItems(items), loaded({ maxAmount: 300 }), toggle('1'), PAY).state
    expect(modalKind(state)).toBe('creating')
  })
})

describe('creating', () => {
  it('D-25 the same call is repeated after a pause if its answer was lost, and the modal stays', () => {
    const state = play(creating(), { kind: 'tradeUnknown', attempt: 1 }).state
    expect(modalKind(state)).toBe('creating')
    expect(creation(state)).toMatchObject({ attempt: 2, delayMs: 2000 })
    expect(creation(state)).toMatchObject({ trade: { items: ['1', '2'], quoteId: 'quote-1' } })
    expect(creation(state)?.key).not.toBe(creation(creating())?.key)
  })

  it('D-25 the answer to the repeated call counts, and a late answer to the first call does not', () => {
    const state = play(creating(), { kind: 'tradeUnknown', attempt: 1 }).state
    expect(play(state, { kind: 'tradeActive', attempt: 1 }).state.modal).toBe(state.modal)
    expect(play(state, { kind: 'tradeUnknown', attempt: 1 }).state.modal).toBe(state.modal)
    expect(play(state, refused('trade_refused', 1)).state.modal).toBe(state.modal)
    expect(modalKind(play(state, { kind: 'tradeActive', attempt: 2 }).state)).toBe('confirming')
  })

  it('A-025 A-063 a refusal shows an error; after closing it, the shopper can try the same items again', () => {
    const state = play(creating(), refused('trade_refused')).state
    expect(state.modal).toEqual({
      kind: 'creationError',
      refusal: { code: 'trade_refused', detail: null },
    })
    expect(shownActivities(state)).toEqual([])
    const closed = play(state, { kind: 'creationErrorClosed' }).state
    expect(modalKind(closed)).toBe('none')
    expect(modalKind(play(closed, PAY).state)).toBe('creating')
  })

  it('an expired link is marked in its field behind the error, and the picks are kept', () => {
    const refusal = { code: 'trade_refused', detail: null, cause: 'link_expired' }
    const { state } = play(creating(), { kind: 'tradeRefused', attempt: 1, refusal })
    expect(modalKind(state)).toBe('creationError')
    expect(standOf(state).inventory).toEqual({ status: 'error', type: 'invalidPartner' })
    const again = play(state, { kind: 'creationErrorClosed' }, { kind: 'reloadPressed' }).state
    expect(standOf(withInventory(again, inventory([item('1'), item('2')]))).selection).toEqual(['1', '2'])
  })

  const STALE = ['price_changed', 'items_unavailable']

  it.each(Object.keys(ERRORS))(
    'D-13 only a refusal because of changed prices or items reloads the inventory: %s',
    (code) => {
      const state = play(creating(), refused(code)).state
      const loading = shownActivities(state).filter(({ kind }) => kind === 'loadInventory')
      expect(loading).toHaveLength(STALE.includes(code) ? 1 : 0)
      if (STALE.includes(code)) expect(loading).toMatchObject([{ isReload: true }])
      expect(standOf(state).selection).toEqual(['1', '2'])
    },
  )

  it('D-27 a reload of the inventory keeps the picks whose items are still in it', () => {
    const state = play(creating(), refused('items_unavailable')).state
    expect(standOf(withInventory(state, inventory([item('2'), item('3')]))).selection).toEqual(['2'])
  })

  it('the modal cannot be left before the creation counts as slow', () => {
    expect(modalKind(play(creating(), LEAVE).state)).toBe('creating')
  })

  it('D-25 the confirmation opens if the deposit reports the offer before the call is answered', () => {
    expect(modalKind(play(creating(), loaded({ status: 'pending' })).state)).toBe('confirming')
    expect(modalKind(play(creating(), loaded({ creating: true })).state)).toBe('creating')
  })
})

describe('a page opened while an offer is being created', () => {
  const joined = openedOn('created', { creating: true })

  it('D-25 shows the modal and polls', () => {
    expect(modalKind(joined)).toBe('joining')
    expect(isPolling(joined)).toBe(true)
    expect(creation(joined)).toBeUndefined()
  })

  it('D-25 opens the confirmation when the offer is open', () => {
    expect(modalKind(play(joined, loaded({ status: 'pending' })).state)).toBe('confirming')
  })

  it('D-25 shows an error if no offer was created', () => {
    const state = play(joined, loaded({ creating: true }), loaded({ creating: false })).state
    expect(state.modal).toEqual({ kind: 'creationError', refusal: { code: null, detail: null } })
    expect(isPolling(state)).toBe(false)
  })
})

describe('an offer being created whose dialog was closed', () => {
  const [missingItem, other] = [item('1', 300), item('2', 300)]
  const slow = play(creating(), { kind: 'patienceEnded' }, LEAVE, loaded({ creating: true })).state

  it('shows an error if it was not created, and is no longer checked every 5 s', () => {
    const state = play(slow, loaded({ creating: false })).state
    expect(state.modal).toEqual({ kind: 'creationError', refusal: { code: null, detail: null } })
    expect(state.hasLeftOffer).toBe(false)
  })

  it('gives back the picks that were missing meanwhile', () => {
    const reloaded = withInventory(play(slow, { kind: 'reloadPressed' }).state, inventory([other]))
    const failed = play(reloaded, loaded({ creating: false })).state
    expect(standOf(withInventory(failed, inventory([missingItem, other]))).selection).toEqual(['1', '2'])
  })

  it('shows no error before the till has begun to create it', () => {
    const state = play(creating(), { kind: 'patienceEnded' }, LEAVE, loaded({ creating: false })).state
    expect(modalKind(state)).toBe('none')
    expect(state.hasLeftOffer).toBe(true)
  })
})

describe('the confirmation', () => {
  it('A-051 opens for a pending deposit, and the page polls', () => {
    const state = openedOn('pending', { timeLeft: 300 })
    expect(modalKind(state)).toBe('confirming')
    expect(isPolling(state)).toBe(true)
  })

  it('A-061 stops the polls when the shopper leaves it, and resumes them when it is reopened', () => {
    const left = play(confirming(), LEAVE).state
    expect(modalKind(left)).toBe('none')
    expect(isPolling(left)).toBe(false)
    const back = play(left, REOPEN).state
    expect(modalKind(back)).toBe('confirming')
    expect(isPolling(back)).toBe(true)
  })

  it('is not ended by a poll from before the answer to the trade call', () => {
    const active = play(creating(), { kind: 'tradeActive', attempt: 1 }).state
    const state = play(active, loaded({ creating: false })).state
    expect(modalKind(state)).toBe('confirming')
    const late = play(state, loaded({ creating: true }), loaded({ status: 'pending' })).state
    expect(modalKind(late)).toBe('confirming')
    expect(isPolling(late)).toBe(true)
  })

  it('is not reopened by an answer that was under way when the shopper left', () => {
    const left = play(confirming(), LEAVE).state
    expect(modalKind(play(left, loaded({ status: 'pending' })).state)).toBe('none')
  })

  it('is not opened without an offer', () => {
    expect(modalKind(play(withItems(), REOPEN).state)).toBe('none')
    expect(modalKind(play(openedOn('succeeded'), REOPEN).state)).toBe('completed')
  })
})
