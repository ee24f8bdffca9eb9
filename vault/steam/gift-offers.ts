/** The vault's calls about the offers of one account. It confirms an offer only if Steam shows exactly the gift. */

import { accountOf } from '../../contract/steam-id.ts'
import { DAY_MS } from '../durations.ts'
import { type Gift, type GiftOffers, isGift, looksLikeDeposit, type SeenOffer } from '../giving/gift.ts'
import type { Needs } from '../needs.ts'
import {
  type Offer,
  readOffer,
  readOffers,
  readSent,
  readTrade,
  refusalOf,
  type UnclearOffer,
} from './answers.ts'
import { acceptConfirmation, findConfirmation } from './confirm.ts'
import { createPatience, type Patience, type Reason } from './patience.ts'
import type { RequestResult, Session } from './session.ts'
import { resultOfTrade } from './trade-record.ts'

/** The error numbers with which Steam reports that no offer was made. */
const CLEAR_REFUSALS = new Set([15, 24, 25, 26, 50])
const MOST_PAGES = 20
/** The vault remembers the offers of at most this many trades under way. */
const MOST_TRADES = 1_000
/** Steam's states of an offer. `reverted`: it was accepted, and the trade was taken back later. */
const STATE = {
  active: 2,
  accepted: 3,
  countered: 4,
  expired: 5,
  cancelled: 6,
  declined: 7,
  invalid: 8,
  needsConfirmation: 9,
  cancelledByPhone: 10,
  inEscrow: 11,
  reverted: 12,
} as const
/** The states of an offer that was confirmed and has not ended without a trade. */
const CONFIRMED: ReadonlySet<number> = new Set([STATE.active, STATE.accepted, STATE.inEscrow, STATE.reverted])
/** How much the clocks of Steam and this machine may differ. */
const CLOCKS_DIFFER_S = 3_600

type Parts = {
  session: Session
  /** Seconds since 1970, as Steam's authenticators count them. */
  nowS: () => number
  say(line: string, about: Record<string, string | number>): void
  needs: Pick<Needs, 'note' | 'end'>
  /** Acknowledges Steam's notice about trade protection, if that is not done yet. */
  acknowledge(): Promise<void>
}

/** `offerOf`: by Steam trade id, the offers whose trades Steam has not finished. */
type Context = Parts & { patience: Patience; offerOf: Map<string, string> }

export function createGiftOffers(parts: Parts): GiftOffers {
  const context = { ...parts, patience: createPatience(parts.nowS), offerOf: new Map<string, string>() }
  return {
    send: (gift, isStillAllowed) => send(parts, gift, isStillAllowed),
    find: (gift, agoMs) => findSent(parts, gift, agoMs),
    read: (offerId) => read(context, offerId),
    confirm: (offerId, gift, isStillAllowed) => confirm(parts, { offerId, gift, isStillAllowed }),
    async cancel(offerId) {
      const referer = `https://steamcommunity.com/profiles/${parts.session.steamId}/tradeoffers/sent/`
      const result = await parts.session.form('cancel', `/tradeoffer/${offerId}/cancel`, {
        fields: {},
        referer,
      })
      // Until a read shows the end, the offer counts as not cancelled.
      if (result.kind !== 'not_made') noteWait(context, offerNamed(offerId), { why: NOT_CANCELLED, offerId })
    },
    checkTrade: (steamTradeId, gift) => checkTrade(context, steamTradeId, gift),
  }
}

async function send(
  { session, acknowledge }: Parts,
  gift: Gift,
  isStillAllowed?: () => boolean,
): ReturnType<GiftOffers['send']> {
  const { partnerSteamId, token, message, assets } = gift
  if (looksLikeDeposit(message))
    return { kind: 'refused', because: 'the message looks like that of a deposit' }
  await acknowledge()
  const mine = assets.map(({ appId, contextId, assetId }) => ({
    appid: appId,
    contextid: contextId,
    amount: 1,
    assetid: assetId,
  }))
  const side = (sideAssets: object[]) => ({ assets: sideAssets, currency: [], ready: false })
  const offer = { newversion: true, version: assets.length + 1, me: side(mine), them: side([]) }
  const fields = {
    serverid: '1',
    partner: partnerSteamId,
    tradeoffermessage: message,
    json_tradeoffer: JSON.stringify(offer),
    captcha: '',
    trade_offer_create_params: JSON.stringify({ trade_offer_access_token: token }),
  }
  const query = new URLSearchParams({ partner: accountOf(partnerSteamId), token })
  const referer = `https://steamcommunity.com/tradeoffer/new/?${query}`
  const form = { fields, referer, ...(isStillAllowed && { isStillAllowed }) }
  return sentOf(await session.form('send', '/tradeoffer/new/send', form))
}

