/** Watches a bot's open offers, and ended ones too, because proof of delivery overrules any end. */
import type { BotContext } from '../bots/bot.ts'
import { destinationOf } from '../departures/departure.ts'
import type { Offer } from '../steam/steam.ts'
import { readOnAt } from './alarm.ts'
import { beginPass, readOn, type Shell } from './offer-list.ts'
import { type AcceptedOffer, cancelStray, prove } from './offers.ts'
import type { Orphans } from './orphans.ts'
import { record } from './record.ts'
import {
  askAgain,
  countUnclear,
  LIST_MARGIN_MS,
  reportBlocked,
  SEARCH_MARGIN_MS,
  WRITE_DEADLINE_MS,
} from './send.ts'
import { isOfferOf } from './stray.ts'
import { isEnded, type TradeState } from './trade.ts'
import { aboutTrade, type LoadedTrade, type ShellDeps, type TradeSummary } from './trade-store.ts'

export type Advance = (deps: Shell, bot: BotContext, tradeId: bigint) => Promise<void>

type Parts = { advance: Advance; orphans: Orphans }

/** Resolves to the number of open trades, plus one while orphans are searched for or can still be accepted. */
export async function watch(deps: Shell, bot: BotContext, parts: Parts): Promise<number> {
  const openCount = await watchTrades(deps, bot, parts)
  // After a restore there may be no open trade for weeks, and an orphan could be accepted meanwhile.
  return (await parts.orphans.searchOffers(bot)) ? openCount + 1 : openCount
}

/** How far back to ask for changes, at least: Steam's clock may be behind ours, and Steam reports some changes late. */
const WATCH_BACK_MS = 15 * 60_000

/**
 * How many open offers a turn may read one by one because the list did not show them. One place is kept for an offer
 * with an unreadable row, if one is due: otherwise, the other offers could take every place of every turn.
 */
const SINGLES_A_TURN = 5

/**
 * How often to read an offer whose row of the list cannot be read. Such reads must be rare: Steam's answer about the
 * offer may be unreadable too, and then counts as a failure of the bot's calls until its next list succeeds.
 */
const UNREADABLE_EVERY_MS = 60_000

/** Reads a few pages of the list for all open offers of the bot. Resolves to the number of open trades. */
async function watchTrades(deps: Shell, bot: BotContext, { advance, orphans }: Parts): Promise<number> {
  const openTrades = await deps.trades.openTradesOf(bot.botId)
  const now = deps.clock.now()
  for (const row of openTrades) {
    // Work left unfinished by the last holder of the lease must not wait for the next sweep.
    if (row.state === 'active' || row.dueAt === null || row.dueAt > now) continue
    await onItsOwn(deps, row, () => advance(deps, bot, row.id))
  }
  const active = openTrades.filter((row) => row.state === 'active')
  if (active.length === 0) return openTrades.length
  const lists = deps.lists.listsOf(bot)
  const pass = lists.watch ?? beginPass(listedSince(lists.completeAt, now), now)
  if (lists.watch === null) {
    lists.shown.clear()
    lists.unreadable.clear()
  }
  const turn = await readOn(pass, bot)
  const ours = new Map(active.map((row) => [row.offerId, row]))
  for (const { offerId } of turn.offers) {
    lists.unreadable.delete(offerId)
    if (ours.has(offerId)) lists.shown.add(offerId)
  }
  for (const { offerId } of turn.unreadable) lists.unreadable.add(offerId)
  lists.watch = pass.isComplete ? null : pass
  if (pass.isComplete) lists.completeAt = pass.begunAt
  const recordRead = (row: TradeSummary, offer: Offer) =>
    onItsOwn(deps, row, async () => {
      const recorded = await record(deps, { tradeId: row.id, writer: bot }, { kind: 'offer_read', offer })
      // Prove an acceptance immediately. Do due work here too, because this read has postponed the trade's alarm.
      const isDue = row.dueAt !== null && row.dueAt <= deps.clock.now()
      if (recorded && (isDue || recorded.events.length > 0)) await advance(deps, bot, row.id)
    })
  const listed = new Set<bigint>()
  for (const offer of turn.offers) {
    const row = ours.get(offer.offerId)
    if (row === undefined) continue
    listed.add(row.id)
    await recordRead(row, offer)
  }
  // A complete list lacks an offer that changed before the time at which the list begins. While Steam has trouble, it
  // can lack any offer, even all.
  const isUnreadable = ({ offerId }: TradeSummary) => lists.unreadable.has(offerId)
  const wasShown = ({ id, offerId }: TradeSummary) =>
    pass.isComplete ? offerId !== null && lists.shown.has(offerId) : listed.has(id)
  const unseen = active.filter((row) => !wasShown(row))
  await readSingly(bot, lists.readAt, { unseen, isUnreadable, nowMs: now.getTime(), recordRead })
  const others = turn.offers.filter((offer) => !ours.has(offer.offerId))
  await tendStrays(deps, bot, { offers: others, orphans })
  await declineCounters(deps, bot, turn.received)
  return (await deps.trades.openTradesOf(bot.botId)).length
}

