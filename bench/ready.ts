/**
 * `npm run bench -- ready`: seconds from the start of a release in live mode until `/readyz` answers 200, on an
 * existing database. The median of five starts must be within a limit, which is longer on a busy machine. Also prints
 * the size of the release.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../e2e/support/process.ts'
import { cleanClone, makeRelease, serve, unlock, unpack } from '../proofs/live/release.ts'
import { meanOf, readSpeed, stretchLimit } from '../proofs/machine.ts'
import { buildConsoleIfChanged, buildWidgetIfChanged } from '../scripts/build-pages.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome } from './outcome.ts'

const LIMIT_S = 1.5
const RUNS = 5
const LOOK_EVERY_MS = 5
/** The time-out of a start, generous because the machine may be busy. */
const MOST_MS = 120_000

type ReleaseRun = { folder: string; cwd: string; env: Record<string, string>; port: number }

export async function benchReady(): Promise<Outcome> {
  await buildWidgetIfChanged()
  await buildConsoleIfChanged()
  const root = mkdtempSync(join(tmpdir(), 'tradetill-ready-'))
  chmodSync(root, 0o755)
  const unpacked = join(root, 'unpacked')
  try {
    makeRelease(cleanClone(root), join(root, 'release'))
    const name = readdirSync(join(root, 'release')).find((file) => file.endsWith('.tgz')) ?? 'none'
    const archive = join(root, 'release', name)
    const folder = unpack(archive, unpacked)
    printSizes(archive, folder)
    return await withDatabase({ fsync: true }, (url) => measure(root, folder, url))
  } finally {
    unlock(unpacked)
    rmSync(root, { recursive: true, force: true })
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

function printSizes(archive: string, folder: string): void {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((each) => each.isFile())
  const bytes = files.reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0)
  const packages = globSync('node_modules/{*,@*/*}/package.json', { cwd: folder }).length
  console.log(
    `release ${megabytes(statSync(archive).size)} packed, ${megabytes(bytes)} in ${files.length} files, ${packages} top-level packages`,
  )
}

async function measure(root: string, folder: string, url: string): Promise<Outcome> {
  const [port = 0] = await freePorts(1)
  const cwd = join(root, 'working-folder')
  // Uses a compile cache, as the service file does.
  const cache = join(root, 'cache')
  for (const each of [cwd, cache]) mkdirSync(each)
  chmodSync(cache, 0o777)
  chmodSync(cwd, 0o777)
  const env = {
    TRADETILL_MODE: 'live',
    DATABASE_URL: url,
    TRADETILL_MASTER_KEY: randomBytes(32).toString('base64'),
    TRADETILL_PUBLIC_URL: 'https://pay.example',
    TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
    TRADETILL_PORT: String(port),
    TRADETILL_PRICE_SOURCES: 'none',
    TRADETILL_DATA: join(cwd, 'data'),
    NODE_COMPILE_CACHE: cache,
  }
  const releaseRun = { folder, cwd, env, port }
  console.log(`first start, which creates the tables: ${(await secondsToReady(releaseRun)).toFixed(2)}s`)
  const runs: { tookS: number; speed: number }[] = []
  for (let index = 0; index < RUNS; index += 1) {
    const before = await readSpeed()
    const tookS = await secondsToReady(releaseRun)
    const { speed } = meanOf([before, await readSpeed()])
    runs.push({ tookS, speed })
    console.log(`ready after ${tookS.toFixed(2)}s, at ${Math.round(speed * 100)}% of a quiet machine's speed`)
  }
  const tookS = median(runs.map((run) => run.tookS))
  const limitS = stretchLimit(LIMIT_S, runs.find((run) => run.tookS === tookS)?.speed ?? 1)
  return {
    name: 'ready',
    ours: `${tookS.toFixed(2)}s`,
    ratio: tookS / limitS,
    limit: `<=${limitS.toFixed(1)}s`,
    passed: tookS <= limitS,
  }
}

/** Starts the till, stops it, and resolves to the seconds until it was ready. */
async function secondsToReady({ folder, cwd, env, port }: ReleaseRun): Promise<number> {
  const beganMs = performance.now()
  const till = serve(folder, { cwd, env })
  let isOver = false
  void till.ended.then(() => {
    isOver = true
  })
  try {
    while (!(await isReady(port))) {
      if (isOver || performance.now() - beganMs > MOST_MS)
        throw new Error(`the till was not ready:\n${till.output()}`)
      await delay(LOOK_EVERY_MS)
    }
    return (performance.now() - beganMs) / 1_000
  } finally {
    till.kill('SIGTERM')
    await till.ended
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    return false
  }
}