function sentOf(result: RequestResult): Awaited<ReturnType<GiftOffers['send']>> {
  if (result.kind === 'not_made')
    return { kind: 'refused', because: 'no session, or too long a wait', notMade: true }
  if (result.kind === 'unanswered') return result
  const offerId = readSent(result)
  if (offerId !== undefined) return { kind: 'sent', offerId }
  const code = refusalOf(result)
  if (code === undefined) return { kind: 'unanswered' }
  return CLEAR_REFUSALS.has(code)
    ? { kind: 'refused', because: `Steam (${code})`, result: code }
    : { kind: 'unanswered', result: code }
}

/** True unless the offer is certainly another one. */
const mayBe = ({ message, partnerSteamId }: UnclearOffer, gift: Gift): boolean =>
  (message === null || message === gift.message) &&
  (partnerSteamId === null || partnerSteamId === gift.partnerSteamId)

/** Asks only for offers that are active, or have changed since the send. A busy account has too many older ones. */
async function find({ session, nowS }: Parts, gift: Gift, agoMs: number): ReturnType<GiftOffers['find']> {
  const sinceS = nowS() - Math.ceil(Math.max(0, agoMs) / 1_000) - CLOCKS_DIFFER_S
  let cursor = 0
  let isUnclear = false
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const reply = await session.api('offers', 'IEconService/GetTradeOffers', {
      get_sent_offers: '1',
      get_received_offers: '0',
      get_descriptions: '0',
      active_only: '1',
      time_historical_cutoff: String(sinceS),
      cursor: String(cursor),
    })
    const answer = reply && readOffers(reply)
    if (answer === undefined) return { kind: 'unanswered' }
    const found = answer.offers.find((offer) => isGift(offer, gift))
    if (found !== undefined) return { kind: 'found', offerId: found.offerId }
    isUnclear ||= answer.unclear.some((offer) => mayBe(offer, gift))
    if (answer.cursor === 0) return { kind: isUnclear ? 'unanswered' : 'none' }
    cursor = answer.cursor
  }
  return { kind: 'unanswered' }
}

/** How long it may stay unclear whether an offer was sent before a person must look. */
const UNCLEAR_MS = DAY_MS

/** Finds the offer, and tells a person if Steam's lists have not shown for a day whether it exists. */
async function findSent(parts: Parts, gift: Gift, agoMs: number): ReturnType<GiftOffers['find']> {
  const found = await find(parts, gift, agoMs)
  const { partnerSteamId, message } = gift
  const about = `offer to ${partnerSteamId} with the message ${message}`
  if (found.kind !== 'unanswered') parts.needs.end('offer_stuck', about)
  else if (agoMs >= UNCLEAR_MS) {
    const line = 'Steam has not shown for a day or longer whether an offer was sent, so a person must look'
    parts.needs.note('offer_stuck', about, line)
  }
  return found
}

/** Why an offer waits. Continues a sentence that begins with `Steam still`. */
const NOT_CANCELLED = 'does not cancel an offer'

/** `offerId`, `steamTrade`: for the log. */
type Delay = Reason & { offerId?: string; steamTrade?: string }

/** Records that Steam leaves an offer or a trade as it is, and tells a person if it has done so for a day. */
function noteWait(
  { patience, say, needs }: Context,
  subject: string,
  { why, isAccepted = false, ...about }: Delay,
): void {
  const { mustTell, isOverdue } = patience.wait(subject, { why, isAccepted })
  const line = `after a day or longer, Steam still ${why}, so a person must look`
  if (isOverdue) needs.note('offer_stuck', subject, line)
  if (mustTell) say(line, about)
}

const offerNamed = (offerId: string): string => `offer ${offerId}`

/** If `unless` is one of the reasons for the wait, the wait goes on. */
function endWait({ patience, needs }: Context, subject: string, { unless }: { unless?: string } = {}): void {
  if (patience.end(subject, unless)) needs.end('offer_stuck', subject)
}

