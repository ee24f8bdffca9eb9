/** Runs at most `width` tasks at a time; the others wait in order of arrival. */
export type Limiter = {
  <T>(work: () => Promise<T>): Promise<T>
  /** True if `width` tasks run and `mostWaiting` others wait. Only the caller can refuse work: the limiter takes any. */
  isFull(): boolean
}

export function createLimiter(width: number, mostWaiting = Number.POSITIVE_INFINITY): Limiter {
  const waiting: (() => void)[] = []
  let free = width
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (free === 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      await promise
    } else {
      free -= 1
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
  return Object.assign(run, { isFull: () => free === 0 && waiting.length >= mostWaiting })
}

export type FairLimiter = <T>(key: string, work: () => Promise<T>) => Promise<T>
type FairLimits = { inAll: number; ofKey: number }

/**
 * Runs at most `inAll` tasks at a time, and at most `ofKey` with the same key. Of the waiting tasks that may run, the
 * one that came first begins.
 */
export function createFairLimiter({ inAll, ofKey }: FairLimits): FairLimiter {
  const waiting: { key: string; begin: () => void }[] = []
  const running = new Map<string, number>()
  let free = inAll
  const beginNext = (): void => {
    const at = free === 0 ? -1 : waiting.findIndex(({ key }) => (running.get(key) ?? 0) < ofKey)
    const [next] = at < 0 ? [] : waiting.splice(at, 1)
    if (next === undefined) return
    free -= 1
    running.set(next.key, (running.get(next.key) ?? 0) + 1)
    next.begin()
  }
  const end = (key: string): void => {
    free += 1
    const left = (running.get(key) ?? 1) - 1
    if (left > 0) running.set(key, left)
    else running.delete(key)
    beginNext()
  }
  return async (key, work) => {
    const { promise, resolve: begin } = Promise.withResolvers<void>()
    waiting.push({ key, begin })
    beginNext()
    await promise
    try {
      return await work()
    } finally {
      end(key)
    }
  }
}
