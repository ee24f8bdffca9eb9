/** Commands of the operator about a bot. */
import type { Db, Tx } from '../db/client.ts'
import type { BotState } from '../db/schema.ts'
import { inTransaction } from '../db/transaction.ts'
import { isWatched, lockBotNamed, setBotState, takeBotOut } from './store.ts'

export type BotAct = 'pause' | 'resume' | 'remove'

export type ActAnswer =
  | { kind: 'done' | 'unchanged'; botId: bigint; name: string; state: BotState }
  /** `busy`: offers are open, or items are still under Steam's protection and must be watched. */
  | { kind: 'refused'; reason: 'unknown_bot' | 'dead' | 'busy' }

/** `which`: the bot's number or its 64-bit Steam id, as decimal digits. Doing the same again is no error. */
export function actOnBot(db: Db | Tx, which: string, act: BotAct): Promise<ActAnswer> {
  return inTransaction(db, async (tx): Promise<ActAnswer> => {
    const bot = await lockBotNamed(tx, which)
    if (bot === undefined) return { kind: 'refused', reason: 'unknown_bot' }
    if (act === 'remove') return remove(tx, bot)
    // Only an enrolment brings a dead one back.
    if (bot.state === 'dead') return { kind: 'refused', reason: 'dead' }
    const state: BotState = act === 'pause' ? 'paused' : 'active'
    const now = { botId: bot.id, name: bot.name, state }
    if (state === bot.state) return { kind: 'unchanged', ...now }
    await setBotState(tx, bot.id, state)
    return { kind: 'done', ...now }
  })
}

/** The row stays, because trades and items name it; the token goes. */
async function remove(tx: Tx, bot: { id: bigint; name: string }): Promise<ActAnswer> {
  if (await isWatched(tx, bot.id)) return { kind: 'refused', reason: 'busy' }
  await takeBotOut(tx, bot.id)
  return { kind: 'done', botId: bot.id, name: bot.name, state: 'removed' }
}
