import type { EndedOffer } from '../../contract/gift-failures.ts'

export type { EndedOffer }

export type GivenAsset = { appId: number; contextId: string; assetId: string }

export type Gift = {
  partnerSteamId: string
  token: string
  message: string
  assets: readonly GivenAsset[]
}

/** The offer as Steam shows it to its sender. */
export type SeenOffer =
  | { state: 'needs_confirmation' | 'active' | 'in_escrow' }
  | { state: 'accepted'; steamTradeId: string | null }
  | { state: 'ended'; how: EndedOffer }

/** The port through which the vault gives items. No method throws when Steam fails. */
export type GiftOffers = {
  /**
   * `refused`: certainly not sent. `unanswered`: it may have been sent. `result`: Steam's result number, if it gave
   * one. `notMade`: the account had no session for the send, or had to wait for too long, so it may be tried again.
   * `isStillAllowed` is asked right before the request is made; if it says no, that counts as too long a wait.
   */
  send(
    gift: Gift,
    isStillAllowed?: () => boolean,
  ): Promise<
    | { kind: 'sent'; offerId: string }
    | { kind: 'refused'; because: string; result?: number; notMade?: true }
    | { kind: 'unanswered'; result?: number }
  >
  /** Finds the offer that gives exactly this gift, in any state. `agoMs`: how long ago its send began. */
  find(
    gift: Gift,
    agoMs: number,
  ): Promise<{ kind: 'found'; offerId: string } | { kind: 'none' } | { kind: 'unanswered' }>
  /** Reads an offer. Undefined if Steam does not show it, or while it is too early to ask about it again. */
  read(offerId: string): Promise<SeenOffer | undefined>
  /**
   * Confirms an offer, but only if it gives exactly this gift. Resolves to true if it is certainly confirmed.
   * `isStillAllowed` is asked right before the confirmation; if it says no, the offer stays unconfirmed.
   */
  confirm(offerId: string, gift: Gift, isStillAllowed?: () => boolean): Promise<boolean>
  cancel(offerId: string): Promise<void>
  /**
   * Reads Steam's own record of the trade. `given`: the trade gave exactly this gift, even if that was taken back
   * since; or it failed, and Steam left at least one item with the partner. `failed`: it gave nothing and never will.
   * Undefined if the record proves neither.
   */
  checkTrade(steamTradeId: string, gift: Gift): Promise<'given' | 'failed' | undefined>
}

const keyOf = ({ appId, contextId, assetId }: GivenAsset): string => `${appId}/${contextId}/${assetId}`

export function isSameSet(one: readonly GivenAsset[], other: readonly GivenAsset[]): boolean {
  const [keys, others] = [new Set(one.map(keyOf)), new Set(other.map(keyOf))]
  const areDistinct = keys.size === one.length && others.size === other.length
  return areDistinct && keys.size === others.size && [...keys].every((key) => others.has(key))
}

/** `isOurs`: the account that reads the offer has sent it. */
type OfferLike = {
  partnerSteamId: string
  message: string
  isOurs: boolean
  gives: readonly GivenAsset[]
  takes: readonly GivenAsset[]
}

/** True if the offer gives exactly this gift and asks for nothing. */
export const isGift = (offer: OfferLike, gift: Gift): boolean =>
  offer.isOurs &&
  offer.partnerSteamId === gift.partnerSteamId &&
  offer.message === gift.message &&
  offer.takes.length === 0 &&
  gift.assets.length > 0 &&
  isSameSet(gift.assets, offer.gives)

/**
 * The form of the gateway's secret codes, alone or between other text. The vault imports nothing from the gateway, so a
 * test compares this form with the gateway's alphabet. The recipient of an offer with such a code could take us for a
 * bot that collects deposits.
 */
const DEPOSIT_CODE = /(?:^|[^0-9A-Za-z])[2-9A-HJKMNP-Z]{6}(?:$|[^0-9A-Za-z])/

export const looksLikeDeposit = (message: string): boolean => DEPOSIT_CODE.test(message)
