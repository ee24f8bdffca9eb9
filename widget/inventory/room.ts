import { type RefCallback, type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'
import { firstRows, type Layout, type Room, visibleRows } from './geometry.ts'

/**
 * Measures the room for the items while they load. Measuring later would lay out the page in the middle of a render.
 */
export function useRoom(): [RefCallback<HTMLElement>, RefObject<Room | null>] {
  const room = useRef<Room | null>(null)
  const measure = useCallback((element: HTMLElement | null) => {
    if (element === null) return
    const observer = new ResizeObserver(() => {
      const { width, top } = element.getBoundingClientRect()
      room.current = { width, top, windowHeight: window.innerHeight }
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      // The grid that replaces the skeletons has read it. A later one measures for itself.
      room.current = null
    }
  }, [])
  return [measure, room]
}

/** The grid's width in CSS pixels. */
export function useWidth(element: RefObject<HTMLElement | null>, room: Room | null): number {
  const [width, setWidth] = useState(room?.width ?? 0)
  const isKnown = width > 0
  useLayoutEffect(() => {
    const target = element.current
    if (target === null) return
    if (!isKnown) setWidth(target.clientWidth)
    const observer = new ResizeObserver(() => setWidth(target.clientWidth))
    observer.observe(target)
    return () => observer.disconnect()
  }, [element, isKnown])
  return width
}

type View = { layout: Layout; rowGap: number; room: Room | null }

/** Follows the page's scroll, and renders again only when the rows in view change. */
export function useVisibleRows(element: RefObject<HTMLElement | null>, { layout, rowGap, room }: View) {
  const [rows, setRows] = useState(() => firstRows(layout, room, rowGap))
  const isEstimated = useRef(room !== null)
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    const target = element.current
    if (target === null) return
    const measure = (extra?: number): void => {
      const { top } = target.getBoundingClientRect()
      const view = { top: -top, bottom: window.innerHeight - top, rowGap }
      const newRows = visibleRows(layout, view, extra)
      setRows((before) => (before.first === newRows.first && before.last === newRows.last ? before : newRows))
    }
    // At first, the rows around the view can wait until those in view are drawn.
    if (!isFirst.current) measure()
    else if (!isEstimated.current) measure(0)
    isFirst.current = false
    // The observer calls this after the first layout, and after each one that changes the grid.
    const follow = (): void => measure()
    const observer = new ResizeObserver(follow)
    observer.observe(target)
    window.addEventListener('scroll', follow, { passive: true })
    window.addEventListener('resize', follow)
    return () => {
      observer.disconnect()
      window.removeEventListener('scroll', follow)
      window.removeEventListener('resize', follow)
    }
  }, [element, layout, rowGap])
  const last = Math.min(rows.last, Math.max(layout.rows - 1, 0))
  return { first: Math.min(rows.first, last), last }
}
