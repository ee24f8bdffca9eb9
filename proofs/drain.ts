import type { Engine } from './engine.ts'

/**
 * Runs everything the engine has planned. Each thing happens once all promises of the one before have settled: a
 * microtask that schedules the next tick runs after every microtask before it, and nothing here waits for the outside.
 */
export function drain(engine: Engine, failure: () => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const step = () => {
      try {
        const error = failure()
        if (error !== undefined) return reject(error)
        if (!engine.step()) return resolve()
      } catch (error) {
        return reject(error)
      }
      queueMicrotask(() => process.nextTick(step))
    }
    step()
  })
}
