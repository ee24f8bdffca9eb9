import { type ExpressionBuilder, sql } from 'kysely'
import { botQueue } from '../bots/bot.ts'
import { historyOf, saveHistoryPass } from '../bots/history-store.ts'
import { isServedSoonerElsewhere } from '../bots/service.ts'
import { createBatch } from '../db/batch.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Tables } from '../db/schema.ts'
import { violates } from '../db/sql-state.ts'
import { inTransaction } from '../db/transaction.ts'
import { decideDeposit } from '../deposits/deposit.ts'
import { appendTransition, depositTopic } from '../deposits/service.ts'
import { type DepositRow, lifeOf, lockDeposit } from '../deposits/store.ts'
import { withShownTrade } from '../deposits/store-deposit.ts'
import { openOutages } from '../outages/store.ts'
import { tokenOfTrade } from '../shoppers/trade-token.ts'
import { applyEffects } from './effects-store.ts'
import { fundsOf } from './funds-store.ts'
import type { IntentDeps, WriteDeps } from './intent-store.ts'
import { type LockedRows, lockTradeRow } from './locked-store.ts'
import { columnsOf, liveTradeOf, loadedOf, loadTrade, ownerOf, summaryOf, tradeTopic } from './store.ts'
import { sweepsOf } from './sweep-store.ts'
import {
  type DepositClosing,
  type LoadedTrade,
  type LockedDeposit,
  NumberTaken,
  type TradeStore,
  type TradeTx,
  type TradeWrite,
  type Writer,
} from './trade-store.ts'

/**
 * The bots whose lease has the writer's number. Each bot's leases are counted apart, so there may be several: the
 * trade's own bot is one of them while the writer holds it.
 */
const botsOf =
  ({ leaseEpoch }: Writer) =>
  (eb: ExpressionBuilder<Tables, 'trade'>) =>
    eb.selectFrom('bot').select('bot.id').where('lease_epoch', '=', leaseEpoch)

export function createTradeStore(deps: IntentDeps): TradeStore {
  const { db } = deps
  return {
    load: (id) => loadTrade(db, id),
    partnerTokenOf: (id) => partnerTokenOf(deps, id),
    async openTradesOf(botId) {
      const rows = await tradesOf(db, botId).where('state', 'in', ['sending', 'unknown', 'active']).execute()
      return rows.map(summaryOf)
    },
    async protectedTradesOf(botId, steamTradeIds) {
      if (steamTradeIds.length === 0) return []
      const rows = await tradesOf(db, botId)
        .where(canBeReversed)
        .where(sql<boolean>`steam_trade_id = any(${[...steamTradeIds]}::text[])`)
        .execute()
      return rows.map(summaryOf)
    },
    async oldestProtectedOf(botId) {
      const row = await db
        .selectFrom('trade')
        .select((eb) => eb.fn.min('send_started_at').as('oldest'))
        .where('bot_id', '=', botId)
        .where(canBeReversed)
        .executeTakeFirst()
      return row?.oldest ?? undefined
    },
    async tradesByCode(botId, codes) {
      if (codes.length === 0) return new Map()
      const rows = await tradesOf(db, botId)
        .where(sql<boolean>`secret_code = any(${[...codes]}::text[])`)
        .execute()
      return new Map(rows.map((row) => [row.secret_code, summaryOf(row)]))
    },
    tradesOfOffers: (offerIds) => tradesOfOffers(db, offerIds),
    partnersSince: (botId, since) => partnersSince(db, botId, since),
    postpone: (seen, writer, when) => postpone(db, { seen, writer, when }),
    historyOf: (botId) => historyOf(db, botId),
    saveHistoryPass: (botId, { writer, now }, pass) =>
      saveHistoryPass(db, { botId, leaseEpoch: writer.leaseEpoch, now }, pass),
    ...sweepsOf(deps),
    isServedSoonerElsewhere: ({ trade, facts }) =>
      isServedSoonerElsewhere(
        db,
        {
          partnerSteamId: trade.partnerSteamId,
          game: facts.game,
          items: trade.items.length,
          botId: facts.botId,
          tried: facts.attempt.tried,
        },
        deps.limits.fleet,
      ),
    isSteamDown: async () => (await openOutages(db)).has('offers'),
    async transaction(work) {
      try {
        return await inTransaction(db, (tx, tries) => work(openTradeTx(deps, tx, tries)))
      } catch (error) {
        if (!(error instanceof NumberTaken)) throw error
        // The transaction has failed, so it cannot read which trade has the number.
        throw new NumberTaken(error.numbers, (await ownerOf(db, error.numbers))?.tradeId)
      }
    },
  }
}

