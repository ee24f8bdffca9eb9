/** Lists of a bot's offers, read page by page over several turns. If a page fails, the earlier pages are kept. */
import type { BotContext } from '../bots/bot.ts'
import type { Offer, UnreadableOffer } from '../steam/steam.ts'
import type { ShellDeps } from './trade-store.ts'

const PAGES_A_TURN = 3
/** A pass that does not reach the end of the list within this many pages starts again. */
const MOST_PAGES = 1_000
/** A place in the list can become invalid. After this many failures there, the list is read from its beginning. */
const MOST_FAILURES = 5
/**
 * Searches unused for this time are dropped. It is hours, because a bot in trouble continues its search only about once
 * an hour.
 */
const SEARCH_LIFE_MS = 3 * 3_600_000

/** One pass through a list. Only a complete pass proves that an offer is missing. */
export type OfferLook = {
  readonly since: Date
  readonly begunAt: Date
  cursor: string | null
  pages: number
  failures: number
  isComplete: boolean
}

export function beginLook(since: Date, now: Date): OfferLook {
  return { since, begunAt: now, cursor: null, pages: 0, failures: 0, isComplete: false }
}

/** The content of the pages of one turn. `failed`: Steam did not answer a page. */
type Turn = { offers: Offer[]; received: Offer[]; unreadable: UnreadableOffer[]; failed: boolean }

/** Reads the next pages of a pass. Stops early once `isEnough` returns true: one hit proves that the offer exists. */
export async function readOn(
  look: OfferLook,
  { session }: BotContext,
  isEnough: (offers: readonly Offer[]) => boolean = () => false,
): Promise<Turn> {
  const turn: Turn = { offers: [], received: [], unreadable: [], failed: false }
  for (let pages = 0; pages < PAGES_A_TURN && !look.isComplete; pages += 1) {
    const page = await session.listSentOffers(look.since, look.cursor)
    if (page.kind === 'unavailable') {
      look.failures += 1
      if (look.failures >= MOST_FAILURES) restart(look)
      return { ...turn, failed: true }
    }
    turn.offers.push(...page.offers)
    turn.received.push(...page.received)
    turn.unreadable.push(...page.unreadable)
    look.failures = 0
    look.pages += 1
    look.cursor = page.next
    look.isComplete = page.next === null
    if (isEnough(page.offers)) break
    if (look.pages >= MOST_PAGES && !look.isComplete) restart(look)
  }
  return turn
}

function restart(look: OfferLook): void {
  look.cursor = null
  look.pages = 0
  look.failures = 0
}

/** The search for the offer of one trade. */
export type Search = {
  look: OfferLook
  /** How many unreadable rows of this pass might be the offer. */
  unreadable: number
  /** Since when only unreadable rows have kept the offer from counting as missing. */
  blockedAt: Date | null
  isBlockLogged: boolean
  askedAt: Date
}

/** Everything known about a bot's lists under one lease. */
type Known = {
  epoch: bigint
  watch: OfferLook | null
  /** All changes up to this time have been seen. */
  completeAt: Date | null
  /** When each open offer that no list showed was last read, by trade id. */
  readAt: Map<bigint, number>
  searches: Map<bigint, Search>
}

export type OfferLists = {
  knownOf(bot: BotContext): Known
  /** Returns the running search for the trade's offer, or a new search in the offers since `since`. */
  searchFor(bot: BotContext, tradeId: bigint, how: { since: Date; now: Date }): Search
  endSearch(bot: BotContext, tradeId: bigint): void
}

/** The shell with its memory of the lists. If the memory is lost, the lists are read from their beginning. */
export type Shell = ShellDeps & { lists: OfferLists }

export function createOfferLists(): OfferLists {
  const bots = new Map<bigint, Known>()
  const knownOf = ({ botId, epoch }: BotContext): Known => {
    const before = bots.get(botId)
    if (before?.epoch === epoch) return before
    const known = { epoch, watch: null, completeAt: null, readAt: new Map(), searches: new Map() }
    bots.set(botId, known)
    return known
  }
  return {
    knownOf,
    searchFor(bot, tradeId, { since, now }) {
      const { searches } = knownOf(bot)
      for (const [id, { askedAt }] of searches) {
        if (now.getTime() - askedAt.getTime() > SEARCH_LIFE_MS) searches.delete(id)
      }
      const before = searches.get(tradeId)
      const marks = before ?? { blockedAt: null, isBlockLogged: false }
      const isUnderWay = before !== undefined && !before.look.isComplete
      const search = isUnderWay
        ? before
        : { ...marks, look: beginLook(since, now), unreadable: 0, askedAt: now }
      search.askedAt = now
      searches.set(tradeId, search)
      return search
    },
    endSearch: (bot, tradeId) => void knownOf(bot).searches.delete(tradeId),
  }
}
