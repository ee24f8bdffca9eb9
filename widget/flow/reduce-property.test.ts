/** Random sequences of events never bring the page into a contradictory state. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GAMES } from '../../contract/games.ts'
import { LANGUAGES } from '../../contract/languages.ts'
import { DEPOSIT_STATUSES, INVENTORY_ERROR_TYPES, isFinal } from '../../contract/statuses.ts'
import type { Payment } from '../../contract/widget-api.ts'
import { activitiesOf } from './activities.ts'
import type { FlowEvent } from './events.ts'
import { reduce } from './reduce.ts'
import { payBlock, selectedItems, selectedTotal, shownInventory } from './selectors.ts'
import { type FlowState, SORTS } from './state.ts'
import { inventory, item, LINK, OTHER_LINK, opening, payment, USER } from './test-states.ts'

const IDS = ['1', '2', '3', '4', '5']
const REDIRECT = 'https://store.example/thanks'

const payments: fc.Arbitrary<Payment> = fc
  .record({
    status: fc.constantFrom('created', 'created', 'pending', ...DEPOSIT_STATUSES),
    user: fc.constantFrom(USER, USER, null),
    creating: fc.boolean(),
    timeLeft: fc.constantFrom(300, null),
    language: fc.constantFrom(...LANGUAGES, null),
    maxAmount: fc.constantFrom(null, null, 500),
    redirect: fc.boolean(),
  })
  .map(({ redirect, creating, ...change }) =>
    payment({
      ...change,
      creating: creating && change.status === 'created',
      ...(redirect && change.status === 'succeeded' ? { redirectUrl: REDIRECT } : {}),
    }),
  )

const inventories = fc
  .record({
    ids: fc.subarray(IDS),
    maxItems: fc.constantFrom(2, 50),
    error: fc.constantFrom(null, null, null, ...INVENTORY_ERROR_TYPES),
  })
  .map(({ ids, maxItems, error }) =>
    inventory(
      ids.map((id) => item(id, 200)),
      { maxItems, inventoryError: error !== null, inventoryErrorType: error },
    ),
  )

const refusals = fc
  .constantFrom('trade_refused', 'price_changed', 'items_unavailable', 'too_many_items', null)
  .map((code) => ({ code, detail: code }))

/** 0 is the current request or attempt; higher numbers are older. */
const ages = fc.constantFrom(0, 0, 0, 1, 2)

const withoutToken = (link: string): string => link.replace(/&token=.*/, '')

/** The user that the server finds for the link. */
const userOfLink = ({ page }: FlowState) =>
  'link' in page ? { ...USER, tradeUrl: withoutToken(page.link.text) } : USER

type Move = (state: FlowState) => FlowEvent

const requestOf = (state: FlowState, age: number): number => state.nextRequest - 1 - age
const attemptOf = ({ modal }: FlowState, age: number): number =>
  (modal.kind === 'creating' ? modal.attempt : 1) - age

const independent = (events: fc.Arbitrary<FlowEvent>): fc.Arbitrary<Move> =>
  events.map((event) => () => event)

