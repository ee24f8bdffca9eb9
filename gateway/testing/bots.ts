import type { BotHandlers } from '../bots/bot.ts'
import { type EnrolledBot, type ProveBotAnswer, proveBot, saveProvedBot } from '../bots/service.ts'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'

type AddBot = Parameters<typeof proveBot>[0] & { db: Db }
type AddBotAnswer = (EnrolledBot & { kind: 'added' }) | Exclude<ProveBotAnswer, { kind: 'proved' }>

/** Enrols the bot of this refresh token as an operator's command would, but records no act. */
export async function addBot({ db, ...deps }: AddBot): Promise<AddBotAnswer> {
  const proved = await proveBot(deps)
  if (proved.kind !== 'proved') return proved
  const bot = await inTransaction(db, (tx) => saveProvedBot(tx, proved, deps.clock.now()))
  return { kind: 'added', ...bot }
}

const doNothing = async () => {}

/** Handlers of a bot that has nothing to do. */
export const IDLE_HANDLERS: BotHandlers = {
  inventory: doNothing,
  laneOf: async () => undefined,
  trade: doNothing,
  refresh: doNothing,
  history: doNothing,
  drift: doNothing,
  watch: async () => 0,
}
