/** Choosing a bot for a job, and enrolling one. */
import type { Game } from '../../contract/games.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import type { Profile, Steam, SteamSession, Unavailable } from '../steam/steam.ts'
import { chooseBot, type FleetLimits } from './fleet.ts'
import { botForReading, botsForChoice, lockTradesOf, type SealedToken, saveBot } from './store.ts'

/** `tried`: bots that were refused the same wish already. */
type Wanted = { partnerSteamId: string; game: Game; items: number; tried: readonly bigint[] }

/**
 * Chooses the bot that will send an offer for this many items to the partner. Returns undefined if no reachable bot has
 * room. Its room is reserved until the transaction ends.
 */
export async function chooseBotForTrade(
  tx: Tx,
  { partnerSteamId, game, items, tried }: Wanted,
  limits: FleetLimits,
): Promise<{ botId: bigint } | undefined> {
  const full = new Set(tried)
  const choose = async (isMeant: (botId: bigint) => boolean) => {
    const bots = await botsForChoice(tx, { partnerSteamId, game })
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

/** True while a bot has room for the offer, as far as can be told without a lock. */
export async function hasBotForTrade(
  db: Db,
  { partnerSteamId, game, items, tried }: Wanted,
  limits: FleetLimits,
): Promise<boolean> {
  const bots = await botsForChoice(db, { partnerSteamId, game })
  const others = bots.filter(({ botId }) => !tried.includes(botId))
  return chooseBot(others, limits, items) !== undefined
}

/** Chooses the bot that will read an inventory. Returns undefined if none is reachable. */
export function chooseBotForReading(tx: Db | Tx): Promise<bigint | undefined> {
  return botForReading(tx)
}

export type EnrolledBot = {
  botId: bigint
  steamId: string
  name: string
  tokenExpiresAt: Date | null
  /** False if Steam did not accept it. The process that holds the bot tries again. */
  protectionAcknowledged: boolean
}

type ProveBotDeps = { steam: Steam; box: SecretBox; clock: Clock; refreshToken: string }

export type ProveBotAnswer =
  | ProvedBot
  | { kind: 'refused'; reason: 'token_dead' | 'token_malformed' | 'unknown_account' }
  | Unavailable

type ProvedBot = { kind: 'proved'; profile: Profile; token: SealedToken }

/** Asks Steam whether the account of this refresh token can work as a bot. Writes nothing to the database. */
export async function proveBot({ steam, box, clock, refreshToken }: ProveBotDeps): Promise<ProveBotAnswer> {
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

/** Stores a bot that passed the self-test. */
export async function saveProvedBot(db: Db | Tx, { profile, token }: ProvedBot): Promise<EnrolledBot> {
  const botId = await saveBot(db, profile, token)
  const { steamId, name } = profile
  const { expiresAt: tokenExpiresAt, acknowledged: protectionAcknowledged } = token
  return { botId, steamId, name, tokenExpiresAt, protectionAcknowledged }
}

type SelfTest =
  | { kind: 'passed'; profile: Profile; acknowledged: boolean }
  | { kind: 'refused'; reason: 'unknown_account' }
  | Unavailable

/** Tests what every deposit needs of the account: Steam knows it, and its offers can be listed. */
async function testSession(steam: Steam, session: SteamSession, now: Date): Promise<SelfTest> {
  const answer = await steam.readProfile(session.steamId)
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'unknown_account') return { kind: 'refused', reason: 'unknown_account' }
  const acknowledged = (await session.acknowledgeProtection()).kind === 'done'
  const offers = await session.listSentOffers(now, null)
  if (offers.kind === 'unavailable') return offers
  return { kind: 'passed', profile: answer.profile, acknowledged }
}

/** The place that a sealed refresh token is bound to. */
export function tokenPlace(steamId: string): string {
  return `bot:${steamId}:refresh_token`
}
