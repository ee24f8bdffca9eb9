/** Transactions that move a trade together with its deposit, the ledger, the event and the jobs. */

import { botQueue } from '../bots/bot.ts'
import type { Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { type DepositDeps, depositTopic, tellTransition } from '../deposits/service.ts'
import { type DepositRow, lockDeposit, moveDeposit } from '../deposits/store.ts'
import { deliveryMovements, heldPart, releaseMovements } from '../ledger/entry.ts'
import { post, riskRoom } from '../ledger/store.ts'
import type { RefusedReason, TradeStatus } from '../steam/steam.ts'
import { tradeTopic } from './request.ts'
import { freeItems, type TradeRow, type Writer, writeReceived, writeTrade } from './store.ts'
import { type End, refusalCode, settlementOf, TRADE_WINDOW_MS } from './trade.ts'

export type SettleDeps = DepositDeps & {
  /** Days in which Steam lets the sender take a trade of the game back. */
  protectionDays(game: TradeRow['game']): number
}

type At = { row: TradeRow; writer: Writer }

/** Locks the deposit first, as every change does, then reads the trade under that lock. */
async function withDeposit(
  deps: SettleDeps,
  at: At,
  work: (tx: Tx, found: { deposit: DepositRow; row: TradeRow }) => Promise<void>,
): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    const deposit = await lockDeposit(tx, { id: at.row.deposit_id })
    const row = await tx
      .selectFrom('trade')
      .selectAll()
      .where('id', '=', at.row.id)
      .forUpdate()
      .executeTakeFirst()
    if (deposit === undefined || row === undefined) return
    await work(tx, { deposit, row })
    await deps.signals.notify(tx, tradeTopic(row.id))
    await deps.signals.notify(tx, depositTopic(deposit.id))
  })
}

/** Wakes the bot at the trade's due time; the sweep does it if the job is lost. */
export async function wakeAt(deps: SettleDeps, tx: Tx, at: { row: TradeRow; when: Date }): Promise<void> {
  const { row, when } = at
  const job = { kind: 'trade', tradeId: String(row.id) } as const
  await deps.queue.send(tx, botQueue(row.bot_id), job, { startAfter: when, singletonKey: `trade ${row.id}` })
}

/** The offer stands: the shopper's time begins. */
export async function activate(deps: SettleDeps, at: At, offerId: string): Promise<void> {
  await withDeposit(deps, at, async (tx, { deposit, row }) => {
    const deadline = new Date(deps.clock.now().getTime() + TRADE_WINDOW_MS)
    const moved = await writeTrade(
      tx,
      { id: row.id, from: ['sending', 'unknown'], writer: at.writer },
      { state: 'active', steam_offer_id: offerId, deadline, due_at: deadline },
    )
    if (!moved) return
    await wakeAt(deps, tx, { row, when: deadline })
    if (await moveDeposit(tx, deposit, { status: 'pending' })) {
      await tellTransition(deps, tx, { deposit, to: 'pending' })
    }
  })
}

/** Steam refused the offer: the deposit stays as it was and the shopper may try again. */
export async function refuseTrade(deps: SettleDeps, at: At, reason: RefusedReason): Promise<void> {
  deps.log.warn({ trade: String(at.row.id), reason }, 'Steam refused an offer')
  await forget(deps, at, { state: 'refused', reason: refusalCode(reason) })
}

/** The offer was looked for and is not on Steam. */
export async function abandon(deps: SettleDeps, at: At): Promise<void> {
  deps.log.warn({ trade: String(at.row.id) }, 'an offer whose sending was not answered is not on Steam')
  await forget(deps, at, { state: 'abandoned', reason: 'not_found_on_steam' })
}

async function forget(
  deps: SettleDeps,
  at: At,
  end: { state: 'refused' | 'abandoned'; reason: string },
): Promise<void> {
  await withDeposit(deps, at, async (tx, { row }) => {
    const change = { ...end, due_at: null, ended_at: deps.clock.now() }
    const from = ['intended', 'sending', 'unknown'] as const
    if (await writeTrade(tx, { id: row.id, from, writer: at.writer }, change)) await freeItems(tx, row.id)
  })
}