const moves: fc.Arbitrary<Move> = fc.oneof(
  {
    arbitrary: payments.map(
      (answer): Move =>
        () => ({ kind: 'paymentLoaded', payment: answer, atMs: 0 }),
    ),
    weight: 6,
  },
  {
    arbitrary: fc.tuple(inventories, ages).map(
      ([arrived, age]): Move =>
        (state) => ({ kind: 'inventoryLoaded', request: requestOf(state, age), inventory: arrived }),
    ),
    weight: 6,
  },
  { arbitrary: independent(fc.constantFrom(...IDS).map((id) => ({ kind: 'itemToggled', id }))), weight: 8 },
  { arbitrary: fc.constant<Move>(() => ({ kind: 'payPressed' })), weight: 4 },
  independent(fc.subarray([...IDS, 'gone']).map((ids) => ({ kind: 'itemsAdded', ids }))),
  independent(fc.constantFrom(LINK, OTHER_LINK, 'nonsense', '').map((text) => ({ kind: 'linkTyped', text }))),
  independent(fc.constantFrom(...GAMES).map((game) => ({ kind: 'gameChosen', game }))),
  independent(fc.constantFrom(...LANGUAGES).map((language) => ({ kind: 'languageChosen', language }))),
  independent(fc.constantFrom(...SORTS).map((sort) => ({ kind: 'sortChosen', sort }))),
  independent(fc.boolean().map((isOnline) => ({ kind: 'connectionChanged', isOnline }))),
  independent(refusals.map((refusal) => ({ kind: 'paymentFailed', refusal }))),
  independent(
    fc.constantFrom<FlowEvent[]>(
      { kind: 'paymentUnchanged' },
      { kind: 'retryPressed' },
      { kind: 'typingEnded' },
      { kind: 'storedLinkConfirmed' },
      { kind: 'reloadPressed' },
      { kind: 'selectionCleared' },
      { kind: 'clearUndone' },
      { kind: 'confirmationLeft' },
      { kind: 'confirmationReopened' },
      { kind: 'creationErrorClosed' },
      { kind: 'searchTyped', text: 'a' },
      { kind: 'amountAsked', amount: 400 },
      { kind: 'priceQuestioned', id: '1' },
      { kind: 'priceExplanationClosed' },
    ),
  ),
  ages.map(
    (age): Move =>
      (state) => ({ kind: 'userResolved', request: requestOf(state, age), user: userOfLink(state) }),
  ),
  fc.tuple(fc.subarray([...IDS, 'gone']), ages).map(
    ([ids, age]): Move =>
      (state) => ({
        kind: 'itemsProposed',
        request: requestOf(state, age),
        proposal: { kind: 'found', ids, total: 1 },
      }),
  ),
  ages.map(
    (age): Move =>
      (state) => ({ kind: 'inventoryFailed', request: requestOf(state, age) }),
  ),
  ages.map(
    (age): Move =>
      (state) => ({ kind: 'tradeActive', attempt: attemptOf(state, age) }),
  ),
  ages.map(
    (age): Move =>
      (state) => ({ kind: 'tradeUnknown', attempt: attemptOf(state, age) }),
  ),
  fc.tuple(refusals, ages).map(
    ([refusal, age]): Move =>
      (state) => ({ kind: 'tradeRefused', attempt: attemptOf(state, age), refusal }),
  ),
  fc.tuple(refusals, ages).map(
    ([refusal, age]): Move =>
      (state) => ({ kind: 'userFailed', request: requestOf(state, age), refusal }),
  ),
)

const journeys = fc.array(moves, { maxLength: 60, size: 'max' })

type Judge = (seen: { before: FlowState; event: FlowEvent; state: FlowState }) => void

/**
 * Judges every step of many random journeys. With a `seed`, they are the same in each run. About half of them begin
 * with a known user and items.
 */
function always(judge: Judge, options: { seed?: number } = {}): void {
  const start: Move[] = [
    () => ({ kind: 'paymentLoaded', payment: payment(), atMs: 0 }),
    (state) => ({
      kind: 'inventoryLoaded',
      request: requestOf(state, 0),
      inventory: inventory(IDS.map((id) => item(id, 200))),
    }),
  ]
  const property = fc.property(fc.boolean(), journeys, (startsAtStand, journey) => {
    let state = opening({ link: LINK })
    for (const move of startsAtStand ? [...start, ...journey] : journey) {
      const before = state
      const event = move(before)
      state = reduce(before, event).state
      judge({ before, event, state })
    }
  })
  fc.assert(property, { ...options, numRuns: 400 })
}

const kinds = (state: FlowState) => activitiesOf(state).map(({ kind }) => kind)

