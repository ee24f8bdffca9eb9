/**
 * The speed of the machine at this moment, beside the two quiet cores that limits in seconds were set on. Such a limit
 * says nothing about a program that shares its cores with others. So the same fixed work is done just before and just
 * after a measurement, and the limit is stretched by as much as that work took longer. It is never shortened.
 */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Seconds for the work on each of two quiet cores that do it side by side. */
const QUIET_S = 0.175
const ROUNDS = 3

/** The most frequent work of a start, in a few lines: parsing, sorting, strings and hashes. */
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

/** 1 is what the quiet machine does; 0.5 takes twice as long. */
export type Machine = {
  /** All cores at once, by the clock: less while others use them, too. */
  speed: number
  /** One core, by the processor time that the work took. */
  coreSpeed: number
}

export async function readMachine(): Promise<Machine> {
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(WORK, { eval: true }))
  const work = () => Promise.all(workers.map(answerOf))
  try {
    // The first one compiles.
    await work()
    const [begin, used] = [performance.now(), process.cpuUsage()]
    for (let round = 0; round < ROUNDS; round += 1) await work()
    const tookS = (performance.now() - begin) / 1_000
    const { user, system } = process.cpuUsage(used)
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

export function meanOf(machines: readonly Machine[]): Machine {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    speed: mean(machines.map(({ speed }) => speed)),
    coreSpeed: mean(machines.map(({ coreSpeed }) => coreSpeed)),
  }
}

/** A limit of seconds as it is at this speed: longer where that is less than the quiet one, never shorter. */
export function stretched(limitS: number, speed: number): number {
  return limitS / Math.min(1, speed)
}
