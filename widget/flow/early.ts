/** The flow before its code is loaded. */
import type { FlowEvent } from './events.ts'
import { fieldStep } from './first-steps.ts'
import type { Flow, RunningFlow, Urgency } from './runner.ts'
import type { FlowState } from './state.ts'

export type EarlyFlow = Flow & {
  /** Lets the loaded code continue: `start` gets the current state. Returns a function that ends the flow. */
  handOver(start: (state: FlowState) => RunningFlow): () => void
}

/** Handles events of the link field immediately, and keeps all others for the code that is still loading. */
export function openFlow(opened: FlowState): EarlyFlow {
  let state = opened
  let running: RunningFlow | null = null
  const waiting: FlowEvent[] = []
  const listeners = new Set<(urgency: Urgency) => void>()
  const notify = (urgency: Urgency): void => {
    for (const listener of listeners) listener(urgency)
  }
  return {
    state: () => running?.state() ?? state,
    dispatch(event) {
      if (running !== null) return running.dispatch(event)
      const nextState = fieldStep(state, event)
      if (nextState === null) waiting.push(event)
      else {
        state = nextState
        notify('now')
      }
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    handOver(start) {
      const started = start(state)
      const unsubscribe = started.subscribe(notify)
      running = started
      for (const event of waiting.splice(0)) started.dispatch(event)
      notify('now')
      return () => {
        unsubscribe()
        started.stop()
        state = started.state()
        running = null
      }
    },
  }
}
