import { type RawBuilder, sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { createBatch } from '../db/batch.ts'
import type { Db, Tx } from '../db/client.ts'
import type { AccountKind } from '../db/schema.ts'
import { isStoreAccount, type Movement } from './entry.ts'

/** A trade as the source of a posting, with the quote and the rate that its amounts were computed from. */
export type TradeSource = { tradeId: bigint; quoteId: string; rateId: bigint }
type OperatorSource = { payoutId: bigint } | { adjustmentId: bigint }

type Entries = {
  storeId: bigint
  currency: Currency
  /** The number of earlier postings with the same cause, such as earlier reversals of one trade; 0 by default. */
  part?: number
  /** True if the store's available balance may fall below zero. */
  mayOwe?: boolean
  movements: Movement[]
  at: Date
}

type StoreCurrency = Pick<Entries, 'storeId' | 'currency'>

export type Posting = Entries & (TradeSource | OperatorSource)

export type Accounts = ReadonlyMap<AccountKind, bigint>

/** Writes the posting in the caller's transaction. */
export async function post(tx: Tx, posting: Posting): Promise<void> {
  if (posting.movements.length === 0) return
  const accounts = await accountsFor(tx, posting, await readAccounts(tx, posting))
  await createBatch().run(tx, postingSql(posting, accounts))
}

type PostingParts = { entries: RawBuilder<unknown>; balances: RawBuilder<unknown> }

/**
 * The statements that write the entries and then the balances. Balance rows are locked last, so only briefly, and in
 * the order of their ids, so these locks cannot deadlock. A posting that may leave the store in debt also removes the
 * floor of its available balance. `after`: the name of a common table expression that must run before them. `later`:
 * the later postings of the transaction, whose balances are locked too.
 */
export function postingSql(
  posting: Posting,
  accounts: Accounts,
  { after, later = [] }: { after?: 'room' | undefined; later?: readonly Pick<Posting, 'movements'>[] } = {},
): PostingParts {
  const { movements, storeId, currency, at, part = 0, mayOwe = false } = posting
  const idOf = (kind: AccountKind): bigint => {
    const id = accounts.get(kind)
    if (id === undefined) throw new Error(`store ${storeId} has no account ${kind} in ${currency}`)
    return id
  }
  const changes = new Map<bigint, bigint>()
  const change = (id: bigint, by: bigint) => changes.set(id, (changes.get(id) ?? 0n) + by)
  for (const movement of movements) {
    change(idOf(movement.debit), -movement.amount)
    change(idOf(movement.credit), movement.amount)
  }
  const ids = sql`${[...changes.keys()].map(String)}::bigint[]`
  const laterKinds = later.flatMap((each) => each.movements.flatMap(({ debit, credit }) => [debit, credit]))
  const locked = new Set([...changes.keys(), ...laterKinds.map(idOf)])
  const { trade_id, quote_id, rate_id, payout_id, adjustment_id } = sourceColumns(posting)
  // Always true. Reading the other expression makes it run first.
  const isAfter = after === undefined ? sql`true` : sql`(select count(*) from ${sql.ref(after)}) >= 0`
  return {
    entries: sql`
      insert into ledger_entry (debit_account, credit_account, amount, currency, cause, part, trade_id, quote_id, rate_id,
        payout_id, adjustment_id, created_at)
      select debit, credit, amount, ${currency}, cause, ${part}::integer, ${trade_id}::bigint, ${quote_id}::uuid,
        ${rate_id}::bigint, ${payout_id}::bigint, ${adjustment_id}::bigint, ${at}::timestamptz
      from unnest(${movements.map(({ debit }) => String(idOf(debit)))}::bigint[],
        ${movements.map(({ credit }) => String(idOf(credit)))}::bigint[],
        ${movements.map(({ amount }) => String(amount))}::bigint[],
        ${movements.map(({ cause }) => cause)}::text[]) moved (debit, credit, amount, cause)
      where ${isAfter}
      returning id`,
    balances: sql`
      update account set balance = balance + changed.by,
        floor = case when ${mayOwe} and kind = 'available' then null else floor end
      from unnest(${ids}, ${[...changes.values()].map(String)}::bigint[]) changed (id, by)
      join (select id from account where id = any(${[...locked].map(String)}::bigint[])
          and (select count(*) from entries) >= 0
        order by id for no key update) locked using (id)
      where account.id = changed.id`,
  }
}

function sourceColumns(source: TradeSource | OperatorSource) {
  const none = { trade_id: null, quote_id: null, rate_id: null, payout_id: null, adjustment_id: null }
  if ('payoutId' in source) return { ...none, payout_id: source.payoutId }
  if ('adjustmentId' in source) return { ...none, adjustment_id: source.adjustmentId }
  const { tradeId, quoteId, rateId } = source
  return { ...none, trade_id: tradeId, quote_id: quoteId, rate_id: rateId }
}

async function readAccounts(tx: Tx, { storeId, currency }: StoreCurrency): Promise<Accounts> {
  const rows = await tx
    .selectFrom('account')
    .select(['id', 'kind'])
    .where('currency', '=', currency)
    .where((eb) => eb.or([eb('store_id', '=', storeId), eb('store_id', 'is', null)]))
    .execute()
  return new Map(rows.map((row) => [row.kind, row.id]))
}

/** Returns the accounts of a posting, and creates those that `knownAccounts` lacks. */
export async function accountsFor(tx: Tx, posting: Posting, knownAccounts: Accounts): Promise<Accounts> {
  const { movements, storeId, currency } = posting
  const kinds = new Set(movements.flatMap((movement) => [movement.debit, movement.credit]))
  const missing = [...kinds].filter((kind) => !knownAccounts.has(kind)).sort()
  const accounts = new Map(knownAccounts)
  if (missing.length > 0) {
    const inserted = await tx
      .insertInto('account')
      .values(
        missing.map((kind) => ({
          kind,
          currency,
          store_id: isStoreAccount(kind) ? storeId : null,
          floor: isStoreAccount(kind) ? 0n : null,
        })),
      )
      // Another transaction may have created them first. Its rows are read below, without a lock.
      .onConflict((conflict) => conflict.columns(['store_id', 'kind', 'currency']).doNothing())
      .returning(['id', 'kind'])
      .execute()
    for (const { id, kind } of inserted) accounts.set(kind, id)
    if (inserted.length < missing.length) {
      for (const [kind, id] of await readAccounts(tx, posting)) accounts.set(kind, id)
    }
  }
  return accounts
}

export type Balance = { currency: Currency; held: bigint; available: bigint }

/** The balances of a store, per currency, in minor units. */
export async function balancesOf(db: Db, storeId: bigint): Promise<Balance[]> {
  const rows = await db
    .selectFrom('account')
    .select((eb) => [
      'currency',
      eb.fn.sum<bigint>('balance').filterWhere('kind', '=', 'held').as('held'),
      eb.fn.sum<bigint>('balance').filterWhere('kind', '=', 'available').as('available'),
    ])
    .where('store_id', '=', storeId)
    .groupBy('currency')
    .orderBy('currency')
    .execute()
  return rows.map((row) => ({
    currency: row.currency,
    held: BigInt(row.held ?? 0),
    available: BigInt(row.available ?? 0),
  }))
}

/** Returns and locks the store's available balance, in minor units. */
export async function lockAvailable(tx: Tx, { storeId, currency }: StoreCurrency): Promise<bigint> {
  const row = await tx
    .selectFrom('account')
    .select('balance')
    .where('store_id', '=', storeId)
    .where('kind', '=', 'available')
    .where('currency', '=', currency)
    .forUpdate()
    .executeTakeFirst()
  return row?.balance ?? 0n
}

/** Adds to the store's total of reversals, in the transaction of the reversal. */
export async function addReversed(
  tx: Tx,
  { storeId, currency }: StoreCurrency,
  amount: bigint,
): Promise<void> {
  await tx
    .insertInto('reversed_total')
    .values({ store_id: storeId, currency, amount })
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'currency']).doUpdateSet((eb) => ({
        amount: eb('reversed_total.amount', '+', eb.ref('excluded.amount')),
      })),
    )
    .execute()
}

