/** Enrolment: a Steam account becomes a bot of the till. */
import { steamIdOfAccount } from '../../contract/steam-id.ts'
import type { TradeLink } from '../../contract/trade-link.ts'
import { type EnrolledBot, type ProveBotAnswer, proveBot, saveProvedBot } from '../bots/service.ts'
import type { Config } from '../config.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import type { Steam } from '../steam/steam.ts'
import { createSandboxAgent } from '../steam/web/agent.ts'
import type { LoginWay } from '../steam/web/enrol.ts'
import { createLazySteam } from '../steam/web/lazy-steam.ts'
import { act } from './act.ts'
import { noticeOf } from './bot-notice.ts'
import { obtainRefreshToken } from './obtain-token.ts'
import { type ActDeps, type Answer, done, type Refused, refused } from './operation.ts'

export type AddedBot = EnrolledBot

/** `checkWith`: trade link of another account, used to ask Steam about the bot's own trade hold. */
export type HoldCheck = { checkWith?: TradeLink | undefined }

type Enrolment = HoldCheck & {
  refreshToken: string
  name: 'bot add' | 'bot enrol' | 'bot renew'
  /** The expected account; undefined accepts any. */
  steamId?: string | undefined
}

/** Enrols the account of a refresh token, after asking Steam whether it can work as a bot. */
export async function enrolBot(
  deps: ActDeps,
  { refreshToken, name, steamId: expected, checkWith }: Enrolment,
): Promise<Answer<AddedBot>> {
  const { config, clock } = deps
  const box = createSecretBox(config.masterKey, config.oldMasterKeys)
  const proved = await proveBot({
    steam: steamOf(config),
    box,
    clock,
    refreshToken,
    ...(checkWith && {
      checkWith: { steamId: steamIdOfAccount(checkWith.partner), token: checkWith.token },
    }),
  })
  if (proved.kind === 'unavailable') {
    return refused('unavailable', `Steam did not answer: ${proved.reason}: ${proved.detail}`)
  }
  if (proved.kind === 'refused') {
    const effect = expected === undefined ? 'The bot was not added' : 'The token was not renewed'
    return refused('conflict', `${effect}: ${WHY_REFUSED[proved.reason]}.`)
  }
  const { steamId: actual, name: actualName } = proved.profile
  if (expected !== undefined && actual !== expected) {
    return refused(
      'conflict',
      `Another account approved the login: ${actualName} (${actual}). Nothing was changed.`,
    )
  }
  const namedAct = { name, argumentsOf: ({ botId, steamId }: AddedBot) => ({ botId, steamId }) }
  return act(deps, namedAct, async (tx) => {
    const bot = await saveProvedBot(tx, proved, clock.now())
    const end = bot.tokenExpiresAt
      ? `, token good until ${bot.tokenExpiresAt.toISOString().slice(0, 10)}`
      : ''
    const verb = expected === undefined ? 'added' : 'renewed'
    return done(bot, `Bot ${bot.botId} ${verb}: ${bot.name} (${bot.steamId})${end}.${noticeOf(bot)}`)
  })
}

const WHY_REFUSED: Record<Extract<ProveBotAnswer, { kind: 'refused' }>['reason'], string> = {
  token_dead: 'Steam refuses the refresh token: log in again for a new one',
  token_malformed: 'the text is not a refresh token',
  unknown_account: 'Steam does not show the profile of the account',
  check_link_refused: 'Steam refused the trade link of --check-with: give a current one of another account',
}

type Login = Omit<Enrolment, 'refreshToken'> & {
  /** Called after the login. Returns a refusal if the bot must not be changed any more. */
  findObstacle?(): Promise<Refused | undefined>
}

/** Logs the bot in once and enrols it with the resulting token. */
export async function enrolByLogin(
  deps: ActDeps,
  way: LoginWay,
  { findObstacle, ...enrolment }: Login,
): Promise<Answer<AddedBot>> {
  const login = await obtainRefreshToken(deps.config, way)
  if (login.kind === 'refused') return login
  const refusal = await findObstacle?.()
  return refusal ?? enrolBot(deps, { refreshToken: login.refreshToken, ...enrolment })
}

/** `line`: number of the line in the input. */
export type AddedBots = { added: AddedBot[]; refused: { line: number; message: string }[] }

/** Enrols one bot for each line with a refresh token. A refused token does not stop the others. */
export async function addBots(
  deps: ActDeps,
  tokens: AsyncIterable<string>,
  { checkWith }: HoldCheck = {},
): Promise<Answer<AddedBots>> {
  const data: AddedBots = { added: [], refused: [] }
  let firstRefusal: Refused<AddedBot> | undefined
  let line = 0
  for await (const refreshToken of tokens) {
    line += 1
    if (refreshToken === '') continue
    const answer = await enrolBot(deps, { refreshToken, name: 'bot add', checkWith })
    if (answer.kind === 'refused') {
      firstRefusal ??= answer
      data.refused.push({ line, message: answer.message })
    } else {
      data.added.push(answer.data)
    }
  }
  if (firstRefusal === undefined) return done(data)
  const advice = 'Check the token, or try again when Steam answers.'
  return {
    kind: 'refused',
    refusal: firstRefusal.refusal,
    message: `${data.refused.length} not added. ${advice}`,
    data,
  }
}

function steamOf({ mode, steamSandboxUrl }: Config): Steam {
  if (steamSandboxUrl === undefined) return createLazySteam()
  const base = new URL(steamSandboxUrl).origin
  return createLazySteam({
    redirect: createSandboxAgent(mode, base),
    imageBase: base,
    communityBase: base,
  })
}