/** True for held trades, and for final ones that will be read again: Steam may report a protection or reversal late. */
const canBeReversed = (eb: ExpressionBuilder<Tables, 'trade'>) =>
  eb.or([eb('state', '=', 'held'), eb('look_at', 'is not', null)])

const tradesOf = (db: Db, botId: bigint) =>
  db.selectFrom('trade').selectAll().where('bot_id', '=', botId).orderBy('id')

async function tradesOfOffers(db: Db, offerIds: readonly string[]): Promise<Map<string, bigint>> {
  if (offerIds.length === 0) return new Map()
  const { rows } = await sql<{ offerId: string; id: bigint }>`
    select steam_offer_id as "offerId", id from trade
    where steam_offer_id = any(${[...offerIds]}::text[])`.execute(db)
  return new Map(rows.map(({ offerId, id }) => [offerId, id]))
}

async function partnersSince(db: Db, botId: bigint, since: Date): Promise<Map<string, bigint>> {
  const rows = await db
    .selectFrom('trade')
    .select((eb) => ['partner_steam_id', eb.fn.max('deposit_id').as('deposit_id')])
    .where('bot_id', '=', botId)
    .where((eb) =>
      eb.or([
        eb('created_at', '>=', since),
        eb.and([eb('state', '=', 'countered'), eb('due_at', 'is not', null)]),
      ]),
    )
    .where('partner_steam_id', 'not in', db.selectFrom('bot').select('steam_id'))
    .groupBy('partner_steam_id')
    .execute()
  return new Map(rows.map((row) => [row.partner_steam_id, row.deposit_id]))
}

