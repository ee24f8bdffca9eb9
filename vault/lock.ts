/** Runs pieces of work one after the other, in the order in which they were given. */
export type Lock = <T>(work: () => Promise<T>) => Promise<T>

export function createLock(): Lock {
  let before: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = before.then(work)
    // The caller learns of a failure. The next work begins all the same.
    before = result.catch(() => {})
    return result
  }
}
