/** Runs at most `width` pieces of work at a time, the rest in the order of their arrival. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>

export function createLane(width: number): Lane {
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
