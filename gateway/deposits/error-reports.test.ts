import { beforeEach, expect, it } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { createErrorReports, depositHashOf, type ErrorReports } from './error-reports.ts'

const HASH = 'ab'.repeat(16)
const REPORT = {
  message: 'x is not a function',
  type: 'TypeError',
  filename: '/assets/app.js',
  lineno: 7,
  empty: false,
  url: `https://till.test/deposit/${HASH}`,
}

const { log, lines } = captureLog()
let nowMs: number
let report: ErrorReports

beforeEach(() => {
  lines.length = 0
  nowMs = 0
  report = createErrorReports(log, () => nowMs)
})

const parsedLines = () => lines.map((line) => JSON.parse(line))

it('the same error from many pages gives a line at once, and then one every ten minutes, with the count', () => {
  for (let n = 0; n < 500; n += 1) report(REPORT)
  nowMs = 600_000
  report(REPORT)
  const line = {
    level: 'info',
    msg: 'a page reported an error',
    report: {
      type: 'TypeError',
      file: '/assets/app.js',
      line: 7,
      message: 'x is not a function',
      empty: false,
    },
  }
  expect(parsedLines()).toMatchObject([
    { ...line, times: 1 },
    { ...line, times: 500 },
  ])
})

it('errors of another type, file or line number get their own log lines, but errors with another message do not', () => {
  for (const other of [{ type: 'RangeError' }, { filename: '/b.js' }, { lineno: 8 }])
    report({ ...REPORT, ...other })
  report({ ...REPORT, type: 'RangeError', message: 'another text' })
  expect(lines).toHaveLength(3)
})

it('all errors together write at most thirty lines an hour; the next line says how many reports were left out', () => {
  for (let lineno = 0; lineno < 10_000; lineno += 1) report({ ...REPORT, lineno })
  expect(lines).toHaveLength(30)
  nowMs = 3_600_000
  report(REPORT)
  expect(parsedLines()[30]).toMatchObject({ leftOut: 9_970 })
  expect(lines).toHaveLength(31)
})

it('a kind of error without a line for an hour is forgotten after 200 other kinds', () => {
  report(REPORT)
  report(REPORT)
  for (let lineno = 100; lineno < 300; lineno += 1) {
    // One line in three minutes is below the limit for all errors together.
    nowMs += 180_000
    report({ ...REPORT, lineno })
  }
  report(REPORT)
  expect(parsedLines()).toHaveLength(202)
  expect(parsedLines().at(-1)).toMatchObject({ times: 1, report: { line: REPORT.lineno } })
})

it('a line is short, and no text of a report can imitate another line', () => {
  const long = `\n{"level":"fatal","msg":"ledger differs"}\u001b[31m\u009b31m${'m'.repeat(2_000)}`
  report({ ...REPORT, message: long, type: long.slice(0, 100), filename: long.slice(0, 500) })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.length).toBeLessThan(700)
  expect(lines[0]?.trimEnd()).not.toMatch(/\p{Cc}/u)
  expect(parsedLines()[0]).toMatchObject({ level: 'info', msg: 'a page reported an error' })
})

it('a secret at the end of a text is removed before the text is cut', () => {
  // Both texts are cut within the hash.
  report({ ...REPORT, message: `${'m'.repeat(180)} ${HASH}`, filename: `${'f'.repeat(80)}/${HASH}` })
  expect(lines.join('')).not.toContain('abababab')
})

it.each([
  [`https://till.test/deposit/${HASH}?x=1#y`, HASH],
  [`https://till.test/${HASH}`, HASH],
  ['https://till.test/help', undefined],
  ['no address', undefined],
])('the page %j has the deposit hash %j', (url, hash) => {
  expect(depositHashOf({ url })).toBe(hash)
})
