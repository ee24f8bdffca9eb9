import type { Engine } from './engine.ts'

const SETTLED = Promise.resolve()

/**
 * Runs all events that the engine has planned, each after all promises of the previous event have settled. Nothing here
 * waits for real I/O, so promises settle in the queue of microtasks. Node begins the next tick only when that queue is
 * empty. A step that resumes no promise is followed immediately by the next one. Rejects with the error that `failure`
 * returns, if it returns one.
 */
export function drain(engine: Engine, failure: () => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const nextTick = () => process.nextTick(step)
    const step = () => {
      try {
        const error = failure()
        if (error !== undefined) return reject(error)
        do if (!engine.step()) return resolve()
        while (engine.isStill())
      } catch (error) {
        return reject(error)
      }
      // Costs half as much as queueMicrotask.
      SETTLED.then(nextTick)
    }
    step()
  })
}
