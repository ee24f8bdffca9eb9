/** Lists of a bot's offers, read page by page over several turns. If a page fails, the next turn continues there. */
import type { BotContext } from '../bots/bot.ts'
import type { Offer, UnreadableOffer } from '../steam/steam.ts'
import type { ShellDeps } from './trade-store.ts'

/** The most pages of one list to read in a turn. */
const PAGES_A_TURN = 3
/** A pass that does not reach the end of the list within this many pages starts again. */
const MOST_PAGES = 1_000
/** A place in the list can become invalid. After this many failures there, the list is read from its beginning. */
const MOST_FAILURES = 5
/**
 * A search that was not continued for this long is dropped. While Steam does not answer, a search is continued only
 * about once an hour.
 */
const SEARCH_LIFE_MS = 3 * 3_600_000

/** One pass through a list. Only a complete pass proves that an offer is missing. */
export type ListPass = {
  readonly since: Date
  readonly begunAt: Date
  cursor: string | null
  pages: number
  failures: number
  isComplete: boolean
}

export function beginPass(since: Date, now: Date): ListPass {
  return { since, begunAt: now, cursor: null, pages: 0, failures: 0, isComplete: false }
}

/**
 * The content of the pages of one turn. `hasFailed`: Steam did not return a page, or its answer was empty (`isEmpty`).
 */
export type Turn = {
  offers: Offer[]
  received: Offer[]
  unreadable: UnreadableOffer[]
  hasFailed: boolean
  isEmpty: boolean
}

/** Reads the next pages of a pass. Stops early once `isEnough` returns true: one hit proves that the offer exists. */
export async function readOn(
  pass: ListPass,
  { session }: BotContext,
  isEnough: (offers: readonly Offer[]) => boolean = () => false,
): Promise<Turn> {
  const turn: Turn = { offers: [], received: [], unreadable: [], hasFailed: false, isEmpty: false }
  for (let pages = 0; pages < PAGES_A_TURN && !pass.isComplete; pages += 1) {
    const page = await session.listOffers(pass.since, pass.cursor)
    if (page.kind !== 'offers') {
      pass.failures += 1
      if (pass.failures >= MOST_FAILURES) restart(pass)
      return { ...turn, hasFailed: true, isEmpty: page.kind === 'nothing' }
    }
    turn.offers.push(...page.sent)
    turn.received.push(...page.received)
    turn.unreadable.push(...page.unreadable)
    pass.failures = 0
    pass.pages += 1
    pass.cursor = page.next
    pass.isComplete = page.next === null
    if (isEnough(page.sent)) break
    if (pass.pages >= MOST_PAGES && !pass.isComplete) restart(pass)
  }
  return turn
}

function restart(pass: ListPass): void {
  pass.cursor = null
  pass.pages = 0
  pass.failures = 0
}

/** How long unreadable rows or empty answers may keep a search from ending before an error is logged. */
export const BLOCKED_MS = 3_600_000

/** The search for the offer of one trade. */
export type Search = {
  pass: ListPass
  /** How many unreadable or incomplete rows of this pass might be the offer. */
  unclear: number
  /** Since when only such rows have kept the offer from counting as missing. */
  blockedAt: Date | null
  isBlockLogged: boolean
  /** When a turn last continued the search. */
  usedAt: Date
}

/** A bot's lists as they were read under one lease. */
type BotLists = {
  leaseEpoch: bigint
  /** The running pass of the watch; null between passes. */
  watch: ListPass | null
  /** Ids of the offers that the pass has shown. */
  shown: Set<string>
  /** Ids of offers in that pass whose rows could not be read; null stands for those without a readable id. */
  unreadable: Set<string | null>
  /** All changes up to this time have been seen. */
  completeAt: Date | null
  /** When each open offer that is missing from the lists was last read, in milliseconds. By trade id. */
  readAt: Map<bigint, number>
  searches: Map<bigint, Search>
}

export type OfferLists = {
  listsOf(bot: BotContext): BotLists
  /** Returns the running search for the trade's offer, or a new search in the offers since `since`. */
  searchFor(bot: BotContext, tradeId: bigint, how: { since: Date; now: Date }): Search
  endSearch(bot: BotContext, tradeId: bigint): void
}

/**
 * The dependencies of the code around the pure rules, and the memory of the lists. If the memory is lost, the lists are
 * read from their beginning.
 */
export type Shell = ShellDeps & { lists: OfferLists }

export function createOfferLists(): OfferLists {
  const bots = new Map<bigint, BotLists>()
  const listsOf = ({ botId, leaseEpoch }: BotContext): BotLists => {
    const before = bots.get(botId)
    if (before?.leaseEpoch === leaseEpoch) return before
    const lists = {
      leaseEpoch,
      watch: null,
      shown: new Set<string>(),
      unreadable: new Set<string>(),
      completeAt: null,
      readAt: new Map(),
      searches: new Map(),
    }
    bots.set(botId, lists)
    return lists
  }
  return {
    listsOf,
    searchFor(bot, tradeId, { since, now }) {
      const { searches } = listsOf(bot)
      for (const [id, { usedAt }] of searches) {
        if (now.getTime() - usedAt.getTime() > SEARCH_LIFE_MS) searches.delete(id)
      }
      const before = searches.get(tradeId)
      const marks = before ?? { blockedAt: null, isBlockLogged: false }
      const isUnderWay = before !== undefined && !before.pass.isComplete
      const search = isUnderWay ? before : { ...marks, pass: beginPass(since, now), unclear: 0, usedAt: now }
      search.usedAt = now
      searches.set(tradeId, search)
      return search
    },
    endSearch: (bot, tradeId) => void listsOf(bot).searches.delete(tradeId),
  }
}