/** Does one trade's part of a turn. If it fails, the turn goes on with the bot's other trades. */
async function onItsOwn({ log }: ShellDeps, row: TradeSummary, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    log.error({ err: error, ...aboutTrade(row) }, 'watch over the offer of a trade failed')
  }
}

/** Since when to list offers. Not since the oldest open trade: one that stays open would make the list longer. */
function listedSince(completeAt: Date | null, now: Date): Date {
  const backMs = now.getTime() - WATCH_BACK_MS
  return new Date(completeAt === null ? backMs : Math.min(backMs, completeAt.getTime() - LIST_MARGIN_MS))
}

type Unseen = {
  unseen: readonly TradeSummary[]
  /** True if the list's row for the offer cannot be read. */
  isUnreadable(row: TradeSummary): boolean
  nowMs: number
  recordRead(row: TradeSummary, offer: Offer): Promise<void>
}

/**
 * Reads the offers that were last read longest ago, those with an unreadable row last and less often. Stops if Steam
 * gives no usable answer.
 */
async function readSingly(
  { session }: BotContext,
  readAt: Map<bigint, number>,
  { unseen, isUnreadable, nowMs, recordRead }: Unseen,
): Promise<void> {
  const ids = new Set(unseen.map(({ id }) => id))
  for (const id of readAt.keys()) if (!ids.has(id)) readAt.delete(id)
  const lastReadAt = ({ id }: TradeSummary) => readAt.get(id) ?? 0
  const byAge = [...unseen].sort((one, other) => lastReadAt(one) - lastReadAt(other))
  // The absolute value, because the clock may have been set back.
  const isDue = (row: TradeSummary) => Math.abs(nowMs - lastReadAt(row)) >= UNREADABLE_EVERY_MS
  const readable = byAge.filter((row) => !isUnreadable(row))
  const unreadable = byAge.filter((row) => isUnreadable(row) && isDue(row))
  const first = readable.slice(0, unreadable.length > 0 ? SINGLES_A_TURN - 1 : SINGLES_A_TURN)
  for (const row of [...first, ...unreadable].slice(0, SINGLES_A_TURN)) {
    if (row.offerId === null) continue
    readAt.set(row.id, nowMs)
    const answer = await session.readOffer(row.offerId)
    if (answer.kind === 'unavailable') return
    if (answer.kind === 'offer') await recordRead(row, answer.offer)
  }
}

/** The greatest age of a trade whose shopper may have sent a counteroffer that its own offer does not show yet. */
const COUNTERED_MS = 15 * 60_000

/**
 * Declines open offers of shoppers with a recent trade, or with a countered one that is still reviewed: they are most
 * likely counteroffers. Otherwise they would stay open for two weeks, and someone could accept one by mistake.
 */
