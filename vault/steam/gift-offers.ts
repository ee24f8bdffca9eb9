/** The vault's calls about the offers of one account. It confirms an offer only if Steam shows exactly the gift. */
import { accountIdOf } from '../files/trade-link.ts'
import {
  type Gift,
  type GiftOffers,
  isGift,
  isSameSet,
  looksLikeDeposit,
  type SeenOffer,
} from '../giving/gift.ts'
import { type Offer, readOffer, readOffers, readSent, readTrade, refusalOf } from './answers.ts'
import { acceptConfirmation, findConfirmation } from './confirm.ts'
import type { RequestResult, Session } from './session.ts'

/** The error numbers with which Steam reports that no offer was made. */
const CLEAR_REFUSALS = new Set([15, 24, 25, 26, 50])
const MOST_PAGES = 20
/** Steam's states of trades that went through, including trades that were later taken back in whole or in part. */
const WENT_THROUGH = new Set([3, 5, 6, 7, 12])
/** Steam's states of trades that moved nothing: failed at once (4), or in escrow (11). */
const FAILED = new Set([4, 11])
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
/** How far back to search for an offer. Steam ends offers after 14 days. */
const LOOK_BACK_S = 15 * 86_400

type Parts = {
  session: Session
  /** Seconds since 1970, as Steam's authenticators count them. */
  nowS: () => number
}

export function createGiftOffers(parts: Parts): GiftOffers {
  return {
    send: (gift) => send(parts, gift),
    find: (gift) => find(parts, gift),
    read: async (offerId) => {
      const offer = await readOne(parts, offerId)
      return offer && seenOf(offer)
    },
    confirm: (offerId, gift) => confirm(parts, offerId, gift),
    async cancel(offerId) {
      const referer = `https://steamcommunity.com/profiles/${parts.session.steamId}/tradeoffers/sent/`
      await parts.session.form('cancel', `/tradeoffer/${offerId}/cancel`, { fields: {}, referer })
    },
    checkTrade: (steamTradeId, gift) => checkTrade(parts, steamTradeId, gift),
  }
}

async function send({ session }: Parts, gift: Gift): ReturnType<GiftOffers['send']> {
  const { partnerSteamId, token, message, assets } = gift
  if (looksLikeDeposit(message)) return { kind: 'refused', because: 'the message looks like a deposit' }
  const mine = assets.map(({ appId, contextId, assetId }) => ({
    appid: appId,
    contextid: contextId,
    amount: 1,
    assetid: assetId,
  }))
  const side = (list: object[]) => ({ assets: list, currency: [], ready: false })
  const offer = { newversion: true, version: assets.length + 1, me: side(mine), them: side([]) }
  const fields = {
    serverid: '1',
    partner: partnerSteamId,
    tradeoffermessage: message,
    json_tradeoffer: JSON.stringify(offer),
    captcha: '',
    trade_offer_create_params: JSON.stringify({ trade_offer_access_token: token }),
  }
  const query = new URLSearchParams({ partner: accountIdOf(partnerSteamId), token })
  const referer = `https://steamcommunity.com/tradeoffer/new/?${query}`
  return sentOf(await session.form('send', '/tradeoffer/new/send', { fields, referer }))
}

function sentOf(result: RequestResult): Awaited<ReturnType<GiftOffers['send']>> {
  if (result.kind === 'not_made') return { kind: 'refused', because: 'no session, or too long a wait' }
  if (result.kind === 'unanswered') return result
  const offerId = readSent(result)
  if (offerId !== undefined) return { kind: 'sent', offerId }
  const code = refusalOf(result)
  if (code === undefined) return { kind: 'unanswered' }
  return CLEAR_REFUSALS.has(code)
    ? { kind: 'refused', because: `Steam (${code})`, result: code }
    : { kind: 'unanswered', result: code }
}

async function find({ session, nowS }: Parts, gift: Gift): ReturnType<GiftOffers['find']> {
  let cursor = 0
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const reply = await session.api('offers', 'IEconService/GetTradeOffers', {
      get_sent_offers: '1',
      get_received_offers: '0',
      get_descriptions: '0',
      active_only: '1',
      time_historical_cutoff: String(nowS() - LOOK_BACK_S),
      cursor: String(cursor),
    })
    const list = reply && readOffers(reply)
    if (list === undefined) return { kind: 'unanswered' }
    const found = list.offers.find((offer) => isGift(offer, gift))
    if (found !== undefined) return { kind: 'found', offerId: found.offerId }
    if (list.cursor === 0) return { kind: 'none' }
    cursor = list.cursor
  }
  return { kind: 'unanswered' }
}

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
async function confirm(parts: Parts, offerId: string, gift: Gift): Promise<boolean> {
  const { session, nowS } = parts
  const found = await findConfirmation(session, offerId, nowS())
  const offer = await readOne(parts, offerId)
  if (offer === undefined || !isGift(offer, gift)) return false
  if (offer.state !== STATE.needsConfirmation) return CONFIRMED.has(offer.state)
  if (found.kind !== 'found') return false
  if (await acceptConfirmation(session, found.confirmation, nowS())) return true
  // The offer may be confirmed even if the answer was lost.
  const after = await readOne(parts, offerId)
  return after !== undefined && CONFIRMED.has(after.state)
}

async function checkTrade(
  { session }: Parts,
  steamTradeId: string,
  gift: Gift,
): ReturnType<GiftOffers['checkTrade']> {
  const reply = await session.api('trade', 'IEconService/GetTradeStatus', { tradeid: steamTradeId })
  const trade = reply && readTrade(reply)
  if (trade === undefined || trade.tradeid !== steamTradeId) return undefined
  if (FAILED.has(trade.status)) return 'failed'
  const given = trade.assets_given.map((asset) => ({
    appId: asset.appid,
    contextId: asset.contextid,
    assetId: asset.assetid,
  }))
  const isGiven =
    WENT_THROUGH.has(trade.status) &&
    trade.steamid_other === gift.partnerSteamId &&
    trade.assets_received.length === 0 &&
    isSameSet(gift.assets, given)
  return isGiven ? 'given' : undefined
}
