/** Renews refresh tokens by a login that the bot's own phone approves. */
import { type BotSummary, listBots } from '../bots/store.ts'
import { tokenEnd } from '../bots/token-end.ts'
import { type AddedBot, enrolByLogin } from './enrolment.ts'
import {
  type ActDeps,
  type Answer,
  done,
  type FindDeps,
  type RefusalKind,
  type Refused,
  refused,
} from './operation.ts'

export type RenewedBots = { renewed: AddedBot[]; refused: { botId: bigint; message: string }[] }

type Renewal = {
  /** Numbers or Steam ids of bots. An empty list means every bot that is dead or whose token expires within 30 days. */
  idsOrSteamIds: readonly string[]
  /** Shows the URL that this bot's Steam app must open. It can replace an earlier one. */
  show(bot: BotSummary, code: ShownCode): void
}

type ShownCode = { address: string; isReplacement: boolean }

/** Renews the tokens one by one. A login that is not approved does not stop the others. */
export async function renewBots(
  deps: ActDeps,
  { idsOrSteamIds, show }: Renewal,
): Promise<Answer<RenewedBots>> {
  const chosen = await choose(deps, idsOrSteamIds)
  if (chosen.kind === 'refused') return chosen
  const data: RenewedBots = { renewed: [], refused: [] }
  let firstRefusal: RefusalKind | undefined
  for (const bot of chosen.bots) {
    const answer = await renew(deps, bot, (address, isReplacement) => show(bot, { address, isReplacement }))
    if (answer.kind !== 'refused') {
      data.renewed.push(answer.data)
      continue
    }
    firstRefusal ??= answer.refusal
    data.refused.push({ botId: bot.botId, message: answer.message })
  }
  if (firstRefusal === undefined) return done(data)
  const message = `${data.refused.length} not renewed. Run bot renew again for these.`
  return { kind: 'refused', refusal: firstRefusal, message, data }
}

const renew = (
  deps: ActDeps,
  { steamId }: BotSummary,
  show: (address: string, isReplacement: boolean) => void,
): Promise<Answer<AddedBot>> => enrolByLogin(deps, { kind: 'phone', show }, { name: 'bot renew', steamId })

const isNamed = ({ botId, steamId }: BotSummary, name: string) => name === String(botId) || name === steamId

const noBot = (name: string) => refused('not_found', `There is no bot ${name}: see bot list.`)

/** `name`: the bot's number or Steam id. Resolves to its Steam id. */
export async function accountOf({ db }: FindDeps, name: string): Promise<string | Refused> {
  const bots = await listBots(db)
  return bots.find((bot) => isNamed(bot, name))?.steamId ?? noBot(name)
}

async function choose(
  { db, clock }: ActDeps,
  idsOrSteamIds: readonly string[],
): Promise<{ kind: 'chosen'; bots: BotSummary[] } | Refused> {
  const bots = await listBots(db)
  const unknown = idsOrSteamIds.find((name) => !bots.some((bot) => isNamed(bot, name)))
  if (unknown !== undefined) return noBot(unknown)
  const isMeant = (bot: BotSummary) =>
    idsOrSteamIds.length === 0
      ? bot.state === 'dead' || tokenEnd(bot.tokenExpiresAt, clock.now()) !== 'far'
      : idsOrSteamIds.some((name) => isNamed(bot, name))
  return { kind: 'chosen', bots: bots.filter(isMeant) }
}
