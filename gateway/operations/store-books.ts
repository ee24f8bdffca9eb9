import type { Currency } from '../../contract/money.ts'
import type { Statement } from '../../contract/store-api.ts'
import type { Tx } from '../db/client.ts'
import { inSnapshot } from '../db/transaction.ts'
import { recordAdjustment } from '../ledger/adjustment.ts'
import type { AdjustmentKind } from '../ledger/entry.ts'
import { readStatement } from '../stores/balance-store.ts'
import {
  type BalanceAt,
  balancesAt,
  type OwnRow,
  type ReportFilter,
  type ReportRow,
  readOwnChanges,
  readReport,
} from '../stores/report-store.ts'
import { act } from './act.ts'
import { formatAmount } from './amount.ts'
import { refuseMovement } from './movement.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'
import { findStore } from './store.ts'
import { noStore } from './store-check.ts'

export type StatementPage = {
  currency: Currency
  movements: {
    entryId: string
    at: string
    cause: Statement['movements'][number]['cause']
    depositId: string | null
    reference: string | null
    heldMinor: number
    availableMinor: number
  }[]
  /** The `before` of the next page; null on the last page. */
  next: bigint | null
}

type StatementFilter = { storeId: bigint; currency: Currency; before?: bigint | undefined; limit: number }

/** Returns a page of the movements of a store's money in a currency, newest first. */
export async function showStatement(
  { db }: FindDeps,
  { storeId, currency, before, limit }: StatementFilter,
): Promise<Answer<StatementPage>> {
  if ((await findStore(db, storeId)) === undefined) return noStore(storeId)
  // Like the store API, `readStatement` calls this cursor `after`, because a page continues after that entry.
  const after = before === undefined ? undefined : String(before)
  const { movements, next } = await readStatement(db, storeId, { currency, after, limit })
  return done({
    currency,
    movements: movements.map(({ id, at, cause, depositId, payoutReference, held, available }) => ({
      entryId: id,
      at,
      cause,
      depositId,
      reference: payoutReference,
      heldMinor: held,
      availableMinor: available,
    })),
    next: next === null ? null : BigInt(next),
  })
}

/** The whole export is in memory at once. */
const MOST_EXPORTED = 100_000
/** How many movements an export reads at a time. */
const PAGE = 500

/** Ignores `limit`: returns all pages together. Stops after `MOST_EXPORTED` movements, and says where to continue. */
export async function exportStatement(
  deps: FindDeps,
  filter: StatementFilter,
): Promise<Answer<StatementPage>> {
  const movements: StatementPage['movements'] = []
  for (let before = filter.before; ; ) {
    const answer = await showStatement(deps, { ...filter, before, limit: PAGE })
    if (answer.kind === 'refused') return answer
    movements.push(...answer.data.movements)
    const { next, currency } = answer.data
    if (next === null) return done({ currency, movements, next })
    if (movements.length >= MOST_EXPORTED) {
      const message = `Exported only the first ${movements.length} movements. Continue with --before ${next}.`
      return { kind: 'refused', refusal: 'conflict', message, data: { currency, movements, next } }
    }
    before = next
  }
}

/** `opening` and `closing`: balances at the beginning and the end of the period. */
export type StoreReport = { storeId: bigint; rows: ReportRow[]; opening: BalanceAt[]; closing: BalanceAt[] }

const LONGEST_REPORT_MS = 400 * 86_400_000

type OneStore = ReportFilter & { storeId: bigint }

export async function reportStore({ db }: FindDeps, filter: OneStore): Promise<Answer<StoreReport>> {
  const { storeId } = filter
  if (!isPeriod(filter)) return NO_PERIOD
  if ((await findStore(db, storeId)) === undefined) return noStore(storeId)
  return done({ storeId, ...(await inSnapshot(db, (tx) => booksOf(tx, filter))) })
}

/** The sum of all stores' reports. `own`: how the operator's own accounts changed. */
export type MoneyReport = Omit<StoreReport, 'storeId'> & { own: OwnRow[] }

