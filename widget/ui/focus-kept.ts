import { type RefObject, useEffect, useRef } from 'react'

/**
 * After a row has gone, the focus moves to the next one, so a keyboard or a screen reader keeps its place. Call the
 * returned function with the index of the row that goes. Each row must have exactly one button, because the button of
 * that index gets the focus.
 */
export function useFocusKept(list: RefObject<HTMLElement | null>, rows: readonly unknown[]) {
  const removed = useRef<number | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the rows takes the focus away
  useEffect(() => {
    const index = removed.current
    removed.current = null
    if (index === null || list.current?.contains(document.activeElement)) return
    const buttons = list.current?.querySelectorAll('button') ?? []
    buttons[Math.min(index, buttons.length - 1)]?.focus({ preventScroll: true })
  }, [list, rows])
  return (index: number): void => {
    removed.current = index
  }
}
