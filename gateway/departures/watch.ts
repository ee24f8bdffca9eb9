/**
 * Judges, from Steam's records, whether items that a bot gave were allowed to leave. `DepartureStore` then changes
 * their custody.
 */
import type { BotContext } from '../bots/bot.ts'
import type { Log } from '../kit/log.ts'
import type { MovedAsset, SteamTrade } from '../steam/steam.ts'
import {
  type Circumstances,
  type Departure,
  type DepartureEvent,
  type Destinations,
  destinationOf,
  type itemsSentBack,
  type judgeDeparture,
  type judgeUndoing,
} from './departure.ts'

/** `known`: the departure as stored before. */
export type Judge = (
  known: Departure | undefined,
  circumstances: Omit<Circumstances, 'destination'>,
) => readonly DepartureEvent[]

export type JudgeUndoing = (known: Departure) => readonly DepartureEvent[]

/** `items`: how many of the given items were ever in the till's custody. */
export type NotedDeparture = { events: readonly DepartureEvent[]; departure: Departure; items: number }

/** The storage port for departures. It has two implementations: PostgreSQL, and the memory of a simulation. */
export type DepartureStore = {
  /** Resolves to the time from which the till looks for the bot's departures; undefined if it never held an item. */
  watchedFrom(botId: bigint): Promise<Date | undefined>
  findDepartures(botId: bigint, steamTradeIds: readonly string[]): Promise<Map<string, Departure>>
  /**
   * Ids of the bot's Steam trades that were under way when Steam was last asked, and were first seen in the last 30
   * days. Sorted as text: first the ids beyond `after`, then the others.
   */
  underWay(botId: bigint, page: { limit: number; after: string }): Promise<string[]>
  /**
   * Commits the events that `judge` derives from the current departure, and books its items. `judge` may run more
   * than once. Resolves to undefined if nothing changed.
   */
  noteDeparture(botId: bigint, steamTrade: SteamTrade, judge: Judge): Promise<NotedDeparture | undefined>
  /**
   * Books items that had left a bot and were sent to this one. Resolves to their number. It is 0 for the trade of a
   * deposit, because the delivery books its items.
   */
  bookSentBack(
    botId: bigint,
    sent: { steamTradeId: string; received: readonly MovedAsset[] },
  ): Promise<number>
  /**
   * Books items that another of our bots had sent to this one, and that this one gave back by `steamTrade`. Resolves to
   * their number. `judge` may run more than once.
   */
  bookGivenBack(botId: bigint, steamTrade: SteamTrade, judge: JudgeUndoing): Promise<number>
  /**
   * Books items whose delivery was found only after they had left, and items whose return was found before their
   * departure was.
   */
  bookLate(botId: bigint): Promise<void>
}

export type DepartureDeps = {
  departures: DepartureStore
  destinations: Destinations
  core: {
    judgeDeparture: typeof judgeDeparture
    judgeUndoing: typeof judgeUndoing
    itemsSentBack: typeof itemsSentBack
  }
  log: Log
}

/**
 * The most Steam trades to read one by one after each page (those that its rows undo), and after all pages (those under
 * way).
 */
const MOST_SINGLES = 5

/** Handles a page of the bot's history. Judges known departures again, because Steam may have undone them. */
export async function noteDepartures(
  deps: DepartureDeps,
  bot: BotContext,
  page: readonly SteamTrade[],
): Promise<void> {
  const givingTrades = page.filter(({ given }) => given.length > 0)
  const listed = new Set(givingTrades.map(({ tradeId }) => tradeId))
  const undoneTradeIds = page.flatMap(({ rollbackOf }) =>
    rollbackOf === null || listed.has(rollbackOf) ? [] : [rollbackOf],
  )
  const known = await deps.departures.findDepartures(bot.botId, [...listed, ...undoneTradeIds])
  for (const steamTrade of givingTrades)
    await noteSteamTrade(deps, bot, { steamTrade, known: known.get(steamTrade.tradeId) })
  await bookSentBack(deps, bot, page)
  for (const steamTrade of givingTrades)
    if (steamTrade.rollbackOf !== null) await bookUndone(deps, bot, steamTrade)
  const ids = undoneTradeIds.filter((id) => known.has(id))
  await readSingly(deps, bot, { ids, known })
}

