/** What the events of a trade do to its deposit, the ledger and the store's event log, in the transaction of their cause. */
import type { Tx } from '../db/client.ts'
import type { DepositCause } from '../deposits/deposit.ts'
import { tellTransition } from '../deposits/service.ts'
import { type DepositRow, moveDeposit } from '../deposits/store.ts'
import { recordCustody } from '../ledger/custody.ts'
import { least, releaseMovements } from '../ledger/entry.ts'
import { reversalMovements } from '../ledger/reversal.ts'
import { addReversed, post } from '../ledger/store.ts'
import { creditDelivery } from './credit.ts'
import { aboutTrade, freeItems, postingOf, type TradeRow, tradeAndDeposit } from './store.ts'
import type { TradeEvent } from './trade.ts'
import { type TradeDeps, wakeAt } from './wake.ts'

export type Happened = { depositId: bigint; tradeId: bigint; event: TradeEvent }

export async function follow(
  deps: TradeDeps,
  tx: Tx,
  { depositId, tradeId, event }: Happened,
): Promise<void> {
  const found = () => tradeAndDeposit(tx, tradeId)
  const about = aboutTrade({ id: tradeId, deposit_id: depositId })
  switch (event.kind) {
    case 'send_begun':
    case 'send_withdrawn':
    case 'offer_missed':
    case 'cancel_begun':
    case 'accepted':
    case 'doubted':
    case 'closed':
      return
    case 'send_unanswered':
      deps.log.warn(about, 'it is not known whether an offer was sent')
      return
    case 'refused':
      deps.log.warn({ ...about, reason: event.reason }, 'an offer was refused')
      return freeItems(tx, tradeId)
    case 'abandoned':
      deps.log.warn(about, 'an offer whose sending was not answered is not on Steam')
      return freeItems(tx, tradeId)
    case 'activated': {
      const { row, deposit } = await found()
      await wakeAt(deps, tx, row, event.deadline)
      return move(deps, tx, deposit, { kind: 'offer_stands' })
    }
    case 'ended': {
      warnOfStrangers(deps, about, event.end.reason)
      await freeItems(tx, tradeId)
      const { deposit } = await found()
      return move(deps, tx, deposit, { kind: 'trade_ended', status: event.end.status })
    }
    case 'delivered':
      return creditDelivery(deps, tx, { ...(await found()), event })
    case 'released':
      return release(deps, tx, await found())
    case 'reversed':
      return reverse(deps, tx, { ...(await found()), event })
    default:
      return event satisfies never
  }
}

async function move(
  deps: TradeDeps,
  tx: Tx,
  deposit: DepositRow,
  cause: Exclude<DepositCause, { kind: 'delivered' }>,
): Promise<void> {
  const to = await moveDeposit(tx, deposit, cause)
  if (to !== null) await tellTransition(deps, tx, { deposit, to })
}

function warnOfStrangers(deps: TradeDeps, about: ReturnType<typeof aboutTrade>, reason: string): void {
  if (reason.startsWith('cancelled_elsewhere')) {
    deps.log.error(about, 'an offer was cancelled, but not by us: check the bot’s account')
  }
  if (reason === 'declined_at_once') {
    deps.log.warn(about, 'an offer was declined at once: the shopper’s session may be in other hands')
  }
}

type Found = { deposit: DepositRow; row: TradeRow }

/** Steam can no longer take the trade back: what is held may be spent. */
async function release(deps: TradeDeps, tx: Tx, { deposit, row }: Found): Promise<void> {
  const held = row.held_amount
  await tx.updateTable('trade').set({ held_amount: 0n }).where('id', '=', row.id).execute()
  if (held === 0n) return
  const movements = releaseMovements(held)
  await post(tx, { ...(await postingOf(tx, { deposit, row })), movements, at: deps.clock.now() })
  await setHeld(tx, deposit, deposit.held_amount - held)
  await tellTransition(deps, tx, { deposit, to: 'fundsAvailable', tradeId: row.id })
}

type Reversal = Found & { event: Extract<TradeEvent, { kind: 'reversed' }> }

/** The sender took items back: what was credited for them goes with them. */
async function reverse(deps: TradeDeps, tx: Tx, { deposit, row, event }: Reversal): Promise<void> {
  const { assetIds, at } = event
  const items = await tx
    .updateTable('trade_item')
    .set({ reversed_at: at })
    .where('trade_id', '=', row.id)
    .where('asset_id', 'in', assetIds)
    .where('reversed_at', 'is', null)
    .returning(['asset_id', 'received_asset_id', 'price', 'gross'])
    .execute()
  const total = items.reduce((sum, item) => sum + item.price, 0n)
  const gross = items.reduce((sum, item) => sum + item.gross, 0n)
  const { part, liability } = await reversalFacts(tx, row)
  const held = row.held_amount
  const posting = await postingOf(tx, { deposit, row })
  await post(tx, {
    ...posting,
    movements: reversalMovements({ total, gross, held, liability }),
    mayOwe: liability === 'store',
    part,
    at,
  })
  await addReversed(tx, posting, total)
  const gone = items.map((item) => ({ assetId: item.asset_id, receivedAssetId: item.received_asset_id }))
  await recordCustody(tx, { tradeId: row.id, botId: row.bot_id, at, moved: 'back' }, gone)
  const fromHeld = least(held, total)
  const change = { held_amount: held - fromHeld, reversed_amount: row.reversed_amount + total }
  await tx.updateTable('trade').set(change).where('id', '=', row.id).execute()
  const reversed = deposit.reversed_amount + total
  await tx.updateTable('deposit').set({ reversed_amount: reversed }).where('id', '=', deposit.id).execute()
  await setHeld(tx, deposit, deposit.held_amount - fromHeld)
  await tellTransition(deps, tx, { deposit, to: 'reversed', tradeId: row.id, part })
  const about = { ...aboutTrade(row), total: String(total), liability }
  deps.log.error(about, 'a trade was taken back by its sender')
}

/** The how-manieth reversal of the trade this is, and who bears it. */
async function reversalFacts(tx: Tx, row: TradeRow) {
  const { count } = await tx
    .selectFrom('event')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('deposit_id', '=', row.deposit_id)
    .where('trade_id', '=', row.id)
    .where('type', '=', 'deposit.reversed')
    .executeTakeFirstOrThrow()
  const { liability } = await tx
    .selectFrom('deposit')
    .innerJoin('store', 'store.id', 'deposit.store_id')
    .select('store.liability')
    .where('deposit.id', '=', row.deposit_id)
    .executeTakeFirstOrThrow()
  return { part: Number(count), liability }
}

/** What of the deposit is held, and until when: the last of its trades decides. */
async function setHeld(tx: Tx, deposit: DepositRow, held: bigint): Promise<void> {
  const rest = await tx
    .selectFrom('trade')
    .select((eb) => eb.fn.max('settles_at').as('until'))
    .where('deposit_id', '=', deposit.id)
    .where('held_amount', '>', 0n)
    .executeTakeFirst()
  await tx
    .updateTable('deposit')
    .set({ held_amount: held, held_until: rest?.until ?? null })
    .where('id', '=', deposit.id)
    .execute()
}
