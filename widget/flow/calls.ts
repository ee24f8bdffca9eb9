/** The calls of the flow. Each resolves to the event that reports its outcome. */
import type { Payment } from '../../contract/widget-api.ts'
import { type Activity, DEBOUNCE_MS } from './activities.ts'
import type { Answer, Api } from './api.ts'
import type { Effect, FlowEvent } from './events.ts'
import { inventoryOf } from './inventory-answer.ts'
import type { propose } from './pick.ts'
import { isTemporary, shownInventory } from './selectors.ts'
import type { FlowState } from './state.ts'

export type Propose = typeof propose

export type World = {
  api: Api
  /** Monotonic milliseconds. */
  now(): number
  /** Resolves after `ms`, or as soon as the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  perform(effect: Effect): void
  /** The search for items worth an amount; null until its code is loaded. Until then the page does not offer it. */
  proposer(): Propose | null
}

type SingleCall = Exclude<Activity, { kind: 'poll' }>

export type Calls = {
  /** Asks for the payment. Resolves to `paymentUnchanged` if the last answer still holds and was not forgotten. */
  payment(signal: AbortSignal): Promise<FlowEvent>
  /** Forgets the last answer, so the next call returns the payment even if it did not change. */
  forget(): void
  eventOf(activity: SingleCall, signal: AbortSignal): Promise<FlowEvent>
}

export function createCalls(world: World, stateOf: () => FlowState): Calls {
  let etag: string | null = null
  let timesForgotten = 0
  const forget = (): void => {
    etag = null
    timesForgotten += 1
  }
  async function payment(signal: AbortSignal): Promise<FlowEvent> {
    const { hash, language } = stateOf()
    const accountBefore = accountOf(stateOf())
    const timesBefore = timesForgotten
    const answer = await world.api.payment(hash, { language, etag, signal })
    // The shopper has entered another account meanwhile, and the answer may still be about the previous one: ask again.
    if (!signal.aborted && accountOf(stateOf()) !== accountBefore) return payment(signal)
    // Ignore the tag of an answer that was requested before `forget` was called.
    if (answer.kind === 'ok' && timesBefore === timesForgotten) etag = answer.etag
    return paymentEvent(answer, world.now())
  }
  async function eventOf(activity: SingleCall, signal: AbortSignal): Promise<FlowEvent> {
    const { hash, language } = stateOf()
    switch (activity.kind) {
      case 'loadPayment':
        return payment(signal)
      case 'check': {
        const waitMs = Math.max(activity.delayMs, activity.notBeforeMs - world.now())
        if (waitMs > 0) await world.wait(waitMs, signal)
        // Aborted during the wait: do not call.
        if (signal.aborted) return { kind: 'paymentUnchanged' }
        // News is expected, and the till's answer about a known tag can be half a second old.
        if (activity.delayMs === 0) forget()
        return payment(signal)
      }
      case 'readOtherOffer':
        return readOtherOffer(world, { activity, language, signal })
      case 'patience':
        await world.wait(activity.forMs, signal)
        return { kind: 'patienceEnded' }
      case 'debounce':
        await world.wait(DEBOUNCE_MS, signal)
        return { kind: 'typingEnded' }
      case 'resolveUser':
        return resolveUser(world, stateOf(), { activity, signal })
      case 'loadInventory': {
        const { request, game, isReload } = activity
        const query = { hash, game, language: activity.language, isReload }
        const answer = await world.api.inventory(query, signal)
        return answer.kind === 'ok'
          ? { kind: 'inventoryLoaded', request, inventory: inventoryOf(answer.body) }
          : { kind: 'inventoryFailed', request, code: refusalIn(answer).code }
      }
      case 'explainPrice': {
        const { request, item, quoteId } = activity
        const answer = await world.api.priceReason({ hash, quoteId, item }, { language, signal })
        return { kind: 'priceExplained', request, reason: answer.kind === 'ok' ? answer.body : 'unknown' }
      }
      case 'proposeItems':
        return proposeItems(world, stateOf(), { activity, signal })
      case 'createTrade': {
        const event = await createTrade(world, stateOf(), { activity, signal })
        // A refusal changes what the page assumes about the deposit, and a 304 would not correct that.
        forget()
        return event
      }
      default:
        return activity satisfies never
    }
  }
  return { payment, forget, eventOf }
}

