/**
 * The part of the flow that loads with the page: it opens the page on the payment and handles the field for the trade
 * link. Pure.
 */
import type { Game } from '../../contract/games.ts'
import { isLanguage } from '../../contract/languages.ts'
import { isFinal } from '../../contract/statuses.ts'
import { isTradeLink, parseTradeLink } from '../../contract/trade-link.ts'
import type { Payment, User } from '../../contract/widget-api.ts'
import type { FlowEvent } from './events.ts'
import { acceptedGames, firstGame } from './selectors.ts'
import type { FlowState, LinkState, OpenPicks, Page } from './state.ts'

/** Opens the page on the payment that was sent with it, and was read at `atMs` (monotonic). */
export function openOnPayment(state: FlowState, payment: Payment, atMs: number): FlowState {
  return openPage(withPayment(state, payment, atMs), payment)
}

/** Returns the state after an event of the link field; null for any other event. */
export function fieldStep(state: FlowState, event: FlowEvent): FlowState | null {
  switch (event.kind) {
    case 'linkTyped':
      return linkTyped(state, event.text)
    case 'storedLinkConfirmed':
      return storedLinkConfirmed(state)
    default:
      return null
  }
}

/** Returns when the shopper's time ends, in ms of the clock that `atMs` was read from; null if no time runs. */
export const deadlineOf = ({ timeLeft }: Payment, atMs: number): number | null =>
  timeLeft === null ? null : atMs + timeLeft * 1000

/** The first payment sets the language, unless the shopper chose one. */
export function withPayment(state: FlowState, payment: Payment, atMs: number): FlowState {
  const setsLanguage = !state.isLanguageChosen && state.payment === null
  const deadlineMs = deadlineOf(payment, atMs)
  return {
    ...state,
    payment,
    language: setsLanguage && isLanguage(payment.language) ? payment.language : state.language,
    deadlineMs,
    checksFromMs: deadlineMs ?? state.checksFromMs,
  }
}

/** The first answer decides the stage: a deposit with a known user needs no link. */
export function openPage(state: FlowState, payment: Payment): FlowState {
  if (payment.user !== null) return withUser(state, payment.user, linkOfUser(state, payment.user))
  const stored = state.storedLink
  const isUseful = stored !== null && parseTradeLink(stored) !== undefined && !isFinal(payment.status)
  const link: LinkState = isUseful ? { status: 'stored', text: stored } : { status: 'idle', text: '' }
  return { ...state, page: { stage: 'wait-for-trade-url-input', link } }
}

/** Returns the stored link, with its token, if it is this user's, or else the link without a token. */
export function linkOfUser({ storedLink }: FlowState, { tradeUrl }: User): string {
  const stored = storedLink === null ? undefined : parseTradeLink(storedLink)
  return stored?.url.startsWith(`${tradeUrl}&`) ? stored.url : tradeUrl
}

/** Opens the stand of this user, which begins to load the inventory. */
export function withUser(state: FlowState, user: User, link: string): FlowState {
  const request = state.nextRequest
  const picks = returningPicks(state, user)
  const game =
    state.page.stage === 'wait-for-select-items'
      ? state.page.stand.game
      : (picks?.game ?? firstGame(state.payment))
  return {
    ...state,
    nextRequest: request + 1,
    hasOpenedStand: true,
    page: {
      stage: 'wait-for-select-items',
      link: { status: 'resolved', text: link },
      stand: {
        user,
        game,
        inventory: { status: 'loading', request, kept: null, isReload: false },
        selection: [],
        cleared: [],
        setAside: picks?.byGame[game] ?? [],
        elsewhere: { ...picks?.byGame, [game]: [] },
        counts: {},
        search: '',
        sort: 'priceDown',
        aim: null,
        question: null,
        quietLooks: 0,
      },
    },
  }
}

/**
 * Returns the picks of an earlier stand of this deposit. If there are none, the first stand gets those of the last
 * offer at this store. The picks must be this account's, and of a game that the deposit accepts.
 */
function returningPicks(state: FlowState, { tradeUrl }: User): Pick<OpenPicks, 'game' | 'byGame'> | null {
  const { openPicks, offeredPicks, hasOpenedStand, payment } = state
  const isReturning = (picks: { tradeUrl: string; game: Game }): boolean =>
    picks.tradeUrl === tradeUrl && acceptedGames(payment).includes(picks.game)
  if (openPicks !== null && isReturning(openPicks)) return openPicks
  if (hasOpenedStand || offeredPicks === null || offeredPicks.storeName !== payment?.storeName) return null
  const { game, items } = offeredPicks
  return isReturning(offeredPicks) ? { game, byGame: { [game]: items.map(({ id }) => id) } } : null
}

export function linkOf(page: Page): LinkState | undefined {
  return page.stage === 'wait-for-trade-url-input' || page.stage === 'wait-for-select-items'
    ? page.link
    : undefined
}

/**
 * A new text closes the stand, but the link of the deposit's user opens a new one. Typing is ignored while the server
 * checks a link.
 */
function linkTyped(state: FlowState, text: string): FlowState {
  const link = linkOf(state.page)
  if (link === undefined || link.status === 'checking' || link.text === text) return state
  const withLink = (newLink: LinkState): FlowState => ({
    ...state,
    page: { stage: 'wait-for-trade-url-input', link: newLink },
  })
  if (text.trim() === '') return withLink({ status: 'idle', text: '' })
  const user = state.payment?.user ?? null
  if (user !== null && text.trim() === user.tradeUrl) return withUser(state, user, user.tradeUrl)
  if (!isTradeLink(text)) return withLink({ status: 'invalid', text })
  return withLink({ status: 'debouncing', text })
}

function storedLinkConfirmed(state: FlowState): FlowState {
  const link = linkOf(state.page)
  return link?.status === 'stored' ? checkLink(state, link.text) : state
}

export function checkLink(state: FlowState, text: string): FlowState {
  const request = state.nextRequest
  return {
    ...state,
    nextRequest: request + 1,
    page: { stage: 'wait-for-trade-url-input', link: { status: 'checking', text, request } },
  }
}
