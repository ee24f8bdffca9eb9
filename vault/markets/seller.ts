/** Sells on one market: lists items, gives sold items, and follows the money. The shell around book.ts and deal.ts. */
import { isPayable } from '../../contract/sale-report.ts'
import type { GiftOffers } from '../giving/gift.ts'
import { keepNewest } from '../keep-newest.ts'
import type { Alarm } from './alarm.ts'
import {
  type Book,
  type Deal,
  dealKey,
  isOfAccount,
  type Journal,
  type Listing,
  latestListing,
  type MarketAccount,
  maySendAgain,
  NO_SESSION,
  TOO_MANY_OFFERS,
  takesEnd,
} from './book.ts'
import { type DealBeforeOffer, type DealWithOffer, stepAfter, stepBefore } from './deal.ts'
import { earliestEndMs, judgeDue, type OwnListing } from './judge-due.ts'
import { createListings } from './listings.ts'
import {
  CLOCKS_DIFFER_MS,
  type DueGift,
  type Failure,
  type Market,
  type Outcome,
  type Row,
} from './market.ts'
import type { Scale } from './scale.ts'

type Parts = {
  market: Market
  marketAccount: MarketAccount
  giftOffers: GiftOffers
  journal: Journal
  scale: Scale
  ownAccounts: ReadonlySet<string>
  /**
   * True if the vault's limits allow these items to leave now. The caller must then add the entry that uses the room.
   */
  hasRoom: (load: { cents: bigint; items: number }) => boolean
  /**
   * Reports to the till which items are about to be given. If the till does not answer, it receives the report later.
   */
  announce: () => Promise<void>
  now: () => Date
  alarm: (alarm: Alarm) => void
}

/**
 * By deal: when the time to hand over its items ends, as the market reported to this process. Infinity if it gave no
 * time.
 */
type DueBy = Map<string, number>

/**
 * `alarmDone`: the deals whose unconfirmed offer needs no further alarm. One was raised, or the market called the sale
 * off.
 */
type Memory = { dueBy: DueBy; alarmDone: Map<string, true>; tooMany: TooMany }

/** By buyer: when Steam last refused an offer because too many were open. */
type TooMany = Map<string, Date>

export function createSeller(parts: Parts) {
  const dueBy: DueBy = new Map()
  const memory: Memory = { dueBy, alarmDone: new Map(), tooMany: new Map() }
  const listings = createListings(parts)
  const { list, unlist, reprice } = listings
  /** The numbers of unreadable deals that an alarm has reported. */
  const unreadDeals = new Map<string, true>()
  /** The listings about whose changed end an alarm has reported. */
  const changedSales = new WeakSet<Listing>()
  return {
    list,
    unlist,
    reprice,
    /**
     * Call this every 15 seconds for each game with listings: a sale must be handed over within five minutes. Returns the
     * failure if the market did not say which items were sold.
     */
    async round(appId: number): Promise<Failure | undefined> {
      const askedAt = parts.now()
      const answer = await parts.market.round(appId)
      if (answer.kind !== 'answered') return answer
      const { rows, due, unread = [] } = answer.value
      for (const dealId of unread) {
        if (!unreadDeals.has(dealId)) parts.alarm({ kind: 'unread_deal', dealId })
        keepNewest(unreadDeals, dealId, true)
      }
      await listings.compare(appId, rows)
      for (const each of due)
        takeUpDeal(parts, dueBy, { own: listings.own(appId), appId, due: each, rows, askedAt })
      return undefined
    },
    /** Advances every open deal until it has no further step now. */
    async advance() {
      const deals = [...parts.journal.book().deals.values()].filter(isOfAccount(parts.marketAccount))
      for (const deal of deals) await advance(parts, memory, deal)
    },
    followMoney: (appId: number, since: Date) => followMoney(parts, changedSales, { appId, since }),
  }
}

/** The market's answer, and when it was asked. */
type Look = { rows: readonly Row[]; askedAt: Date }

/** `own`: the live listings of the account. */
type RequestedDeal = Look & { own: readonly Listing[]; appId: number; due: DueGift }

