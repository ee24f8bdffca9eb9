/**
 * Finds the tests that a change affects: those that import a changed file, and those in e2e/ if the change is in a
 * program that they start.
 */
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

/** Sources of the processes and pages that the tests in e2e/ start, often without importing them. */
const STARTED_SOURCES =
  /^(console|contract|demo-store|embedded-postgres|gateway|market-sandbox|scripts|sdk|steam-sandbox|vault|widget)\//
const TEST_CODE = /\.test\.tsx?$|^gateway\/testing\//

export const isChangedArgument = (argument: string): boolean => /^--changed(=.+)?$/.test(argument)

/** Returns the paths of test files from the root. `argument`: `--changed` or `--changed=REF`. */
export function affectedTests(argument: string): string[] {
  const importing = JSON.parse(
    run(process.execPath, [VITEST, 'list', argument, '--filesOnly', '--json']),
  ) as { file: string }[]
  const needsBrowserTests = changedFiles(argument).some(
    (file) => STARTED_SOURCES.test(file) && !TEST_CODE.test(file),
  )
  const browser = needsBrowserTests ? globSync('e2e/*.test.ts', { cwd: ROOT }) : []
  return [...new Set([...importing.map(({ file }) => relative(ROOT, file)), ...browser])]
}

function changedFiles(argument: string): string[] {
  const [, since] = argument.split('=')
  const commands = [
    ['diff', '--name-only', 'HEAD'],
    ['ls-files', '--others', '--exclude-standard'],
    ...(since === undefined ? [] : [['diff', '--name-only', `${since}...HEAD`]]),
  ]
  return commands.flatMap((args) => run('git', args).split('\n')).filter((file) => file !== '')
}

function run(command: string, args: string[]): string {
  return execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