type UserCall = { activity: Extract<Activity, { kind: 'resolveUser' }>; signal: AbortSignal }

async function resolveUser(
  world: World,
  { hash, language }: FlowState,
  { activity: { request, tradeUrl }, signal }: UserCall,
): Promise<FlowEvent> {
  const answer = await world.api.resolveUser({ hash, tradeUrl }, { language, signal })
  return answer.kind === 'ok'
    ? { kind: 'userResolved', request, user: answer.body }
    : { kind: 'userFailed', request, refusal: refusalIn(answer) }
}

type OtherOfferRead = {
  activity: Extract<Activity, { kind: 'readOtherOffer' }>
  language: FlowState['language']
  signal: AbortSignal
}

async function readOtherOffer(
  world: World,
  { activity, language, signal }: OtherOfferRead,
): Promise<FlowEvent> {
  const { hash, delayMs } = activity
  const unread = { kind: 'otherOfferRead', deposit: null, isGone: false, atMs: world.now() } as const
  if (delayMs > 0) await world.wait(delayMs, signal)
  if (signal.aborted) return unread
  const answer = await world.api.payment(hash, { language, etag: null, signal })
  const deposit = answer.kind === 'ok' && answer.body.status === 'pending' ? answer.body : null
  const isAnswered = answer.kind === 'ok' || (answer.kind === 'refused' && !isTemporary(answer.refusal))
  const isGone = deposit === null && isAnswered
  return { ...unread, deposit, isGone, atMs: world.now() }
}

type Proposing = { activity: Extract<Activity, { kind: 'proposeItems' }>; signal: AbortSignal }

/** Searches in slices, so the page stays responsive. */
async function proposeItems(
  world: World,
  { page, payment }: FlowState,
  { activity: { request, target }, signal }: Proposing,
): Promise<FlowEvent> {
  const inventory = page.stage === 'wait-for-select-items' ? shownInventory(page.stand) : null
  const goal = { target, maxItems: inventory?.maxItems ?? 0, mostTotal: payment?.maxAmount ?? null }
  const work = world.proposer()?.(inventory?.items ?? [], goal)
  if (work === undefined) return { kind: 'itemsProposed', request, proposal: { kind: 'none' } }
  for (;;) {
    const slice = work.next()
    if (slice.done) return { kind: 'itemsProposed', request, proposal: slice.value }
    await world.wait(0, signal)
    if (signal.aborted) return { kind: 'itemsProposed', request, proposal: { kind: 'none' } }
  }
}

/** The till has accepted the request, but does not know yet whether Steam has the offer. */
const STILL_SENDING = 202

type Creation = { activity: Extract<Activity, { kind: 'createTrade' }>; signal: AbortSignal }

async function createTrade(
  world: World,
  state: FlowState,
  { activity, signal }: Creation,
): Promise<FlowEvent> {
  const { attempt, trade, delayMs } = activity
  if (delayMs > 0) await world.wait(delayMs, signal)
  if (signal.aborted) return { kind: 'tradeUnknown', attempt }
  const quote = trade.quoteId === null ? {} : { quoteId: trade.quoteId }
  const body = { hash: state.hash, game: trade.game, items: [...trade.items], ...quote }
  const answer = await world.api.createTrade(body, { language: state.language, signal })
  if (answer.kind === 'ok' && answer.status !== STILL_SENDING) return { kind: 'tradeActive', attempt }
  // 429 says nothing about an offer that an earlier call may have made.
  if (answer.kind === 'refused' && answer.status !== 429)
    return { kind: 'tradeRefused', attempt, refusal: answer.refusal }
  return { kind: 'tradeUnknown', attempt }
}

const accountOf = ({ payment }: FlowState): string | undefined => payment?.user?.tradeUrl

function paymentEvent(answer: Answer<Payment>, atMs: number): FlowEvent {
  switch (answer.kind) {
    case 'ok':
      return { kind: 'paymentLoaded', payment: answer.body, atMs }
    case 'unchanged':
      return { kind: 'paymentUnchanged' }
    case 'refused':
    case 'lost':
      return { kind: 'paymentFailed', refusal: answer.refusal }
    default:
      return answer satisfies never
  }
}

function refusalIn(answer: Exclude<Answer<unknown>, { kind: 'ok' }>) {
  return answer.kind === 'unchanged' ? { code: null, detail: null } : answer.refusal
}
