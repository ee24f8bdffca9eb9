import type { Engine } from './engine.ts'

const SETTLED = Promise.resolve()

/**
 * Runs everything the engine has planned. Each thing happens once all promises of the one before have settled: a
 * microtask that schedules the next tick runs after every microtask before it, and nothing here waits for the outside.
 * A step that let no promise go on, about every other, is followed by the next one at once.
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
      // Half the price of queueMicrotask.
      SETTLED.then(nextTick)
    }
    step()
  })
}
