/** Reads the money of a locked trade and its deposit. */
import { sql } from 'kysely'
import type { Tx } from '../db/client.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import type { DepositRow } from '../deposits/store.ts'
import { mostCareful, roomFor } from '../ledger/entry.ts'
import { lockPromises, readPromises } from '../ledger/promise-store.ts'
import { riskRoom } from '../ledger/room-store.ts'
import type { Standing, Terms } from './consequences.ts'
import type { TradeRow } from './store.ts'

type Locked = { deposit: DepositRow; row: TradeRow }

/** One query; a delivery that may be credited before its protection ends needs the room in the store's limit too. */
export async function standingOf(
  tx: Tx,
  { deposit, row }: Locked,
  { forDelivery }: { forDelivery: boolean },
): Promise<Standing> {
  const { othersHeldUntil, reversals, items, store } = await surroundings(tx, row, deposit)
  const terms = fixedTerms(row) ?? currentTerms(store, deposit)
  const mayTake = forDelivery && terms.creditMode === 'on_accept'
  return {
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
    riskRoom: mayTake ? await freeRoom(tx, { deposit, row }) : 0n,
    items,
  }
}

/** Amounts as text: a number of JSON would be a float. */
type ItemJson = { assetId: string; price: string; gross: string; receivedAssetId: string | null }

type Found = Terms & {
  /** Until when the other trades of the deposit hold something. */
  othersHeldUntil: Date | null
  reversals: number
  items: ItemJson[]
}

async function surroundings(
  tx: Tx,
  { id, deposit_id: depositId }: TradeRow,
  { store_id: storeId }: DepositRow,
) {
  const { rows } = await sql<Found>`
    select credit_mode as "creditMode", liability, risk_limit_usd_cents as "riskLimitUsdCents",
      (select max(settles_at) from trade
        where deposit_id = ${depositId} and id <> ${id} and held_amount > 0) as "othersHeldUntil",
      (select count(*)::int from event
        where deposit_id = ${depositId} and trade_id = ${id} and type = 'deposit.reversed') as reversals,
      (select coalesce(jsonb_agg(jsonb_build_object('assetId', asset_id, 'price', price::text,
          'gross', gross::text, 'receivedAssetId', received_asset_id)), '[]')
        from trade_item where trade_id = ${id}) as items
    from store where id = ${storeId}`.execute(tx)
  const [found] = rows
  if (found === undefined) throw new Error(`deposit ${depositId} has no store`)
  const { othersHeldUntil, reversals, items, ...store } = found
  const worths = items.map(
    ({ assetId, price, gross, receivedAssetId }) =>
      [assetId, { price: BigInt(price), gross: BigInt(gross), receivedAssetId }] as const,
  )
  return { othersHeldUntil, reversals, items: new Map(worths), store }
}

function fixedTerms(row: TradeRow): Terms | undefined {
  const { credit_mode: creditMode, liability, risk_limit_usd_cents: riskLimitUsdCents } = row
  if (creditMode === null || liability === null || riskLimitUsdCents === null) return undefined
  return { creditMode, liability, riskLimitUsdCents }
}

function currentTerms(store: Terms, deposit: DepositRow): Terms {
  return { ...store, creditMode: mostCareful([store.creditMode, deposit.credit_mode]) }
}

/** The room in the store's limit. Deliveries and promises of one store wait for each other here, until the commit. */
async function freeRoom(tx: Tx, { deposit, row }: Locked): Promise<bigint> {
  const { rate_id: rateId } = await tx
    .selectFrom('quote')
    .select('rate_id')
    .where('id', '=', row.quote_id)
    .executeTakeFirstOrThrow()
  const of = { storeId: deposit.store_id, rateId, tradeId: row.id }
  await lockPromises(tx, of.storeId)
  const free = await riskRoom(tx, of)
  const { others } = await readPromises(tx, of)
  return roomFor({ free, others, own: promisedTo(row) })
}

/** A promise ends with its offer, though the items may come later. */
function promisedTo({ state, promised_amount: promised }: TradeRow): bigint {
  return OPEN_TRADE_STATES.some((open) => open === state) ? (promised ?? 0n) : 0n
}
