/** Reports sales and balances to the till. */
import type { Money } from './market.ts'
import type { SaleRecord } from './record.ts'
import type { Till } from './till.ts'

/** How often to ask the till for its last report, even if there is no news. */
const CHECK_MS = 60_000

type ReporterParts = {
  record: Pick<SaleRecord, 'reportsAfter' | 'forget'>
  till: Pick<Till, 'lastReported' | 'report'>
  now(): Date
}

/** Returns a function that sends the new reports to the till. Each call waits for the previous one. */
export function createReporter({ record, till, now }: ReporterParts): () => Promise<void> {
  /** The number of the last log entry whose reports the till has. */
  let lastReported: number | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let previous: Promise<void> = Promise.resolve()
  /** Asks the till, because it may have been restored from a backup: it then lacks reports that it had. */
  const readLast = async (): Promise<number> => {
    const last = await till.lastReported()
    checkedAtMs = now().getTime()
    if (last === lastReported) return last
    // The till may have only a part of the last entry's reports. It ignores reports that it already has.
    return Math.max(0, last - 1)
  }
  const send = async (): Promise<void> => {
    const sinceCheckMs = now().getTime() - checkedAtMs
    const mustCheck = sinceCheckMs < 0 || sinceCheckMs >= CHECK_MS
    if (lastReported === undefined || mustCheck || record.reportsAfter(lastReported).length > 0)
      lastReported = await readLast()
    const reports = record.reportsAfter(lastReported)
    if (reports.length > 0) await till.report(reports)
    lastReported = reports.at(-1)?.n ?? lastReported
    record.forget(lastReported)
  }
  return () => {
    previous = previous.then(send, send)
    return previous
  }
}

type BalanceParts<Access> = {
  accesses: readonly Access[]
  till: Pick<Till, 'reportBalance'>
  now(): Date
}
export type ReportBalance<Access> = (access: Access, money: Money) => Promise<void>

/**
 * Reports one balance per market to the till, once the balances of all accounts there are known and in one currency.
 */
export function createBalanceReporter<Access extends { market: string }>({
  accesses,
  till,
  now,
}: BalanceParts<Access>): ReportBalance<Access> {
  const balances = new Map<Access, Money>()
  return async (access, money) => {
    balances.set(access, money)
    const { market } = access
    const latest = accesses.filter((each) => each.market === market).map((each) => balances.get(each))
    let sum: Money = { freeMinor: 0n, settlingMinor: 0n, currency: money.currency }
    for (const each of latest) {
      if (each === undefined || each.currency !== sum.currency) return
      sum = {
        ...sum,
        freeMinor: sum.freeMinor + each.freeMinor,
        settlingMinor: sum.settlingMinor + each.settlingMinor,
      }
    }
    await till.reportBalance(market, sum, now())
  }
}
