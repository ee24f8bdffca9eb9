/**
 * `npm test`: finds or installs Chromium, builds the widget, runs every test and closes with the line
 * `N passed, N failed`. Arguments go to Vitest (`npm test -- contract`).
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
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
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-report-'))
  try {
    const file = join(folder, 'report.json')
    const code = await runVitest(file)
    return close(readReport(file), code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runVitest(reportFile: string): Promise<number> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const child = spawn(process.execPath, [vitest, ...args, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  })
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
