/**
 * The Steam port: what the till needs from Steam, in the till's own words. `web/` implements it with the client
 * libraries.
 *
 * Every method but `close` has its own deadline and resolves to a value. No answer of Steam makes a method throw.
 * `unavailable` means that nothing is known: never conclude anything about an offer from it. No field is optional, so
 * the compiler reports every implementation that lacks a new one.
 */
import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'

/**
 * `timeout`: no answer within the deadline. `rate_limited`: Steam refused the request, because there were too many.
 * `session_dead`: the session ended, and Steam refused the refresh token, so it could not be renewed.
 * `not_our_turn`: our own limits held the request back. It was not sent, so it proves nothing about Steam.
 * `too_large`: Steam answered page after page, but the inventory has more items than the port reads, or can read in time.
 * `steam_error`: every other failure.
 */
export type Unavailable = {
  kind: 'unavailable'
  reason: 'timeout' | 'rate_limited' | 'session_dead' | 'steam_error' | 'not_our_turn' | 'too_large'
  /** For the log; holds no secret. */
  detail: string
}

/** An asset of an offer. Ids are decimal strings, because they can exceed 2^53. */
export type OfferAsset = { appId: number; contextId: string; assetId: string }

export type Partner = {
  /** 64-bit Steam id as decimal digits. */
  steamId: string
  /** The secret part of the partner's trade link. */
  token: string
}

export type Profile = {
  steamId: string
  name: string
  avatarUrl: string
  profileUrl: string
  level: number
  /** The day on which the account was made, YYYY-MM-DD; null if the profile hides it. */
  memberSince: string | null
}

export type ProfileAnswer = { kind: 'profile'; profile: Profile } | { kind: 'unknown_account' } | Unavailable

export type PartnerAnswer =
  /** Days for which Steam would hold a trade with this partner, by the side that causes the hold. */
  | { kind: 'ok'; holdDays: { partner: number; own: number } }
  | { kind: 'refused'; reason: 'invalid_token' | 'cannot_trade' }
  | Unavailable

/**
 * Why an item cannot be traded now. `protected`: the trade that brought it can still be reversed. `held`: Steam holds
 * it for a while. `undescribed`: Steam does not describe it. `until` is ISO 8601; null if Steam does not say.
 */
export type Restriction = { kind: 'protected' | 'held' | 'undescribed'; until: string | null }

/**
 * Whether Steam's market takes the item. `restricted`: only later; `until` is ISO 8601, null if the date cannot be
 * read.
 */
export type Market = { kind: 'open' } | { kind: 'restricted'; until: string | null } | { kind: 'closed' }

/** One item as Steam describes it, before the till judges it. Every string in it is hostile. */
export type SteamItem = {
  assetId: string
  classId: string
  instanceId: string
  amount: number
  name: string
  marketHashName: string
  tradable: boolean
  /** Why it is not tradable; null if it is, or if Steam does not say why. */
  restriction: Restriction | null
  market: Market
  /** Whether Steam adds a note in round brackets, such as Team Fortress's `( Not Usable in Crafting )`. */
  isNoted: boolean
  /** `name`: Steam's name for the tag in the requested language; empty if Steam gives none. */
  tags: { category: string; internalName: string; name: string }[]
  /** The paint number of a Counter-Strike weapon; null if Steam gives none. */
  paintIndex: number | null
}

export type InventoryAnswer =
  | { kind: 'items'; items: SteamItem[] }
  /** `no_items`: nothing to trade; the account probably does not own the game. */
  | { kind: 'refused'; reason: 'hidden' | 'no_items' | 'invalid_token' | 'cannot_trade' }
  | Unavailable

/**
 * The context of items under trade protection. Only their owner sees it. After the protection they return to the
 * game's normal context.
 */
export const PROTECTED_CONTEXT = '16'

/**
 * An item of the bot itself. Its market name must be treated as hostile, and is empty if Steam does not describe the
 * item.
 */
export type OwnItem = OfferAsset & { marketHashName: string }

