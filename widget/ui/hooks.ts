import { useEffect, useState, useSyncExternalStore } from 'react'

const NARROW = '(max-width: 900px)'

function subscribeNarrow(listener: () => void): () => void {
  const query = matchMedia(NARROW)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/**
 * True if the page is at most 900 pixels wide. False outside a browser. Unlike a style, it leaves the other variant of a
 * part out of the page.
 */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    subscribeNarrow,
    () => matchMedia(NARROW).matches,
    () => false,
  )
}

/** The monotonic time, updated every 250 ms while `running`. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    if (!running) return
    setNow(performance.now())
    const timer = setInterval(() => setNow(performance.now()), 250)
    return () => clearInterval(timer)
  }, [running])
  return now
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title
  }, [title])
}
