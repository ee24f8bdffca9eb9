import { useEffect, useReducer, useSyncExternalStore } from 'react'

const NARROW = '(max-width: 900px)'

function subscribeNarrow(listener: () => void): () => void {
  const query = matchMedia(NARROW)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/**
 * True if the page is at most 900 pixels wide. False outside a browser. Unlike a media query in a style, it keeps the
 * other variant of a part out of the page.
 */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    subscribeNarrow,
    () => matchMedia(NARROW).matches,
    () => false,
  )
}

/**
 * The monotonic time in milliseconds, updated every 250 ms while `isRunning`. Read at each render: when a new deadline
 * arrives, the time of an earlier tick would show too much time left.
 */
export function useNow(isRunning: boolean): number {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0)
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(tick, 250)
    return () => clearInterval(timer)
  }, [isRunning])
  return performance.now()
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title
  }, [title])
}
