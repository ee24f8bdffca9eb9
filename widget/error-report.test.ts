import { expect, it } from 'vitest'
import type { ErrorReportBody } from '../contract/widget-api.ts'
import { reportErrors } from './error-report.ts'

/** The fields of error and rejection events. */
type ErrorFields = { message: string; filename: string; lineno: number; error: unknown; reason: unknown }

/** Reports the errors of a stand-in for the window. `fire` sends it an event. */
function startReporting() {
  const listeners = new Map<string, (event: ErrorFields) => void>()
  const sent: ErrorReportBody[] = []
  const target = {
    location: { href: `https://till.example/${'a'.repeat(2000)}` },
    addEventListener: (type: string, listener: (event: ErrorFields) => void) => listeners.set(type, listener),
  }
  const reportCaught = reportErrors(target, (report) => sent.push(report))
  const fire = (type: string, parts: Partial<ErrorFields>): void => {
    listeners.get(type)?.({
      message: '',
      filename: '',
      lineno: 0,
      error: undefined,
      reason: undefined,
      ...parts,
    })
  }
  return { sent, fire, reportCaught }
}

it('A-104 an uncaught error is reported with its file, its line and the page', () => {
  const { sent, fire } = startReporting()
  fire('error', { message: 'boom', filename: '/a.js', lineno: 7, error: new RangeError('boom') })
  expect(sent).toMatchObject([
    { message: 'boom', type: 'RangeError', filename: '/a.js', lineno: 7, empty: false },
  ])
  expect(sent[0]?.url).toMatch(/^https:\/\/till\.example\/a+$/)
})

it('A-104 an unhandled rejection is reported', () => {
  const { sent, fire } = startReporting()
  fire('unhandledrejection', { reason: new Error('lost') })
  fire('unhandledrejection', { reason: 'word' })
  expect(sent).toMatchObject([
    { message: 'lost', type: 'unhandledrejection', empty: false },
    { message: 'word', type: 'unhandledrejection', empty: true },
  ])
})

it('A-104 a crash that the page caught is reported like an uncaught error', () => {
  const { sent, reportCaught } = startReporting()
  reportCaught(new TypeError('no text'))
  reportCaught('word')
  expect(sent).toMatchObject([
    { message: 'no text', type: 'TypeError', filename: '', lineno: 0, empty: false },
    { message: 'word', type: 'error', empty: true },
  ])
})

it('D-22 an event without an error object is reported as empty', () => {
  const { sent, fire } = startReporting()
  fire('error', { message: '', error: null })
  expect(sent).toMatchObject([{ message: '', type: 'error', filename: '', lineno: 0, empty: true }])
})

it.each(['Script error.', 'Script error'])('A-104 %j from another origin is skipped', (message) => {
  const { sent, fire } = startReporting()
  fire('error', { message, error: null })
  expect(sent).toEqual([])
})

it('at most 20 reports are sent, each cut to the size that the server accepts', () => {
  const { sent, fire } = startReporting()
  for (let n = 0; n < 50; n += 1) {
    const error = Object.assign(new Error('x'), { name: 'n'.repeat(5000) })
    fire('error', { message: 'm'.repeat(5000), filename: 'f'.repeat(5000), lineno: 1, error })
  }
  expect(sent).toHaveLength(20)
  expect(sent[0]?.message).toHaveLength(2000)
  expect(sent[0]?.type).toHaveLength(100)
  expect(sent[0]?.filename).toHaveLength(500)
  expect(sent[0]?.url).toHaveLength(1000)
})
