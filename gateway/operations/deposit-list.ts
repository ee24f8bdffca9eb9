/** Deposits of all stores: a list with filters, page by page. */
import {
  areFew,
  type DepositFilter,
  depositRows,
  type ListedDeposit,
  lookThrough,
  mostLookedAt,
  type Need,
  needsOf,
} from './deposit-list-store.ts'
import { isByAmount } from './deposit-orders.ts'
import { type Answer, done, type ReadDeps, refused } from './operation.ts'

export type DepositInList = ListedDeposit & { needs: Need[] }

/** `next`: where the next page begins, as `before`. A page of a rare filter may be short, or empty, and yet have a next one. */
export type DepositPage = { deposits: DepositInList[]; next: bigint | null }

/** Pages of rows that one call looks through before it answers with what it has. */
const MOST_ROUNDS = 10

const PAGE = 500

/** Newest first, unless the filter has another order. */
export async function listDeposits(
  { db, clock }: ReadDeps,
  filter: DepositFilter,
): Promise<Answer<DepositPage>> {
  const mistake = mistakeOf(filter)
  if (mistake !== undefined) return refused('usage', mistake)
  const now = clock.now()
  const isFew = await areFew(db, filter)
  const ids: bigint[] = []
  let before = filter.before
  let next: bigint | null = null
  for (let round = 1; ; round += 1) {
    const places = await lookThrough(db, { ...filter, before }, { now, isFew })
    const fitting = places.filter(({ fits }) => fits).slice(0, filter.limit - ids.length)
    ids.push(...fitting.map(({ id }) => id))
    // A full page goes on after its last row; any other one after the last that was looked at.
    const last = ids.length === filter.limit ? fitting.at(-1) : places.at(-1)
    const isEnd = places.length < mostLookedAt(filter) && last?.id === places.at(-1)?.id
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
  return hasAmount && currency === undefined ? 'An amount needs its currency.' : undefined
}

/** A spreadsheet takes no more than a million rows, and a page of the console waits for them. */
const MOST_EXPORTED = 100_000

/** Every deposit that the filter wants, page by page. Beyond `MOST_EXPORTED` it says where to go on. */
export async function exportDeposits(deps: ReadDeps, filter: DepositFilter): Promise<Answer<DepositPage>> {
  const deposits: DepositInList[] = []
  for (let before = filter.before; ; ) {
    const answer = await listDeposits(deps, { ...filter, before, limit: PAGE })
    if (answer.kind === 'refused') return answer
    deposits.push(...answer.data.deposits)
    const { next } = answer.data
    if (next === null) return done({ deposits, next })
    if (deposits.length >= MOST_EXPORTED) {
      const message = `Only the first ${deposits.length} of the list: go on with --before ${next}.`
      return { kind: 'refused', refusal: 'conflict', message, data: { deposits, next } }
    }
    before = next
  }
}
