/**
 * `npm test`: finds or installs Chromium, builds the widget, runs every test and closes with the line
 * `N passed, N failed`. Arguments go to Vitest (`npm test -- contract`).
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium } from './chromium.ts'
import { buildWidgetIfChanged } from './widget.ts'

/** What is read of Vitest's JSON report. */
type Report = {
  numPassedTests: number
  numFailedTests: number
  testResults: { name: string; status: string; message: string; assertionResults: { status: string }[] }[]
}

const root = join(import.meta.dirname, '..')

async function main(): Promise<number> {
  process.env.CHROMIUM_PATH = findChromium()
  await buildWidgetIfChanged()
  const folder = mkdtempSync(join(scratch(), 'tt-'))
  // As root, PostgreSQL runs as another account and must be able to pass.
  chmodSync(folder, 0o711)
  try {
    const file = join(folder, 'report.json')
    const code = await runVitest(file, folder)
    return close(readReport(file), code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const SHARED_MEMORY = '/dev/shm'
/** More than the tests fill, so that a small one in a container is left alone. */
const ROOM_BYTES = 4 * 1024 ** 3

/** Memory where there is plenty: hundreds of databases are made there, each in a tenth of the time of a disk. */
function scratch(): string {
  if (!existsSync(SHARED_MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return bavail * bsize > ROOM_BYTES ? SHARED_MEMORY : tmpdir()
}

/** `folder` takes all that the tests leave in the system's place for such things. */
function runVitest(reportFile: string, folder: string): Promise<number> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const child = spawn(process.execPath, [vitest, ...args, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: folder },
  })
  // Ctrl-C reaches Vitest by itself; its folder is removed when it has ended.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}

/** A file that failed to load has no tests of its own, so it counts as one failure. */
function close(report: Report | undefined, code: number): number {
  if (report === undefined) {
    console.log('0 passed, 1 failed')
    return 1
  }
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  for (const file of unloaded) console.log(`did not load: ${file.name}: ${file.message}`)
  const known = report.numFailedTests + unloaded.length
  const failed = code !== 0 && known === 0 ? 1 : known
  console.log(`${report.numPassedTests} passed, ${failed} failed`)
  return failed > 0 || report.numPassedTests === 0 ? 1 : 0
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  console.log('0 passed, 1 failed')
  return 1
})
