import { sql } from 'kysely'
import type { BotState } from '../db/bot-tables.ts'
import type { Db, Tx } from '../db/client.ts'
import { OPEN_TRADE_STATES, type TradeStateColumn } from '../db/trade-tables.ts'

export type NewAct = {
  at: Date
  operator: string
  act: string
  /** JSON of the arguments, without secrets. */
  arguments: string
  reason: string | null
}

export async function insertAct(tx: Tx, act: NewAct): Promise<void> {
  await tx.insertInto('operator_act').values(act).execute()
}

export type ActFilter = {
  act?: string | undefined
  operator?: string | undefined
  since?: Date | undefined
  /** Last act of the previous page: only acts with a smaller number are returned. */
  before?: bigint | undefined
  limit: number
}

/** Returns acts, newest first. */
export function selectActs(db: Db, { act, operator, since, before, limit }: ActFilter) {
  return db
    .selectFrom('operator_act')
    .select(['id as actId', 'at', 'operator', 'act', 'arguments', 'reason'])
    .$if(act !== undefined, (query) => query.where('act', '=', act ?? ''))
    .$if(operator !== undefined, (query) => query.where('operator', '=', operator ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date(0)))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0n))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findStore(db: Db | Tx, storeId: bigint) {
  return db.selectFrom('store').selectAll().where('id', '=', storeId).executeTakeFirst()
}

/** Returns the used part of a store's limit for credit at risk, in US cents. */
export async function atRiskOf(db: Db, storeId: bigint): Promise<bigint> {
  const row = await db
    .selectFrom('credit_at_risk')
    .select('usd_cents')
    .where('store_id', '=', storeId)
    .executeTakeFirst()
  return row?.usd_cents ?? 0n
}

export function findTrade(tx: Tx, tradeId: bigint) {
  return tx
    .selectFrom('trade')
    .innerJoin('deposit', 'deposit.id', 'trade.deposit_id')
    .innerJoin('bot', 'bot.id', 'trade.bot_id')
    .select([
      'trade.id as tradeId',
      'trade.deposit_id as depositId',
      'trade.bot_id as botId',
      'bot.state as botState',
      'trade.partner_steam_id as partnerSteamId',
      'trade.state',
      'deposit.status as depositStatus',
      'trade.steam_trade_id as steamTradeId',
      'trade.steam_offer_id as offerId',
      'trade.settles_at as settlesAt',
    ])
    .where('trade.id', '=', tradeId)
    .executeTakeFirst()
}

/**
 * Has the next sweep ask Steam about the trade: after delivery, whether its items were taken back. Resolves to false if
 * there is nothing left to ask.
 */
export async function lookSoon(tx: Tx, tradeId: bigint, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('trade')
    .set((eb) => ({
      due_at: now,
      look_at: eb.case().when('state', 'in', ['held', 'final']).then(now).else(eb.ref('look_at')).end(),
    }))
    .where('id', '=', tradeId)
    .where((eb) =>
      eb.or([eb('due_at', 'is not', null), eb('state', 'in', [...OPEN_TRADE_STATES, 'held', 'final'])]),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Returns the deposit's trades that have held credit. */
export function heldTradesOf(tx: Tx, depositId: bigint) {
  return tx
    .selectFrom('trade')
    .select(['id as tradeId', 'held_amount as heldMinor', 'liability'])
    .where('deposit_id', '=', depositId)
    .where('state', '=', 'held')
    .where('held_amount', '>', 0n)
    .orderBy('id')
    .execute()
}

/** Marks the deposit so all its credit will be held. */
export async function holdAll(tx: Tx, depositId: bigint): Promise<void> {
  await tx.updateTable('deposit').set({ credit_mode: 'on_release' }).where('id', '=', depositId).execute()
}

export type OpenTrade = {
  tradeId: bigint
  depositId: bigint
  botId: bigint
  bot: string
  botState: BotState
  state: TradeStateColumn
  /** Why the trade ended without items; null for other trades. */
  reason: string | null
  partnerSteamId: string
  secretCode: string
  offerId: string | null
  steamTradeId: string | null
  createdAt: Date
  acceptedAt: Date | null
  /** When Steam's protection or escrow ends. */
  until: Date | null
}

/** Returns trades that are open or held, or about which a bot must ask Steam again, oldest first. */
export function selectOpenTrades(
  db: Db,
  { bot, limit }: { bot: string | undefined; limit: number },
): Promise<OpenTrade[]> {
  return db
    .selectFrom('trade')
    .innerJoin('bot', 'bot.id', 'trade.bot_id')
    .select([
      'trade.id as tradeId',
      'trade.deposit_id as depositId',
      'bot.id as botId',
      'bot.name as bot',
      'bot.state as botState',
      'trade.state',
      'trade.reason',
      'trade.partner_steam_id as partnerSteamId',
      'trade.secret_code as secretCode',
      'trade.steam_offer_id as offerId',
      'trade.steam_trade_id as steamTradeId',
      'trade.created_at as createdAt',
      'trade.accepted_at as acceptedAt',
    ])
    .select((eb) => eb.fn.coalesce('trade.settles_at', 'trade.steam_hold_until').as('until'))
    .where((eb) =>
      eb.or([eb('trade.due_at', 'is not', null), eb('trade.state', 'in', [...OPEN_TRADE_STATES, 'held'])]),
    )
    .$if(bot !== undefined, (query) =>
      query.where((eb) => eb.or([eb(sql`bot.id::text`, '=', bot ?? ''), eb('bot.steam_id', '=', bot ?? '')])),
    )
    .orderBy('trade.id')
    .limit(limit)
    .execute()
}