/** `isComplete`: false if a part is missing or unreadable. Then an absent item proves nothing. */
export type OwnInventoryAnswer = { kind: 'items'; items: OwnItem[]; isComplete: boolean } | Unavailable

export type RefusedReason =
  | 'invalid_token'
  | 'partner_cannot_trade'
  | 'partner_trade_ban'
  /** A new device, a cooldown or a ban of the bot. */
  | 'bot_cannot_trade'
  /** Too many open offers to this partner. */
  | 'too_many_to_partner'
  /** Too many open offers of the bot. */
  | 'too_many_in_all'
  /** Too many open offers; Steam does not say to whom. */
  | 'too_many_offers'
  /** One of the two accounts has changed its name. */
  | 'renamed'
  | 'items_gone'
  /** The bot cannot have more items of the game. */
  | 'inventory_full'
  | 'item_server_down'
  /** Steam's result 15, which has several causes. */
  | 'access_denied'
  /** The session had ended and was not renewed, so Steam did not act on the send. */
  | 'session_dead'
  /** Steam refused the send, or the renewal of the ended session, because there were too many requests. */
  | 'rate_limited'
  /** Our own limits held the request back, so it was not sent. */
  | 'not_our_turn'

/** `unknown`: the offer may exist. Look for it among the sent offers before doing anything else. */
export type SendAnswer =
  | { kind: 'sent'; offerId: string }
  | { kind: 'refused'; reason: RefusedReason }
  | { kind: 'unknown'; detail: string }

/** Steam's ETradeOfferState by name. */
export type OfferState =
  | 'invalid'
  | 'active'
  | 'accepted'
  | 'countered'
  | 'expired'
  | 'cancelled'
  | 'declined'
  | 'invalid_items'
  | 'needs_confirmation'
  | 'cancelled_by_second_factor'
  | 'in_escrow'
  | 'reverted'

export type Offer = {
  offerId: string
  /** 64-bit Steam id of the other side. */
  partnerSteamId: string
  message: string
  state: OfferState
  /** Null until Steam reports the trade, which can be some time after the acceptance. */
  tradeId: string | null
  itemsToReceive: OfferAsset[]
  itemsToGive: OfferAsset[]
  createdAt: Date
  /** For an offer in escrow: until when Steam holds the items. Null if Steam does not say. */
  escrowEndsAt: Date | null
  /** Whether Steam lets either side reverse the trade for a while after the offer is accepted. */
  delaysSettlement: boolean
  /** For an accepted offer: until when the trade can be reversed. Null if Steam does not say. */
  settlesAt: Date | null
}

/** `missing`: Steam says that there is no such offer, or its answer is empty, which proves nothing. */
export type OfferAnswer = { kind: 'offer'; offer: Offer } | { kind: 'missing' } | Unavailable

/** A sent offer whose row in a list could not be read completely. The unreadable parts are null. */
export type UnreadableOffer = {
  offerId: string | null
  partnerSteamId: string | null
  message: string | null
}

/**
 * A page. `sent` by the bot, and `received` from others. `unreadable`: broken sent offers; an offer that is not found may
 * be one of them. `next`: the start of the next page, null on the last one.
 */
export type OffersAnswer =
  | {
      kind: 'offers'
      sent: Offer[]
      received: Offer[]
      unreadable: UnreadableOffer[]
      next: string | null
    }
  /** Steam's answer is empty: it lacks even the end of the list. It does not prove that there are no offers. */
  | { kind: 'nothing' }
  | Unavailable

/** `not_active`: Steam refused because the offer is no longer active; read it to learn why. */
export type CancelAnswer = { kind: 'done' } | { kind: 'not_active' } | Unavailable

/** Steam's ETradeStatus, reduced to the differences that matter here. */
export type SteamTradeState =
  | 'pending'
  | 'committed'
  | 'complete'
  | 'failed'
  /** The trade failed, and Steam gave up undoing it: each side may have some of the items. */
  | 'abandoned'
  | 'in_escrow'
  | 'rolled_back'
  /** Only the items with a `rolledBackAssetId` went back. */
  | 'partly_rolled_back'

