/**
 * The picks that this tab keeps for the next stand of the deposit: after a reload or Back, and with a renewed trade link
 * of the same account. Pure.
 */
import { isFinal } from '../../contract/statuses.ts'
import type { FlowEvent, Step } from './events.ts'
import { isPicking } from './selectors.ts'
import type { FlowState, OpenPicks } from './state.ts'

/** Keeps the picks of the page if they have changed. */
export function withOpenPicks({ state, effects }: Step, event: FlowEvent): Step {
  const picks = picksOf(state)
  if (picks === undefined || JSON.stringify(picks) === JSON.stringify(state.openPicks))
    return { state, effects }
  const kept: Step = {
    state: { ...state, openPicks: picks },
    effects: [...effects, { kind: 'storeOpenPicks', picks }],
  }
  return picks === null && putsBackOffered(state, event)
    ? { state: { ...kept.state, offeredPicks: null }, effects: [...kept.effects, { kind: 'forgetPicks' }] }
    : kept
}

/** True if the shopper has put all picks back, and those of the last offer at this store would return instead. */
function putsBackOffered({ offeredPicks, payment }: FlowState, { kind }: FlowEvent): boolean {
  const isByShopper = kind === 'selectionCleared' || kind === 'itemToggled'
  return isByShopper && offeredPicks !== null && offeredPicks.storeName === payment?.storeName
}

/**
 * Returns the picks of all games; null if there are none, or the deposit has ended. Undefined while the kept picks stay
 * valid: before the items are on the page, while the shopper changes the link, and during an offer of the account.
 */
function picksOf(state: FlowState): OpenPicks | null | undefined {
  const { hash, page, payment } = state
  if (payment === null) return undefined
  if (isFinal(payment.status)) return null
  if (page.stage !== 'wait-for-select-items') return undefined
  const { user, game, selection, setAside, elsewhere } = page.stand
  const isSameAccount = state.openPicks === null || state.openPicks.tradeUrl === user.tradeUrl
  if (isSameAccount && !isPicking(state)) return undefined
  const byGame = { ...elsewhere, [game]: [...setAside, ...selection] }
  const isEmpty = Object.values(byGame).every((ids) => ids.length === 0)
  return isEmpty ? null : { hash, tradeUrl: user.tradeUrl, game, byGame }
}
