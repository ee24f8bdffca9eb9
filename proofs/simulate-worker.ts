/** One of the threads of `npm run simulate`: runs the seeds that it is given, one after the other. */
import { parentPort } from 'node:worker_threads'
import { openPure } from './levels.ts'

const level = openPure()

parentPort?.on('message', async (seed: number | 'end') => {
  if (seed === 'end') {
    await level.close()
    parentPort?.close()
    return
  }
  parentPort?.postMessage(await level.run(seed, {}))
})
