/**
 * Handles orphans: offers that look like the till's but belong to no known trade, for example after the restore of a
 * backup older than the offer. A shopper who accepts such an offer gives items for nothing.
 */
import type { BotContext } from '../bots/bot.ts'
import { isPast, plus } from '../kit/clock.ts'
import { OFFER_LIFE_MS } from '../steam/offer-times.ts'
import type { Offer } from '../steam/steam.ts'
import { BLOCKED_MS, beginPass, type ListPass, readOn, type Turn } from './offer-list.ts'
import { cancelStray } from './offers.ts'
import { isLikeOurs } from './stray.ts'
import type { ShellDeps } from './trade-store.ts'

/** The pause after a failed read or cancel. A call that keeps failing must not be repeated with every watch. */
const RETRY_SEARCH_MS = 60_000

export const ITEMS_OF_NO_TRADE = 'items arrived for an offer that belongs to no trade'

export type Orphans = {
  /**
   * Searches the bot's sent offers once per lease, a few pages at a time. Resolves to true until all pages are read and
   * none of their orphans can still be accepted.
   */
  searchOffers(bot: BotContext): Promise<boolean>
  /** Handles an offer whose code belongs to no trade. Resolves to false while the offer can still be accepted. */
  handleOrphan(bot: BotContext, offer: Offer): Promise<boolean>
}

/**
 * The known orphans of a bot under one lease. `nextAt`: when to continue; null when done. `left`: offers that can still
 * be accepted.
 */
type BotOrphans = {
  leaseEpoch: bigint
  nextAt: Date | null
  pass: ListPass | null
  left: Map<string, Offer>
  logged: Set<string>
  /** Since when Steam's answers about the list have been empty, which proves nothing. */
  emptySince: Date | null
  isEmptyLogged: boolean
}

const noOrphans = (leaseEpoch: bigint): BotOrphans => ({
  leaseEpoch,
  nextAt: new Date(0),
  pass: null,
  left: new Map(),
  logged: new Set(),
  emptySince: null,
  isEmptyLogged: false,
})

/** After the clock was set back, the time of the next search can be far away. The search then continues at once. */
const isWaiting = (nextAt: Date, now: Date): boolean => nextAt > now && nextAt <= plus(now, RETRY_SEARCH_MS)

export function createOrphans(deps: ShellDeps): Orphans {
  const bots = new Map<bigint, BotOrphans>()
  const knownOf = ({ botId, leaseEpoch }: BotContext): BotOrphans => {
    const before = bots.get(botId)
    if (before?.leaseEpoch === leaseEpoch) return before
    const known = noOrphans(leaseEpoch)
    bots.set(botId, known)
    return known
  }
  /** Logs once per lease, because the watch sees the same offer every few seconds. */
  const logOnce = (bot: BotContext, offer: Offer, what: string) => {
    const { logged } = knownOf(bot)
    const { offerId, partnerSteamId: partner, tradeId: steamTrade } = offer
    const line = `${offerId} ${what}`
    if (logged.has(line)) return
    logged.add(line)
    deps.log.error({ botId: String(bot.botId), partner, offer: offerId, steamTrade }, what)
  }
  const handleOrphan = async (bot: BotContext, offer: Offer): Promise<boolean> => {
    if (!isLikeOurs(offer)) return true
    const verdict = deps.core.judgeStray(offer)
    switch (verdict.kind) {
      case 'nothing':
      case 'ask_again':
        return true
      case 'prove':
        logOnce(bot, offer, ITEMS_OF_NO_TRADE)
        return true
      case 'cancel': {
        const beforeCancel = () =>
          logOnce(bot, offer, 'bot began to cancel an offer whose code belongs to no trade')
        const current = await cancelStray(deps, bot, { offerId: offer.offerId, beforeCancel })
        if (current === undefined) return false
        const after = deps.core.judgeStray(current).kind
        // The shopper was faster than the cancel.
        return after === 'prove' ? handleOrphan(bot, current) : after === 'nothing'
      }
      default:
        return verdict satisfies never
    }
  }
  return {
    handleOrphan,
    async searchOffers(bot) {
      const known = knownOf(bot)
      const now = deps.clock.now()
      if (known.nextAt === null || isWaiting(known.nextAt, now)) return known.nextAt !== null
      const { left } = known
      // Older offers are harmless. `pass` is a copy: if the database fails before the offers are handled, their pages
      // are read again.
      const pass = { ...(known.pass ?? beginPass(new Date(now.getTime() - OFFER_LIFE_MS), now)) }
      const stillOpen = pass.isComplete ? [...left.values()] : []
      const turn = await readOn(pass, bot)
      reportEmpty(deps, bot, { known, turn })
      const codes = turn.offers.filter(isLikeOurs).map((offer) => offer.message)
      // This pause applies if the database fails now.
      known.nextAt = new Date(now.getTime() + RETRY_SEARCH_MS)
      const rows = await deps.trades.tradesByCode(bot.botId, codes)
      for (const offer of [...stillOpen, ...turn.offers.filter(({ message }) => !rows.has(message))]) {
        if (await handleOrphan(bot, offer)) left.delete(offer.offerId)
        else left.set(offer.offerId, offer)
      }
      known.pass = pass
      if (pass.isComplete && left.size === 0) known.nextAt = null
      // The next watch reads the next pages.
      else if (!turn.hasFailed && !pass.isComplete) known.nextAt = now
      return known.nextAt !== null
    },
  }
}

function reportEmpty(
  { clock, log }: ShellDeps,
  { botId }: BotContext,
  { known, turn }: { known: BotOrphans; turn: Turn },
): void {
  const now = clock.now()
  if (!turn.hasFailed) known.emptySince = null
  else if (turn.isEmpty) known.emptySince ??= now
  if (known.emptySince === null || known.isEmptyLogged || !isPast(known.emptySince, BLOCKED_MS, now)) return
  known.isEmptyLogged = true
  log.error(
    { botId: String(botId) },
    'Steam said nothing about a bot’s offers for an hour: an offer that belongs to no trade may be open',
  )
}