/** Records the intent to give a deal's items, refuses the deal, or leaves it to the next round. */
function takeUpDeal(parts: Parts, dueBy: DueBy, { own, appId, due, ...look }: RequestedDeal): void {
  const { market, marketAccount, journal, scale, ownAccounts, alarm } = parts
  const book = journal.book()
  const key = dealKey(market.name, due.dealId)
  const known = book.deals.get(key)
  // Notes the time even if the market has changed the deal: a process that was started later learns it only here.
  if (known !== undefined && known.state !== 'intended')
    noteDueBy(dueBy, key, { itemIds: known.itemIds, ...look })
  // A deal that was refused or has ended is never taken up again.
  if (book.refused.has(key) || known?.state === 'ended') return
  const listings = own.flatMap(({ itemId, ...listing }): OwnListing[] =>
    itemId === null ? [] : [{ ...listing, itemId }],
  )
  const openDeals = [...book.deals.values()].filter(
    (deal) => deal.market === market.name && deal.state !== 'delivered' && deal.state !== 'ended',
  )
  const promised = new Set(openDeals.flatMap((deal) => deal.due.assets.map(({ assetId }) => assetId)))
  const verdict = judgeDue(due, {
    appId,
    listings,
    rows: look.rows,
    scale,
    ownAccounts,
    known: known?.due,
    promised,
  })
  if (verdict.kind === 'again') {
    noteDueBy(dueBy, key, { itemIds: known?.itemIds ?? [], ...look })
    return
  }
  if (verdict.kind === 'refused') {
    journal.add({ kind: 'due_refused', market: market.name, due, problem: verdict.problem })
    alarm({ kind: 'due_refused', dealId: due.dealId, problem: verdict.problem })
    return
  }
  const cents = verdict.listings.reduce((sum, { priceMinor }) => sum + priceMinor, 0n)
  const itemIds = verdict.listings.map(({ itemId }) => itemId)
  const { account } = marketAccount
  noteDueBy(dueBy, key, { itemIds, ...look })
  if (parts.hasRoom({ cents, items: itemIds.length }))
    journal.add({ kind: 'deal_intended', market: market.name, account, due, itemIds })
  else alarm({ kind: 'no_room', dealId: due.dealId })
}

type DealLook = Look & { itemIds: readonly string[] }

/** The earliest end noted so far counts: an answer can lack the time, and then gives Infinity. */
function noteDueBy(dueBy: DueBy, key: string, { itemIds, rows, askedAt }: DealLook): void {
  const endMs = earliestEndMs(itemIds, rows, askedAt)
  keepNewest(dueBy, key, Math.min(dueBy.get(key) ?? Infinity, endMs))
}

/** The most steps of a deal at a time. It needs only a few: send, confirm, report, and a look after each. */
const MOST_STEPS = 8

async function advance(parts: Parts, memory: Memory, first: Deal): Promise<void> {
  const key = dealKey(first.market, first.due.dealId)
  const dueByMs = memory.dueBy.get(key)
  let deal: Deal | undefined = first
  for (let steps = 0; steps < MOST_STEPS && deal !== undefined; steps += 1) {
    if (deal.state === 'delivered' || deal.state === 'ended') return
    const mayContinue =
      deal.state === 'active'
        ? await followOffer(parts, { dueByMs, alarmDone: memory.alarmDone }, deal)
        : await sendOrFind(parts, { dueByMs, tooMany: memory.tooMany }, deal)
    if (!mayContinue) return
    deal = parts.journal.book().deals.get(key)
  }
}

/** Steam's results for too many open offers, in total or to this buyer. */
const TOO_MANY_RESULTS: ReadonlySet<number | undefined> = new Set([25, 50])
/**
 * How long to send a buyer nothing after such a result. Each send takes its turn from the sales to other buyers, and the
 * limit has room again only once an offer has ended.
 */
const TOO_MANY_FOR_MS = 25_000

