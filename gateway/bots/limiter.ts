/** Runs at most `width` pieces of work at a time, and the others in the order of their arrival. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

export function createLimiter(width: number): Limiter {
  const waiting: (() => void)[] = []
  let free = width
  return async (work) => {
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
}
