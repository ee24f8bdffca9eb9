import { CURRENCIES, type Currency } from '../../../contract/money.ts'
import { amountIn, CURRENCY, limitUpTo, moment, pageBefore, STORE, text } from '../arguments.ts'
import { command, FIND, type FindFlags, SERIOUS_ACT, type SeriousFlags } from '../command.ts'
import type { Session } from '../session.ts'
import {
  moneyReportCsv,
  moneyReportLines,
  reportCsv,
  reportLines,
  statementCsv,
  statementLines,
} from '../store-lines.ts'

const ONE_STORE = { kind: 'tuple', parameters: [STORE] } as const
const MOST_LISTED = 500
const CSV = { kind: 'boolean', brief: 'as CSV', optional: true, withNegated: false } as const

type StatementFlags = FindFlags & { currency: Currency; before?: bigint; limit: number; csv?: boolean }

export const statement = command({
  does: 'list every movement of a store’s money, newest first',
  example: 'store statement 1 --currency USD --csv',
  parameters: {
    flags: {
      currency: CURRENCY,
      before: pageBefore('ENTRY'),
      limit: limitUpTo(MOST_LISTED),
      csv: { ...CSV, brief: 'all pages, as CSV; stops at 100,000 movements' },
      ...FIND,
    },
    positional: ONE_STORE,
  },
  load: async () => {
    const { exportStatement, showStatement } = await import('../../operations/store-books.ts')
    return async (session: Session, flags: StatementFlags, storeId: bigint) => {
      const { currency, before, limit, csv = false } = flags
      return (csv ? exportStatement : showStatement)(await session.findDeps(), {
        storeId,
        currency,
        before,
        limit,
      })
    }
  },
  lines: (page, { csv = false }) => (csv ? statementCsv(page) : statementLines(page)),
})

const TIME = { kind: 'parsed', parse: moment, placeholder: 'TIME' } as const

const PERIOD = {
  from: { ...TIME, brief: 'beginning of the period, such as 2026-11-01 (UTC)' },
  to: { ...TIME, brief: 'end of the period, exclusive' },
  by: { kind: 'enum', values: ['day', 'month'], brief: 'one row per day or per month', default: 'day' },
  csv: CSV,
  ...FIND,
} as const

type ReportFlags = FindFlags & { from: Date; to: Date; by: 'day' | 'month'; csv?: boolean }

export const report = command({
  does: 'report the movements of a store’s money in a period, by day or month, cause and currency, with your commission',
  example: 'store report 1 --from 2026-11-01 --to 2026-12-01 --by month --csv',
  parameters: {
    flags: PERIOD,
    positional: ONE_STORE,
  },
  load: async () => {
    const { reportStore } = await import('../../operations/store-books.ts')
    return async (session: Session, { from, to, by }: ReportFlags, storeId: bigint) =>
      reportStore(await session.findDeps(), { storeId, from, to, by })
  },
  lines: (data, { csv = false }) => (csv ? reportCsv(data) : reportLines(data)),
})

export const money = command({
  does: 'report the movements of all stores’ money in a period, as store report does for one, and of your own accounts',
  example: 'report money --from 2026-11-01 --to 2026-12-01 --by month',
  parameters: { flags: PERIOD },
  load: async () => {
    const { reportMoney } = await import('../../operations/store-books.ts')
    return async (session: Session, { from, to, by }: ReportFlags) =>
      reportMoney(await session.findDeps(), { from, to, by })
  },
  lines: (data, { csv = false }) => (csv ? moneyReportCsv(data) : moneyReportLines(data)),
})

const ADJUSTMENT = {
  currency: { kind: 'enum', values: CURRENCIES, brief: 'the currency' },
  amount: { kind: 'parsed', parse: text, brief: 'with its decimals, such as 12.50', placeholder: 'AMOUNT' },
  reference: {
    kind: 'parsed',
    parse: text,
    brief: 'your own reference, which keeps an adjustment from being recorded twice',
    placeholder: 'TEXT',
  },
} as const

type AdjustmentFlags = SeriousFlags & { currency: Currency; amount: string; reference: string }

const adjustmentOf = ({ currency, amount, reference }: AdjustmentFlags, storeId: bigint) => ({
  storeId,
  currency,
  amountMinor: amountIn(currency, amount),
  reference,
})

export const credit = command({
  does: 'credit a store with money that did not come from a deposit',
  example:
    "store credit 1 --currency USD --amount 12.50 --reference 'case 7' --reason 'items of a lost offer'",
  parameters: { flags: { ...ADJUSTMENT, ...SERIOUS_ACT }, positional: ONE_STORE },
  load: async () => {
    const { creditStore } = await import('../../operations/store-books.ts')
    return async (session: Session, flags: AdjustmentFlags, storeId: bigint) => {
      const adjustment = adjustmentOf(flags, storeId)
      return creditStore(await session.actDeps(flags), adjustment)
    }
  },
})

export const debit = command({
  does: 'take money from a store’s available balance',
  example:
    "store debit 1 --currency USD --amount 12.50 --reference 'case 8' --reason 'case 7 was credited twice'",
  parameters: {
    flags: {
      ...ADJUSTMENT,
      mayOwe: {
        kind: 'boolean',
        brief: 'take the amount even if less is available: the store owes the rest',
        optional: true,
        withNegated: false,
      },
      ...SERIOUS_ACT,
    },
    positional: ONE_STORE,
  },
  load: async () => {
    const { debitStore } = await import('../../operations/store-books.ts')
    return async (session: Session, flags: AdjustmentFlags & { mayOwe?: boolean }, storeId: bigint) => {
      const adjustment = { ...adjustmentOf(flags, storeId), mayOwe: flags.mayOwe }
      return debitStore(await session.actDeps(flags), adjustment)
    }
  },
})

export const writeOff = command({
  does: 'write off a store’s debt, at your loss',
  example: "store write-off 1 --currency USD --amount 12.50 --reference 'case 9' --reason 'it closed'",
  parameters: { flags: { ...ADJUSTMENT, ...SERIOUS_ACT }, positional: ONE_STORE },
  load: async () => {
    const { writeOffStore } = await import('../../operations/store-books.ts')
    return async (session: Session, flags: AdjustmentFlags, storeId: bigint) => {
      const adjustment = adjustmentOf(flags, storeId)
      return writeOffStore(await session.actDeps(flags), adjustment)
    }
  },
})