/** Sends a deal's offer, looks for it, or abandons the deal. Returns true if the deal may have a further step now. */
async function sendOrFind(
  { giftOffers, journal, now, announce, alarm }: Parts,
  { dueByMs, tooMany }: { dueByMs: number | undefined; tooMany: TooMany },
  { due, ...deal }: DealBeforeOffer,
): Promise<boolean> {
  const ids = { market: deal.market, dealId: due.dealId }
  const stepNow = () => stepBefore({ due, ...deal }, { dueByMs, now: now() })
  const step = stepNow()
  if (step.kind === 'wait') return false
  if (step.kind === 'abandon') {
    journal.add({ kind: 'abandoned', ...ids })
    const lateProblem = tooMany.has(due.partnerSteamId) ? `not_sent: ${TOO_MANY_OFFERS}` : 'too_late'
    const problem = deal.state === 'intended' ? lateProblem : 'offer_not_found'
    alarm({ kind: 'due_refused', dealId: due.dealId, problem })
    return true
  }
  if (step.kind === 'look') {
    const agoMs = deal.state === 'intended' ? 0 : now().getTime() - deal.begunAt.getTime()
    const found = await giftOffers.find(due, agoMs)
    if (found.kind === 'unanswered') return false
    if (found.kind === 'found') journal.add({ kind: 'offer_known', ...ids, offerId: found.offerId })
    else journal.add({ kind: 'offer_missed', ...ids })
    return found.kind === 'found'
  }
  const refusedAt = tooMany.get(due.partnerSteamId)
  if (refusedAt !== undefined && Math.abs(now().getTime() - refusedAt.getTime()) < TOO_MANY_FOR_MS)
    return false
  await announce()
  // The report, and later the login and the turn to send, may have taken too long.
  const isInTime = () => stepNow().kind === 'send'
  if (!isInTime()) return true
  journal.add({ kind: 'send_begun', ...ids })
  const sent = await giftOffers.send(due, isInTime)
  if (sent.kind === 'sent') {
    tooMany.delete(due.partnerSteamId)
    journal.add({ kind: 'offer_known', ...ids, offerId: sent.offerId })
  } else if (sent.kind === 'refused') {
    const isTooMany = TOO_MANY_RESULTS.has(sent.result)
    if (isTooMany) keepNewest(tooMany, due.partnerSteamId, now())
    const because = sent.notMade === true ? NO_SESSION : isTooMany ? TOO_MANY_OFFERS : sent.because
    journal.add({ kind: 'send_refused', ...ids, because })
    const problem = `not_sent: ${because}`
    if (!maySendAgain(because)) alarm({ kind: 'due_refused', dealId: due.dealId, problem })
  } else journal.add({ kind: 'send_unanswered', ...ids })
  return sent.kind === 'sent'
}

/** Does the next step of a deal whose offer is known. Returns true if the deal may have a further step now. */
async function followOffer(
  parts: Parts,
  { dueByMs, alarmDone }: { dueByMs: number | undefined; alarmDone: Memory['alarmDone'] },
  deal: DealWithOffer,
): Promise<boolean> {
  const { market, giftOffers, journal, now } = parts
  const { due, offerId } = deal
  const seen = await giftOffers.read(offerId)
  if (seen === undefined) return false
  const ids = { market: deal.market, dealId: due.dealId }
  const stepNow = () => stepAfter(deal, seen, { order: market.order, dueByMs, now: now() })
  const step = stepNow()
  const askWanted = () => market.isWanted(due, { offerId, listedAt: lastListedAt(journal.book(), deal) })
  switch (step.kind) {
    case 'confirm': {
      // Confirming the offer of a cancelled deal would give the item away for nothing.
      const wanted = await askWanted()
      if (wanted.kind !== 'answered') return false
      if (!wanted.value) {
        // The market has called the sale off, so a later cancel of the same offer needs no alarm.
        keepNewest(alarmDone, due.dealId, true)
        await giftOffers.cancel(offerId)
        return false
      }
      // Check the time now, because the market may have been slow, and again right before the confirmation: Steam may
      // be slow too.
      const isInTime = () => stepNow().kind === 'confirm'
      if (!isInTime()) return true
      const isConfirmed = await giftOffers.confirm(offerId, due, isInTime)
      if (isConfirmed) journal.add({ kind: 'confirmed', ...ids })
      return isConfirmed
    }
    case 'report': {
      const answer = await market.reportOffer(due.assets[0]?.appId ?? 0, { offerId, dealId: due.dealId })
      if (answer.kind === 'answered') journal.add({ kind: 'told', ...ids })
      else if (seen.state === 'active') {
        // A market that has not heard of the offer calls the sale off, and the buyer could still accept for nothing.
        const wanted = await askWanted()
        if (wanted.kind === 'answered' && !wanted.value) await giftOffers.cancel(offerId)
      }
      return answer.kind === 'answered'
    }
    case 'ask':
      if ((await market.isCalledOff?.(due, offerId)) === true) await giftOffers.cancel(offerId)
      return false
    case 'cancel':
      if (seen.state === 'needs_confirmation') reportUnconfirmed(parts, alarmDone, deal)
      await giftOffers.cancel(offerId)
      return false
    case 'prove': {
      const { steamTradeId } = step
      const result = await giftOffers.checkTrade(steamTradeId, due)
      if (result === 'given') journal.add({ kind: 'delivered', ...ids, steamTradeId })
      if (result === 'failed') journal.add({ kind: 'offer_ended', ...ids, how: 'failed' })
      return result !== undefined
    }
    case 'note_end':
      journal.add({ kind: 'offer_ended', ...ids, how: step.how })
      return true
    default:
      return false
  }
}

