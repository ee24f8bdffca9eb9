/** Deposits of all stores: a list with filters, page by page. */
import {
  canPageStartAfter,
  type DepositFilter,
  depositRows,
  examineDeposits,
  isSortCheaper,
  type ListedDeposit,
  mostExamined,
  type Need,
  needsOf,
} from './deposit-list-store.ts'
import { isByAmount } from './deposit-orders.ts'
import { type Answer, done, type ReadDeps, refused } from './operation.ts'
import { unknownStore } from './store-check.ts'

export type DepositInList = ListedDeposit & { needs: Need[] }

/**
 * `next`: the `before` of the next page; null on the last. With a filter that few deposits match, any page may be short
 * or empty.
 */
export type DepositPage = { deposits: DepositInList[]; next: bigint | null }

/** The most batches of rows that one call examines before it answers with the matches so far. */
const MOST_ROUNDS = 7

/** How many deposits an export reads at a time. */
const PAGE = 500

/** Lists deposits, newest first unless the filter has another order. */
export async function listDeposits(
  { db, clock }: ReadDeps,
  filter: DepositFilter,
): Promise<Answer<DepositPage>> {
  const mistake = mistakeOf(filter)
  if (mistake !== undefined) return refused('usage', mistake)
  const unknown = await unknownStore(db, filter.storeId)
  if (unknown !== undefined) return unknown
  const now = clock.now()
  const isSorted = await isSortCheaper(db, filter)
  const ids: bigint[] = []
  let before = filter.before
  let next: bigint | null = null
  for (let round = 1; ; round += 1) {
    const examined = await examineDeposits(db, { ...filter, before }, { now, isSorted })
    // Without this check, an unknown `before` would look like the end of the list.
    if (examined.length === 0 && before !== undefined && !(await canPageStartAfter(db, before, filter.order)))
      return refused('not_found', `Deposit ${before} is not in this list: begin the list again.`)
    const fitting = examined.filter(({ fits }) => fits).slice(0, filter.limit - ids.length)
    ids.push(...fitting.map(({ id }) => id))
    // The next page begins after the last row of a full page, or else after the last row examined.
    const last = ids.length === filter.limit ? fitting.at(-1) : examined.at(-1)
    const isEnd = examined.length < mostExamined(filter) && last?.id === examined.at(-1)?.id
    next = isEnd || last === undefined ? null : last.id
    if (next === null || ids.length === filter.limit || round === MOST_ROUNDS) break
    before = next
  }
  const needs = await needsOf(db, ids, { now, order: filter.order })
  const rows = await depositRows(db, ids)
  return done({ deposits: rows.map((row) => ({ ...row, needs: needs.get(row.depositId) ?? [] })), next })
}

function mistakeOf({ leastMinor, mostMinor, currency, order }: DepositFilter): string | undefined {
  const hasAmount = leastMinor !== undefined || mostMinor !== undefined || isByAmount(order)
  return hasAmount && currency === undefined ? 'A range or order by amount needs a currency.' : undefined
}

/** The whole export is in memory at once, so this is far below the million rows that a spreadsheet opens. */
const MOST_EXPORTED = 100_000

/**
 * Returns every matching deposit. If there are more than `MOST_EXPORTED`, refuses with those read so far, and says
 * where to continue.
 */
export async function exportDeposits(deps: ReadDeps, filter: DepositFilter): Promise<Answer<DepositPage>> {
  const deposits: DepositInList[] = []
  for (let before = filter.before; ; ) {
    const answer = await listDeposits(deps, { ...filter, before, limit: PAGE })
    if (answer.kind === 'refused') return answer
    deposits.push(...answer.data.deposits)
    const { next } = answer.data
    if (next === null) return done({ deposits, next })
    if (deposits.length >= MOST_EXPORTED) {
      const message = `Exported only the first ${deposits.length} deposits. Continue with --before ${next}.`
      return { kind: 'refused', refusal: 'conflict', message, data: { deposits, next } }
    }
    before = next
  }
}
