/**
 * `npm test`: builds the widget and the console, runs every test and closes with the line `N passed, N failed`. The
 * set-up of `e2e/` finds or installs Chromium while the other tests run. `npm test -- contract` runs the test files
 * whose path matches. `npm test -- --changed` runs those that the uncommitted changes affect, and `--changed=REF` also
 * those that the commits since REF affect. Other arguments go to Vitest.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FAILURES } from '../gateway/testing/evidence.ts'
import { buildConsoleIfChanged, buildWidgetIfChanged } from './build-pages.ts'
import { affectedTests, isChangedArgument } from './changed.ts'
import { NOT_RUN_HERE } from './not-run-here.ts'
import { whyRefused } from './test-arguments.ts'
import type { RunResult } from './test-report.ts'

const ROOT = join(import.meta.dirname, '..')
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

async function main(args: string[]): Promise<number> {
  const refused = whyRefused(args)
  if (refused !== null) throw new Error(refused)
  const changed = args.find(isChangedArgument)
  const affected = changed === undefined ? [] : affectedTests(changed)
  if (changed !== undefined && affected.length === 0) {
    console.log('The changes touch no test.\n0 passed, 0 failed')
    return 0
  }
  await Promise.all([buildWidgetIfChanged(), buildConsoleIfChanged()])
  rmSync(FAILURES, { recursive: true, force: true })
  const folder = mkdtempSync(join(scratchRoot(), 'tt-'))
  // If root runs this, PostgreSQL runs as another account, which must be able to reach the folder.
  chmodSync(folder, 0o711)
  try {
    const file = join(folder, 'result.json')
    const rest = args.filter((argument) => argument !== changed)
    const code = await runVitest([...affected, ...rest], { TMPDIR: folder, TEST_RESULT_FILE: file })
    printOtherCommands(args.length > 0)
    return printTotals(readResult(file), code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const SHARED_MEMORY = '/dev/shm'
/** The least free space of a memory disk, more than the tests need. A smaller disk, as in a container, is not used. */
const ROOM_BYTES = 4 * 1024 ** 3

/**
 * Returns the folder for scratch files: in memory, if there is enough, because databases are created ten times faster
 * there.
 */
function scratchRoot(): string {
  if (!existsSync(SHARED_MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return bavail * bsize > ROOM_BYTES ? SHARED_MEMORY : tmpdir()
}

/** Runs Vitest with TMPDIR set to the scratch folder, so all temporary files of the tests go there. */
function runVitest(args: string[], env: Record<string, string>): Promise<number> {
  const reporter = join(import.meta.dirname, 'test-report.ts')
  const child = spawn(process.execPath, [VITEST, 'run', `--reporter=${reporter}`, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  // Ctrl-C in a terminal reaches Vitest too. Remove its folder only after it has ended.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

function printOtherCommands(isPart: boolean): void {
  if (isPart) {
    console.log('\nOnly a part was run. Everything: npm test')
    return
  }
  console.log('\nNot run here')
  const width = Math.max(...NOT_RUN_HERE.map(({ what }) => what.length))
  for (const { what, command } of NOT_RUN_HERE) console.log(`  ${what.padEnd(width)}  ${command}`)
}

function readResult(file: string): RunResult | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunResult
  } catch {
    return undefined
  }
}

function printTotals(result: RunResult | undefined, code: number): number {
  const { passed, failed } = result ?? { passed: 0, failed: 1 }
  // Vitest can fail without a failed test, such as in a set-up or at an unknown option.
  const failures = failed === 0 && (code !== 0 || passed === 0) ? 1 : failed
  console.log(`\n${passed} passed, ${failures} failed`)
  return failures > 0 ? 1 : 0
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  console.log('0 passed, 1 failed')
  return 1
})
