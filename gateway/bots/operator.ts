import type { BotState } from '../db/bot-tables.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { endBars } from './bar-store.ts'
import { lockBot, setBotState, takeBotOut, type WatchedTrades, watchedOf } from './store.ts'

export type BotAct = 'pause' | 'resume' | 'remove' | 'retire'

export type ActAnswer =
  | { kind: 'done' | 'unchanged'; botId: bigint; name: string; state: BotState }
  | { kind: 'refused'; reason: 'unknown_bot' | 'dead' | 'retired' }
  /** Some of the bot's offers can still be accepted, or its delivered items taken back: these trades must be watched. */
  | { kind: 'refused'; reason: 'busy'; watched: WatchedTrades }

/**
 * `idOrSteamId`: the bot's number or its 64-bit Steam id, as decimal digits. Repeating an act changes nothing: the
 * answer is `unchanged`, or `unknown_bot` for a removed bot.
 */
export function actOnBot(db: Db | Tx, idOrSteamId: string, act: BotAct): Promise<ActAnswer> {
  return inTransaction(db, async (tx): Promise<ActAnswer> => {
    const bot = await lockBot(tx, idOrSteamId)
    if (bot === undefined) return { kind: 'refused', reason: 'unknown_bot' }
    if (act === 'remove') return remove(tx, bot)
    if (act === 'retire') return retire(tx, bot)
    if (bot.state === 'retired') return { kind: 'refused', reason: 'retired' }
    // Only an enrolment brings a dead bot back into service.
    if (bot.state === 'dead') return { kind: 'refused', reason: 'dead' }
    const state: BotState = act === 'pause' ? 'paused' : 'active'
    const after = { botId: bot.id, name: bot.name, state }
    const hasEndedBars = act === 'resume' && (await endBars(tx, bot.id))
    if (state === bot.state) return { kind: hasEndedBars ? 'done' : 'unchanged', ...after }
    await setBotState(tx, bot.id, state)
    return { kind: 'done', ...after }
  })
}

/** Deletes the bot's token. The row stays, because trades and items refer to it. */
async function remove(tx: Tx, bot: { id: bigint; name: string }): Promise<ActAnswer> {
  const watched = await watchedOf(tx, bot.id)
  if (watched.open + watched.reviewed + watched.protected > 0)
    return { kind: 'refused', reason: 'busy', watched }
  await takeBotOut(tx, bot.id, 'removed')
  return { kind: 'done', botId: bot.id, name: bot.name, state: 'removed' }
}

/** Retires a bot that will never return. The sweep ends its open trades, and needs no bot for that. */
async function retire(tx: Tx, bot: { id: bigint; name: string; state: BotState }): Promise<ActAnswer> {
  const after = { botId: bot.id, name: bot.name, state: 'retired' } as const
  if (bot.state === 'retired') return { kind: 'unchanged', ...after }
  await takeBotOut(tx, bot.id, 'retired')
  return { kind: 'done', ...after }
}
