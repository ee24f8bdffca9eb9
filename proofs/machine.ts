/**
 * The machine's speed now, compared with the two quiet cores on which the limits of benchmarks and proofs were
 * measured. A limit in seconds means little for a program that shares its cores. So the same fixed work runs right
 * before and after a measurement, and the limit grows in proportion to the time that this work took.
 */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Seconds that the work takes on each of two quiet cores at the same time. */
const QUIET_S = 0.175
/** How many times `readSpeed` repeats the work that it measures. */
const ROUNDS = 3

/** Work similar to that of a gateway's start: parsing, sorting, strings and hashes. */
const WORK = `
  const { createHash } = require('node:crypto')
  const { parentPort } = require('node:worker_threads')
  const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: 'item ' + ((id * 7919) % 2_003), price: id * 31 }))
  const work = () => {
    let hash = ''
    for (let round = 0; round < 60; round += 1) {
      const copy = JSON.parse(JSON.stringify(rows))
      copy.sort((a, b) => (a.name < b.name ? -1 : 1))
      hash = createHash('sha256').update(hash + copy.map(({ name }) => name.toUpperCase()).join()).digest('hex')
    }
    return hash
  }
  parentPort.on('message', () => parentPort.postMessage(work()))
`

/** Speeds relative to the quiet machine: 1 is equal, 0.5 takes twice as long. */
export type MachineSpeed = {
  /** All cores at once, by the wall clock. Lower while other programs use them. */
  speed: number
  /** One core, by the processor time of the work. */
  coreSpeed: number
}

export async function readSpeed(): Promise<MachineSpeed> {
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(WORK, { eval: true }))
  const work = () => Promise.all(workers.map(answerOf))
  try {
    // The first run compiles the code.
    await work()
    const [beganMs, cpuBefore] = [performance.now(), process.cpuUsage()]
    for (let round = 0; round < ROUNDS; round += 1) await work()
    const tookS = (performance.now() - beganMs) / 1_000
    const { user, system } = process.cpuUsage(cpuBefore)
    const cpuS = (user + system) / 1_000_000 / workers.length
    return { speed: (QUIET_S * ROUNDS) / tookS, coreSpeed: (QUIET_S * ROUNDS) / cpuS }
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

async function answerOf(worker: Worker): Promise<void> {
  worker.postMessage('work')
  await once(worker, 'message')
}

export function meanOf(speeds: readonly MachineSpeed[]): MachineSpeed {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    speed: mean(speeds.map(({ speed }) => speed)),
    coreSpeed: mean(speeds.map(({ coreSpeed }) => coreSpeed)),
  }
}

/** Returns a limit of time for this speed, in the unit of `limit`: longer on a slower machine, never shorter. */
export function stretchLimit(limit: number, speed: number): number {
  return limit / Math.min(1, speed)
}
