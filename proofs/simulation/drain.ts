import type { Engine } from './engine.ts'

const SETTLED = Promise.resolve()

/**
 * Runs all events that the engine has planned. Each runs after all promises of the one before have settled, because a
 * microtask that schedules the next tick runs after every earlier microtask, and nothing here waits for real I/O. After
 * a step that resumed no promise, which is about every other step, the next one runs at once.
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