async function declineCounters(deps: ShellDeps, bot: BotContext, received: readonly Offer[]): Promise<void> {
  const openCounters = received.filter((offer) => offer.state === 'active')
  if (openCounters.length === 0) return
  const since = new Date(deps.clock.now().getTime() - COUNTERED_MS)
  const partners = await deps.trades.partnersSince(bot.botId, since)
  for (const offer of openCounters) {
    // An offer from an operator's account stays open, even if the account has paid lately: it may move items by hand.
    const depositId = partners.get(offer.partnerSteamId)
    const isFromOperator = destinationOf(deps.destinations, offer.partnerSteamId) !== undefined
    if (depositId === undefined || isFromOperator || !bot.mayWrite(WRITE_DEADLINE_MS)) continue
    deps.log.warn({ deposit: String(depositId), offer: offer.offerId }, 'bot began to decline a counteroffer')
    await bot.session.declineOffer(offer.offerId)
  }
}

/** States in which the trade's own offer is not known yet. `reconcile` searches for it. */
const OFFER_UNKNOWN: readonly TradeState[] = ['intended', 'sending', 'unknown']

/**
 * Handles offers that no open trade waits for: those with the code of a trade, and those whose code belongs to no
 * trade.
 */
async function tendStrays(
  deps: ShellDeps,
  bot: BotContext,
  { offers, orphans }: { offers: readonly Offer[]; orphans: Orphans },
): Promise<void> {
  const offersToTend = offers.filter((offer) => deps.core.judgeStray(offer).kind !== 'nothing')
  const rows = await deps.trades.tradesByCode(
    bot.botId,
    offersToTend.map((offer) => offer.message),
  )
  for (const offer of offersToTend) {
    const row = rows.get(offer.message)
    if (row === undefined) await orphans.handleOrphan(bot, offer)
    if (row === undefined || OFFER_UNKNOWN.includes(row.state)) continue
    // Sent while the list was read: it is the trade's own offer, and the next watch handles it.
    if (row.state === 'active' && row.offerId === offer.offerId) continue
    // This offer delivered the trade, so nothing is left to do.
    if (row.isDelivered && row.steamTradeId === offer.tradeId) continue
    await onItsOwn(deps, row, async () => {
      const loaded = await deps.trades.load(row.id)
      if (loaded !== undefined && isOfferOf(loaded.trade, offer))
        await tendStray(deps, bot, { loaded, offer })
    })
  }
}

/** Resolves to false if Steam must be asked again soon. */
async function tendStray(
  deps: ShellDeps,
  bot: BotContext,
  { loaded, offer }: { loaded: LoadedTrade; offer: Offer },
): Promise<boolean> {
  const { offerId } = offer
  const verdict = deps.core.judgeStray(offer)
  const about = { ...aboutTrade(loaded.facts), offer: offerId, state: loaded.trade.state }
  switch (verdict.kind) {
    case 'nothing':
      return true
    case 'ask_again':
      return false
    case 'prove':
      deps.log.warn(about, 'shopper accepted an offer that its trade does not wait for')
      return proveStray(deps, bot, { loaded, steamTradeId: verdict.steamTradeId, offerId, offer })
    case 'cancel': {
      const beforeCancel = () =>
        deps.log.warn(about, 'bot began to cancel an offer that its trade does not wait for')
      const current = await cancelStray(deps, bot, { offerId, beforeCancel })
      if (current === undefined) return false
      const after = deps.core.judgeStray(current)
      if (after.kind !== 'prove') return after.kind === 'nothing'
      // The shopper was faster than the cancel.
      return proveStray(deps, bot, { loaded, steamTradeId: after.steamTradeId, offerId, offer: current })
    }
    default:
      return verdict satisfies never
  }
}

async function proveStray(
  deps: ShellDeps,
  bot: BotContext,
  accepted: Required<AcceptedOffer>,
): Promise<boolean> {
  const proved = await prove(deps, bot, accepted)
  const { loaded } = accepted
  // A Steam trade that failed or was reversed brings no news a minute later.
  const mayChange = proved?.proof === 'not_yet' || proved?.proof === 'contradiction'
  if (!mayChange || !isEnded(loaded.trade)) return proved !== undefined
  // The items are on their way, or the record may be incomplete. The next review may be hours away, or none may be left.
  await askAgain(deps, bot, loaded)
  return false
}

