/** Runs pieces of work one after the other, in the order in which they were given. */
export type Lock = <T>(work: () => Promise<T>) => Promise<T>

export function createLock(): Lock {
  let previous: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = previous.then(work)
    // The caller learns of a failure. The next work begins all the same.
    previous = result.catch(() => {})
    return result
  }
}
