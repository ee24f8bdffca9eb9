/**
 * `npm run bench -- start`: seconds from `npm start` until it reports that it is ready, and the gateway, the Steam
 * sandbox and the demo store answer. For an empty data folder and for an existing one (`warm`), the median of three
 * starts is compared with a limit, which is longer on a busy machine.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { eventually, isServing } from '../e2e/support/process.ts'
import { newPlace, type Place, removePlace } from '../e2e/support/till.ts'
import { type MachineSpeed, meanOf, readSpeed, stretchLimit } from '../proofs/machine.ts'
import { buildWidgetIfChanged } from '../scripts/build-pages.ts'
import { median, type Outcome } from './outcome.ts'

const LIMITS_S = { empty: 6, warm: 4 } as const
const RUNS = 3
/** The time-out of a start, generous because the machine may be busy. */
const MOST_MS = 120_000

type Kind = keyof typeof LIMITS_S
type Run = { tookS: number; machine: MachineSpeed }

export async function benchStart(): Promise<Outcome> {
  // Builds and compiles before the measurement, because that happens only once.
  await buildWidgetIfChanged()
  await inNewPlace((place) => startOnce(place))
  const runs: Record<Kind, Run[]> = { empty: [], warm: [] }
  for (let index = 0; index < RUNS; index += 1) {
    await inNewPlace(async (place) => {
      for (const kind of ['empty', 'warm'] as const) {
        const run = await measureStart(place)
        runs[kind].push(run)
        console.log(
          `${kind} ${run.tookS.toFixed(2)}s, machine ${Math.round(run.machine.speed * 100)}% of a quiet one`,
        )
      }
    })
  }
  const warm = judge('warm', runs.warm)
  const empty = judge('empty', runs.empty)
  return { ...empty, name: 'start', passed: empty.passed && warm.passed, further: [warm] }
}

async function inNewPlace(work: (place: Place) => Promise<unknown>): Promise<void> {
  const place = await newPlace()
  try {
    await work(place)
  } finally {
    removePlace(place)
  }
}

async function measureStart(place: Place): Promise<Run> {
  const before = await readSpeed()
  const tookS = await startOnce(place)
  return { tookS, machine: meanOf([before, await readSpeed()]) }
}

/** Starts everything, stops it, and resolves to the seconds until everything answered. */
async function startOnce(place: Place): Promise<number> {
  const beganMs = performance.now()
  const npm = spawn('npm', ['start'], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, ...place.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own process group, so one SIGINT reaches all its processes, like Ctrl-C in a terminal.
    detached: true,
  })
  const ended = once(npm, 'close')
  const output: string[] = []
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  try {
    await eventually('npm start is ready', () => isReady(npm.exitCode, output.join('')), MOST_MS)
    for (const url of [`${place.gateway}/healthz`, place.sandbox, place.store]) {
      if (!(await isServing(url))) throw new Error(`${url} does not answer:\n${output.join('')}`)
    }
    return (performance.now() - beganMs) / 1_000
  } finally {
    if (npm.pid !== undefined && npm.exitCode === null) process.kill(-npm.pid, 'SIGINT')
    await ended
  }
}

function isReady(exitCode: number | null, output: string): boolean {
  if (exitCode !== null) throw new Error(`npm start ended:\n${output}`)
  return output.includes('Tradetill is ready')
}

/** The median run decides. Its limit is adjusted to the machine's speed in that run. */
function judge(kind: Kind, runs: readonly Run[]): Outcome {
  const tookS = median(runs.map((run) => run.tookS))
  const speed = runs.find((run) => run.tookS === tookS)?.machine.speed ?? 1
  const limitS = stretchLimit(LIMITS_S[kind], speed)
  const limit = `<=${limitS.toFixed(1)}s`
  return {
    name: `start-${kind}`,
    ours: `${tookS.toFixed(2)}s`,
    ratio: tookS / limitS,
    limit,
    passed: tookS <= limitS,
  }
}
