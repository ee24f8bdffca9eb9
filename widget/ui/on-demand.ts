import { type ComponentType, useEffect, useSyncExternalStore } from 'react'
import { wait } from '../flow/wait.ts'

const RETRY_MS = 2000

/** A part of a page whose code comes apart from it. */
export type Part<Props> = {
  /** The component once its code is there, else null. */
  current(): ComponentType<Props> | null
  subscribe(listener: () => void): () => void
  /** Fetches the code, once; a failed load is tried again until it succeeds. */
  prefetch(): void
}

export function createPart<Props>(load: () => Promise<ComponentType<Props>>): Part<Props> {
  let part: ComponentType<Props> | null = null
  let wanted = false
  const listeners = new Set<() => void>()

  async function fetchPart(): Promise<void> {
    while (part === null) {
      try {
        part = await load()
      } catch {
        await wait(RETRY_MS, new AbortController().signal)
      }
    }
    for (const listener of listeners) listener()
  }

  return {
    current: () => part,
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
export function usePart<Props>(part: Part<Props>, when: boolean): ComponentType<Props> | null {
  useEffect(() => {
    if (when) part.prefetch()
  }, [part, when])
  return useSyncExternalStore(part.subscribe, part.current)
}
