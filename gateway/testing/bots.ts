import { type EnrolledBot, type ProveBotAnswer, proveBot, saveProvedBot } from '../bots/service.ts'
import type { Db } from '../db/client.ts'

type AddBot = Parameters<typeof proveBot>[0] & { db: Db }
type AddBotAnswer = (EnrolledBot & { kind: 'added' }) | Exclude<ProveBotAnswer, { kind: 'proved' }>

/** Enrols the bot of this refresh token, as an operator's command does, but records no act. */
export async function addBot({ db, ...deps }: AddBot): Promise<AddBotAnswer> {
  const proved = await proveBot(deps)
  return proved.kind === 'proved' ? { kind: 'added', ...(await saveProvedBot(db, proved)) } : proved
}
