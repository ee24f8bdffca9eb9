import { type ComponentType, useEffect, useSyncExternalStore } from 'react'
import { wait } from '../flow/wait.ts'

const RETRY_MS = 2000
/** A load that takes longer counts as failed until it ends. */
const PATIENCE_MS = 10_000

export type PartState<Props> =
  | { kind: 'loading' }
  /** The last load failed or hangs; the next one is under way or about to begin. */
  | { kind: 'failed' }
  | { kind: 'ready'; component: ComponentType<Props> }

/** A part of a page whose code comes apart from it. */
export type Part<Props> = {
  current(): PartState<Props>
  subscribe(listener: () => void): () => void
  /** Fetches the code, once; a failed load is tried again until it succeeds. */
  prefetch(): void
}

/** Gets the number of the attempt, from 1: a browser answers a failed address from memory, so each needs its own. */
type Load<Props> = (attempt: number) => Promise<ComponentType<Props>>

export function createPart<Props>(load: Load<Props>): Part<Props> {
  let state: PartState<Props> = { kind: 'loading' }
  let wanted = false
  const listeners = new Set<() => void>()

  function become(next: PartState<Props>): void {
    if (state.kind === 'ready' || next.kind === state.kind) return
    state = next
    for (const listener of listeners) listener()
  }

  async function attemptOnce(attempt: number): Promise<void> {
    const ended = new AbortController()
    void wait(PATIENCE_MS, ended.signal).then(() => ended.signal.aborted || become({ kind: 'failed' }))
    try {
      become({ kind: 'ready', component: await load(attempt) })
    } catch {
      become({ kind: 'failed' })
    } finally {
      ended.abort()
    }
  }

  async function fetchPart(): Promise<void> {
    for (let attempt = 1; state.kind !== 'ready'; attempt += 1) {
      if (attempt > 1) await wait(RETRY_MS, new AbortController().signal)
      await attemptOnce(attempt)
    }
  }

  return {
    current: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    prefetch() {
      if (wanted) return
      wanted = true
      void fetchPart()
    },
  }
}

/** Fetches the part as soon as `when` holds. It can then render without a wait. */
export function usePart<Props>(part: Part<Props>, when: boolean): PartState<Props> {
  useEffect(() => {
    if (when) part.prefetch()
  }, [part, when])
  return useSyncExternalStore(part.subscribe, part.current)
}
