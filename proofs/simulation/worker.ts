/** A thread of the simulation: runs the seeds that it is given. */
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { realSeeds, runPureSeed } from './levels.ts'
import type { SeedOutcome } from './threads.ts'

const orders = z.object({ level: z.enum(['pure', 'real']), urls: z.array(z.string()) })
const { level, urls } = orders.parse(workerData)
const run = level === 'pure' ? runPureSeed : await realSeeds(urls)

parentPort?.on('message', async (seed: number | 'end') => {
  if (seed === 'end') {
    parentPort?.close()
    return
  }
  const outcome = await run(seed)
  const answer: SeedOutcome = { ...outcome, trace: [] }
  parentPort?.postMessage(answer)
})