async function bookSentBack(
  deps: DepartureDeps,
  { botId }: BotContext,
  page: readonly SteamTrade[],
): Promise<void> {
  for (const steamTrade of page) {
    const { partnerSteamId: partner, tradeId: steamTradeId } = steamTrade
    const received = deps.core.itemsSentBack(steamTrade, destinationOf(deps.destinations, partner))
    if (received.length === 0) continue
    const items = await deps.departures.bookSentBack(botId, { steamTradeId, received })
    if (items > 0)
      deps.log.info(
        { botId: String(botId), steamTrade: steamTradeId, partner, items },
        'items were sent back to a bot',
      )
  }
}

async function bookUndone(deps: DepartureDeps, { botId }: BotContext, steamTrade: SteamTrade): Promise<void> {
  const items = await deps.departures.bookGivenBack(botId, steamTrade, (known) =>
    deps.core.judgeUndoing(known, steamTrade),
  )
  if (items === 0) return
  const about = {
    botId: String(botId),
    steamTrade: steamTrade.rollbackOf,
    partner: steamTrade.partnerSteamId,
    items,
  }
  deps.log.warn(about, 'a bot gave items back to the bot that had sent them')
}

/**
 * Reads some of the trades under way, and books what was found late. Resolves to the `after` of the next call, which
 * begins after these trades.
 */
export async function settleDepartures(deps: DepartureDeps, bot: BotContext, after = ''): Promise<string> {
  const { departures } = deps
  const ids = await departures.underWay(bot.botId, { limit: MOST_SINGLES, after })
  const known = await departures.findDepartures(bot.botId, ids)
  const lastReadId = await readSingly(deps, bot, { ids, known })
  await departures.bookLate(bot.botId)
  return lastReadId ?? after
}

type SingleReads = { ids: readonly string[]; known: ReadonlyMap<string, Departure> }

/** Stops when Steam does not answer. Resolves to the id of the last trade requested. */
async function readSingly(
  deps: DepartureDeps,
  bot: BotContext,
  { ids, known }: SingleReads,
): Promise<string | undefined> {
  let lastReadId: string | undefined
  for (const id of ids.slice(0, MOST_SINGLES)) {
    lastReadId = id
    const answer = await bot.session.readSteamTrade(id)
    if (answer.kind === 'unavailable') break
    if (answer.kind === 'trade')
      await noteSteamTrade(deps, bot, { steamTrade: answer.trade, known: known.get(id) })
  }
  return lastReadId
}

type ReadTrade = { steamTrade: SteamTrade; known: Departure | undefined }

const UNEXPLAINED: Omit<Circumstances, 'destination'> = {
  isOwnBot: false,
  isVaultsGift: false,
  movedByHand: new Set(),
}

async function noteSteamTrade(
  deps: DepartureDeps,
  bot: BotContext,
  { steamTrade, known }: ReadTrade,
): Promise<void> {
  const destination = destinationOf(deps.destinations, steamTrade.partnerSteamId)
  const judge: Judge = (stored, circumstances) =>
    deps.core.judgeDeparture(stored, steamTrade, { destination, ...circumstances })
  // Most rows change nothing. Return before taking a lock for them.
  if (judge(known, UNEXPLAINED).length === 0) return
  const noted = await deps.departures.noteDeparture(bot.botId, steamTrade, judge)
  if (noted !== undefined) logDeparture(deps.log, bot, noted)
}

function logDeparture(log: Log, { botId }: BotContext, { events, departure, items }: NotedDeparture): void {
  const { steamTradeId, partnerSteamId, explanation } = departure
  const about = {
    botId: String(botId),
    steamTrade: steamTradeId,
    partner: partnerSteamId,
    items: departure.items.length,
    inCustody: items,
  }
  const has = (kind: DepartureEvent['kind']): boolean => events.some((event) => event.kind === kind)
  if (has('seen') || has('left')) {
    if (explanation === null) {
      log.error({ ...about, stage: departure.stage }, 'items left a bot without an explanation')
    } else {
      log.info({ ...about, explanation }, 'items left a bot')
    }
  }
  if (has('called_off')) log.info(about, 'a trade was called off, and its items stayed with the bot')
  if (has('returned')) log.warn(about, 'items that had left came back to a bot')
}
