/** Sends an offer, and searches for one whose answer was lost. Nothing is sent twice automatically. */
import type { BotContext } from '../bots/bot.ts'
import type { Refusal } from '../db/trade-tables.ts'
import { isPast } from '../kit/clock.ts'
import type { Offer, Partner, Unavailable } from '../steam/steam.ts'
import { readOnAt } from './alarm.ts'
import { moveOn } from './move-on.ts'
import { BLOCKED_MS, readOn, type Search, type Shell, type Turn } from './offer-list.ts'
import { record } from './record.ts'
import { isExactOfferOf, isOfferOf, isVagueOfferOf, unclearRows } from './stray.ts'
import { aboutTrade, type LoadedTrade, type ShellDeps } from './trade-store.ts'

/** A write to Steam takes at most this long. The lease must outlast it. */
export const WRITE_DEADLINE_MS = 15_000

/** Lists begin this much earlier than needed, because Steam's clock may be behind ours. */
export const LIST_MARGIN_MS = 60_000

/**
 * The search for a lost offer looks back to this long before the send. A wrong clock must not hide the offer forever.
 */
export const SEARCH_MARGIN_MS = 15 * 60_000

/** Sends the offer of an intent, unless the bot or the shopper cannot trade now. */
export async function send(deps: ShellDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, facts } = loaded
  const source = { tradeId: facts.id, writer: bot }
  const token = await deps.trades.partnerTokenOf(facts.id)
  if (token === null) {
    // The operator erased the token, because the master key that encrypted it was lost.
    await record(deps, source, { kind: 'held_back', because: 'invalid_token' })
    return
  }
  const partner = { steamId: trade.partnerSteamId, token }
  const obstacle = await obstacleOf(bot, partner)
  if (obstacle === 'unknown' || obstacle === 'not_our_turn') {
    // Other bots may be no better off, so the request stays here unless one of them would serve it sooner.
    const because = obstacle === 'unknown' ? 'out_of_reach' : obstacle
    const hasMoved = await moveOn(deps, { loaded, because, source })
    return hasMoved ? undefined : askAgain(deps, bot, loaded)
  }
  if (obstacle !== undefined) {
    await record(deps, source, { kind: 'held_back', because: obstacle })
    return
  }
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) {
    return askAgain(deps, bot, loaded)
  }
  // Record the send before it is made. From here on the offer may exist, so no process sends it again.
  const recordedSending = await record(deps, source, { kind: 'sending' })
  if (recordedSending?.trade.state !== 'sending' || recordedSending.events.length === 0) return
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) {
    // Recording the send used up the rest of the lease.
    await record(deps, source, { kind: 'not_sent' })
    return
  }
  const answer = await bot.session.sendOffer(partner, [...trade.items], trade.secretCode)
  if (answer.kind !== 'sent')
    deps.log.info({ ...aboutTrade(facts), answer }, 'Steam did not confirm an offer')
  const recorded = await record(deps, source, { kind: 'send_answered', answer })
  if (answer.kind !== 'sent') return
  const isOurs = recorded && 'offerId' in recorded.trade && recorded.trade.offerId === answer.offerId
  if (isOurs) return
  // The trade was given up meanwhile, or belongs to the next holder of the lease, which searches for the offer itself.
  deps.log.warn(
    { ...aboutTrade(facts), offer: answer.offerId },
    'an offer was sent for a trade that does not wait for it',
  )
  if (bot.mayWrite(WRITE_DEADLINE_MS)) await bot.session.cancelOffer(answer.offerId)
}

/**
 * Returns why the bot cannot send now; undefined if it can. `unknown`: Steam gave no usable answer. Called right before
 * every send, because an offer in escrow would lock the items for days.
 */
async function obstacleOf(bot: BotContext, partner: Partner): Promise<Refusal | 'unknown' | undefined> {
  const answer = await bot.session.checkPartner(partner)
  switch (answer.kind) {
    case 'ok':
      if (answer.holdDays.own > 0) return 'own_hold'
      return answer.holdDays.partner > 0 ? 'partner_hold' : undefined
    case 'refused':
      return answer.reason === 'cannot_trade' ? 'partner_cannot_trade' : answer.reason
    case 'unavailable':
      return isOfThisBot(answer.reason) ? answer.reason : 'unknown'
    default:
      return answer satisfies never
  }
}