type MovedItem = { assetId: string; receivedAssetId: string | null }

/**
 * Records that items of a trade came to the bot (`in`), or left it, unless the shopper took them back (`out`). Lock the
 * trade first. `departureId`: the departure that moved them, or whose reversal did. `undoes`: the entry that the operator
 * took back.
 */
export async function recordCustody(
  tx: Tx,
  change: {
    tradeId: bigint
    botId: bigint
    at: Date
    moved: 'in' | 'out'
    departureId?: bigint
    undoes?: bigint
  },
  items: readonly MovedItem[],
): Promise<void> {
  if (items.length === 0) return
  const { tradeId, botId, at, moved, departureId = null, undoes = null } = change
  await sql`
    insert into custody_entry (trade_id, asset_id, received_asset_id, bot_id, moved, created_at, departure_id,
      undoes)
    select ${tradeId}::bigint, asset_id, received_asset_id, ${botId}::bigint, ${moved}, ${at}::timestamptz, ${departureId}::bigint,
      ${undoes}::bigint
    from unnest(${items.map(({ assetId }) => assetId)}::text[],
      ${items.map(({ receivedAssetId }) => receivedAssetId)}::text[]) moved (asset_id, received_asset_id)`.execute(
    tx,
  )
}

/**
 * Records that the shopper took items back, at the bot that had each item last, which may not be the bot that received
 * it. Lock the trade first.
 */
export async function recordTakenBack(
  tx: Tx,
  { tradeId, at }: { tradeId: bigint; at: Date },
  assetIds: readonly string[],
): Promise<void> {
  await sql`
    insert into custody_entry (trade_id, asset_id, received_asset_id, bot_id, moved, created_at)
    select ${tradeId}::bigint, asset_id, last.received_asset_id, last.bot_id, 'back', ${at}::timestamptz
    from unnest(${[...assetIds]}::text[]) taken (asset_id)
    cross join lateral (select bot_id, received_asset_id from custody_entry entry
      where entry.trade_id = ${tradeId} and entry.asset_id = taken.asset_id order by entry.id desc limit 1) last`.execute(
    tx,
  )
}