describe('after any sequence of events', () => {
  it('the page shows a deposit if it has one, and otherwise none', () => {
    always(({ state }) => {
      const isDepositShown = state.page.stage !== 'none' && state.page.stage !== 'failed'
      expect(isDepositShown).toBe(state.payment !== null)
      if (state.payment === null) expect(state.modal.kind).toBe('none')
    })
  })

  it('every modal fits the status of the deposit', () => {
    always(({ state: { modal, payment: deposit } }) => {
      switch (modal.kind) {
        case 'none':
          return
        case 'creating':
          expect(deposit?.status).toBe('created')
          return expect(modal.request.items.length).toBeGreaterThan(0)
        case 'joining':
          return expect(deposit).toMatchObject({ status: 'created', creating: true })
        case 'confirming':
          return expect(['created', 'pending']).toContain(deposit?.status)
        case 'completed':
          return expect(deposit?.status).toBe(modal.outcome)
        default:
          return expect(deposit && isFinal(deposit.status)).toBe(false)
      }
    })
  })

  it('an ended deposit shows its outcome, and stays ended', () => {
    always(({ before, state }) => {
      if (state.payment !== null && isFinal(state.payment.status)) expect(state.modal.kind).toBe('completed')
      if (before.modal.kind === 'completed') expect(state.modal.kind).toBe('completed')
    })
  })

  it('a poll runs exactly in the modals `joining` and `confirming`, and a creation exactly in `creating`', () => {
    always(({ state }) => {
      const isWaiting = state.modal.kind === 'joining' || state.modal.kind === 'confirming'
      expect(kinds(state).includes('poll')).toBe(isWaiting)
      expect(kinds(state).includes('createTrade')).toBe(state.modal.kind === 'creating')
    })
  })

  it('at most one activity of each kind runs', () => {
    always(({ state }) => {
      expect(new Set(kinds(state)).size).toBe(kinds(state).length)
    })
  })

  it('only items on the page are picked, and each item at most once', () => {
    always(({ state: { page } }) => {
      if (page.stage !== 'wait-for-select-items') return
      const { stand } = page
      const shownIds = shownInventory(stand)?.items.map(({ id }) => id) ?? []
      expect(shownIds).toEqual(expect.arrayContaining([...stand.selection]))
      expect(new Set(stand.selection).size).toBe(stand.selection.length)
      expect(selectedItems(stand).map(({ id }) => id)).toEqual(stand.selection)
    })
  })

  it('a stored link is not sent before the shopper agrees', () => {
    always(({ before, event, state }) => {
      const wasStored = 'link' in before.page && before.page.link.status === 'stored'
      const isAsking = 'link' in state.page && state.page.link.status === 'checking'
      if (wasStored && isAsking) expect(event.kind).toBe('storedLinkConfirmed')
      if (before.page.stage === 'none') expect(isAsking).toBe(false)
    })
  })

  it('the link agrees with the stage: a resolved link belongs to the user of the stand', () => {
    always(({ state: { page } }) => {
      if (page.stage === 'wait-for-trade-url-input') expect(page.link.status).not.toBe('resolved')
      if (page.stage !== 'wait-for-select-items') return
      expect(page.link.status).toBe('resolved')
      expect(withoutToken(page.link.text)).toBe(page.stand.user.tradeUrl)
    })
  })

  it('a trade starts with the picked items, and only if nothing blocks the payment', () => {
    always(({ before, event, state }) => {
      if (state.modal.kind !== 'creating' || before.modal.kind === 'creating') return
      expect(event.kind).toBe('payPressed')
      if (before.page.stage !== 'wait-for-select-items' || before.payment === null)
        throw new Error('no stand')
      const { stand } = before.page
      expect(payBlock(stand, before.payment)).toBeNull()
      expect(state.modal.request.items).toEqual(stand.selection)
      expect(selectedTotal(stand)).toBeGreaterThanOrEqual(inventory([]).minPrice)
    })
  })

  it('a late answer to an old request changes nothing', () => {
    always(({ before, event, state }) => {
      if (!('request' in event) || event.request === before.nextRequest - 1) return
      const isAwaited = activitiesOf(before).some(
        (activity) => 'request' in activity && activity.request === event.request,
      )
      if (!isAwaited) expect(state).toBe(before)
    })
  })

  it('picks are lost only through a press, a proposal, another game or user, an error, or a lack of the items', () => {
    const selectionOf = ({ page }: FlowState): readonly string[] =>
      page.stage === 'wait-for-select-items' ? page.stand.selection : []
    always(({ before, event, state }) => {
      const lost = selectionOf(before).filter((id) => !selectionOf(state).includes(id))
      if (lost.length === 0) return
      if (event.kind === 'itemToggled') expect(lost).toEqual([event.id])
      else if (event.kind === 'inventoryLoaded' && !event.inventory.inventoryError) {
        const ids = event.inventory.items.map(({ id }) => id)
        expect(lost.filter((id) => ids.includes(id))).toEqual([])
      } else if (event.kind === 'itemsProposed') {
        // The proposed items answer the current search, which a later pick would have ended.
        const search = { kind: 'proposeItems', request: event.request }
        expect(activitiesOf(before)).toContainEqual(expect.objectContaining(search))
      } else {
        const losingEvents = [
          'gameChosen',
          'linkTyped',
          'selectionCleared',
          'inventoryLoaded',
          'inventoryFailed',
        ]
        expect(losingEvents).toContain(event.kind)
      }
    })
  })

  it('a language that the shopper chose stays', () => {
    always(({ before, event, state }) => {
      if (event.kind === 'languageChosen') expect(state.language).toBe(event.language)
      else if (before.isLanguageChosen) expect(state.language).toBe(before.language)
    })
  })
})

it('the journeys reach every modal and every stage', () => {
  const seen = new Set<string>()
  always(
    ({ state }) => {
      seen.add(state.modal.kind).add(state.page.stage)
    },
    { seed: 1 },
  )
  expect([...seen].sort()).toEqual(
    [
      ...['none', 'creating', 'joining', 'confirming', 'completed', 'creationError'],
      ...['failed', 'wait-for-trade-url-input', 'wait-for-select-items'],
    ].sort(),
  )
})
