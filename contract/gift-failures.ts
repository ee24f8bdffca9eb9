/** Why a wish led to nothing, in the words of the vault's reports to the till. */

/** Why the vault refuses a wish. */
export type WishRefusal =
  | 'asked before'
  | 'not 1 to 100 items'
  | 'items under protection'
  | 'an item twice'
  | 'an item is already on its way'
  | 'wishes may not take items from a selling account'
  | 'no such destination'
  | 'the destination is the bot itself'
  | 'other items than were approved'
  | 'the account does not have an item, or it is protected'
  | 'an item cannot be traded'
  | 'somebody else sent the items'
  | 'more than the limits allow at once'

/**
 * How an offer ended without a trade. `invalid`: an item was gone. `withdrawn`: its sender cancelled it. `failed`: it
 * was accepted, but Steam did not carry out the trade.
 */
export type EndedOffer = 'declined' | 'countered' | 'invalid' | 'withdrawn' | 'expired' | 'failed'

/**
 * Why nothing was given. `no_session`: the offer was certainly not sent, because for minutes no session of the bot
 * could be used, or its requests had to wait too long. `steam_N`: Steam answered the send with its result number N, and
 * made no offer. `never_appeared`: the answer to the send was lost, and Steam's lists did not contain the offer.
 * `no_longer_allowed`: the operator removed or changed the destination before the send. `wish_gone`: the operator
 * withdrew the wish before the till knew of the gift, or a restored database lost it.
 */
export type GiftEnd =
  | EndedOffer
  | 'no_session'
  | `steam_${number}`
  | 'never_appeared'
  | 'no_longer_allowed'
  | 'wish_gone'

/** `declined` and `countered` are not here: the receiver may have objected to one item. */
const NEVER_DUE_TO_ITEMS: ReadonlySet<string> = new Set<WishRefusal | GiftEnd>([
  'asked before',
  'wishes may not take items from a selling account',
  'no such destination',
  'the destination is the bot itself',
  'withdrawn',
  'expired',
  'no_session',
  'never_appeared',
  'no_longer_allowed',
  'wish_gone',
])

/** Steam's result numbers that an item can cause: Fail, InvalidParam, AccessDenied and Revoked. */
const DUE_TO_ITEMS: ReadonlySet<string> = new Set<GiftEnd>(['steam_2', 'steam_8', 'steam_15', 'steam_26'])

/**
 * True if a wish for fewer or other items may succeed. Also true for a reason that this version does not know, but not
 * for an unknown result number of Steam.
 */
export function mayBeDueToItems(because: string | null): boolean {
  if (because === null) return true
  return /^steam_\d+$/.test(because) ? DUE_TO_ITEMS.has(because) : !NEVER_DUE_TO_ITEMS.has(because)
}
