/** Carries out what the pure flow asks for: keeps its activities going and does its effects once. */
import { type Activity, activitiesOf, POLL_INTERVAL_MS } from './activities.ts'
import { type Calls, createCalls, type World } from './calls.ts'
import type { FlowEvent } from './events.ts'
import { reduce } from './reduce.ts'
import type { FlowState } from './state.ts'

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
  const calls = createCalls(world, () => state)

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
    if (activity.kind === 'poll') return poll({ world, calls, tell, woken: () => wake.signal }, signal)
    tell(await calls.eventOf(activity, signal))
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
      calls.forget()
      wake.abort()
      wake = new AbortController()
      dispatch({ type: 'returned' })
    },
    stop() {
      for (const controller of running.values()) controller.abort()
      running.clear()
    },
  }
}

type Polling = {
  world: World
  calls: Calls
  tell(event: FlowEvent): void
  /** Aborts when the next poll is wanted at once. */
  woken(): AbortSignal
}

/** One poll in flight; the first at once, the next a second after the last began. */
async function poll({ world, calls, tell, woken }: Polling, signal: AbortSignal): Promise<void> {
  calls.forget()
  let lastMs = world.now()
  while (!signal.aborted) {
    const beganMs = world.now()
    if (beganMs - lastMs > SLEPT_MS) calls.forget()
    lastMs = beganMs
    const wanted = AbortSignal.any([signal, woken()])
    const event = await calls.payment(wanted)
    // A call from before the page slept may hang for as long as its deadline: it is given up for a new one.
    if (!wanted.aborted) tell(event)
    const restMs = POLL_INTERVAL_MS - (world.now() - beganMs)
    if (restMs > 0 && !wanted.aborted) await world.wait(restMs, wanted)
  }
}
