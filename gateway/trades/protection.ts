/**
 * Watches a bot's trade history for reversals, which Steam allows for days, and for items that the bot gave away. No
 * other list of Steam's shows items that were given away.
 */
import type { BotContext } from '../bots/bot.ts'
import type { HistoryPass } from '../bots/history-store.ts'
import { noteDepartures, settleDepartures } from '../departures/watch.ts'
import { isPast } from '../kit/clock.ts'
import type { SteamTrade } from '../steam/steam.ts'
import { reportContradiction } from './offers.ts'
import { judgeSteamTrade } from './proof.ts'
import { record } from './record.ts'
import type { ShellDeps } from './trade-store.ts'

/** Steam's clock may be behind ours. */
const MARGIN_MS = 3_600_000

/**
 * How many pages one turn (a `history` job) reads, and the time between two turns. Steam allows one page every 15 s; this
 * reads about one every 20 s. Nine days with 1,000 trades a day take half an hour.
 */
const PAGES_A_TURN = 3
const TURN_MS = 55_000

/**
 * Makes the next pass due this much earlier. Sweeps are a minute apart, and a pass begins a moment after its sweep. In a
 * sandbox a pass is due every minute: without this margin, the next sweep would come that moment too early, and passes
 * would be two minutes apart.
 */
const EARLY_MS = 5_000

/**
 * A row can reverse a trade of another page. That trade is then read on its own: at most this many for each page. The
 * pass meets the others at their own rows.
 */
const SINGLES_A_PAGE = 5

/** A pass is late once it takes longer than this many times `historyEveryMs`. */
const LATE_TIMES = 2

type Problem = 'failed' | 'late' | 'unreadable'

const LINES: Record<Problem, { level: 'warn' | 'error'; message: string }> = {
  failed: {
    level: 'warn',
    message: 'history of a bot could not be read: the next turn reads the failed page again',
  },
  late: {
    level: 'error',
    message: 'history of a bot was not read completely in time: reversals and thefts are noticed late',
  },
  // The pass goes on: one odd row must not hide the others.
  unreadable: {
    level: 'error',
    message:
      'rows of the history of a bot could not be read: reversals and thefts in them are not noticed, so look at its history on Steam',
  },
}

export type Histories = {
  /** Reads the next pages of the bot's history. */
  read(bot: BotContext): Promise<void>
}

export function createHistories(deps: ShellDeps): Histories {
  const logged = new Map<bigint, Set<Problem>>()
  /** For each bot, the last unfinished departure about which Steam was asked: the next turn continues after it. */
  const settledUpTo = new Map<bigint, string>()
  /** Logs each problem once, until a pass is complete. */
  const logOnce = (botId: bigint, what: Problem, fields: object) => {
    const lines = logged.get(botId) ?? new Set()
    logged.set(botId, lines)
    if (lines.has(what)) return
    lines.add(what)
    const { level, message } = LINES[what]
    deps.log[level]({ botId: String(botId), ...fields }, message)
  }
  return {
    async read(bot) {
      const { trades, clock, historyEveryMs } = deps
      const stored = await trades.historyOf(bot.botId)
      const until = await readUntil(deps, bot, stored)
      if (until === undefined) return
      const now = clock.now()
      const { knownUntil } = stored
      const begunAt = stored.begunAt ?? now
      if (stored.begunAt === null) {
        await trades.saveHistoryPass(bot.botId, { writer: bot, now }, { ...stored, begunAt })
      }
      if (isPast(begunAt, LATE_TIMES * historyEveryMs, now)) logOnce(bot.botId, 'late', { knownUntil })
      const onUnreadable = (rows: number) => logOnce(bot.botId, 'unreadable', { rows })
      const result = await readPages(deps, bot, { pass: { ...stored, begunAt }, until, onUnreadable })
      if (result.kind === 'complete') logged.delete(bot.botId)
      else if (result.kind === 'failed') logOnce(bot.botId, 'failed', { detail: result.detail, knownUntil })
      settledUpTo.set(bot.botId, await settleDepartures(deps, bot, settledUpTo.get(bot.botId)))
    },
  }
}

/**
 * How far back to read: to the earlier of two times. One is the oldest delivery that can still be reversed. The other is
 * the start of the watch for departures, or the start of the last complete pass if that is later. Undefined if there is
 * nothing to look for.
 */
