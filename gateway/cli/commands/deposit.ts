import { buildRouteMap } from '@stricli/core'
import { GAMES, type Game } from '../../../contract/games.ts'
import { CURRENCIES, type Currency } from '../../../contract/money.ts'
import { DEPOSIT_STATUSES, type DepositStatus } from '../../../contract/statuses.ts'
import { DEPOSIT_ORDERS, type DepositOrder } from '../../operations/deposit-orders.ts'
import { amountIn, id, limitUpTo, moment, pageBefore, STORE, steamId, text } from '../arguments.ts'
import { command, FIND, type FindFlags, SERIOUS_ACT, type SeriousFlags } from '../command.ts'
import { depositCsv, depositLines, depositListLines } from '../deposit-lines.ts'
import type { Session } from '../session.ts'
import { Refusal } from '../terminal.ts'

const DEPOSIT = { parse: id, brief: 'the number of the deposit', placeholder: 'DEPOSIT' } as const

const show = command({
  does: 'show everything about a deposit, its next step, and what you can do',
  example: 'deposit show 1001',
  parameters: { flags: FIND, positional: { kind: 'tuple', parameters: [DEPOSIT] } },
  load: async () => {
    const { showDeposit } = await import('../../operations/deposits.ts')
    return async (session: Session, _flags: FindFlags, depositId: bigint) =>
      showDeposit(await session.findDeps(), depositId)
  },
  lines: depositLines,
})

const MOST_LISTED = 500
const AMOUNT = { kind: 'parsed', parse: text, placeholder: 'AMOUNT', optional: true } as const
const TIME = { kind: 'parsed', parse: moment, placeholder: 'TIME', optional: true } as const

type ListFlags = FindFlags & {
  store?: bigint
  status?: DepositStatus
  shopper?: string
  from?: Date
  to?: Date
  amountFrom?: string
  amountTo?: string
  currency?: Currency
  game?: Game
  needsPerson?: boolean
  order?: DepositOrder
  before?: bigint
  limit: number
  csv?: boolean
}

const list = command({
  does: 'list deposits, by default of all stores and newest first',
  example: 'deposit list --store 1 --status succeeded --from 2026-11-01 --to 2026-12-01 --csv',
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed', optional: true },
      status: {
        kind: 'enum',
        values: DEPOSIT_STATUSES,
        brief: 'only deposits with this status',
        optional: true,
      },
      shopper: {
        kind: 'parsed',
        parse: steamId,
        brief: 'only deposits of this Steam account',
        placeholder: 'STEAM_ID',
        optional: true,
      },
      from: { ...TIME, brief: 'only deposits opened since this time, such as 2026-11-01' },
      to: { ...TIME, brief: 'only deposits opened before this time' },
      amountFrom: {
        ...AMOUNT,
        brief: 'only deposits whose credit is at least this amount; needs --currency',
      },
      amountTo: { ...AMOUNT, brief: 'only deposits whose credit is at most this amount; needs --currency' },
      currency: { kind: 'enum', values: CURRENCIES, brief: 'only deposits in this currency', optional: true },
      game: { kind: 'enum', values: GAMES, brief: 'only deposits with a trade of this game', optional: true },
      needsPerson: {
        kind: 'boolean',
        brief: 'only deposits that wait for you',
        optional: true,
        withNegated: false,
      },
      order: {
        kind: 'enum',
        values: DEPOSIT_ORDERS,
        brief: 'by creation time, or by credit, which needs --currency; default: newest',
        optional: true,
      },
      before: pageBefore('DEPOSIT'),
      limit: limitUpTo(MOST_LISTED),
      csv: {
        kind: 'boolean',
        brief: 'all pages, as CSV; stops at 100,000 deposits',
        optional: true,
        withNegated: false,
      },
      ...FIND,
    },
  },
  load: async () => {
    const { exportDeposits, listDeposits } = await import('../../operations/deposit-list.ts')
    return async (session: Session, { csv = false, ...flags }: ListFlags) => {
      const filter = filterOf(flags)
      return (csv ? exportDeposits : listDeposits)(await session.findDeps(), filter)
    }
  },
  lines: (page, { csv = false }) => (csv ? depositCsv(page) : depositListLines(page)),
})

function filterOf({ store, shopper, amountFrom, amountTo, currency, ...rest }: Omit<ListFlags, 'csv'>) {
  const amount = (typed: string | undefined, option: string) => {
    if (typed === undefined) return undefined
    if (currency === undefined) throw new Refusal('usage', 'An amount needs --currency.')
    return amountIn(currency, typed, option)
  }
  const range = {
    leastMinor: amount(amountFrom, '--amount-from'),
    mostMinor: amount(amountTo, '--amount-to'),
  }
  return { ...rest, ...range, storeId: store, steamId: shopper, currency }
}

const hold = command({
  does: 'hold all credit of a deposit until its shopper can no longer take the items back; only before an offer is made',
  example: "deposit hold 1001 --reason 'its shopper took items back before'",
  parameters: { flags: SERIOUS_ACT, positional: { kind: 'tuple', parameters: [DEPOSIT] } },
  load: async () => {
    const { holdDeposit } = await import('../../operations/deposits.ts')
    return async (session: Session, flags: SeriousFlags, depositId: bigint) =>
      holdDeposit(await session.actDeps(flags), depositId)
  },
})

const release = command({
  does: 'release the held credit of a deposit before Steam’s protection ends; the credit is at risk until then',
  example: "deposit release 1001 --reason 'a shopper for many years'",
  parameters: { flags: SERIOUS_ACT, positional: { kind: 'tuple', parameters: [DEPOSIT] } },
  load: async () => {
    const { releaseDeposit } = await import('../../operations/early-release.ts')
    return async (session: Session, flags: SeriousFlags, depositId: bigint) =>
      releaseDeposit(await session.actDeps(flags), { depositId })
  },
})

export const deposit = buildRouteMap({
  routes: { show, list, hold, release },
  docs: { brief: 'deposits of shoppers' },
})
