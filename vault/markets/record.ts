/** The record of sales in the vault's log, and the reports to the till that follow from it. */
import type { Key } from '../files/key.ts'
import type { VaultLog } from '../files/log.ts'
import { type Book, createFold, type DatedEntry, evolve, type Journal } from './book.ts'
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
  let reports: NumberedReport[] = []
  /** The reports up to this entry are not in `reports`. */
  let forgottenTo = 0
  const addReports = (after: Book, n: number, { at, entry }: DatedEntry): void => {
    reports.push(...reportsOf(after, entry, isBot).map((report, part) => ({ n, part, at, report })))
  }
  const readLog = (): Book => {
    reports = []
    forgottenTo = 0
    const past = createFold()
    for (const entry of log.entries()) {
      const dated = fromLog(entry, key)
      if (dated === undefined) continue
      past.add(dated)
      addReports(past.book, entry.n, dated)
    }
    return past.book
  }
  let book = readLog()
  return {
    book: () => book,
    async add(entry) {
      const { n, at } = log.add(toLog(entry, key), now())
      book = evolve(book, { at, entry })
      addReports(book, n, { at, entry })
    },
    reportsAfter(n) {
      if (n < forgottenTo) book = readLog()
      return reports.filter((each) => each.n > n)
    },
    forget(n) {
      forgottenTo = Math.max(forgottenTo, n)
      reports = reports.filter((each) => each.n > n)
    },
  }
}
