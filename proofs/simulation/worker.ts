/** A thread of the simulation. Runs the seeds that it receives. */
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { realSeeds, runPureSeed } from './levels.ts'
import type { SeedOutcome } from './threads.ts'

const dataSchema = z.object({ level: z.enum(['pure', 'real']), urls: z.array(z.string()) })
const { level, urls } = dataSchema.parse(workerData)
const run = level === 'pure' ? runPureSeed : await realSeeds(urls)

parentPort?.on('message', async (seed: number | 'end') => {
  if (seed === 'end') {
    parentPort?.close()
    return
  }
  const { trace: _, ...outcome } = await run(seed)
  parentPort?.postMessage(outcome satisfies SeedOutcome)
})