/** The offer ended without the items. */
export async function endTrade(deps: SettleDeps, at: At, end: End): Promise<void> {
  if (end.reason === 'cancelled_elsewhere') {
    deps.log.error(
      { trade: String(at.row.id) },
      'an offer was cancelled, but not by us: check the bot’s account',
    )
  }
  await withDeposit(deps, at, async (tx, { deposit, row }) => {
    const change = { state: end.state, reason: end.reason, due_at: null, ended_at: deps.clock.now() }
    if (!(await writeTrade(tx, { id: row.id, from: ['active'], writer: at.writer }, change))) return
    await freeItems(tx, row.id)
    if (await moveDeposit(tx, deposit, { status: end.status })) {
      await tellTransition(deps, tx, { deposit, to: end.status })
    }
  })
}

/**
 * The items are in the bot's hands: trade, deposit, ledger, event and jobs in one transaction. Steam's trade id
 * is unique in the table and the move leaves `active` once, so that no second credit can be written.
 */
export async function deliver(deps: SettleDeps, at: At, status: TradeStatus): Promise<void> {
  await withDeposit(deps, at, async (tx, { deposit, row }) => {
    const now = deps.clock.now()
    const settlesAt = settlementOf(status, row.accepted_at ?? now, deps.protectionDays(row.game))
    const isProtected = settlesAt !== null && settlesAt > now
    const { rate_id: rateId, credit_mode: mode } = await tx
      .selectFrom('quote')
      .innerJoin('deposit', 'deposit.id', 'quote.deposit_id')
      .innerJoin('store', 'store.id', 'deposit.store_id')
      .select(['quote.rate_id', 'store.credit_mode'])
      .where('quote.id', '=', row.quote_id)
      .executeTakeFirstOrThrow()
    const room = isProtected ? await riskRoom(tx, deposit.store_id, rateId) : 0n
    const held = heldPart({ total: row.total, isProtected, mode, riskRoom: room })
    const delivered = {
      state: isProtected ? ('held' as const) : ('final' as const),
      reason: null,
      steam_trade_id: status.tradeId,
      delivered_at: now,
      settles_at: settlesAt,
      due_at: isProtected ? settlesAt : null,
      ...(isProtected ? {} : { ended_at: now }),
    }
    if (!(await writeTrade(tx, { id: row.id, from: ['active'], writer: at.writer }, delivered))) return
    await writeReceived(tx, row.id, status.received)
    const credit = { amount: row.total, held, heldUntil: held > 0n ? settlesAt : null }
    if (!(await moveDeposit(tx, deposit, { status: 'succeeded', credit }))) {
      throw new Error(`deposit ${deposit.id} is ${deposit.status} and cannot be credited`)
    }
    await post(tx, {
      storeId: deposit.store_id,
      currency: row.currency,
      tradeId: row.id,
      quoteId: row.quote_id,
      rateId,
      movements: deliveryMovements({ total: row.total, gross: row.gross_total, held }),
      at: now,
    })
    if (isProtected && settlesAt !== null) await wakeAt(deps, tx, { row, when: settlesAt })
    await tellTransition(deps, tx, { deposit, to: 'succeeded' })
    deps.log.info(
      { deposit: String(deposit.id), trade: String(row.id), held: String(held) },
      'items delivered',
    )
  })
}

/** Steam can no longer take the trade back: what is held may be spent. */
export async function release(deps: SettleDeps, at: At): Promise<void> {
  await withDeposit(deps, at, async (tx, { deposit, row }) => {
    const now = deps.clock.now()
    const change = { state: 'final' as const, due_at: null, ended_at: now }
    if (!(await writeTrade(tx, { id: row.id, from: ['held'], writer: at.writer }, change))) return
    const held = deposit.held_amount
    if (held === 0n) return
    const { rate_id: rateId } = await tx
      .selectFrom('quote')
      .select('rate_id')
      .where('id', '=', row.quote_id)
      .executeTakeFirstOrThrow()
    await post(tx, {
      storeId: deposit.store_id,
      currency: row.currency,
      tradeId: row.id,
      quoteId: row.quote_id,
      rateId,
      movements: releaseMovements(held),
      at: now,
    })
    await tx
      .updateTable('deposit')
      .set({ held_amount: 0n, held_until: null })
      .where('id', '=', deposit.id)
      .execute()
    await tellTransition(deps, tx, { deposit, to: 'fundsAvailable' })
  })
}
