/** Reports errors of the page to the server. The page ignores the answer. */
import type { ErrorReportBody } from '../contract/widget-api.ts'

/** For an error in a script of another origin, browsers give only this text: it is not worth a report. */
const CROSS_ORIGIN = /^Script error\.?$/

/** A page in trouble must not flood the server. */
const MOST_REPORTS = 20

type Uncaught = Pick<ErrorEvent, 'message' | 'filename' | 'lineno' | 'error'>
type Unhandled = Pick<PromiseRejectionEvent, 'reason'>

/** The part of the window used here. */
type Target = {
  location: { href: string }
  addEventListener(type: 'error', listener: (event: Uncaught) => void): void
  addEventListener(type: 'unhandledrejection', listener: (event: Unhandled) => void): void
}

/** Reports an error that the page caught itself, so it never reached the window. */
export type ReportCaught = (error: unknown) => void

export function reportErrors(target: Target, send: (report: ErrorReportBody) => void): ReportCaught {
  let sent = 0
  // The lengths are the limits of the contract.
  const report = (part: Omit<ErrorReportBody, 'url'>): void => {
    if (CROSS_ORIGIN.test(part.message) || sent >= MOST_REPORTS) return
    sent += 1
    send({
      ...part,
      message: part.message.slice(0, 2000),
      type: part.type.slice(0, 100),
      url: target.location.href.slice(0, 1000),
    })
  }
  target.addEventListener('error', (event) => {
    report({
      message: event.message ?? '',
      type: event.error instanceof Error ? event.error.name : 'error',
      filename: (event.filename ?? '').slice(0, 500),
      lineno: event.lineno ?? 0,
      empty: event.error === null || event.error === undefined,
    })
  })
  target.addEventListener('unhandledrejection', (event) => {
    const reason: unknown = event.reason
    report({
      message: reason instanceof Error ? reason.message : String(reason),
      type: 'unhandledrejection',
      filename: '',
      lineno: 0,
      empty: !(reason instanceof Error),
    })
  })
  return (error) => {
    const isError = error instanceof Error
    report({
      message: isError ? error.message : String(error),
      type: isError ? error.name : 'error',
      filename: '',
      lineno: 0,
      empty: !isError,
    })
  }
}