/** Raises an alarm once, because the sale counts as not handed over. Raises none after a `due_refused` of the deal. */
function reportUnconfirmed(
  { journal, alarm }: Parts,
  alarmDone: Memory['alarmDone'],
  { market, due: { dealId } }: Deal,
): void {
  if (alarmDone.has(dealId) || journal.book().refused.has(dealKey(market, dealId))) return
  alarm({ kind: 'due_refused', dealId, problem: 'not_confirmed' })
  keepNewest(alarmDone, dealId, true)
}

/** When the last of the deal's items was listed. */
function lastListedAt(book: Book, { market, itemIds }: Deal): Date {
  const times = itemIds.map((itemId) => latestListing(book, { market, itemId })?.begunAt.getTime() ?? 0)
  return new Date(Math.max(0, ...times))
}

/** Records the outcomes of sales. Returns true if the market had news. */
async function followMoney(
  { market, journal, alarm }: Parts,
  changedSales: WeakSet<Listing>,
  { appId, since }: { appId: number; since: Date },
): Promise<boolean> {
  const answer = await market.outcomes(appId, since)
  if (answer.kind !== 'answered') return false
  let hasNews = false
  for (const { itemId, soldAt, end } of latestSales(answer.value)) {
    const listing = latestListing(journal.book(), { market: market.name, itemId })
    if (listing === undefined || isSaleBefore(journal.book(), listing, soldAt)) continue
    if (end.kind === 'pending' || isSame(listing.end, end)) continue
    if (!takesEnd(listing, end)) {
      const problem = `${listing.end?.kind}, now ${wordOf(end, listing.end)}`
      if (!changedSales.has(listing)) alarm({ kind: 'sale_changed', itemId, problem })
      changedSales.add(listing)
      continue
    }
    if (isTooMuch(listing, end)) {
      alarm({ kind: 'too_much', itemId })
      continue
    }
    journal.add({ kind: 'outcome', market: market.name, itemId, end })
    hasNews = true
  }
  return hasNews
}

/** A market that reuses the numbers of listings also reports earlier sales. Returns the latest sale of each number. */
function latestSales(outcomes: readonly Outcome[]): Iterable<Outcome> {
  const latest = new Map<string, Outcome>()
  for (const each of outcomes) {
    const known = latest.get(each.itemId)
    if (known === undefined || each.soldAt > known.soldAt) latest.set(each.itemId, each)
  }
  return latest.values()
}

/** True if a sale at this time was a sale of an earlier listing with the same number. */
function isSaleBefore({ listings }: Book, latest: Listing, soldAt: Date): boolean {
  const sinceListingMs = soldAt.getTime() - latest.begunAt.getTime()
  if (sinceListingMs > CLOCKS_DIFFER_MS) return false
  const { market, itemId } = latest
  const hasEarlier = listings.some(
    (each) => each !== latest && each.market === market && each.itemId === itemId,
  )
  const isOnSale = latest.state === 'on_sale'
  // If there is no earlier listing and this one is off sale, the sale was of this one: the vault's clock was ahead.
  if (sinceListingMs < -CLOCKS_DIFFER_MS) return hasEarlier || isOnSale
  // The clocks are not exact enough to decide. But a listing that is still on sale was not sold yet.
  return hasEarlier && isOnSale
}

function isTooMuch({ priceMinor }: Listing, end: Outcome['end']): boolean {
  if (end.kind === 'reversed') return !isPayable(end.refundMinor, priceMinor)
  return (end.kind === 'settling' || end.kind === 'paid') && !isPayable(end.receivedMinor, priceMinor)
}

const wordOf = ({ kind }: Outcome['end'], known: Listing['end']): string =>
  kind === known?.kind ? `${kind} with another amount` : kind

function isSame(known: Listing['end'], news: NonNullable<Listing['end']>): boolean {
  if (known === null || known.kind !== news.kind) return false
  if (known.kind === 'settling' && news.kind === 'settling')
    return (
      known.receivedMinor === news.receivedMinor && known.settlesAt.getTime() === news.settlesAt.getTime()
    )
  if (known.kind === 'paid' && news.kind === 'paid') return known.receivedMinor === news.receivedMinor
  if (known.kind === 'reversed' && news.kind === 'reversed') return known.refundMinor === news.refundMinor
  return true
}