/** True if the offer can change its ended trade, now or once Steam says more, or must be cancelled. */
const concerns = ({ core }: ShellDeps, offer: Offer): boolean =>
  core.judgeStray(offer).kind !== 'nothing' || offer.state === 'in_escrow'

/** Reviews a trade that ended without its items, at growing intervals: Steam may have reported the end too early. */
export async function review(deps: Shell, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade } = loaded
  if (!isEnded(trade) || trade.startedAt === null) return
  const offersRead = await offersOf(deps, bot, loaded)
  const now = deps.clock.now()
  switch (offersRead.kind) {
    case 'silence':
      return deps.trades.postpone(loaded, bot, deps.core.reviewAgainAt(trade, now))
    case 'more':
      return deps.trades.postpone(loaded, bot, readOnAt(deps.core.reviewAgainAt(trade, now), now))
    case 'offers':
      break
    default:
      return offersRead satisfies never
  }
  const nextReview = deps.core.alarm(trade, now)
  const isNews = offersRead.offers.some((offer) => concerns(deps, offer))
  // If the database fails before all is recorded, or Steam does not answer, the review is soon repeated.
  await deps.trades.postpone(loaded, bot, isNews ? deps.core.reviewAgainAt(trade, now) : nextReview)
  let isDone = true
  for (const offer of offersRead.offers) {
    const recorded = await record(
      deps,
      { tradeId: loaded.facts.id, writer: bot },
      { kind: 'offer_read', offer },
    )
    const isTended = await tendStray(deps, bot, { loaded, offer })
    isDone &&= isTended && recorded?.events.length === 0
  }
  if (isNews && isDone) await deps.trades.postpone(loaded, bot, nextReview)
}

/**
 * Everything that one turn found out about the offers of a trade. `more`: the list continues. `silence`: Steam did not
 * answer, or its answer was empty or unclear.
 */
type OffersRead = { kind: 'offers'; offers: Offer[] } | { kind: 'more' } | { kind: 'silence' }

async function offersOf(deps: Shell, bot: BotContext, loaded: LoadedTrade): Promise<OffersRead> {
  const { trade, facts } = loaded
  if (!isEnded(trade) || trade.startedAt === null) return { kind: 'offers', offers: [] }
  if (trade.offerId !== null && trade.state !== 'countered') {
    const answer = await bot.session.readOffer(trade.offerId)
    // An empty or failed read proves nothing.
    return answer.kind === 'offer' ? { kind: 'offers', offers: [answer.offer] } : { kind: 'silence' }
  }
  const since = new Date(trade.startedAt.getTime() - SEARCH_MARGIN_MS)
  const search = deps.lists.searchFor(bot, facts.id, { since, now: deps.clock.now() })
  const { pass } = search
  const isOurs = (offer: Offer) => isOfferOf(trade, offer)
  // The counteroffer of the shopper can be anywhere in the list, so read all of it.
  const isFound = (offers: readonly Offer[]) => trade.state !== 'countered' && offers.some(isOurs)
  const turn = await readOn(pass, bot, isFound)
  const ours = turn.offers.filter(isOurs)
  search.unclear += await countUnclear(deps, loaded, turn)
  const isOver = ours.length > 0 || pass.isComplete
  // A row that may be the offer does not show whether it was accepted. The search is kept, because it records when it
  // became blocked.
  const isBlocked = isOver && ours.length === 0 && search.unclear > 0
  // End the search first: if the database fails now, the next review begins at the first page again.
  if (isOver && !isBlocked) deps.lists.endSearch(bot, facts.id)
  await declineCounters(deps, bot, turn.received)
  if (isBlocked) {
    reportBlocked(deps, search, facts)
    return { kind: 'silence' }
  }
  return isOver ? { kind: 'offers', offers: ours } : { kind: turn.hasFailed ? 'silence' : 'more' }
}
