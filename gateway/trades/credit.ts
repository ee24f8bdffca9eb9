/** The one credit of a delivery: ledger, custody, deposit and event in the transaction of its proof. */
import type { Tx } from '../db/client.ts'
import { decideDeposit } from '../deposits/deposit.ts'
import { tellTransition } from '../deposits/service.ts'
import { type DepositRow, lifeOf } from '../deposits/store.ts'
import { recordCustody } from '../ledger/custody.ts'
import { deliveryMovements, heldPart } from '../ledger/entry.ts'
import { post, riskRoom } from '../ledger/store.ts'
import { postingOf, type TradeRow, writeReceived } from './store.ts'
import type { TradeEvent } from './trade.ts'
import { type TradeDeps, wakeAt } from './wake.ts'

type Delivery = {
  deposit: DepositRow
  row: TradeRow
  event: Extract<TradeEvent, { kind: 'delivered' }>
}

/**
 * Steam's id of the exchange is unique in the table and no edge leads back from delivery, so that no second
 * credit can be written.
 */
export async function creditDelivery(deps: TradeDeps, tx: Tx, delivery: Delivery): Promise<void> {
  const { deposit, row, event } = delivery
  const { exchange, settlesAt, at } = event
  const posting = await postingOf(tx, { deposit, row })
  const store = await tx
    .selectFrom('store')
    .select('credit_mode')
    .where('id', '=', deposit.store_id)
    .executeTakeFirstOrThrow()
  const isProtected = settlesAt !== null
  const room = isProtected ? await riskRoom(tx, posting) : 0n
  // A deposit may be more careful than its store, never less.
  const isCareful = [store.credit_mode, deposit.credit_mode].includes('on_release')
  const mode = isCareful ? 'on_release' : 'on_accept'
  const held = heldPart({ total: row.total, isProtected, mode, riskRoom: room })
  await tx
    .updateTable('trade')
    .set({ delivered_at: at, held_amount: held })
    .where('id', '=', row.id)
    .execute()
  await writeReceived(tx, row.id, exchange.received)
  const received = exchange.received.map(({ assetId, newAssetId }) => ({
    assetId,
    receivedAssetId: newAssetId,
  }))
  await recordCustody(tx, { tradeId: row.id, botId: row.bot_id, at, moved: 'in' }, received)
  if (settlesAt !== null) await wakeAt(deps, tx, row, settlesAt)
  await creditDeposit(deps, tx, { deposit, row, held, heldUntil: held > 0n ? settlesAt : null })
  // Last, so that the balances of a busy store are locked as shortly as can be.
  const movements = deliveryMovements({ total: row.total, gross: row.gross_total, held })
  await post(tx, { ...posting, movements, at })
  const about = { deposit: String(deposit.id), trade: String(row.id), held: String(held) }
  deps.log.info(about, 'items delivered')
}

type DepositCredit = { deposit: DepositRow; row: TradeRow; held: bigint; heldUntil: Date | null }

/** The first delivery makes the deposit succeed; a later one of a trade that had been given up adds to it. */
async function creditDeposit(deps: TradeDeps, tx: Tx, credit: DepositCredit): Promise<void> {
  const { deposit, row, held, heldUntil } = credit
  const isFirst = decideDeposit(lifeOf(deposit), { kind: 'delivered' }) !== null
  if (!isFirst && deposit.status !== 'succeeded')
    throw new Error(`deposit ${deposit.id} is ${deposit.status}`)
  await tx
    .updateTable('deposit')
    .set((eb) => ({
      status: 'succeeded' as const,
      credited_amount: eb(eb.fn.coalesce('credited_amount', eb.val(0n)), '+', row.total),
      held_amount: eb('held_amount', '+', held),
      held_until: eb.fn<Date | null>('greatest', ['held_until', eb.val(heldUntil)]),
    }))
    .where('id', '=', deposit.id)
    .execute()
  if (isFirst) return tellTransition(deps, tx, { deposit, to: 'succeeded' })
  await tellTransition(deps, tx, { deposit, to: 'amountIncreased', tradeId: row.id })
}
