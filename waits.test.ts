/** Finds tests that are skipped, that depend on time, or that can make another test fail. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = import.meta.dirname

const tests = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.test.ts', '*.test.tsx'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

/** Some words are split, so this file does not match itself. */
const SKIPS_OR_SLEEPS = new RegExp(
  [
    '\\b(?:it|test|describe)(?:\\.\\w+)*\\.(?:skip|todo|only|fixme|skipIf|runIf)\\b',
    'setTime' + 'out\\(',
    // A wait under another name.
    'setTime' + 'out(?: as\\b|:)',
    'waitFor' + 'Timeout',
    '\\bsle' + 'ep\\(',
  ].join('|'),
)

/** The only allowed import from Node's promise timers: it waits for no fixed time. */
const NEXT_TURN = /^import \{ setImmediate(?: as \w+)? \} from 'node:timers\/promises'$/gm
const TIMERS = 'timers/' + 'promises'

const skipsOrSleeps = (text: string): boolean =>
  SKIPS_OR_SLEEPS.test(text) || text.replaceAll(NEXT_TURN, '').includes(TIMERS)

/** Methods of Playwright's locators and pages that do not wait for an expected state. */
const LOOKS =
  'count|is[A-Z][a-z]+|textContent|innerText|allTextContents|allInnerTexts|inputValue|getAttribute|evaluate|evaluateAll'
const LOOKS_ONCE = new RegExp(`expect\\(\\s*await (?:(?!\\bawait\\b)[^;])*?\\.(?:${LOOKS})\\(`)
const IS_ABSENT = /\)\.toBe\((?:0|false)\)/

/** Splits a text into statements by their first words, because the project writes no semicolons. */
const statements = (text: string): string[] =>
  text.split(/\n(?=\s*(?:await|expect|const|let|for|if|test|it|return)\b)/)

describe('tests', () => {
  it('are never skipped, and never wait for a fixed time', () => {
    expect(tests.filter(({ text }) => skipsOrSleeps(text)).map(({ file }) => file)).toEqual([])
  })

  it.each([
    `import { setTime${'out'} as delay } from 'node:${TIMERS}'`,
    `import { scheduler } from 'node:${TIMERS}'`,
    `const { setTime${'out'}: delay } = timers`,
    `await import('${TIMERS}')`,
    `setTime${'out'}(resolve, 5)`,
    ['it.concurrent', 'skip("later", () => {})'].join('.'),
    ['test', 'skipIf(isSlow)("later", () => {})'].join('.'),
  ])('that skip or wait are found: %s', (line) => {
    expect(skipsOrSleeps(line)).toBe(true)
  })

  it.each([
    `import { setImmediate as nextTurn } from 'node:${TIMERS}'`,
    `vi.useFakeTimers({ toFake: ['setTime${'out'}'] })`,
  ])('that do neither are accepted: %s', (line) => {
    expect(skipsOrSleeps(line)).toBe(false)
  })

  it('open no pool directly: an error of a pool without listeners would fail another test', () => {
    const opensPool = new RegExp('new pg\\.Po' + 'ol\\(')
    expect(tests.filter(({ text }) => opensPool.test(text)).map(({ file }) => file)).toEqual([])
  })

  it('of a page wait until it shows the expected state; only an absence may be read immediately', () => {
    const broken = tests
      .filter(({ file }) => file.startsWith('e2e/'))
      .flatMap(({ file, text }) =>
        statements(text)
          .filter((statement) => LOOKS_ONCE.test(statement) && !IS_ABSENT.test(statement))
          .map((statement) => `${file}: ${statement.trim()}`),
      )
    expect(broken).toEqual([])
  })
})
