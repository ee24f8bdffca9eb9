import type { Bar } from '../bots/bar.ts'
import { listBars } from '../bots/bar-store.ts'
import { lastCompletePasses } from '../bots/history-store.ts'
import { actOnBot, type BotAct } from '../bots/operator.ts'
import { readSpread } from '../bots/process-store.ts'
import { botsWithoutRoom } from '../bots/spread.ts'
import { type BotSummary, listBots as selectBots, type WatchedTrades } from '../bots/store.ts'
import { tokenEnd } from '../bots/token-end.ts'
import type { BotState } from '../db/bot-tables.ts'
import { isDisarmed } from '../epochs/store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'

/**
 * `tokenEndsSoon`: the token expires within 30 days, by the till's clock, or has expired. `history`: how far the bot's
 * trades were read on Steam; null if it never had an item. `completeAt`: all reversals before this time are known;
 * null before the first complete reading.
 */
export type ListedBot = BotSummary & {
  tokenEndsSoon: boolean
  history: { completeAt: Date | null } | null
  bars: Bar[]
}

/** `tooMany`: how many bots have no gateway because every gateway is full. `disarmed`: no gateway may hold a bot. */
export type BotList = { bots: ListedBot[]; tooMany: number; disarmed: boolean }

/** Lists every bot that was not removed, oldest first. */
export async function listBots({ db, clock }: FindDeps): Promise<Answer<BotList>> {
  const now = clock.now()
  const barred = await listBars(db)
  const completeTimes = await lastCompletePasses(db)
  const bots = (await selectBots(db)).map((bot) => {
    const tokenEndsSoon = tokenEnd(bot.tokenExpiresAt, now) !== 'far'
    const bars = barred
      .filter(({ botId }) => botId === bot.botId)
      .map(({ scope, reason, until, times }) => ({ scope, reason, until, times }))
    const completeAt = completeTimes.get(bot.botId)
    return { ...bot, tokenEndsSoon, history: completeAt === undefined ? null : { completeAt }, bars }
  })
  const spread = await readSpread(db)
  const disarmed = await isDisarmed(db)
  return done({ bots, tooMany: disarmed ? 0 : botsWithoutRoom(spread.processes, spread.bots), disarmed })
}

export type ChangedBot = { botId: bigint; name: string; state: BotState }

/** `bot`: number or Steam id. */
export const pauseBot = (deps: ActDeps, bot: string) => change(deps, bot, 'pause')
export const resumeBot = (deps: ActDeps, bot: string) => change(deps, bot, 'resume')
export const removeBot = (deps: ActDeps, bot: string) => change(deps, bot, 'remove')
export const retireBot = (deps: ActDeps, bot: string) => change(deps, bot, 'retire')

const DONE_TEXT: Record<BotAct, string> = {
  pause: 'takes no new trades; open trades continue',
  resume: 'collects again',
  remove: 'is removed, and its token is deleted',
  retire:
    'is retired: its open trades end within seconds. The credit of its trades stays held until you run trade release or trade reverse (trade list shows the trades)',
}

const NOT_DONE_REFUSAL = {
  unknown_bot: refused('not_found', 'There is no such bot: see bot list.'),
  dead: refused('conflict', 'Steam refuses the bot’s token: enrol the bot again, or remove it.'),
  retired: refused('conflict', 'The bot is retired: enrol it again to bring it back.'),
}

function busyText(watched: WatchedTrades): string {
  const numbers = [
    `${watched.open} open`,
    `${watched.reviewed} that ended without items but are reviewed for a day or longer, because an offer may have been accepted`,
    `${watched.protected} with items that may be taken back, or with held credit`,
  ]
  const advice =
    'Pause the bot and try again later. If it will never come back, run bot retire, then trade release or trade reverse.'
  return `The bot still has trades that must be watched: ${numbers.join('; ')}. To see them: trade list --bot BOT. ${advice}`
}

function change(deps: ActDeps, idOrSteamId: string, verb: BotAct): Promise<Answer<ChangedBot>> {
  const argumentsOf = ({ botId, name }: ChangedBot) => ({ botId, name })
  const namedAct = { name: `bot ${verb}`, needsReason: verb === 'remove' || verb === 'retire', argumentsOf }
  return act(deps, namedAct, async (tx) => {
    const answer = await actOnBot(tx, idOrSteamId, verb)
    if (answer.kind === 'refused') {
      return answer.reason === 'busy'
        ? refused('conflict', busyText(answer.watched))
        : NOT_DONE_REFUSAL[answer.reason]
    }
    const { kind, ...bot } = answer
    if (kind === 'unchanged')
      return unchanged(bot, `Bot ${bot.botId} (${bot.name}) was ${bot.state} already.`)
    return done(bot, `Bot ${bot.botId} (${bot.name}) ${DONE_TEXT[verb]}.`)
  })
}