/** Undefined if Steam does not show the offer, or while it is too early to ask again about it. */
async function read(context: Context, offerId: string): Promise<SeenOffer | undefined> {
  const { session, patience, offerOf, say, needs } = context
  const named = offerNamed(offerId)
  if (!patience.isDue(named)) return undefined
  const reply = await session.api('offer', 'IEconService/GetTradeOffer', { tradeofferid: offerId })
  if (reply === undefined) return undefined
  const offer = readOffer(reply)
  const seen = offer?.offerId === offerId ? seenOf(offer) : undefined
  if (seen !== undefined && seen.state !== 'in_escrow') needs.end('offer_in_escrow', named)
  if (seen === undefined) noteWait(context, named, { why: 'does not show an offer', offerId })
  else if (seen.state === 'in_escrow') {
    // Steam ends the escrow after at most 15 days. But the market may have called the sale off long before.
    const line = 'Steam holds the items of an offer in escrow'
    needs.note('offer_in_escrow', named, line)
    if (patience.wait(named, { why: 'holds an offer in escrow', isAccepted: true }).isNew)
      say(line, { offerId })
  } else if (seen.state === 'accepted') {
    if (seen.steamTradeId === null)
      noteWait(context, named, { why: 'names no trade of an accepted offer', isAccepted: true, offerId })
    else noteTrade(offerOf, seen.steamTradeId, offerId)
  } else if (seen.state === 'ended') endWait(context, named)
  else endWait(context, named, { unless: NOT_CANCELLED })
  return seen
}

function noteTrade(offerOf: Map<string, string>, steamTradeId: string, offerId: string): void {
  offerOf.set(steamTradeId, offerId)
  const [oldest] = offerOf.keys()
  if (offerOf.size > MOST_TRADES && oldest !== undefined) offerOf.delete(oldest)
}

/** Reads the offer without recording whether Steam keeps the vault waiting. */
async function readOne({ session }: Parts, offerId: string): Promise<Offer | undefined> {
  const reply = await session.api('offer', 'IEconService/GetTradeOffer', { tradeofferid: offerId })
  const offer = reply && readOffer(reply)
  return offer?.offerId === offerId ? offer : undefined
}

function seenOf({ state, steamTradeId }: Offer): SeenOffer | undefined {
  switch (state) {
    case STATE.active:
      return { state: 'active' }
    case STATE.accepted:
    case STATE.reverted:
      return { state: 'accepted', steamTradeId }
    case STATE.countered:
      return { state: 'ended', how: 'countered' }
    case STATE.expired:
      return { state: 'ended', how: 'expired' }
    case STATE.cancelled:
    case STATE.cancelledByPhone:
      return { state: 'ended', how: 'withdrawn' }
    case STATE.declined:
      return { state: 'ended', how: 'declined' }
    case STATE.invalid:
      return { state: 'ended', how: 'invalid' }
    case STATE.needsConfirmation:
      return { state: 'needs_confirmation' }
    case STATE.inEscrow:
      return { state: 'in_escrow' }
    default:
      return undefined
  }
}

/** Finds the confirmation before it reads the offer, so it cannot confirm a later version of the offer. */
async function confirm(
  parts: Parts,
  {
    offerId,
    gift,
    isStillAllowed,
  }: { offerId: string; gift: Gift; isStillAllowed: (() => boolean) | undefined },
): Promise<boolean> {
  const { session, nowS } = parts
  const found = await findConfirmation(session, offerId, nowS())
  const offer = await readOne(parts, offerId)
  if (offer === undefined || !isGift(offer, gift)) return false
  if (offer.state !== STATE.needsConfirmation) return CONFIRMED.has(offer.state)
  if (found.kind !== 'found') return false
  if (await acceptConfirmation(session, found.confirmation, { timeS: nowS(), isStillAllowed })) return true
  // The offer may be confirmed even if the answer was lost.
  const after = await readOne(parts, offerId)
  return after !== undefined && CONFIRMED.has(after.state)
}

async function checkTrade(
  context: Context,
  steamTradeId: string,
  gift: Gift,
): ReturnType<GiftOffers['checkTrade']> {
  const { session, offerOf, say, needs } = context
  const reply = await session.api('trade', 'IEconService/GetTradeStatus', { tradeid: steamTradeId })
  if (reply === undefined) return undefined
  // After a restart, the trade's offer is unknown.
  const offerId = offerOf.get(steamTradeId)
  const subject = offerId === undefined ? `Steam trade ${steamTradeId}` : offerNamed(offerId)
  const about = { ...(offerId !== undefined && { offerId }), steamTrade: steamTradeId }
  const trade = readTrade(reply)
  const result = trade?.tradeid === steamTradeId ? resultOfTrade(trade, gift) : undefined
  if (result === undefined) {
    noteWait(context, subject, { why: 'has not finished a trade', isAccepted: true, ...about })
    return undefined
  }
  if (result.isAbandoned) {
    const line = 'Steam gave up undoing a failed trade, so a person must look'
    say(line, about)
    needs.note('trade_unclear', `Steam trade ${steamTradeId}`, line)
  }
  endWait(context, subject)
  offerOf.delete(steamTradeId)
  return result.kind
}
