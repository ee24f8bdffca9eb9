/** The record of sales in the vault's log, and the reports to the till that follow from it. */
import type { Key } from '../files/key.ts'
import type { VaultLog } from '../files/log.ts'
import { type Book, EMPTY_BOOK, evolve, type Journal } from './book.ts'
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
  let book: Book = EMPTY_BOOK
  let reports: NumberedReport[] = []
  /** The reports up to this entry are not in `reports`. */
  let forgottenTo = 0
  const apply = (n: number, dated: Parameters<typeof evolve>[1]): void => {
    book = evolve(book, dated)
    reports.push(
      ...reportsOf(book, dated.entry, isBot).map((report, part) => ({ n, part, at: dated.at, report })),
    )
  }
  const readLog = (): void => {
    book = EMPTY_BOOK
    reports = []
    forgottenTo = 0
    for (const entry of log.entries()) {
      const dated = fromLog(entry, key)
      if (dated !== undefined) apply(entry.n, dated)
    }
  }
  readLog()
  return {
    book: () => book,
    async add(entry) {
      const { n, at } = log.add(toLog(entry, key), now())
      apply(n, { at, entry })
    },
    reportsAfter(n) {
      if (n < forgottenTo) readLog()
      return reports.filter((each) => each.n > n)
    },
    forget(n) {
      forgottenTo = Math.max(forgottenTo, n)
      reports = reports.filter((each) => each.n > n)
    },
  }
}
