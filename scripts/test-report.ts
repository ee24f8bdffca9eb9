/**
 * The output of `npm test`: a line for each finished file, and at the end the slowest files, and each failure with the
 * command that runs it alone.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { DefaultReporter, type TestCase, type TestModule, type TestSpecification } from 'vitest/node'
import { counted } from '../gateway/kit/counted.ts'
import { failureFolder } from '../gateway/testing/evidence.ts'

/**
 * The result of a run, for the process that started it. `failed` also counts files that failed outside of their tests,
 * and errors outside of every test.
 */
export type RunResult = { passed: number; failed: number }

const ROOT = join(import.meta.dirname, '..')
const SLOWEST = 10
/** The most characters of a failure in the summary. The whole text is above it and in the failure's folder. */
const MOST_CHARACTERS = 400

const pathOf = ({ moduleId }: TestModule): string => relative(ROOT, moduleId).replaceAll('\\', '/')
const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`.padStart(8)
const durationMs = (module: TestModule): number => {
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  return duration + collectDuration + setupDuration
}

/** Quotes a text for a shell. In single quotes only the quote itself is special. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
/** Escapes a text for `-t`, which expects a regular expression. */
const escapePattern = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')

/** Returns the message of an error on one line, for a reader who sees only the end of the output. */
const inOneLine = (message: string): string =>
  stripVTControlCharacters(message).replace(/\s+/g, ' ').trim().slice(0, MOST_CHARACTERS)

/** Returns errors outside any test: of a file that does not load, or of a suite's failed hook. */
const errorsOutside = (module: TestModule): string[] =>
  [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())].map(
    ({ message }) => message,
  )

export default class TestReport extends DefaultReporter {
  #files = 0
  #done = 0

  constructor() {
    // Leaves out Vitest's moving summary, because the lines below show the same and stay visible.
    super({ summary: false })
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications)
    this.#files = specifications.length
  }

  protected override printTestModule(module: TestModule): void {
    this.#done += 1
    const tests = [...module.children.allTests()]
    const failed = tests.filter((test) => test.result().state === 'failed')
    const isRed = failed.length > 0 || !module.ok()
    const place = `${String(this.#done).padStart(4)}/${this.#files}`
    this.log(
      `${place} ${isRed ? '✗' : '✓'} ${formatSeconds(durationMs(module))}  ${pathOf(module)} (${counted(tests.length, 'test')})`,
    )
    for (const test of failed) this.log(`           ✗ ${test.fullName}`)
  }

  override onTestRunEnd(...[modules, errors, reason]: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(modules, errors, reason)
    this.#printSlowest(modules)
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const failed = tests.filter((test) => test.result().state === 'failed')
    const broken = modules.filter((module) => errorsOutside(module).length > 0)
    for (const module of broken) {
      this.log(`\nThe file failed outside of its tests: ${pathOf(module)}`)
      for (const message of errorsOutside(module)) this.log(`  ${inOneLine(message)}`)
      this.log(`  npm test -- ${pathOf(module)}`)
    }
    for (const { message } of errors) this.log(`\nAn error outside of every test: ${inOneLine(message)}`)
    for (const test of failed) this.#printFailure(test)
    const passed = tests.filter((test) => test.result().state === 'passed').length
    const result: RunResult = { passed, failed: failed.length + broken.length + errors.length }
    const file = process.env.TEST_RESULT_FILE
    if (file !== undefined) writeFileSync(file, JSON.stringify(result))
  }

  #printSlowest(modules: readonly TestModule[]): void {
    const slowest = [...modules].sort((one, other) => durationMs(other) - durationMs(one)).slice(0, SLOWEST)
    this.log('\nSlowest files')
    for (const module of slowest) this.log(`${formatSeconds(durationMs(module))}  ${pathOf(module)}`)
  }

  /** Prints where the test failed, how to run it alone, and where its picture and logs are. */
  #printFailure(test: TestCase): void {
    const file = pathOf(test.module)
    const command = `npm test -- ${file} -t ${quote(escapePattern(test.name))}`
    const names = test.fullName.split(' > ')
    const folder = failureFolder(test.module.moduleId, names)
    const hadEvidence = existsSync(folder)
    mkdirSync(folder, { recursive: true })
    const errors = test.result().errors ?? []
    const stacks = errors.map(({ stack, message }) => stack ?? message).join('\n\n')
    writeFileSync(join(folder, 'failure.txt'), `${file}\n${test.fullName}\n\n${command}\n\n${stacks}\n`)
    this.log(`\n✗ ${test.fullName}`)
    for (const { message } of errors) this.log(`  ${inOneLine(message)}`)
    this.log(`  ${command}`)
    this.log(`  ${relative(ROOT, folder)}${hadEvidence ? ' (its logs and pictures too)' : ''}`)
  }
}