async function readUntil(
  { trades, departures }: ShellDeps,
  { botId }: BotContext,
  { knownUntil }: HistoryPass,
): Promise<Date | undefined> {
  const watchedFrom = await departures.watchedFrom(botId)
  const times = [await trades.oldestProtectedOf(botId), laterKnown(watchedFrom, knownUntil ?? undefined)]
  const known = times.flatMap((time) => (time === undefined ? [] : [time.getTime()]))
  return known.length === 0 ? undefined : new Date(Math.min(...known) - MARGIN_MS)
}

/** Returns the later of two times; undefined if the first is undefined. */
const laterKnown = (first: Date | undefined, second: Date | undefined): Date | undefined =>
  first !== undefined && second !== undefined && second > first ? second : first

/** `onUnreadable`: called with the number of a page's unreadable rows, if there are any. */
type Reading = {
  pass: HistoryPass & { begunAt: Date }
  until: Date
  onUnreadable(rows: number): void
}

/** Resolves to `complete` if the pages reach back far enough, and to `partial` if more remain. */
async function readPages(
  deps: ShellDeps,
  bot: BotContext,
  { pass, until, onUnreadable }: Reading,
): Promise<{ kind: 'complete' | 'partial' } | { kind: 'failed'; detail: string }> {
  const { trades, clock } = deps
  let { after } = pass
  for (let pages = 0; pages < PAGES_A_TURN; pages += 1) {
    const page = await bot.session.listSteamTrades(after)
    if (page.kind === 'unavailable') return { kind: 'failed', detail: page.detail }
    if (page.unreadable > 0) onUnreadable(page.unreadable)
    await judgePage(deps, bot, page.trades)
    await noteDepartures(deps, bot, page.trades)
    const isComplete = page.next === null || page.next.begunAt < until
    after = page.next
    // The next page may fail, so record this one now.
    const progress = isComplete
      ? { begunAt: null, after: null, knownUntil: pass.begunAt }
      : { ...pass, after }
    await trades.saveHistoryPass(bot.botId, { writer: bot, now: clock.now() }, progress)
    if (isComplete) return { kind: 'complete' }
  }
  return { kind: 'partial' }
}

const isReversed = ({ state }: SteamTrade): boolean =>
  state === 'rolled_back' || state === 'partly_rolled_back'

async function judgePage(deps: ShellDeps, bot: BotContext, page: readonly SteamTrade[]): Promise<void> {
  const reversed = new Map(page.filter(isReversed).map((steamTrade) => [steamTrade.tradeId, steamTrade]))
  // A reversal is a row of its own at the top of the history. The trade that it reverses can be ninety pages below.
  const reversedTradeIds = page.flatMap(({ rollbackOf }) => (rollbackOf === null ? [] : [rollbackOf]))
  const rows = await deps.trades.protectedTradesOf(bot.botId, [
    ...new Set([...reversed.keys(), ...reversedTradeIds]),
  ])
  let singles = 0
  for (const { id, steamTradeId, offerId } of rows) {
    if (steamTradeId === null || offerId === null) continue
    let steamTrade = reversed.get(steamTradeId)
    if (steamTrade === undefined && singles < SINGLES_A_PAGE) {
      singles += 1
      const answer = await bot.session.readSteamTrade(steamTradeId)
      if (answer.kind === 'trade') steamTrade = answer.trade
    }
    const loaded = await deps.trades.load(id)
    if (steamTrade === undefined || loaded === undefined) continue
    const { kind } = judgeSteamTrade(loaded.trade, steamTrade)
    if (kind === 'contradiction') reportContradiction(deps, loaded.facts, steamTrade)
    if (kind !== 'taken_back') continue
    await record(deps, { tradeId: id, writer: bot }, { kind: 'steam_trade_read', offerId, steamTrade })
  }
}

/**
 * Starts turns through the histories of active and paused bots that ever had an item: one pass every `historyEveryMs`.
 */
export async function sweepHistories({ trades, clock, historyEveryMs }: ShellDeps): Promise<void> {
  const now = clock.now()
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const takenBefore = ago(Math.min(TURN_MS, historyEveryMs))
  const due = { now, takenBefore, passBefore: ago(historyEveryMs - EARLY_MS) }
  for (const botId of await trades.takeDueHistories(due)) await trades.wakeBot(botId, { kind: 'history' })
}
