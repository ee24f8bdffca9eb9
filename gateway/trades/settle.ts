/** Transactions that move a trade together with its deposit, the ledger, the event and the jobs. */

import { isFinal } from '../../contract/statuses.ts'
import { botQueue } from '../bots/bot.ts'
import type { Tx } from '../db/client.ts'
import { FAILED_TRADE_STATES, FORGOTTEN_TRADE_STATES } from '../db/schema.ts'
import { inTransaction } from '../db/transaction.ts'
import { type DepositDeps, depositTopic, tellTransition } from '../deposits/service.ts'
import { type DepositRow, lockDeposit, moveDeposit } from '../deposits/store.ts'
import { deliveryMovements, heldPart, releaseMovements } from '../ledger/entry.ts'
import { post, riskRoom } from '../ledger/store.ts'
import type { RefusedReason, TradeStatus } from '../steam/steam.ts'
import { tradeTopic } from './request.ts'
import { freeItems, type TradeRow, type Writer, writeReceived, writeTrade } from './store.ts'
import { type End, nextReview, refusalCode, settlementOf, TRADE_WINDOW_MS } from './trade.ts'

export type SettleDeps = DepositDeps & {
  /** Days in which Steam lets the sender take a trade of the game back. */
  protectionDays(game: TradeRow['game']): number
}

type At = { row: TradeRow; writer: Writer }

