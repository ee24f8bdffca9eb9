import type { Db, Tx } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import type { Profile, Steam, SteamSession, Unavailable } from '../steam/steam.ts'
import { chooseBot, type FleetLimits } from './fleet.ts'
import { botForReading, botsForChoice, listBots, lockTradesOf, type SealedToken, saveBot } from './store.ts'

export { listBots }

type Wanted = { partnerSteamId: string; items: number }

/**
 * The bot that shall send an offer for so many items to this partner; undefined if none is reachable and has room. Its
 * room is kept until the transaction ends.
 */
export async function chooseBotForTrade(
  tx: Tx,
  { partnerSteamId, items }: Wanted,
  limits: FleetLimits,
): Promise<{ botId: bigint } | undefined> {
  const full = new Set<bigint>()
  const choose = async (isMeant: (botId: bigint) => boolean) => {
    const bots = await botsForChoice(tx, partnerSteamId)
    const meant = bots.filter(({ botId }) => isMeant(botId))
    return chooseBot(meant, limits, items)
  }
  for (;;) {
    const bot = await choose((botId) => !full.has(botId))
    if (bot === undefined) return undefined
    const { botId } = bot
    await lockTradesOf(tx, botId)
    // Its last room may have gone while we waited.
    if ((await choose((other) => other === botId)) !== undefined) return { botId }
    full.add(botId)
  }
}

/** The bot that shall read an inventory; undefined if none is reachable. */
export function chooseBotForReading(tx: Db | Tx): Promise<bigint | undefined> {
  return botForReading(tx)
}

export type AddBotAnswer =
  | {
      kind: 'added'
      botId: bigint
      steamId: string
      name: string
      tokenExpiresAt: Date | null
      /** False: Steam did not take it now; the holder of the bot tries again. */
      protectionAcknowledged: boolean
    }
  | { kind: 'refused'; reason: 'token_dead' | 'token_malformed' | 'unknown_account' }
  | Unavailable

type ProveBotDeps = { steam: Steam; box: SecretBox; clock: Clock; refreshToken: string }

/** Enrols the bot whose refresh token this is, once it has proved itself; stores the token sealed. */
export async function addBot({ db, ...deps }: ProveBotDeps & { db: Db }): Promise<AddBotAnswer> {
  const proved = await proveBot(deps)
  return proved.kind === 'proved' ? saveProvedBot(db, proved) : proved
}

type ProvedBot = { kind: 'proved'; profile: Profile; token: SealedToken }

/** Asks Steam whether the account of this refresh token can work as a bot. Writes nothing. */
export async function proveBot({
  steam,
  box,
  clock,
  refreshToken,
}: ProveBotDeps): Promise<ProvedBot | Exclude<AddBotAnswer, { kind: 'added' }>> {
  const token = refreshToken.trim()
  const opened = await steam.openSession(token)
  if (opened.kind !== 'open') return opened
  const { session, expiresAt } = opened
  const { steamId } = session
  try {
    const test = await testSession(steam, session, clock.now())
    if (test.kind !== 'passed') return test
    const { profile, acknowledged } = test
    const sealed = box.seal(token, tokenPlace(steamId))
    return { kind: 'proved', profile, token: { sealed, expiresAt, acknowledged } }
  } finally {
    session.close()
  }
}

/** Stores a bot that has proved itself. */
export async function saveProvedBot(
  db: Db | Tx,
  { profile, token }: ProvedBot,
): Promise<Extract<AddBotAnswer, { kind: 'added' }>> {
  const botId = await saveBot(db, profile, token)
  const { steamId, name } = profile
  const { expiresAt: tokenExpiresAt, acknowledged: protectionAcknowledged } = token
  return { kind: 'added', botId, steamId, name, tokenExpiresAt, protectionAcknowledged }
}

type SelfTest =
  | { kind: 'passed'; profile: Profile; acknowledged: boolean }
  | { kind: 'refused'; reason: 'unknown_account' }
  | Unavailable

/** What every deposit needs of the account: it is known, the notice is read, its offers can be listed. */
async function testSession(steam: Steam, session: SteamSession, now: Date): Promise<SelfTest> {
  const answer = await steam.readProfile(session.steamId)
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'unknown_account') return { kind: 'refused', reason: 'unknown_account' }
  const acknowledged = (await session.acknowledgeProtection()).kind === 'done'
  const offers = await session.listSentOffers(now)
  if (offers.kind === 'unavailable') return offers
  return { kind: 'passed', profile: answer.profile, acknowledged }
}

/** What a sealed refresh token is bound to. */
export function tokenPlace(steamId: string): string {
  return `bot:${steamId}:refresh_token`
}
