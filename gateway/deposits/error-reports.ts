/** Logs errors that pages report, in a few short lines. Anyone can send reports, which must not fill the log. */
import { type ErrorReportBody, hashSchema } from '../../contract/widget-api.ts'
import type { Log } from '../kit/log.ts'
import { scrub } from '../kit/scrub.ts'
import { plainText } from '../steam/parse.ts'

const MOST_MESSAGE_CHARACTERS = 200
const MOST_NAME_CHARACTERS = 100
/** How often a repeated error gets another line, with its count. */
const FOLD_MS = 10 * 60_000
/** The most lines for all errors together, within `LINES_WITHIN_MS`. */
const MOST_LINES = 30
const LINES_WITHIN_MS = 60 * 60_000
/** Beyond this many kinds of errors, those without a line in the last hour are forgotten. */
const MOST_KINDS = 200

/** `times`: how often the error was reported since its last line, which was written at `loggedMs`. */
type Kind = { times: number; loggedMs: number }

export type ErrorReports = (report: ErrorReportBody) => void

export function depositHashOf({ url }: Pick<ErrorReportBody, 'url'>): string | undefined {
  return hashSchema.safeParse(URL.parse(url)?.pathname.split('/').at(-1)).data
}

export function createErrorReports(log: Log, nowMs: () => number): ErrorReports {
  const kinds = new Map<string, Kind>()
  /** When the lines of the last hour were written, the oldest first. */
  const lineTimesMs: number[] = []
  let leftOut = 0

  const mayLog = (now: number): boolean => {
    while (lineTimesMs[0] !== undefined && now - lineTimesMs[0] >= LINES_WITHIN_MS) lineTimesMs.shift()
    return lineTimesMs.length < MOST_LINES
  }
  const forgetOld = (now: number): void => {
    for (const [key, { loggedMs }] of kinds) if (now - loggedMs >= LINES_WITHIN_MS) kinds.delete(key)
  }

  return (report) => {
    const now = nowMs()
    const { lineno: line } = report
    const [type, file] = [nameOf(report.type), nameOf(report.filename)]
    const key = JSON.stringify([type, file, line])
    if (!kinds.has(key) && kinds.size >= MOST_KINDS) forgetOld(now)
    const kind = kinds.get(key)
    const isFolded = kind !== undefined && now - kind.loggedMs < FOLD_MS
    if (isFolded || !mayLog(now)) {
      if (kind === undefined) leftOut += 1
      else kind.times += 1
      return
    }
    const times = (kind?.times ?? 0) + 1
    // Hide secrets first, because half a secret would not be recognised.
    const message = plainText(scrub(report.message)).slice(0, MOST_MESSAGE_CHARACTERS)
    const { empty } = report
    const fields = { times, ...(leftOut > 0 && { leftOut }), report: { type, file, line, message, empty } }
    log.info(fields, 'a page reported an error')
    lineTimesMs.push(now)
    leftOut = 0
    kinds.set(key, { times: 0, loggedMs: now })
  }
}

const nameOf = (text: string): string => plainText(scrub(text)).slice(0, MOST_NAME_CHARACTERS)
