/** What the operator does with a bot by command. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { BotState } from '../db/schema.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import { inTransaction } from '../db/transaction.ts'

export type BotAct = 'pause' | 'resume' | 'remove'

export type ActAnswer =
  | { kind: 'done' | 'unchanged'; botId: bigint; name: string; state: BotState }
  /** `busy`: offers are open, or items are still under Steam's protection and must be watched. */
  | { kind: 'refused'; reason: 'unknown_bot' | 'dead' | 'busy' }

/** `which`: the bot's number or its 64-bit Steam id, as decimal digits. Doing the same again is no error. */
export function actOnBot(db: Db | Tx, which: string, act: BotAct): Promise<ActAnswer> {
  return inTransaction(db, async (tx): Promise<ActAnswer> => {
    const bot = await tx
      .selectFrom('bot')
      .select(['id', 'name', 'state'])
      .where((eb) => eb.or([eb(sql`id::text`, '=', which), eb('steam_id', '=', which)]))
      .where('state', '!=', 'removed')
      .forUpdate()
      .executeTakeFirst()
    if (bot === undefined) return { kind: 'refused', reason: 'unknown_bot' }
    if (act === 'remove') return remove(tx, bot)
    // A dead one comes back by an enrolment only.
    if (bot.state === 'dead') return { kind: 'refused', reason: 'dead' }
    const state: BotState = act === 'pause' ? 'paused' : 'active'
    const now = { botId: bot.id, name: bot.name, state }
    if (state === bot.state) return { kind: 'unchanged', ...now }
    await tx.updateTable('bot').set({ state }).where('id', '=', bot.id).execute()
    return { kind: 'done', ...now }
  })
}

/** The row stays, because trades and items name it; the token goes. */
async function remove(tx: Tx, bot: { id: bigint; name: string }): Promise<ActAnswer> {
  const watched = await tx
    .selectFrom('trade')
    .select('id')
    .where('bot_id', '=', bot.id)
    .where('state', 'in', [...OPEN_TRADE_STATES, 'held'])
    .limit(1)
    .executeTakeFirst()
  if (watched !== undefined) return { kind: 'refused', reason: 'busy' }
  await tx
    .updateTable('bot')
    .set({
      state: 'removed',
      state_reason: null,
      refresh_token: Buffer.alloc(0),
      token_expires_at: null,
      online: false,
      lease_owner: null,
      lease_until: null,
    })
    .where('id', '=', bot.id)
    .execute()
  return { kind: 'done', botId: bot.id, name: bot.name, state: 'removed' }
}
