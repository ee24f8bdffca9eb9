import { createContext, useContext, useEffect } from 'react'
import { wait } from '../wait.ts'

const RETRY_MS = 2000
/** A load that takes longer counts as failed until it ends. */
const PATIENCE_MS = 10_000

export type PartState<Code> =
  | { kind: 'loading' }
  /** The last load failed, and the next is under way or about to begin; or the current load hangs. */
  | { kind: 'failed' }
  | { kind: 'ready'; code: Code }

/** A part of a page whose code loads separately. */
export type Part<Code> = {
  current(): PartState<Code>
  /**
   * Returns the state that this part had when all parts together had changed `changes` times. With it, all components
   * of a tree show the same moment (see `PartsSeen`).
   */
  after(changes: number): PartState<Code>
  /** Loads the code, and repeats a failed load until it succeeds. All calls share one load. */
  fetch(): Promise<Code>
}

/** `attempt` counts from 1. A browser remembers a failed address, so each attempt needs its own. */
type Load<Code> = (attempt: number) => Promise<Code>

const listeners = new Set<() => void>()
let changes = 0

export const changesOfParts = (): number => changes

/** Returns a function that ends the subscription. */
export function subscribeToParts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function createPart<Code>(load: Load<Code>): Part<Code> {
  let state: PartState<Code> = { kind: 'loading' }
  let fetched: Promise<Code> | undefined
  /** The newest first. There are at most three: loading, failed, ready. */
  const states: { since: number; state: PartState<Code> }[] = [{ since: 0, state }]

  function become(newState: PartState<Code>): void {
    if (state.kind === 'ready' || newState.kind === state.kind) return
    state = newState
    changes += 1
    states.unshift({ since: changes, state })
    for (const listener of listeners) listener()
  }

  async function attemptOnce(attempt: number): Promise<void> {
    const ended = new AbortController()
    void wait(PATIENCE_MS, ended.signal).then(() => ended.signal.aborted || become({ kind: 'failed' }))
    try {
      become({ kind: 'ready', code: await load(attempt) })
    } catch {
      become({ kind: 'failed' })
    } finally {
      ended.abort()
    }
  }

  async function fetchPart(): Promise<Code> {
    for (let attempt = 1; ; attempt += 1) {
      await attemptOnce(attempt)
      if (state.kind === 'ready') return state.code
      await wait(RETRY_MS, new AbortController().signal)
    }
  }

  return {
    current: () => state,
    after: (count) => states.find(({ since }) => since <= count)?.state ?? state,
    fetch() {
      fetched ??= fetchPart()
      return fetched
    },
  }
}

/** How many changes of parts the components below have seen. Without a provider, such as in a test, they see all. */
export const PartsSeen = createContext(Number.POSITIVE_INFINITY)

/** Fetches the part as soon as `isNeeded` is true, so it can later render without a wait. */
export function usePart<Code>(part: Part<Code>, isNeeded: boolean): PartState<Code> {
  useEffect(() => {
    if (isNeeded) void part.fetch()
  }, [part, isNeeded])
  return part.after(useContext(PartsSeen))
}