/** A traded item. `assetId` is its id in the giver's inventory. */
export type MovedAsset = OfferAsset & {
  /** The item's id in the receiver's inventory; null while it has not moved. */
  newAssetId: string | null
  /** The item's id in its giver's inventory after it went back; null while it has not. */
  rolledBackAssetId: string | null
}

export type SteamTrade = {
  tradeId: string
  partnerSteamId: string
  state: SteamTradeState
  begunAt: Date
  received: MovedAsset[]
  /** Items that the bot gave. The gateway's offers never give any: another program or a person made such a trade. */
  given: MovedAsset[]
  /** End of Steam's trade protection; null if there is none. */
  settlesAt: Date | null
  /** The trade that this one undoes, or null. A trade that undoes another is neither a delivery nor a departure. */
  rollbackOf: string | null
}

/** A place in the history. The pages after it have trades that began earlier. */
export type HistoryPlace = { tradeId: string; begunAt: Date }

/**
 * A page. `unreadable`: the number of broken rows, whose trades stay unknown. `next`: the oldest row of the page, null
 * on the last one.
 */
export type SteamTradesAnswer =
  | { kind: 'trades'; trades: SteamTrade[]; unreadable: number; next: HistoryPlace | null }
  | Unavailable

export type SteamTradeAnswer = { kind: 'trade'; trade: SteamTrade } | { kind: 'missing' } | Unavailable

export type AcknowledgeAnswer = { kind: 'done' } | Unavailable

/** A bot's open session. If Steam ends it, the implementation renews it: once, for all callers together. */
export interface SteamSession {
  /** The bot's own 64-bit Steam id. */
  readonly steamId: string
  checkPartner(partner: Partner): Promise<PartnerAnswer>
  readInventory(partner: Partner, game: Game, language: Language): Promise<InventoryAnswer>
  /**
   * All items of the game that the bot has, including those under trade protection. `isProtected`: Steam is known to
   * protect trades of the game. For other games, Steam may not know the context of such items.
   */
  readOwnInventory(game: Game, how: { isProtected: boolean }): Promise<OwnInventoryAnswer>
  /**
   * Sends an offer that asks for `assets` and gives nothing. `message` contains the secret code and has at most 128
   * characters.
   */
  sendOffer(partner: Partner, assets: OfferAsset[], message: string): Promise<SendAnswer>
  readOffer(offerId: string): Promise<OfferAnswer>
  /**
   * One page of the offers that the bot sent and received: all active ones, and those made or changed since `since`.
   * `cursor`: the `next` of the page before, null for the first.
   */
  listOffers(since: Date, cursor: string | null): Promise<OffersAnswer>
  cancelOffer(offerId: string): Promise<CancelAnswer>
  declineOffer(offerId: string): Promise<CancelAnswer>
  readSteamTrade(tradeId: string): Promise<SteamTradeAnswer>
  /** One page of the history, newest first, with failed and undone trades. `after`: null for the first page. */
  listSteamTrades(after: HistoryPlace | null): Promise<SteamTradesAnswer>
  /** Acknowledges Steam's notice about trade protection. Until an account has done so once, its offers get stuck. */
  acknowledgeProtection(): Promise<AcknowledgeAnswer>
  close(): void
}

export type SessionAnswer =
  /** `expiresAt`: the end of the refresh token, read from the token; null if it has none. */
  | { kind: 'open'; session: SteamSession; expiresAt: Date | null }
  /** `token_dead`: Steam refuses the refresh token. `token_malformed`: the text is not a refresh token. */
  | { kind: 'refused'; reason: 'token_dead' | 'token_malformed' }
  | Unavailable

export interface Steam {
  openSession(refreshToken: string): Promise<SessionAnswer>
  /** The public profile of an account; needs no session. */
  readProfile(steamId: string): Promise<ProfileAnswer>
}
