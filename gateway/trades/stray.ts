/** Recognises offers by partner, code and items, and judges those that no open trade waits for. Pure. */
import { CODE_ALPHABET, CODE_LENGTH } from '../kit/ids.ts'
import type { Offer, UnreadableOffer } from '../steam/steam.ts'
import { sameAssets } from './proof.ts'
import type { Trade } from './trade.ts'

/**
 * How to treat an offer that no open trade waits for. Its trade has another offer, has ended or is not known. `ask_again`:
 * it is accepted, but Steam has not named its Steam trade yet.
 */
export type StrayVerdict =
  | { kind: 'nothing' | 'cancel' | 'ask_again' }
  | { kind: 'prove'; steamTradeId: string }

export function judgeStray(offer: Offer): StrayVerdict {
  switch (offer.state) {
    case 'active':
    case 'needs_confirmation':
      return { kind: 'cancel' }
    case 'accepted':
    case 'reverted':
      return offer.tradeId === null ? { kind: 'ask_again' } : { kind: 'prove', steamTradeId: offer.tradeId }
    // Cancelling an offer in escrow would put the bot into a cooldown.
    case 'in_escrow':
    case 'invalid':
    case 'countered':
    case 'expired':
    case 'cancelled':
    case 'declined':
    case 'invalid_items':
    case 'cancelled_by_second_factor':
      return { kind: 'nothing' }
    default:
      return offer.state satisfies never
  }
}

/** True if this is the trade's own offer: no one else knows the code before Steam shows it. */
export function isOfferOf(trade: Pick<Trade, 'partnerSteamId' | 'secretCode'>, offer: Offer): boolean {
  return offer.partnerSteamId === trade.partnerSteamId && offer.message === trade.secretCode
}

/** The form of a secret code. */
const CODE = new RegExp(`^[${CODE_ALPHABET}]{${CODE_LENGTH}}$`)

/** True if the offer looks like a till's: its message has the form of a code, and it gives nothing. */
export function isLikeOurs(offer: Offer): boolean {
  return CODE.test(offer.message) && offer.itemsToGive.length === 0
}

/** True if this is the trade's own offer and asks for exactly its items. */
export function isExactOfferOf(
  trade: Pick<Trade, 'partnerSteamId' | 'secretCode' | 'items'>,
  offer: Offer,
): boolean {
  const isExact = offer.itemsToGive.length === 0 && sameAssets(offer.itemsToReceive, trade.items)
  return isOfferOf(trade, offer) && isExact
}

type Sought = Pick<Trade, 'partnerSteamId' | 'secretCode' | 'items'>

/** The rows of a list that may be the trade's own offer, although they do not show it. */
export function unclearRows(
  trade: Sought,
  { offers, unreadable }: { offers: readonly Offer[]; unreadable: readonly UnreadableOffer[] },
): { offerId: string | null }[] {
  const vague = offers.filter((offer) => isVagueOfferOf(trade, offer))
  return [...vague, ...unreadable.filter((row) => mightBeOfferOf(trade, row))]
}

/** True if the row lacks the offer's items or its message, as Steam's rows sometimes do, and fits the trade otherwise. */
export function isVagueOfferOf(trade: Sought, offer: Offer): boolean {
  if (offer.partnerSteamId !== trade.partnerSteamId || offer.itemsToGive.length > 0) return false
  const hasNoItems = offer.itemsToReceive.length === 0
  if (offer.message !== '') return hasNoItems && offer.message === trade.secretCode
  return hasNoItems || sameAssets(offer.itemsToReceive, trade.items)
}

/** True unless the readable part of the row proves that it is another offer. */
function mightBeOfferOf({ partnerSteamId, secretCode }: Sought, row: UnreadableOffer): boolean {
  const isTheirs = row.partnerSteamId === null || row.partnerSteamId === partnerSteamId
  return isTheirs && (row.message === null || row.message === secretCode)
}
