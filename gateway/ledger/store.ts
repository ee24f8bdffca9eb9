import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import type { AccountKind } from '../db/schema.ts'
import { isStoreAccount, type Movement } from './entry.ts'

/** The cause of a movement: a trade at the prices and rate of its quote, or a payout. */
export type TradeSource = { tradeId: bigint; quoteId: string; rateId: bigint }
type PayoutSource = { payoutId: bigint }

type Entries = {
  storeId: bigint
  currency: Currency
  /** Which of several causes of the same kind; 0 where there is only one. */
  part?: number
  /** True where the store's spendable balance may fall below zero. */
  mayOwe?: boolean
  movements: Movement[]
  at: Date
}

type StoreCurrency = Pick<Entries, 'storeId' | 'currency'>

export type Posting = Entries & (TradeSource | PayoutSource)

/**
 * Writes the movements of one cause in the caller's transaction. Balance rows come last and in the order of
 * their ids, so they are locked shortly and never crosswise.
 */
export async function post(tx: Tx, posting: Posting): Promise<void> {
  const { movements, storeId, currency, at } = posting
  if (movements.length === 0) return
  const accounts = await accountsOf(tx, posting)
  const idOf = (kind: AccountKind): bigint => {
    const id = accounts.get(kind)
    if (id === undefined) throw new Error(`store ${storeId} has no account ${kind} in ${currency}`)
    return id
  }
  const source = sourceColumns(posting)
  await tx
    .insertInto('ledger_entry')
    .values(
      movements.map((movement) => ({
        debit_account: idOf(movement.debit),
        credit_account: idOf(movement.credit),
        amount: movement.amount,
        currency,
        cause: movement.cause,
        ...source,
        part: posting.part ?? 0,
        created_at: at,
      })),
    )
    .execute()
  const changes = new Map<bigint, bigint>()
  const change = (id: bigint, by: bigint) => changes.set(id, (changes.get(id) ?? 0n) + by)
  for (const movement of movements) {
    change(idOf(movement.debit), -movement.amount)
    change(idOf(movement.credit), movement.amount)
  }
  for (const [id, by] of [...changes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await tx
      .updateTable('account')
      .set((eb) => ({ balance: eb('balance', '+', by) }))
      .where('id', '=', id)
      .execute()
  }
}

function sourceColumns(source: TradeSource | PayoutSource) {
  if ('payoutId' in source) {
    return { trade_id: null, quote_id: null, rate_id: null, payout_id: source.payoutId }
  }
  const { tradeId, quoteId, rateId } = source
  return { trade_id: tradeId, quote_id: quoteId, rate_id: rateId }
}

async function accountsOf(tx: Tx, posting: Posting): Promise<Map<AccountKind, bigint>> {
  const { movements, storeId, currency } = posting
  const kinds = [...new Set(movements.flatMap((movement) => [movement.debit, movement.credit]))]
  const owned = kinds.map((kind) => ({
    kind,
    currency,
    store_id: isStoreAccount(kind) ? storeId : null,
    floor: isStoreAccount(kind) ? 0n : null,
  }))
  const read = () =>
    tx
      .selectFrom('account')
      .select(['id', 'kind'])
      .where('currency', '=', currency)
      .where('kind', 'in', kinds)
      .where((eb) => eb.or([eb('store_id', '=', storeId), eb('store_id', 'is', null)]))
      .execute()
  let rows = await read()
  if (rows.length < kinds.length) {
    await tx
      .insertInto('account')
      .values(owned)
      .onConflict((conflict) => conflict.columns(['store_id', 'kind', 'currency']).doNothing())
      .execute()
    rows = await read()
  }
  const available = rows.find((row) => row.kind === 'available')
  if (posting.mayOwe === true && available !== undefined) {
    await tx.updateTable('account').set({ floor: null }).where('id', '=', available.id).execute()
  }
  return new Map(rows.map((row) => [row.kind, row.id]))
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

/** Returns the balance that the store can spend, in minor units. Nobody else changes it until the transaction ends. */
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

type PayoutReference = { storeId: bigint; reference: string }

/** The payout that is recorded for the store under the reference. */
export function findPayout(tx: Tx, { storeId, reference }: PayoutReference) {
  return tx
    .selectFrom('payout')
    .select(['currency', 'amount'])
    .where('store_id', '=', storeId)
    .where('reference', '=', reference)
    .executeTakeFirst()
}

/** Writes the payout itself; its movement is posted beside it. */
export async function insertPayout(
  tx: Tx,
  { storeId, currency, amount, reference }: PayoutReference & StoreCurrency & { amount: bigint },
  at: Date,
): Promise<bigint> {
  const { id } = await tx
    .insertInto('payout')
    .values({ store_id: storeId, currency, amount, reference, created_at: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Adds to what was taken back of a store in all; in the transaction of the reversal, after its posting. */
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
 * Writes that items of a trade came to the bot (`in`), went back to their sender (`back`), or left (`out`). `departureId`:
 * they left, or came back, by this departure.
 */
export async function recordCustody(
  tx: Tx,
  of: { tradeId: bigint; botId: bigint; at: Date; moved: 'in' | 'back' | 'out'; departureId?: bigint },
  items: readonly MovedItem[],
): Promise<void> {
  if (items.length === 0) return
  await tx
    .insertInto('custody_entry')
    .values(
      items.map(({ assetId, receivedAssetId }) => ({
        trade_id: of.tradeId,
        asset_id: assetId,
        received_asset_id: receivedAssetId,
        bot_id: of.botId,
        moved: of.moved,
        created_at: of.at,
        departure_id: of.departureId ?? null,
      })),
    )
    .execute()
}
