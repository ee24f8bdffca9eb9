/** Reads the money of a locked trade and its deposit. */
import { sql } from 'kysely'
import type { Tx } from '../db/client.ts'
import type { AccountKind } from '../db/schema.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import type { DepositRow } from '../deposits/store.ts'
import { mostCareful, roomFor } from '../ledger/entry.ts'
import { roomSql, type StoreRoom } from '../ledger/promise-store.ts'
import { lockRoom } from '../ledger/room-store.ts'
import { isOnReleaseSql } from '../shoppers/on-release-store.ts'
import type { Funds, Terms } from './effects.ts'
import type { LockedRows, Money } from './locked-store.ts'
import type { TradeRow } from './store.ts'

const ACCOUNT_KINDS: readonly AccountKind[] = ['held', 'available', 'items', 'commission', 'loss', 'paid_out']

type FundsOptions = {
  /** The change of the trade may use more of the store's limit. */
  takesRoom: boolean
  /** Another transaction overtook an earlier try, so this try locks the limit that it reads. */
  isRetry: boolean
}

/**
 * Reads the terms, the accounts and, for credit before protection ends, the rest of the store's limit. Other deliveries
 * can use that rest meanwhile, so the later update checks it again.
 */
export async function fundsOf(
  tx: Tx,
  { deposit, row }: LockedRows,
  { takesRoom, isRetry }: FundsOptions,
): Promise<{ funds: Funds; money: Money }> {
  if (takesRoom && isRetry) await lockRoom(tx, deposit.store_id)
  const { othersHeldUntil, reversals, rateId, accounts, room, isOnRelease, ...store } = await readMoney(tx, {
    row,
    deposit,
    takesRoom,
  })
  const fixed = fixedTerms(row)
  const terms = fixed ?? currentTerms(store, deposit, isOnRelease)
  const ownPromiseMinor = promisedTo(row)
  // Delivery fixes the terms. After it, only an operator's early release uses the limit, in any credit mode.
  const usableRoom = terms.creditMode === 'on_accept' || fixed !== undefined ? room : undefined
  const funds: Funds = {
    deposit: {
      status: deposit.status,
      expiresAt: deposit.expires_at,
      credited: deposit.credited_amount,
      held: deposit.held_amount,
      reversed: deposit.reversed_amount,
      charged: deposit.charged_amount,
      othersHeldUntil,
    },
    total: row.total,
    gross: row.gross_total,
    held: row.held_amount,
    reversed: row.reversed_amount,
    atRisk: row.at_risk_amount,
    atRiskUntil: row.at_risk_until,
    reversals,
    settlesAt: row.settles_at,
    terms,
    limitUsdCents: store.riskLimitUsdCents,
    riskRoom: usableRoom ? roomFor({ ...usableRoom, ownPromiseMinor }) : 0n,
    items: new Map(
      row.items.map(({ assetId, price, gross }) => [assetId, { price: BigInt(price), gross: BigInt(gross) }]),
    ),
  }
  return { funds, money: { rateId, accounts, seen: usableRoom && { ...usableRoom, ownPromiseMinor } } }
}

type MoneyRow = Terms & {
  /** Until when the other trades of the deposit hold credit. */
  othersHeldUntil: Date | null
  reversals: number
  /** The shopper's deliveries are credited on release. */
  isOnRelease: boolean
  rateId: bigint
  /** Account ids as text, by kind. */
  accounts: Partial<Record<AccountKind, string>>
} & { [K in keyof StoreRoom]: StoreRoom[K] | null }

type MoneyQuery = { row: TradeRow; deposit: DepositRow; takesRoom: boolean }

async function readMoney(tx: Tx, { row, deposit, takesRoom }: MoneyQuery) {
  const { id, deposit_id: depositId } = row
  const room = roomSql({ rateId: sql`quote.rate_id`, tradeId: id })
  const noRoom = sql`(select null::bigint as "freeMinor", null::bigint as "otherPromisesMinor",
    null::bigint as "otherPromisesUsdCents", null::bigint as "promisedUsdCents")`
  const { rows } = await sql<MoneyRow>`
    select credit_mode as "creditMode", liability, risk_limit_usd_cents as "riskLimitUsdCents", quote.rate_id as "rateId",
      (select max(settles_at) from trade
        where deposit_id = ${depositId} and id <> ${id} and held_amount > 0) as "othersHeldUntil",
      (select count(*)::int from event
        where deposit_id = ${depositId} and trade_id = ${id} and type = 'deposit.reversed') as reversals,
      ${isOnReleaseSql(sql`${row.partner_steam_id}`)} as "isOnRelease",
      (select coalesce(jsonb_object_agg(kind, id::text), '{}') from account
        where currency = ${row.currency} and (store_id = store.id or store_id is null)) as accounts,
      room.*
    from store, quote, lateral ${takesRoom ? room : noRoom} room
    where store.id = ${deposit.store_id} and quote.id = ${row.quote_id}`.execute(tx)
  const [found] = rows
  if (found === undefined) throw new Error(`deposit ${depositId} has no store, or trade ${id} no quote`)
  const { accounts, freeMinor, otherPromisesMinor, otherPromisesUsdCents, promisedUsdCents, ...rest } = found
  const isRead =
    freeMinor !== null &&
    otherPromisesMinor !== null &&
    otherPromisesUsdCents !== null &&
    promisedUsdCents !== null
  return {
    ...rest,
    accounts: accountsOf(accounts),
    room: isRead ? { freeMinor, otherPromisesMinor, otherPromisesUsdCents, promisedUsdCents } : undefined,
  }
}

function accountsOf(idTexts: MoneyRow['accounts']): Map<AccountKind, bigint> {
  const accounts = new Map<AccountKind, bigint>()
  for (const kind of ACCOUNT_KINDS) {
    const id = idTexts[kind]
    if (id !== undefined) accounts.set(kind, BigInt(id))
  }
  return accounts
}

function fixedTerms(row: TradeRow): Terms | undefined {
  const { credit_mode: creditMode, liability, risk_limit_usd_cents: riskLimitUsdCents } = row
  if (creditMode === null || liability === null || riskLimitUsdCents === null) return undefined
  return { creditMode, liability, riskLimitUsdCents }
}

function currentTerms(store: Terms, deposit: DepositRow, isOnRelease: boolean): Terms {
  const shopperMode = isOnRelease ? 'on_release' : null
  return { ...store, creditMode: mostCareful([store.creditMode, deposit.credit_mode, shopperMode]) }
}

/** A promise ends with its offer, even if the items arrive later. */
function promisedTo({ state, promised_amount: promised }: TradeRow): bigint {
  return OPEN_TRADE_STATES.some((open) => open === state) ? (promised ?? 0n) : 0n
}
