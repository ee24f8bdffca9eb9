/** Runs at most `width` tasks at a time; the others wait in order of arrival. */
export type Limiter = {
  <T>(work: () => Promise<T>): Promise<T>
  /**
   * True if `width` tasks run and `mostWaiting` others wait. Only the caller can refuse work: the limiter takes any.
   */
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
export type FairLimits = { inAll: number; ofKey: number }

/**
 * Runs at most `inAll` tasks at a time, and at most `ofKey` with the same key. Further tasks of a key wait in a queue of
 * their own, so a crowd of them does not hold up the tasks of another key.
 */
export function createFairLimiter({ inAll, ofKey }: FairLimits): FairLimiter {
  const limitedInAll = createLimiter(inAll)
  const keys = new Map<string, { limited: Limiter; tasks: number }>()
  return async (key, work) => {
    const own = keys.get(key) ?? { limited: createLimiter(ofKey), tasks: 0 }
    keys.set(key, own)
    own.tasks += 1
    try {
      return await own.limited(() => limitedInAll(work))
    } finally {
      own.tasks -= 1
      if (own.tasks === 0) keys.delete(key)
    }
  }
}
