import type { Db, Tx } from '../db/client.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import type { Steam, Unavailable } from '../steam/steam.ts'
import { chooseBot, DEFAULT_FLEET_LIMITS, type FleetLimits } from './fleet.ts'
import { botForReading, botsForChoice, listBots, saveBot } from './store.ts'

export { listBots }

/** The bot that shall send an offer to this partner; undefined if none is reachable and has room. */
export async function chooseBotForTrade(
  tx: Tx,
  partnerSteamId: string,
  limits: FleetLimits = DEFAULT_FLEET_LIMITS,
): Promise<{ botId: bigint } | undefined> {
  const bot = chooseBot(await botsForChoice(tx, partnerSteamId), limits)
  return bot && { botId: bot.botId }
}

/** The bot that shall read an inventory; undefined if none is reachable. */
export function chooseBotForReading(tx: Db | Tx): Promise<bigint | undefined> {
  return botForReading(tx)
}

export type AddBotAnswer =
  | { kind: 'added'; botId: bigint; steamId: string; name: string }
  | { kind: 'refused'; reason: 'token_dead' | 'token_malformed' | 'unknown_account' }
  | Unavailable

type AddBotDeps = { db: Db; steam: Steam; box: SecretBox; refreshToken: string }

/** Enrols the bot whose refresh token this is: opens a session to prove it, reads its profile, stores it sealed. */
export async function addBot({ db, steam, box, refreshToken }: AddBotDeps): Promise<AddBotAnswer> {
  const token = refreshToken.trim()
  const opened = await steam.openSession(token)
  if (opened.kind !== 'open') return opened
  const { steamId } = opened.session
  opened.session.close()
  const answer = await steam.readProfile(steamId)
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'unknown_account') return { kind: 'refused', reason: 'unknown_account' }
  const botId = await saveBot(db, answer.profile, box.seal(token, tokenPlace(steamId)))
  return { kind: 'added', botId, steamId, name: answer.profile.name }
}

/** What a sealed refresh token is bound to. */
export function tokenPlace(steamId: string): string {
  return `bot:${steamId}:refresh_token`
}
