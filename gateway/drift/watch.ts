/**
 * Looks at each bot's own inventory on Steam and compares it with custody: once a day, more often while a
 * difference is not certain or after an incomplete look, and when an operator asks for it.
 */
import { GAME_FACTS, GAMES, type Game } from '../../contract/games.ts'
import type { BotContext } from '../bots/bot.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { OwnItem, Unavailable } from '../steam/steam.ts'
import {
  type Custody,
  type compareWithCustody,
  type GameLook,
  isLookDue,
  type KnownFinding,
  nextCheckAt,
  noteLook,
  type settleDrift,
} from './drift.ts'

/**
 * `lookedAt`: when the last look that showed anything ended. `wholeAt`: when the last complete one ended. `askedAt`:
 * when an operator last asked for a look.
 */
export type DriftState = {
  noted: KnownFinding[]
  lookedAt: Date | null
  wholeAt: Date | null
  askedAt: Date | null
}

/** The storage port for looks. */
export type DriftStore = {
  stateOf(botId: bigint): Promise<DriftState>
  /** `shown`: the bot's items on Steam, to find those that occur in custody entries. */
  custodyOf(botId: bigint, shown: readonly OwnItem[]): Promise<Custody>
  /**
   * When the last complete pass through the bot's history began; null before the first, undefined if the bot never had
   * an item.
   */
  historyFrom(botId: bigint): Promise<Date | null | undefined>
  /** Stores asset ids that Steam did not give at the delivery. */
  learnAssetIds(
    botId: bigint,
    by: Writer,
    learnt: readonly { item: string; assetId: string }[],
  ): Promise<void>
  /** Stores the state after a look. Under an old lease it changes nothing and returns false. */
  saveLook(botId: bigint, by: Writer, saved: Omit<DriftState, 'askedAt'> & { dueAt: Date }): Promise<boolean>
  /** Takes bots that are due, and makes them due again at `nextAt`, in case the work is lost. */
  takeDue(options: { now: Date; nextAt: Date; limit: number }): Promise<bigint[]>
}

/** The lease under which a process writes, and the time. */
export type Writer = { leaseEpoch: bigint; now: Date }

export type DriftDeps = {
  drift: DriftStore
  /** The pure rules. The simulation replaces them by faulty ones, to prove that it finds the faults. */
  core: { compareWithCustody: typeof compareWithCustody; settleDrift: typeof settleDrift }
  clock: Clock
  log: Log
  protectionDays(game: Game): number
  /** The time between two passes through a bot's history, and between two looks that must agree. */
  historyEveryMs: number
}

/** A log line lists at most this many items. */
const MOST_NAMED = 20

/** Returns the handler of a bot's jobs of kind `drift`. */
export function driftHandler(deps: DriftDeps): (bot: BotContext) => Promise<void> {
  // The bots whose last look was incomplete.
  const logged = new Set<bigint>()
  return async (bot) => {
    const { drift, clock, historyEveryMs: betweenLooksMs } = deps
    const state = await drift.stateOf(bot.botId)
    const custody = await drift.custodyOf(bot.botId, [])
    const historyFrom = await drift.historyFrom(bot.botId)
    let noted = deps.core.settleDrift(state.noted, custody, historyFrom)
    let { lookedAt, wholeAt } = state
    const isWhole = lookedAt !== null && wholeAt?.getTime() === lookedAt.getTime()
    if (isLookDue(noted, { ...state, isWhole, now: clock.now(), betweenLooksMs })) {
      const outcome = await look(deps, bot, { noted, custody, historyFrom })
      noted = outcome.noted
      if (outcome.at !== null) lookedAt = outcome.at
      if (outcome.at !== null && outcome.isWhole) wholeAt = outcome.at
      logIncompleteLook(deps.log, bot, { logged, ...outcome })
    }
    const now = clock.now()
    const isWholeNow = lookedAt !== null && wholeAt?.getTime() === lookedAt.getTime()
    const dueAt = nextCheckAt(noted, { lookedAt, isWhole: isWholeNow, now, betweenLooksMs })
    const isSaved = await drift.saveLook(
      bot.botId,
      { leaseEpoch: bot.leaseEpoch, now },
      { noted, lookedAt, wholeAt, dueAt },
    )
    if (isSaved) logNewFindings(deps.log, bot, { before: state.noted, noted })
  }
}

