/**
 * The watch over a bot's history: Steam lets the sender of a delivery take it back for days, and what the bot gave stands
 * nowhere else.
 */
import type { BotContext } from '../bots/bot.ts'
import type { HistoryLook } from '../bots/history-store.ts'
import { noteDepartures, settleDepartures } from '../departures/watch.ts'
import { isPast } from '../kit/clock.ts'
import type { SteamTrade } from '../steam/steam.ts'
import { judgeExchange } from './proof.ts'
import { record } from './record.ts'
import type { ShellDeps } from './trade-store.ts'

/** Steam's clock may be behind ours. */
const MARGIN_MS = 3_600_000

/**
 * Pages in a turn, and the time between two turns. Steam's limit is a page each 15 s: this takes one each 20 s. Nine days of
 * 1,000 exchanges each are gone through in half an hour.
 */
const PAGES_A_TURN = 3
const TURN_MS = 55_000

/** Exchanges that a turn reads singly, because another row of the history undoes them. */
const SINGLES_A_TURN = 5

/** A look that takes so many times what it may is late. */
const LATE_TIMES = 2

export type Histories = {
  /** Reads the next pages of the bot's history. */
  read(bot: BotContext): Promise<void>
}

export function createHistories(deps: ShellDeps): Histories {
  const told = new Map<bigint, Set<'failed' | 'late'>>()
  /** Once, until a look is complete. */
  const tell = (botId: bigint, what: 'failed' | 'late', fields: object) => {
    const lines = told.get(botId) ?? new Set()
    told.set(botId, lines)
    if (lines.has(what)) return
    lines.add(what)
    const about = { botId: String(botId), ...fields }
    if (what === 'failed') deps.log.warn(about, 'history of a bot could not be read: it goes on from there')
    else
      deps.log.error(
        about,
        'history of a bot was not read to its end in time: reversals and thefts are seen late',
      )
  }
  return {
    async read(bot) {
      const { trades, clock, historyEveryMs } = deps
      const kept = await trades.historyOf(bot.botId)
      const until = await readUntil(deps, bot, kept)
      if (until === undefined) return
      const now = clock.now()
      const { completeAt } = kept
      const begunAt = kept.begunAt ?? now
      if (kept.begunAt === null) {
        await trades.keepHistory(bot.botId, { writer: bot, now }, { ...kept, begunAt })
      }
      if (isPast(begunAt, LATE_TIMES * historyEveryMs, now)) tell(bot.botId, 'late', { completeAt })
      const failure = await readPages(deps, bot, { look: { ...kept, begunAt }, until })
      if (failure === 'complete') told.delete(bot.botId)
      else if (failure !== undefined) tell(bot.botId, 'failed', { detail: failure, completeAt })
      await settleDepartures(deps, bot)
    },
  }
}

/**
 * Back to the oldest delivery that can be taken back, and to the last look that saw all departures. Undefined if there is
 * nothing to look for.
 */
async function readUntil(
  { trades, departures }: ShellDeps,
  { botId }: BotContext,
  { completeAt }: HistoryLook,
): Promise<Date | undefined> {
  const watchedFrom = await departures.watchedFrom(botId)
  const times = [await trades.oldestProtectedOf(botId), later(watchedFrom, completeAt ?? undefined)]
  const known = times.flatMap((time) => (time === undefined ? [] : [time.getTime()]))
  return known.length === 0 ? undefined : new Date(Math.min(...known) - MARGIN_MS)
}

/** The later of two times; undefined if the first is. */
const later = (from: Date | undefined, other: Date | undefined): Date | undefined =>
  from !== undefined && other !== undefined && other > from ? other : from

type Reading = { look: HistoryLook & { begunAt: Date }; until: Date }

/** Resolves to `complete` once the pages reach back far enough, or to why a page was not answered. */
async function readPages(
  deps: ShellDeps,
  bot: BotContext,
  { look, until }: Reading,
): Promise<string | undefined> {
  const { trades, clock } = deps
  let { after } = look
  for (let pages = 0; pages < PAGES_A_TURN; pages += 1) {
    const page = await bot.session.listSteamTrades(after)
    if (page.kind === 'unavailable') return page.detail
    await judgePage(deps, bot, page.trades)
    await noteDepartures(deps, bot, page.trades)
    const isComplete = page.next === null || page.next.begunAt < until
    after = page.next
    // The next page may fail: keep what was read.
    const next = isComplete ? { begunAt: null, after: null, completeAt: look.begunAt } : { ...look, after }
    await trades.keepHistory(bot.botId, { writer: bot, now: clock.now() }, next)
    if (isComplete) return 'complete'
  }
  return undefined
}

const isTakenBack = ({ state }: SteamTrade): boolean =>
  state === 'rolled_back' || state === 'partly_rolled_back'

async function judgePage(deps: ShellDeps, bot: BotContext, page: readonly SteamTrade[]): Promise<void> {
  const back = new Map(page.filter(isTakenBack).map((exchange) => [exchange.tradeId, exchange]))
  // A reversal is a row of its own, at the top: what it undoes may be ninety pages below.
  const undone = page.flatMap(({ rollbackOf }) => (rollbackOf === null ? [] : [rollbackOf]))
  const rows = await deps.trades.protectedTradesOf(bot.botId, [...new Set([...back.keys(), ...undone])])
  let singles = 0
  for (const { id, steamTradeId, offerId } of rows) {
    if (steamTradeId === null || offerId === null) continue
    let exchange = back.get(steamTradeId)
    if (exchange === undefined && singles < SINGLES_A_TURN) {
      singles += 1
      const answer = await bot.session.readSteamTrade(steamTradeId)
      if (answer.kind === 'trade') exchange = answer.trade
    }
    const loaded = await deps.trades.load(id)
    if (exchange === undefined || loaded === undefined) continue
    if (judgeExchange(loaded.trade, exchange).kind !== 'taken_back') continue
    await record(deps, { tradeId: id, writer: bot }, { kind: 'exchange_read', offerId, exchange })
  }
}

/** Makes every bot that ever held an item read its history on: a look each `historyEveryMs`. */
export async function sweepHistories({ trades, clock, historyEveryMs }: ShellDeps): Promise<void> {
  const now = clock.now()
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const due = { now, turnBefore: ago(Math.min(TURN_MS, historyEveryMs)), lookBefore: ago(historyEveryMs) }
  for (const botId of await trades.takeDueHistories(due)) await trades.wakeBot(botId, { kind: 'history' })
}
