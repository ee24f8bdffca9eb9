import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Tx } from '../db/client.ts'
import type { MarketAccountKind } from '../db/sale-tables.ts'
import type { MarketMovement, Sale } from './sale.ts'

export type ItemKey = { tradeId: bigint; assetId: string }

/** The part of a sale that never changes: its item and its market. */
export type SaleSubject = ItemKey & {
  market: string
  reference: string
  appId: number
  listedAssetId: string | null
  currency: Currency
  isByHand: boolean
}

/** `steps`: how many times `saveSale` has saved it. */
export type KnownSale = SaleSubject & { saleId: bigint; steps: number; sale: Sale }

export type CustodyNow = ItemKey & {
  appId: number
  marketHashName: string
  /** `in`: a bot has it. `back`: its shopper took it back. `out`: it left its bot in another way. */
  moved: 'in' | 'back' | 'out'
  isProtected: boolean
}

/** Resolves to where an item of the till is. Locks its trade, as every change of custody does. */
export async function lockItem(tx: Tx, { tradeId, assetId }: ItemKey): Promise<CustodyNow | undefined> {
  await tx.selectFrom('trade').select('id').where('id', '=', tradeId).forUpdate().execute()
  const { rows } = await sql<CustodyNow>`
    select item.trade_id as "tradeId", item.asset_id as "assetId", item.app_id as "appId",
      item.market_hash_name as "marketHashName", entry.moved, trade.state = 'held' as "isProtected"
    from trade_item item join trade on trade.id = item.trade_id
    join custody_entry entry on entry.trade_id = item.trade_id and entry.asset_id = item.asset_id
    where item.trade_id = ${tradeId} and item.asset_id = ${assetId}
    order by entry.id desc limit 1`.execute(tx)
  return rows[0]
}

/**
 * The item with this asset id in an account of the operator. A bot gave the item to the account, or is itself the
 * account.
 */
export async function itemOfAsset(
  tx: Tx,
  appId: number,
  listedAssetId: string,
): Promise<ItemKey | undefined> {
  const { rows } = await sql<ItemKey>`
    select found.trade_id as "tradeId", found.asset_id as "assetId"
    from (
      select id, trade_id, asset_id from custody_entry where moved = 'in' and received_asset_id = ${listedAssetId}
      union all
      select entry.id, entry.trade_id, entry.asset_id
      from learnt_asset learnt join custody_entry entry on entry.id = learnt.custody_entry_id
      where learnt.received_asset_id = ${listedAssetId} and entry.moved = 'in'
      union all
      select entry.id, entry.trade_id, entry.asset_id
      from departed_item gone join custody_entry entry on entry.departure_id = gone.departure_id and entry.moved = 'out'
        and entry.received_asset_id = gone.asset_id
      where gone.app_id = ${appId} and gone.new_asset_id = ${listedAssetId}
    ) found
    join trade_item item on item.trade_id = found.trade_id and item.asset_id = found.asset_id and item.app_id = ${appId}
    order by found.id desc limit 1`.execute(tx)
  return rows[0]
}

export async function lockSale(tx: Tx, market: string, reference: string): Promise<KnownSale | undefined> {
  const row = await tx
    .selectFrom('sale')
    .selectAll()
    .where('market', '=', market)
    .where('reference', '=', reference)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { state, price, received, refund, causer } = row
  return {
    saleId: row.id,
    steps: row.steps,
    market,
    reference,
    appId: row.app_id,
    currency: row.currency,
    tradeId: row.trade_id,
    assetId: row.asset_id,
    listedAssetId: row.listed_asset_id,
    isByHand: row.by_hand,
    sale: {
      state,
      price,
      received,
      refund,
      causer,
      steamTradeId: row.steam_trade_id,
      soldAt: row.sold_at,
      settlesAt: row.settles_at,
      endedAt: row.ended_at,
    },
  }
}

/** The item's current sale on any market: listed, under way, late or paid. */
export function currentSaleOf(tx: Tx, { tradeId, assetId }: ItemKey) {
  return tx
    .selectFrom('sale')
    .select(['market', 'reference', 'state'])
    .where('trade_id', '=', tradeId)
    .where('asset_id', '=', assetId)
    .where('state', 'not in', ['refused', 'cancelled', 'reversed'])
    .executeTakeFirst()
}

const columnsOf = ({ state, price, received, refund, causer, ...sale }: Sale) => ({
  state,
  price,
  received,
  refund,
  causer,
  steam_trade_id: sale.steamTradeId,
  sold_at: sale.soldAt,
  settles_at: sale.settlesAt,
  ended_at: sale.endedAt,
})

export async function insertSale(
  tx: Tx,
  subject: SaleSubject,
  { sale, at }: { sale: Sale; at: Date },
): Promise<KnownSale> {
  const { market, reference, tradeId, assetId, appId, listedAssetId, currency, isByHand } = subject
  const { id } = await tx
    .insertInto('sale')
    .values({
      market,
      reference,
      trade_id: tradeId,
      asset_id: assetId,
      app_id: appId,
      currency,
      listed_asset_id: listedAssetId,
      by_hand: isByHand,
      listed_at: at,
      ...columnsOf(sale),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...subject, saleId: id, steps: 0, sale }
}

/** Writes the new state of the sale, and posts the movements of its money. */
export async function saveSale(
  tx: Tx,
  { saleId, steps, market, currency }: KnownSale,
  { sale, movements, at }: { sale: Sale; movements: readonly MarketMovement[]; at: Date },
): Promise<void> {
  const step = steps + 1
  await tx
    .updateTable('sale')
    .set({ ...columnsOf(sale), steps: step })
    .where('id', '=', saleId)
    .execute()
  if (movements.length === 0) return
  const accounts = await openMarketAccounts(tx, { market, currency }, movements)
  const idOf = (kind: MarketAccountKind): bigint => {
    const id = accounts.get(kind)
    if (id === undefined) throw new Error(`the market ${market} has no account ${kind}`)
    return id
  }
  await tx
    .insertInto('market_entry')
    .values(
      movements.map(({ debit, credit, amount }) => ({
        sale_id: saleId,
        step,
        amount,
        created_at: at,
        debit_account: idOf(debit),
        credit_account: idOf(credit),
      })),
    )
    .execute()
  const changes = movements.flatMap(({ debit, credit, amount }) => [
    { id: idOf(debit), by: -amount },
    { id: idOf(credit), by: amount },
  ])
  await sql`
    update market_account account set balance = balance + changed.by
    from (select id, sum(by) as by from unnest(${changes.map(({ id }) => String(id))}::bigint[],
      ${changes.map(({ by }) => String(by))}::bigint[]) change (id, by) group by id) changed
    where account.id = changed.id`.execute(tx)
}

/**
 * Returns the accounts between which the money moves. Creates those that are missing, and locks all in the order of
 * their ids.
 */
async function openMarketAccounts(
  tx: Tx,
  { market, currency }: { market: string; currency: Currency },
  movements: readonly MarketMovement[],
): Promise<Map<MarketAccountKind, bigint>> {
  const kinds = [...new Set(movements.flatMap(({ debit, credit }) => [debit, credit]))].sort()
  await tx
    .insertInto('market_account')
    .values(kinds.map((kind) => ({ market, kind, currency })))
    .onConflict((conflict) => conflict.columns(['market', 'kind', 'currency']).doNothing())
    .execute()
  const rows = await tx
    .selectFrom('market_account')
    .select(['id', 'kind'])
    .where('market', '=', market)
    .where('currency', '=', currency)
    .where('kind', 'in', kinds)
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Map(rows.map(({ id, kind }) => [kind, id]))
}