export async function reportMoney(
  { db }: FindDeps,
  period: Omit<ReportFilter, 'storeId'>,
): Promise<Answer<MoneyReport>> {
  if (!isPeriod(period)) return NO_PERIOD
  const report = await inSnapshot(db, async (tx) => ({
    ...(await booksOf(tx, { ...period, storeId: null })),
    own: await readOwnChanges(tx, period),
  }))
  return done(report)
}

function isPeriod({ from, to }: Pick<ReportFilter, 'from' | 'to'>): boolean {
  const spanMs = to.getTime() - from.getTime()
  return spanMs > 0 && spanMs <= LONGEST_REPORT_MS
}

const NO_PERIOD = refused('usage', 'The period must be at most 400 days and end after it begins.')

/** Needs a snapshot: otherwise money that moves meanwhile would be in one part and not in another. */
async function booksOf(tx: Tx, filter: ReportFilter): Promise<Omit<StoreReport, 'storeId'>> {
  const { storeId, from, to } = filter
  return {
    rows: await readReport(tx, filter),
    opening: await balancesAt(tx, storeId, from),
    closing: await balancesAt(tx, storeId, to),
  }
}

export type AdjustedStore = {
  adjustmentId: bigint
  storeId: bigint
  kind: AdjustmentKind
  amountMinor: bigint
  currency: Currency
  reference: string
}

type AdjustmentRequest = {
  storeId: bigint
  currency: Currency
  amountMinor: bigint
  reference: string
  mayOwe?: boolean | undefined
}

/** Credits a store with money that did not come from a deposit. */
export const creditStore = (deps: ActDeps, request: AdjustmentRequest) => adjust(deps, 'credit', request)
/** Takes money from a store's available balance. With `mayOwe`, the balance is allowed to become negative. */
export const debitStore = (deps: ActDeps, request: AdjustmentRequest) => adjust(deps, 'debit', request)
/** Writes off a store's debt, at the operator's loss. */
export const writeOffStore = (deps: ActDeps, request: AdjustmentRequest) => adjust(deps, 'write_off', request)

const ACT_NAMES: Record<AdjustmentKind, string> = {
  credit: 'store credit',
  debit: 'store debit',
  write_off: 'store write-off',
}

function adjust(
  deps: ActDeps,
  kind: AdjustmentKind,
  request: AdjustmentRequest,
): Promise<Answer<AdjustedStore>> {
  const { storeId, currency, amountMinor, reference, mayOwe = false } = request
  const namedAct = {
    name: ACT_NAMES[kind],
    needsReason: true,
    argumentsOf: (adjusted: AdjustedStore) => ({ ...adjusted }),
    secondOperator: { input: () => ({ ...request }), amountMoved: () => ({ amountMinor, currency }) },
  }
  return act(deps, namedAct, async (tx) => {
    const refusal = refuseMovement({ noun: 'an adjustment', reference, amountMinor })
    if (refusal !== undefined) return refusal
    if ((await findStore(tx, storeId)) === undefined) return noStore(storeId)
    const adjustment = { storeId, currency, kind, amount: amountMinor, reference, mayOwe }
    const answer = await recordAdjustment({ tx, clock: deps.clock }, adjustment)
    const amount = formatAmount(amountMinor, currency)
    if (answer.kind !== 'refused') {
      const view = { adjustmentId: answer.id, storeId, kind, amountMinor, currency, reference }
      return answer.kind === 'known'
        ? unchanged(view, `${reference} was recorded before.`)
        : done(view, `${reference} recorded: ${kind.replace('_', '-')} of ${amount}, store ${storeId}.`)
    }
    if (answer.reason === 'other_adjustment') {
      return refused('conflict', `Nothing was recorded: ${reference} is another adjustment.`)
    }
    const has = formatAmount(answer.availableMinor, currency)
    const why =
      answer.reason === 'no_debt'
        ? `the store has ${has}: it owes less than ${amount}`
        : `the store has ${has} available`
    return refused('conflict', `Nothing was recorded: ${why}.`)
  })
}
