/** Intents in PostgreSQL. A shopper's request has one intent for each bot that tries it. */
import { type Insertable, sql } from 'kysely'
import { botQueue } from '../bots/bot.ts'
import type { FleetLimits } from '../bots/fleet.ts'
import { chooseBotForTrade } from '../bots/service.ts'
import type { Tx } from '../db/client.ts'
import type { TradeItemTable, TradeTable } from '../db/trade-tables.ts'
import type { DepositDeps } from '../deposits/service.ts'
import { TOKEN_PLACE, tokenOfTrade } from '../shoppers/trade-token.ts'
import type { TradeRow } from './store.ts'

export type TradeLimits = {
  maxItems: number
  /** The limits of one bot. */
  fleet: FleetLimits
}

/** The parts that a transaction about trades needs. */
export type WriteDeps = Pick<DepositDeps, 'clock' | 'ids' | 'box' | 'publicUrl'> & {
  queue: Pick<DepositDeps['queue'], 'send'>
  signals: Pick<DepositDeps['signals'], 'notify'>
  limits: TradeLimits
}

export type IntentDeps = DepositDeps & WriteDeps

type Intent = Omit<
  Insertable<TradeTable>,
  'secret_code' | 'created_at' | 'due_at' | 'partner_token' | 'partner_token_sealed'
> & { token: string }

/**
 * With ten million trades, one code in a hundred is taken. If this many draws in a row give taken codes, the random
 * source is broken.
 */
const MOST_DRAWS = 5

/** Writes an intent and wakes its bot. The caller writes the items. */
export async function writeIntent(deps: WriteDeps, tx: Tx, intent: Intent): Promise<bigint> {
  const id = await insertWithFreeCode(deps, tx, intent)
  const data = { kind: 'trade', tradeId: String(id) } as const
  const singletonKey = `trade ${id}`
  await deps.queue.send(tx, { queue: botQueue(intent.bot_id), data, singletonKey, urgent: true })
  return id
}

/** Draws until a code is free. An error would end the caller's transaction, so a taken code must not raise one. */
async function insertWithFreeCode(deps: WriteDeps, tx: Tx, { token, ...intent }: Intent): Promise<bigint> {
  const now = deps.clock.now()
  for (let draws = 0; draws < MOST_DRAWS; draws += 1) {
    const secret_code = deps.ids.secretCode()
    const partner_token_sealed = deps.box.seal(token, TOKEN_PLACE.trade(secret_code))
    const written = await tx
      .insertInto('trade')
      .values({ ...intent, secret_code, partner_token_sealed, created_at: now, due_at: now })
      .onConflict((conflict) => conflict.column('secret_code').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (written !== undefined) return written.id
  }
  throw new Error(`no free secret code in ${MOST_DRAWS} draws: the source of random codes repeats itself`)
}

export async function writeItems(
  tx: Tx,
  tradeId: bigint,
  items: readonly Omit<Insertable<TradeItemTable>, 'trade_id'>[],
): Promise<void> {
  await tx
    .insertInto('trade_item')
    .values(items.map((item) => ({ ...item, trade_id: tradeId })))
    .execute()
}

type Moving = { row: TradeRow; isInDoubt: boolean }

/**
 * Gives the request of a refused trade to a bot that has not tried it yet. Does nothing if none is free, or if the
 * token of the trade link was erased.
 */
export async function moveToOtherBot(deps: WriteDeps, tx: Tx, { row, isInDoubt }: Moving): Promise<void> {
  const tried = [...row.tried_bots, row.bot_id]
  const { items } = await tx
    .selectFrom('trade_item')
    .select((eb) => eb.fn.countAll<bigint>().as('items'))
    .where('trade_id', '=', row.id)
    .executeTakeFirstOrThrow()
  const botQuery = { partnerSteamId: row.partner_steam_id, game: row.game, items: Number(items), tried }
  const bot = await chooseBotForTrade(tx, botQuery, deps.limits.fleet)
  const token = tokenOfTrade(deps.box, row)
  if (bot === undefined || token === null) return
  const { deposit_id, quote_id, game, partner_steam_id, currency, total, gross_total } = row
  const { promised_amount, promised_days } = row
  const same = { deposit_id, quote_id, game, partner_steam_id, token, currency, total, gross_total }
  const id = await writeIntent(deps, tx, {
    ...same,
    promised_amount,
    promised_days,
    bot_id: bot.botId,
    intended_at: row.intended_at,
    tried_bots: tried,
    doubted_bot: isInDoubt ? row.bot_id : row.doubted_bot,
  })
  await sql`
    insert into trade_item (trade_id, asset_id, app_id, context_id, name, market_hash_name, phase, price, gross)
    select ${id}, asset_id, app_id, context_id, name, market_hash_name, phase, price, gross
    from trade_item where trade_id = ${row.id}`.execute(tx)
  await tx.updateTable('trade').set({ moved_to: id }).where('id', '=', row.id).execute()
}
