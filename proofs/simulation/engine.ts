/**
 * Time that jumps from one event to the next. Events that are due at the same moment run in the order they were
 * planned.
 */
import { must } from './violation.ts'

export type Engine = {
  /** Milliseconds since 1970. */
  now(): number
  at(time: number, what: () => void): void
  after(ms: number, what: () => void): void
  /** Runs the next event. Returns false if none is left. */
  step(): boolean
  steps(): number
  /** Must be called by everything that resumes a promise, because the next step must then wait for that promise. */
  noteResumed(): void
  /** Whether the last step resumed no promise. */
  isStill(): boolean
}

type Planned = { time: number; order: number; what: () => void }

/** `mostSteps`: fails after this many steps, to notice a run that never ends. */
export function createEngine(start: number, mostSteps: number): Engine {
  const heap: Planned[] = []
  let now = start
  let planned = 0
  let steps = 0
  let isStill = true
  const at = (time: number, what: () => void): void => {
    planned += 1
    push(heap, { time: Math.max(time, now), order: planned, what })
  }
  return {
    now: () => now,
    at,
    after: (ms, what) => at(now + ms, what),
    step() {
      const first = heap[0]
      if (first === undefined) return false
      pop(heap)
      now = first.time
      steps += 1
      isStill = true
      must(steps <= mostSteps, 'I12', () => `still busy after ${mostSteps} steps`)
      first.what()
      return true
    },
    steps: () => steps,
    noteResumed: () => {
      isStill = false
    },
    isStill: () => isStill,
  }
}

const isBefore = (one: Planned, other: Planned): boolean =>
  one.time < other.time || (one.time === other.time && one.order < other.order)

function push(heap: Planned[], entry: Planned): void {
  let index = heap.length
  heap.push(entry)
  while (index > 0) {
    const above = (index - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || isBefore(parent, entry)) break
    heap[index] = parent
    index = above
  }
  heap[index] = entry
}

function pop(heap: Planned[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let index = 0
  for (;;) {
    const left = heap[2 * index + 1]
    const right = heap[2 * index + 2]
    if (left === undefined) break
    const useRight = right !== undefined && isBefore(right, left)
    const least = useRight ? right : left
    if (!isBefore(least, last)) break
    heap[index] = least
    index = 2 * index + (useRight ? 2 : 1)
  }
  heap[index] = last
}