/** Locks the deposit first, as every change does, then reads the trade under that lock. */
async function withDeposit(
  deps: SettleDeps,
  at: { row: TradeRow },
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

/** The offer stands: the shopper's time begins. False when the trade is not waiting for an offer any more. */
export async function activate(deps: SettleDeps, at: At, offerId: string): Promise<boolean> {
  let isActive = false
  await withDeposit(deps, at, async (tx, { deposit, row }) => {
    const now = deps.clock.now()
    // Another trade may have ended the deposit meanwhile: then nobody is asked to accept this one.
    const deadline = isFinal(deposit.status) ? now : new Date(now.getTime() + TRADE_WINDOW_MS)
    isActive = await writeTrade(
      tx,
      { id: row.id, from: ['sending', 'unknown'], writer: at.writer },
      { state: 'active', steam_offer_id: offerId, deadline, due_at: deadline },
    )
    if (!isActive) return
    await wakeAt(deps, tx, { row, when: deadline })
    if (await moveDeposit(tx, deposit, { status: 'pending' })) {
      await tellTransition(deps, tx, { deposit, to: 'pending' })
    }
  })
  return isActive
}

/** Steam refused the offer: the deposit stays as it was and the shopper may try again. */
export async function refuseTrade(deps: SettleDeps, at: At, reason: RefusedReason): Promise<void> {
  deps.log.warn({ trade: String(at.row.id), reason }, 'Steam refused an offer')
  await forget(deps, at, { state: 'refused', reason: refusalCode(reason), due_at: null })
}

/** No bot took the intent up in time: nothing was said to Steam, and the shopper may try again. */
export async function giveUpIntent(deps: SettleDeps, row: TradeRow): Promise<void> {
  deps.log.error({ trade: String(row.id), bot: String(row.bot_id) }, 'no bot took up a trade in time')
  await forget(deps, { row }, { state: 'refused', reason: 'no_bot_available', due_at: null })
}

/** The offer was looked for and is not on Steam. Should it turn up later, a review sees it. */
export async function abandon(deps: SettleDeps, at: At): Promise<void> {
  deps.log.warn({ trade: String(at.row.id) }, 'an offer whose sending was not answered is not on Steam')
  await forget(deps, at, { state: 'abandoned', reason: 'not_found_on_steam', due_at: firstReview(deps, at) })
}

const firstReview = (deps: SettleDeps, { row }: { row: TradeRow }): Date | null => {
  const now = deps.clock.now()
  return nextReview({ startedAt: row.send_started_at, endedAt: now }, now)
}

async function forget(
  deps: SettleDeps,
  at: { row: TradeRow; writer?: Writer },
  end: { state: 'refused' | 'abandoned'; reason: string; due_at: Date | null },
): Promise<void> {
  await withDeposit(deps, at, async (tx, { row }) => {
    const where = at.writer
      ? { id: row.id, from: ['intended', 'sending', 'unknown'] as const, writer: at.writer }
      : { id: row.id, from: ['intended'] as ['intended'] }
    if (await writeTrade(tx, where, { ...end, ended_at: deps.clock.now() })) await freeItems(tx, row.id)
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
    const due = firstReview(deps, at)
    const change = { state: end.state, reason: end.reason, due_at: due, ended_at: deps.clock.now() }
    if (!(await writeTrade(tx, { id: row.id, from: ['active'], writer: at.writer }, change))) return
    await freeItems(tx, row.id)
    if (await moveDeposit(tx, deposit, { status: end.status })) {
      await tellTransition(deps, tx, { deposit, to: end.status })
    }
  })
}

/** States from which proof of delivery credits: an end that was written before is overruled by it. */
const DELIVERABLE = [
  'sending',
  'unknown',
  'active',
  ...FORGOTTEN_TRADE_STATES,
  ...FAILED_TRADE_STATES,
] as const

/**
 * The items are in the bot's hands: trade, deposit, ledger, event and jobs in one transaction. Steam's trade id
 * is unique in the table and no move leads back from delivery, so that no second credit can be written.
 */
export async function deliver(
  deps: SettleDeps,
  at: At,
  proof: { status: TradeStatus; offerId: string },
): Promise<void> {
  const { status, offerId } = proof
  await withDeposit(deps, at, async (tx, { deposit, row }) => {
    const now = deps.clock.now()
    const settlesAt = settlementOf(status, row.accepted_at ?? now, deps.protectionDays(row.game))
    const isProtected = settlesAt !== null && settlesAt > now
    const { rateId, held } = await creditOf(tx, { deposit, row, isProtected })
    const delivered = {
      state: isProtected ? ('held' as const) : ('final' as const),
      reason: null,
      steam_offer_id: offerId,
      steam_trade_id: status.tradeId,
      accepted_at: row.accepted_at ?? now,
      delivered_at: now,
      settles_at: settlesAt,
      held_amount: held,
      due_at: isProtected ? settlesAt : null,
      ended_at: isProtected ? null : now,
    }
    if (!(await writeTrade(tx, { id: row.id, from: DELIVERABLE, writer: at.writer }, delivered))) return
    await writeReceived(tx, row.id, status.received)
    const movements = deliveryMovements({ total: row.total, gross: row.gross_total, held })
    await post(tx, { ...postingOf(deposit, row, rateId), movements, at: now })
    if (isProtected && settlesAt !== null) await wakeAt(deps, tx, { row, when: settlesAt })
    await creditDeposit(deps, tx, { deposit, row, held, heldUntil: held > 0n ? settlesAt : null })
    await endOthers(deps, tx, row)
    const about = { deposit: String(deposit.id), trade: String(row.id), held: String(held) }
    if (row.state === 'active') deps.log.info(about, 'items delivered')
    else deps.log.warn({ ...about, state: row.state }, 'items delivered after the trade had been given up')
  })
}

/** How much of a delivery is held, and the rate its quote was made with. */
async function creditOf(tx: Tx, of: { deposit: DepositRow; row: TradeRow; isProtected: boolean }) {
  const { deposit, row, isProtected } = of
  const { rate_id: rateId, credit_mode: mode } = await tx
    .selectFrom('quote')
    .innerJoin('deposit', 'deposit.id', 'quote.deposit_id')
    .innerJoin('store', 'store.id', 'deposit.store_id')
    .select(['quote.rate_id', 'store.credit_mode'])
    .where('quote.id', '=', row.quote_id)
    .executeTakeFirstOrThrow()
  const room = isProtected ? await riskRoom(tx, deposit.store_id, rateId) : 0n
  return { rateId, held: heldPart({ total: row.total, isProtected, mode, riskRoom: room }) }
}

const postingOf = (deposit: DepositRow, row: TradeRow, rateId: bigint) => ({
  storeId: deposit.store_id,
  currency: row.currency,
  tradeId: row.id,
  quoteId: row.quote_id,
  rateId,
})

type DepositCredit = { deposit: DepositRow; row: TradeRow; held: bigint; heldUntil: Date | null }

/** The first delivery makes the deposit succeed; a later one of a trade that had been given up adds to it. */
async function creditDeposit(deps: SettleDeps, tx: Tx, credit: DepositCredit): Promise<void> {
  const { deposit, row, held, heldUntil } = credit
  const first = { amount: row.total, held, heldUntil }
  if (await moveDeposit(tx, deposit, { status: 'succeeded', credit: first })) {
    return tellTransition(deps, tx, { deposit, to: 'succeeded' })
  }
  if (deposit.status !== 'succeeded') throw new Error(`deposit ${deposit.id} is ${deposit.status}`)
  await tx
    .updateTable('deposit')
    .set((eb) => ({
      credited_amount: eb('credited_amount', '+', row.total),
      held_amount: eb('held_amount', '+', held),
      held_until: eb.fn<Date | null>('greatest', ['held_until', eb.val(heldUntil)]),
    }))
    .where('id', '=', deposit.id)
    .execute()
  await tellTransition(deps, tx, { deposit, to: 'amountIncreased', tradeId: row.id })
}

/** The deposit has its items: the shopper shall not give others as well. */
async function endOthers(deps: SettleDeps, tx: Tx, row: TradeRow): Promise<void> {
  const now = deps.clock.now()
  const others = await tx
    .updateTable('trade')
    .set({ deadline: now, due_at: now })
    .where('deposit_id', '=', row.deposit_id)
    .where('id', '<>', row.id)
    .where('state', '=', 'active')
    .where('accepted_at', 'is', null)
    .returningAll()
    .execute()
  for (const other of others) await wakeAt(deps, tx, { row: other, when: now })
}

/** Steam can no longer take the trade back: what is held may be spent. */
export async function release(deps: SettleDeps, at: At): Promise<void> {
  await withDeposit(deps, at, async (tx, { deposit, row }) => {
    const now = deps.clock.now()
    const change = { state: 'final' as const, held_amount: 0n, due_at: null, ended_at: now }
    if (!(await writeTrade(tx, { id: row.id, from: ['held'], writer: at.writer }, change))) return
    const held = row.held_amount
    if (held === 0n) return
    const { rate_id: rateId } = await tx
      .selectFrom('quote')
      .select('rate_id')
      .where('id', '=', row.quote_id)
      .executeTakeFirstOrThrow()
    await post(tx, { ...postingOf(deposit, row, rateId), movements: releaseMovements(held), at: now })
    const rest = await tx
      .selectFrom('trade')
      .select((eb) => eb.fn.max('settles_at').as('until'))
      .where('deposit_id', '=', deposit.id)
      .where('held_amount', '>', 0n)
      .executeTakeFirst()
    await tx
      .updateTable('deposit')
      .set({ held_amount: deposit.held_amount - held, held_until: rest?.until ?? null })
      .where('id', '=', deposit.id)
      .execute()
    await tellTransition(deps, tx, { deposit, to: 'fundsAvailable', tradeId: row.id })
  })
}