async function partnerTokenOf({ db, box }: IntentDeps, id: bigint): Promise<string | null> {
  const row = await db
    .selectFrom('trade')
    .select(['secret_code', 'partner_token', 'partner_token_sealed'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return tokenOfTrade(box, row)
}

type Postponing = { seen: LoadedTrade; writer: Writer; when: Date | null }

async function postpone(db: Db, { seen: { trade, facts }, writer, when }: Postponing): Promise<void> {
  const cancelling = trade.state === 'active' ? trade.cancelling : null
  let query = db
    .updateTable('trade')
    .set({ due_at: when, lease_epoch: writer.leaseEpoch })
    .where('id', '=', facts.id)
    .where('state', '=', trade.state)
    .where('bot_id', 'in', botsOf(writer))
  if (trade.state === 'active') query = query.where('cancelling', 'is not distinct from', cancelling)
  await query.execute()
}

/** `tries`: how many times the transaction was started, including this time. */
export function openTradeTx(deps: WriteDeps, tx: Tx, tries = 1): TradeTx {
  const deposits = new Map<bigint, DepositRow>()
  const rows = new Map<bigint, LockedRows>()
  const announced = new Set<bigint>()
  const rowsOf = (tradeId: bigint): LockedRows => lockedIn(rows, tradeId)
  const wake = async (writeTx: Tx, tradeId: bigint, at: Date) => {
    const { row } = rowsOf(tradeId)
    const data = { kind: 'trade', tradeId: String(tradeId) } as const
    const when = { startAfter: at, singletonKey: `trade ${tradeId}` }
    await deps.queue.send(writeTx, { queue: botQueue(row.bot_id), data, ...when })
  }
  return {
    async lockDeposit(id) {
      const row = await lockDeposit(tx, { id })
      if (row === undefined) return undefined
      deposits.set(id, row)
      return lockedOf(row)
    },
    async lockTrade(id) {
      const row = await lockTradeRow(tx, id)
      if (row === undefined) return undefined
      const deposit = deposits.get(row.deposit_id)
      if (deposit === undefined) throw new Error(`the deposit of trade ${id} is not locked`)
      rows.set(id, { deposit, row, written: {}, money: undefined })
      return loadedOf(row)
    },
    liveTradeOf: async (depositId) => (await liveTradeOf(tx, depositId))?.row.id,
    otherOffersOf: async ({ facts }) =>
      rowsOf(facts.id).row.others.flatMap(({ id, state }) => (state === 'active' ? [BigInt(id)] : [])),
    wasCancelledByStore: (depositId) => wasCancelledByStore(tx, depositId),
    async write(locked, change) {
      if (change.trade !== undefined) rowsOf(locked.facts.id).written = columnsOf(change.trade)
      return write(tx, locked, change)
    },
    async beginCancel({ facts }, cancelling, dueAt) {
      await tx.updateTable('trade').set({ cancelling, due_at: dueAt }).where('id', '=', facts.id).execute()
    },
    async fundsOf({ facts }, { takesRoom }) {
      const locked = rowsOf(facts.id)
      const fundsAndMoney = await fundsOf(tx, locked, { takesRoom, isRetry: tries > 1 })
      locked.money = fundsAndMoney.money
      return fundsAndMoney.funds
    },
    async apply({ facts }, effects) {
      const { money, ...locked } = rowsOf(facts.id)
      if (money === undefined) throw new Error(`the money of trade ${facts.id} was not read`)
      await applyEffects({ ...deps, wake }, tx, { target: { ...locked, money }, effects })
      // The effects have notified already.
      announced.add(facts.id)
    },
    isTimeStopped: async () => (await openOutages(tx)).has('deposits'),
    closeDeposit: async ({ id }, cause) => closeDeposit(deps, tx, { deposit: deposits.get(id), cause }),
    wake: (tradeId, at) => wake(tx, tradeId, at),
    async announce({ facts }) {
      if (announced.has(facts.id)) return
      await deps.signals.notify(tx, tradeTopic(facts.id))
      await deps.signals.notify(tx, depositTopic(facts.depositId))
    },
  }
}

function lockedIn<T>(rows: ReadonlyMap<bigint, T>, id: bigint): T {
  const locked = rows.get(id)
  if (locked === undefined) throw new Error(`trade ${id} is not locked`)
  return locked
}

const lockedOf = (row: DepositRow): LockedDeposit => ({
  id: row.id,
  storeId: row.store_id,
  status: row.status,
  expiresAt: row.expires_at,
  cancelledAt: row.cancelled_at,
})

type Closing = { deposit: DepositRow | undefined; cause: DepositClosing }

async function closeDeposit(deps: WriteDeps, tx: Tx, { deposit, cause }: Closing): Promise<boolean> {
  const to = deposit && decideDeposit(lifeOf(deposit), cause)
  if (!to) return false
  const columns = { status: to, ...(cause.kind === 'cancelled_by_store' && { cancelled_at: cause.at }) }
  const data = await withShownTrade(tx, { ...deposit, ...columns }, deps.publicUrl)
  const batch = createBatch()
  await batch.tx.updateTable('deposit').set(columns).where('id', '=', deposit.id).execute()
  await appendTransition(deps, batch.tx, { deposit, to, data })
  await batch.run(tx)
  return true
}

async function wasCancelledByStore(tx: Tx, depositId: bigint): Promise<boolean> {
  const row = await tx
    .selectFrom('trade')
    .select('id')
    .where('deposit_id', '=', depositId)
    .where('reason', '=', 'cancelled_by_store')
    .executeTakeFirst()
  return row !== undefined
}

/** The constraints by which each offer and each Steam trade belongs to one trade. */
const STEAM_NUMBER_CONSTRAINTS = ['trade_steam_offer_id_key', 'trade_steam_trade_id_key']

async function write(tx: Tx, { trade, facts }: LoadedTrade, change: TradeWrite): Promise<boolean> {
  const { writer, dueAt } = change
  const columns = { ...(change.trade && columnsOf(change.trade)), due_at: dueAt }
  const query = tx.updateTable('trade').where('id', '=', facts.id).where('state', '=', trade.state)
  const guarded =
    writer === undefined
      ? query.set(columns)
      : query.set({ ...columns, lease_epoch: writer.leaseEpoch }).where('bot_id', 'in', botsOf(writer))
  try {
    return (await guarded.returning('id').execute()).length === 1
  } catch (error) {
    const isTaken = STEAM_NUMBER_CONSTRAINTS.some((constraint) => violates(error, constraint))
    if (!isTaken || change.trade === undefined) throw error
    const { steam_offer_id: offerId = null, steam_trade_id: steamTradeId = null } = columns
    throw new NumberTaken({ tradeId: facts.id, offerId, steamTradeId })
  }
}
