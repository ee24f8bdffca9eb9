/** The record of sales in the vault's log, and the reports to the till that follow from it. */
import type { Key } from '../files/key.ts'
import type { VaultLog } from '../files/log.ts'
import { type Book, createFold, type DatedEntry, type Journal } from './book.ts'
import { fromLog, toLog } from './entries.ts'
import { reportsOf, type TillReport } from './reports.ts'

/** `n`: the number of the log entry. `part`: the number of the report within the entry. */
export type NumberedReport = { n: number; part: number; at: Date; report: TillReport }

export type SaleRecord = Journal & {
  /** Returns the reports of later entries, oldest first. */
  reportsAfter(n: number): readonly NumberedReport[]
  /** Drops the reports up to this entry, because the till has them. The log still has them. */
  forget(n: number): void
}

type Parts = {
  log: VaultLog
  key: Key
  now: () => Date
  /** True if the account collects deposits. */
  isBot: (account: string) => boolean
}

export function openRecord({ log, key, now, isBot }: Parts): SaleRecord {
  const readLog = (): Reading => {
    const reading = startReading(isBot)
    for (const entry of log.entries()) {
      const dated = fromLog(entry, key)
      if (dated !== undefined) reading.takeUp(entry.n, dated)
    }
    return reading
  }
  let reading = readLog()
  /** The reports up to this entry are not in `reading`. */
  let forgottenTo = 0
  return {
    book: () => reading.book,
    add(entry) {
      const { n, at } = log.add(toLog(entry, key), now())
      reading.takeUp(n, { at, entry })
    },
    reportsAfter(n) {
      if (n < forgottenTo) {
        reading = readLog()
        forgottenTo = 0
      }
      return reading.reports.filter((each) => each.n > n)
    },
    forget(n) {
      forgottenTo = Math.max(forgottenTo, n)
      reading.reports = reading.reports.filter((each) => each.n > n)
    },
  }
}

type Reading = { book: Book; reports: NumberedReport[]; takeUp(n: number, dated: DatedEntry): void }

/** `takeUp` runs for every entry of the log, so its cost must not grow with the book. */
function startReading(isBot: Parts['isBot']): Reading {
  const { book, add } = createFold()
  const reading: Reading = {
    book,
    reports: [],
    takeUp(n, dated) {
      add(dated)
      const reports = reportsOf(book, dated.entry, isBot)
      reading.reports.push(...reports.map((report, part) => ({ n, part, at: dated.at, report })))
    },
  }
  return reading
}
