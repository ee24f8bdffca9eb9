/**
 * Accepts gifts from other accounts of the vault. Such an offer takes nothing from us, so Steam wants no confirmation.
 */
import { type Gift, isSameSet } from '../giving/gift.ts'
import { readOffer } from './answers.ts'
import { createPatience, type Patience } from './patience.ts'
import type { Session } from './session.ts'

type ReceivedOffer = { offerId: string; fromSteamId: string; gift: Gift }

type Parts = {
  session: Session
  nowS: () => number
  say(line: string, about: Record<string, string | number>): void
  /** Acknowledges Steam's notice about trade protection, if that is not done yet. */
  acknowledge(): Promise<void>
}

const REFUSED = 'does not let an account accept an offer'

/**
 * Returns a function that accepts an offer. It does nothing unless Steam shows exactly this gift, with nothing in
 * return. While Steam refuses, for example because of a full inventory, the function asks less and less often.
 */
export function createAcceptance(parts: Parts): (offer: ReceivedOffer) => Promise<void> {
  const patience = createPatience(parts.nowS)
  return async (received) => {
    if (patience.isDue(received.offerId)) await accept({ ...parts, patience }, received)
  }
}

async function accept(
  { session, patience, say, acknowledge }: Parts & { patience: Patience },
  { offerId, fromSteamId, gift }: ReceivedOffer,
): Promise<void> {
  const reply = await session.api('offer', 'IEconService/GetTradeOffer', { tradeofferid: offerId })
  const offer = reply && readOffer(reply)
  const isGift =
    offer?.offerId === offerId &&
    !offer.isOurs &&
    offer.partnerSteamId === fromSteamId &&
    offer.message === gift.message &&
    offer.gives.length === 0 &&
    isSameSet(gift.assets, offer.takes)
  if (!isGift) return
  await acknowledge()
  const referer = `https://steamcommunity.com/tradeoffer/${offerId}/`
  const fields = { serverid: '1', tradeofferid: offerId, partner: fromSteamId, captcha: '' }
  const result = await session.form('accept', `/tradeoffer/${offerId}/accept`, { fields, referer })
  if (result.kind === 'reply' && result.status === 200) patience.end(offerId)
  else if (patience.wait(offerId, { why: REFUSED }).isNew)
    say(`Steam ${REFUSED}`, { account: session.steamId, offerId })
}
