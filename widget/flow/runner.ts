/** Runs the pure flow: keeps its activities going and carries out each effect once. */
import { type Activity, activitiesOf, POLL_INTERVAL_MS } from './activities.ts'
import { type Calls, createCalls, type World } from './calls.ts'
import type { FlowEvent } from './events.ts'
import { reduce } from './reduce.ts'
import type { FlowState } from './state.ts'

/** A change that the shopper made is drawn at once. An answer is drawn soon, in slices between which the page reacts. */
export type Urgency = 'now' | 'soon'

export type Flow = {
  state(): FlowState
  dispatch(event: FlowEvent): void
  subscribe(listener: (urgency: Urgency) => void): () => void
}

export type RunningFlow = Flow & {
  /**
   * Call this when the page is visible, online or restored again. If the flow polls, a poll starts at once, without an
   * etag.
   */
  returned(): void
  stop(): void
}

/** If more time passes between the starts of two polls, or between two ticks of the clock, the page may have slept. */
export const SLEPT_MS = 2000
/** A call older than this when the page comes back may have hung since before the page slept. */
const MAY_HANG_MS = 1000

type Running = { activity: Activity; sinceMs: number; controller: AbortController }

/** Keeps exactly the wanted activities running. */
function activityRunner(
  carryOut: (activity: Activity, signal: AbortSignal) => Promise<void>,
  now: () => number,
) {
  const running = new Map<string, Running>()

  function begin(activity: Activity): void {
    const controller = new AbortController()
    running.set(activity.key, { activity, sinceMs: now(), controller })
    void carryOut(activity, controller.signal)
  }

  return {
    sync(activities: Activity[]): void {
      const wanted = new Map(activities.map((activity) => [activity.key, activity]))
      for (const [key, { controller }] of running) {
        if (!wanted.has(key)) {
          running.delete(key)
          controller.abort()
        }
      }
      for (const activity of wanted.values()) {
        if (!running.has(activity.key)) begin(activity)
      }
    },
    /**
     * Aborts old calls and repeats them, and makes delayed calls immediately. All calls are idempotent, even the one
     * that creates a trade.
     */
    repeatOldCalls(): void {
      const nowMs = now()
      for (const { activity, sinceMs, controller } of [...running.values()]) {
        const isDelayed = 'delayMs' in activity && activity.delayMs > 0
        if (activity.kind === 'poll' || activity.kind === 'patience') continue
        if (!isDelayed && nowMs - sinceMs < MAY_HANG_MS) continue
        controller.abort()
        begin(isDelayed ? { ...activity, delayMs: 0 } : activity)
      }
    },
  }
}

/** Starts from `initial`, which may already show the payment that came with the page. */
export function startFlow(initial: FlowState, world: World): RunningFlow {
  const opened = reduce(initial, { kind: 'opened' })
  let { state } = opened
  const listeners = new Set<(urgency: Urgency) => void>()
  let wake = new AbortController()
  const calls = createCalls(world, () => state)
  const ongoing = activityRunner(carryOut, world.now)

  function dispatch(event: FlowEvent, urgency: Urgency = 'now'): void {
    const { state: newState, effects } = reduce(state, event)
    const hasChanged = newState !== state
    state = newState
    if (hasChanged) {
      ongoing.sync(activitiesOf(state))
      for (const listener of listeners) listener(urgency)
    }
    for (const effect of effects) world.perform(effect)
  }

  async function carryOut(activity: Activity, signal: AbortSignal): Promise<void> {
    const report = (event: FlowEvent): void => {
      if (!signal.aborted) dispatch(event, 'soon')
    }
    if (activity.kind === 'poll') return poll({ world, calls, report, wakeSignal: () => wake.signal }, signal)
    report(await calls.eventOf(activity, signal))
  }

  ongoing.sync(activitiesOf(state))
  for (const effect of opened.effects) world.perform(effect)
  return {
    state: () => state,
    dispatch: (event) => dispatch(event),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    returned() {
      calls.forget()
      wake.abort()
      wake = new AbortController()
      dispatch({ kind: 'returned' })
      ongoing.repeatOldCalls()
    },
    stop: () => ongoing.sync([]),
  }
}

type Polling = {
  world: World
  calls: Calls
  report(event: FlowEvent): void
  /** Returns a signal that aborts when the next poll should start immediately. */
  wakeSignal(): AbortSignal
}

/**
 * Keeps at most one poll in flight. The first starts immediately, each later one a second after the previous began, or
 * once the previous has ended, if that takes longer. `wakeSignal` ends the poll in flight or the pause after it.
 */
async function poll({ world, calls, report, wakeSignal }: Polling, signal: AbortSignal): Promise<void> {
  calls.forget()
  let lastMs = world.now()
  while (!signal.aborted) {
    const beganMs = world.now()
    if (beganMs - lastMs > SLEPT_MS) calls.forget()
    lastMs = beganMs
    // Aborts on waking too: a call from before the page slept may hang until its deadline.
    const callSignal = AbortSignal.any([signal, wakeSignal()])
    const event = await calls.payment(callSignal)
    if (!callSignal.aborted) report(event)
    const pauseMs = POLL_INTERVAL_MS - (world.now() - beganMs)
    if (pauseMs > 0 && !callSignal.aborted) await world.wait(pauseMs, callSignal)
  }
}