type Before = { noted: readonly KnownFinding[]; custody: Custody; historyFrom: Date | null | undefined }
type LookOutcome = { noted: KnownFinding[]; at: Date | null; isWhole: boolean; trouble: string | null }

/** Reads all items of the bot, game by game. Custody is read afterwards, so it contains items that came meanwhile. */
async function look(deps: DriftDeps, bot: BotContext, before: Before): Promise<LookOutcome> {
  const { drift, clock, core } = deps
  const begunAt = clock.now()
  const { looks, trouble } = await readGames(deps, bot, before.custody)
  const now = clock.now()
  const isWhole = looks.length === GAMES.length && looks.every(({ isComplete }) => isComplete)
  if (looks.length === 0) return { noted: [...before.noted], at: null, isWhole, trouble }
  const shown = looks.flatMap(({ items }) => items)
  const custody = await drift.custodyOf(bot.botId, shown)
  const compared = core.compareWithCustody(custody, looks, begunAt)
  await drift.learnAssetIds(bot.botId, { leaseEpoch: bot.leaseEpoch, now }, compared.learnt)
  if (compared.learnt.length > 0) {
    const about = { botId: String(bot.botId), items: compared.learnt.length }
    deps.log.info(about, 'asset ids that Steam had not given were found in the inventory of a bot')
  }
  const { historyFrom } = before
  const noted = noteLook(before.noted, compared, { at: now, looks, custody, historyFrom })
  return { noted, at: now, isWhole, trouble }
}

async function readGames(
  { protectionDays }: DriftDeps,
  { session }: BotContext,
  { booked }: Custody,
): Promise<{ looks: GameLook[]; trouble: string | null }> {
  const looks: GameLook[] = []
  let trouble: string | null = null
  for (const game of GAMES) {
    const { appId } = GAME_FACTS[game]
    const isProtected = booked.some((item) => item.appId === appId && item.isProtected)
    const answer = await session.readOwnInventory(game, {
      isProtected: isProtected || protectionDays(game) > 0,
    })
    if (answer.kind === 'items') {
      looks.push({ appId, items: answer.items, isComplete: answer.isComplete })
      if (!answer.isComplete) trouble ??= `${game}: only a part was shown`
    } else {
      trouble ??= `${game}: ${answer.detail}`
      if (isSessionDead(answer)) break
    }
  }
  return { looks, trouble }
}

const isSessionDead = ({ reason }: Unavailable): boolean => reason === 'session_dead'

/** Logs the first of several incomplete looks in a row. */
function logIncompleteLook(
  log: Log,
  { botId }: BotContext,
  { logged, isWhole, trouble }: Pick<LookOutcome, 'isWhole' | 'trouble'> & { logged: Set<bigint> },
): void {
  if (isWhole) {
    logged.delete(botId)
  } else if (!logged.has(botId)) {
    logged.add(botId)
    log.warn({ botId: String(botId), detail: trouble }, 'own inventory of a bot was not read completely')
  }
}

type FindingsChange = { before: readonly KnownFinding[]; noted: readonly KnownFinding[] }

function logNewFindings(log: Log, { botId }: BotContext, { before, noted }: FindingsChange): void {
  const keyOf = ({ kind, appId, item, assetId }: KnownFinding) => `${kind} ${appId} ${item} ${assetId}`
  const known = new Set(before.filter(({ isSure }) => isSure).map(keyOf))
  const newFindings = noted.filter((each) => each.isSure && !known.has(keyOf(each)))
  const ofKind = (kind: KnownFinding['kind']) => newFindings.filter((each) => each.kind === kind)
  const missing = ofKind('missing')
  if (missing.length > 0) {
    const items = missing.slice(0, MOST_NAMED).map(({ item }) => item)
    log.error(
      { botId: String(botId), missing: missing.length, items },
      'items are missing from a bot, and no trade took them',
    )
  }
  const foreign = ofKind('foreign').length
  if (foreign > 0) log.info({ botId: String(botId), foreign }, 'a bot has items that are not in the books')
}
