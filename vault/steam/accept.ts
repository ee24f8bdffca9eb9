/**
 * Accepts a gift from another account of the vault. Such an offer takes nothing from us, so Steam wants no
 * confirmation.
 */
import { type Gift, isSameSet } from '../giving/gift.ts'
import { readOffer } from './answers.ts'
import type { Session } from './session.ts'

type ReceivedOffer = { offerId: string; fromSteamId: string; gift: Gift }

/** Does nothing unless Steam shows exactly this gift, with nothing in return. */
export async function acceptGift(
  { session, acknowledge }: { session: Session; acknowledge: () => Promise<void> },
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
  await session.form('accept', `/tradeoffer/${offerId}/accept`, { fields, referer })
}
