/** Runs many seeds on two threads. Each thread has its own databases if the level needs them. */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LEVELS, type LevelName } from './levels.ts'
import type { Outcome } from './outcome.ts'
import { openServers } from './real/servers.ts'

/** The outcome of a seed without its trace, which only a replay prints. */
export type SeedOutcome = Omit<Outcome, 'trace'>

const THREADS = 2

type Plan = {
  level: LevelName
  /** Read one by one, as the threads need more. */
  seeds: Iterable<number>
  onOutcome(outcome: SeedOutcome): void
}

/** Runs the seeds. Resolves to the milliseconds that the seeds took, without the start of their databases. */
export async function runSeeds(plan: Plan): Promise<number> {
  const { seedsAtOnce } = LEVELS[plan.level]
  return withDatabases(plan.level === 'real' ? seedsAtOnce * THREADS : 0, async (urls) => {
    const beganMs = performance.now()
    const waiting = plan.seeds[Symbol.iterator]()
    const threads = Array.from({ length: THREADS }, (_, thread) =>
      runThread(plan, waiting, urls.slice(thread * seedsAtOnce, (thread + 1) * seedsAtOnce)),
    )
    await Promise.all(threads)
    return performance.now() - beganMs
  })
}

export async function withDatabases<T>(count: number, work: (urls: string[]) => Promise<T>): Promise<T> {
  const { urls, close } = await openServers(count)
  return work(urls).finally(close)
}

/** Gives the thread a new seed whenever it has finished one. */
function runThread({ level, onOutcome }: Plan, waiting: Iterator<number>, urls: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(join(import.meta.dirname, 'worker.ts'), { workerData: { level, urls } })
    let running = 0
    const next = (): void => {
      const { value: seed, done } = waiting.next()
      if (done !== true) {
        running += 1
        worker.postMessage(seed)
      } else if (running === 0) worker.postMessage('end')
    }
    worker.on('message', (outcome: SeedOutcome) => {
      running -= 1
      onOutcome(outcome)
      next()
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve())
    for (let index = 0; index < LEVELS[level].seedsAtOnce; index += 1) next()
  })
}