/** True for reasons that may concern this bot alone. Steam's other troubles can affect every bot. */
function isOfThisBot(reason: Unavailable['reason']): reason is Unavailable['reason'] & Refusal {
  return reason === 'not_our_turn' || reason === 'rate_limited' || reason === 'session_dead'
}

/** Postpones the trade to its next alarm. */
export function askAgain(deps: ShellDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  return deps.trades.postpone(loaded, bot, deps.core.retryAt(loaded.trade, deps.clock.now()))
}

/** The list has more pages and Steam answers, so the next turn follows soon, however long the trade has waited. */
function continueSoon(deps: ShellDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const now = deps.clock.now()
  return deps.trades.postpone(loaded, bot, readOnAt(deps.core.retryAt(loaded.trade, now), now))
}

/** Searches the sent offers by partner, code and item set, a few pages of the list per turn. */
export async function reconcile(deps: Shell, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, facts } = loaded
  if (trade.state !== 'sending' && trade.state !== 'unknown') return
  const since = new Date(trade.startedAt.getTime() - SEARCH_MARGIN_MS)
  const search = deps.lists.searchFor(bot, facts.id, { since, now: deps.clock.now() })
  const isFound = (offers: readonly Offer[]) => offers.some((offer) => isExactOfferOf(trade, offer))
  const turn = await readOn(search.pass, bot, isFound)
  const { offers, hasFailed } = turn
  search.unclear += await countUnclear(deps, loaded, turn)
  const source = { tradeId: facts.id, writer: bot }
  const ours = offers.filter((offer) => isOfferOf(trade, offer))
  const exactOffer = ours.find((offer) => isExactOfferOf(trade, offer))
  // End the search first: if recording the offer fails, the next search begins at the first page.
  if (exactOffer !== undefined) deps.lists.endSearch(bot, facts.id)
  if (exactOffer !== undefined || search.pass.isComplete) {
    await record(deps, source, { kind: 'listed', offers: ours, unclear: search.unclear })
  } else {
    // Only a complete pass proves that the offer is missing.
    await (hasFailed ? askAgain : continueSoon)(deps, bot, loaded)
  }
  if (exactOffer === undefined) reportBlocked(deps, search, facts)
  else await record(deps, source, { kind: 'offer_read', offer: exactOffer })
  for (const offer of ours) {
    const isOther = !isExactOfferOf(trade, offer) && !isVagueOfferOf(trade, offer)
    if (isOther) await withdrawOther(deps, bot, { facts, offer })
  }
}

/**
 * Counts the rows that may be the trade's own offer. Leaves out the known offers of other trades: when a shopper tries
 * again, the same bot may ask for the same items.
 */
export async function countUnclear(
  { trades }: ShellDeps,
  { trade, facts }: LoadedTrade,
  turn: Turn,
): Promise<number> {
  const rows = unclearRows(trade, turn)
  const known = await trades.tradesOfOffers(rows.flatMap(({ offerId }) => offerId ?? []))
  const isOfAnother = (offerId: string) => (known.get(offerId) ?? facts.id) !== facts.id
  return rows.filter(({ offerId }) => offerId === null || !isOfAnother(offerId)).length
}

/** Logs once if, for an hour, only rows that show too little have kept the search from ending. */
export function reportBlocked({ clock, log }: Shell, search: Search, facts: LoadedTrade['facts']): void {
  if (!search.pass.isComplete) return
  const now = clock.now()
  search.blockedAt = search.unclear > 0 ? (search.blockedAt ?? now) : null
  if (search.blockedAt === null || search.isBlockLogged || !isPast(search.blockedAt, BLOCKED_MS, now)) return
  search.isBlockLogged = true
  const about = { ...aboutTrade(facts), botId: String(facts.botId), rows: search.unclear }
  log.error(about, 'offer could not be read for an hour: it may belong to this trade')
}

/** Cancels an offer that has the code of a trade but asks for other items than quoted. The shopper must not accept it. */
async function withdrawOther(
  deps: ShellDeps,
  bot: BotContext,
  { facts, offer }: { facts: LoadedTrade['facts']; offer: Offer },
): Promise<void> {
  const { offerId, state } = offer
  const about = { ...aboutTrade(facts), offer: offerId, offerState: state }
  deps.log.error(about, 'offer asks for other items than its trade')
  if (deps.core.judgeStray(offer).kind !== 'cancel' || !bot.mayWrite(WRITE_DEADLINE_MS)) return
  await bot.session.cancelOffer(offerId)
}
