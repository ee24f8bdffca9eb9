/** Carries out what the pure flow asks for: keeps its activities going and does its effects once. */
import { type Activity, activitiesOf, DEBOUNCE_MS, POLL_INTERVAL_MS } from './activities.ts'
import type { Answer, Api } from './api.ts'
import type { Effect, FlowEvent } from './events.ts'
import { reduce } from './reduce.ts'
import type { FlowState } from './state.ts'

/** The world outside, as arguments. */
export type World = {
  api: Api
  /** Monotonic milliseconds. */
  now(): number
  /** Resolves after `ms`, or at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  perform(effect: Effect): void
}

export type Flow = {
  state(): FlowState
  dispatch(event: FlowEvent): void
  subscribe(listener: () => void): () => void
  /** The page came back (visible, online, restored): the next poll asks for the whole answer, at once. */
  returned(): void
  stop(): void
}

/** A gap between two ticks above this means that the tab slept. */
const SLEPT_MS = 2000

export function startFlow(initial: FlowState, world: World): Flow {
  let state = initial
  const listeners = new Set<() => void>()
  const running = new Map<string, AbortController>()
  let wake = new AbortController()
  let etag: string | null = null

  function dispatch(event: FlowEvent): void {
    const { state: next, effects } = reduce(state, event)
    const changed = next !== state
    state = next
    if (changed) {
      sync()
      for (const listener of listeners) listener()
    }
    for (const effect of effects) world.perform(effect)
  }

  function sync(): void {
    const wanted = new Map(activitiesOf(state).map((activity) => [activity.key, activity]))
    for (const [key, controller] of running) {
      if (!wanted.has(key)) {
        running.delete(key)
        controller.abort()
      }
    }
    for (const [key, activity] of wanted) {
      if (running.has(key)) continue
      const controller = new AbortController()
      running.set(key, controller)
      void carryOut(activity, controller.signal)
    }
  }

  async function carryOut(activity: Activity, signal: AbortSignal): Promise<void> {
    const tell = (event: FlowEvent): void => {
      if (!signal.aborted) dispatch(event)
    }
    if (activity.kind === 'poll') return poll(signal)
    tell(await eventOf(activity, signal))
  }

  async function eventOf(
    activity: Exclude<Activity, { kind: 'poll' }>,
    signal: AbortSignal,
  ): Promise<FlowEvent> {
    const { hash, language } = state
    switch (activity.kind) {
      case 'loadPayment':
        etag = null
        return paymentEvent(await world.api.payment(hash, { language, etag, signal }))
      case 'debounce':
        await world.wait(DEBOUNCE_MS, signal)
        return { type: 'typingEnded' }
      case 'resolveUser': {
        const { request, tradeUrl } = activity
        const answer = await world.api.resolveUser({ hash, tradeUrl }, { language, signal })
        return answer.kind === 'ok'
          ? { type: 'userResolved', request, user: answer.body }
          : { type: 'userFailed', request, refusal: refusalIn(answer) }
      }
      case 'loadInventory': {
        const { request, game, reload } = activity
        const query = { hash, game, language: activity.language, reload }
        const answer = await world.api.inventory(query, signal)
        return answer.kind === 'ok'
          ? { type: 'inventoryLoaded', request, inventory: answer.body }
          : { type: 'inventoryFailed', request }
      }
      case 'createTrade':
        return createTrade(activity, signal)
      default:
        return activity satisfies never
    }
  }

  async function createTrade(
    activity: Extract<Activity, { kind: 'createTrade' }>,
    signal: AbortSignal,
  ): Promise<FlowEvent> {
    const { attempt, trade, delayMs } = activity
    if (delayMs > 0) await world.wait(delayMs, signal)
    const quote = trade.quoteId === null ? {} : { quoteId: trade.quoteId }
    const body = { hash: state.hash, game: trade.game, items: [...trade.items], ...quote }
    const answer = await world.api.createTrade(body, { language: state.language, signal })
    if (answer.kind === 'ok' && answer.body.state !== 'sending') return { type: 'tradeActive', attempt }
    if (answer.kind === 'refused') return { type: 'tradeRefused', attempt, refusal: answer.refusal }
    return { type: 'tradeUnknown', attempt }
  }

  function paymentEvent(answer: Answer<FlowState['payment'] & object>): FlowEvent {
    switch (answer.kind) {
      case 'ok':
        etag = answer.etag
        return { type: 'paymentLoaded', payment: answer.body, atMs: world.now() }
      case 'unchanged':
        return { type: 'paymentUnchanged' }
      case 'refused':
        return { type: 'paymentFailed', refusal: answer.refusal, gone: true }
      case 'lost':
        return { type: 'paymentFailed', refusal: answer.refusal, gone: false }
      default:
        return answer satisfies never
    }
  }

  /** One poll in flight; the first at once, the next a second after the last began. */
  async function poll(signal: AbortSignal): Promise<void> {
    etag = null
    let lastMs = world.now()
    while (!signal.aborted) {
      const beganMs = world.now()
      if (beganMs - lastMs > SLEPT_MS) etag = null
      lastMs = beganMs
      const { hash, language } = state
      const event = paymentEvent(await world.api.payment(hash, { language, etag, signal }))
      if (signal.aborted) return
      dispatch(event)
      const restMs = POLL_INTERVAL_MS - (world.now() - beganMs)
      if (restMs > 0) await world.wait(restMs, AbortSignal.any([signal, wake.signal]))
    }
  }

  sync()
  return {
    state: () => state,
    dispatch,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    returned() {
      etag = null
      wake.abort()
      wake = new AbortController()
    },
    stop() {
      for (const controller of running.values()) controller.abort()
      running.clear()
    },
  }
}

function refusalIn(answer: Exclude<Answer<unknown>, { kind: 'ok' }>) {
  return answer.kind === 'unchanged' ? { code: null, detail: null } : answer.refusal
}
