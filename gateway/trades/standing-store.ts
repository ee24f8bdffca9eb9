/** Reads the money of a locked trade and its deposit. */
import type { Tx } from '../db/client.ts'
import type { DepositRow } from '../deposits/store.ts'
import { riskRoom } from '../ledger/store.ts'
import type { Standing, Terms } from './consequences.ts'
import type { TradeRow } from './store.ts'

type Locked = { deposit: DepositRow; row: TradeRow }

export async function standingOf(
  tx: Tx,
  { deposit, row }: Locked,
  { forDelivery, now }: { forDelivery: boolean; now: Date },
): Promise<Standing> {
  return {
    deposit: {
      status: deposit.status,
      expiresAt: deposit.expires_at,
      credited: deposit.credited_amount,
      held: deposit.held_amount,
      reversed: deposit.reversed_amount,
      othersHeldUntil: await othersHeldUntil(tx, row),
    },
    total: row.total,
    gross: row.gross_total,
    held: row.held_amount,
    reversed: row.reversed_amount,
    atRisk: row.at_risk_amount,
    atRiskUntil: row.at_risk_until,
    reversals: row.reversed_amount > 0n ? await reversalsOf(tx, row) : 0,
    settlesAt: row.settles_at,
    terms: fixedTerms(row) ?? (await currentTerms(tx, deposit)),
    riskRoom: forDelivery ? await roomOf(tx, { deposit, row }, now) : 0n,
    items: await itemsOf(tx, row.id),
  }
}

/** Until when the other trades of the deposit hold something. */
async function othersHeldUntil(tx: Tx, row: TradeRow): Promise<Date | null> {
  const others = await tx
    .selectFrom('trade')
    .select((eb) => eb.fn.max('settles_at').as('until'))
    .where('deposit_id', '=', row.deposit_id)
    .where('id', '<>', row.id)
    .where('held_amount', '>', 0n)
    .executeTakeFirst()
  return others?.until ?? null
}

async function reversalsOf(tx: Tx, row: TradeRow): Promise<number> {
  const { count } = await tx
    .selectFrom('event')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('deposit_id', '=', row.deposit_id)
    .where('trade_id', '=', row.id)
    .where('type', '=', 'deposit.reversed')
    .executeTakeFirstOrThrow()
  return Number(count)
}

function fixedTerms(row: TradeRow): Terms | undefined {
  const { credit_mode: creditMode, liability, risk_limit_usd_cents: riskLimitUsdCents } = row
  if (creditMode === null || liability === null || riskLimitUsdCents === null) return undefined
  return { creditMode, liability, riskLimitUsdCents }
}

/** A deposit may be more careful than its store, never less. */
async function currentTerms(tx: Tx, deposit: DepositRow): Promise<Terms> {
  const store = await tx
    .selectFrom('store')
    .select(['credit_mode', 'liability', 'risk_limit_usd_cents'])
    .where('id', '=', deposit.store_id)
    .executeTakeFirstOrThrow()
  const isCareful = [store.credit_mode, deposit.credit_mode].includes('on_release')
  return {
    creditMode: isCareful ? 'on_release' : 'on_accept',
    liability: store.liability,
    riskLimitUsdCents: store.risk_limit_usd_cents,
  }
}

async function roomOf(tx: Tx, { deposit, row }: Locked, now: Date): Promise<bigint> {
  const { rate_id: rateId } = await tx
    .selectFrom('quote')
    .select('rate_id')
    .where('id', '=', row.quote_id)
    .executeTakeFirstOrThrow()
  return riskRoom(tx, { storeId: deposit.store_id, rateId, tradeId: row.id, now })
}

async function itemsOf(tx: Tx, tradeId: bigint): Promise<Standing['items']> {
  const items = await tx
    .selectFrom('trade_item')
    .select(['asset_id', 'price', 'gross', 'received_asset_id'])
    .where('trade_id', '=', tradeId)
    .execute()
  return new Map(
    items.map((item) => [
      item.asset_id,
      { price: item.price, gross: item.gross, receivedAssetId: item.received_asset_id },
    ]),
  )
}
