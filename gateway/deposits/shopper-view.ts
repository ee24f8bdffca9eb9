/** Deposits as their pages show them. */
import { GAMES } from '../../contract/games.ts'
import { isFinal } from '../../contract/statuses.ts'
import { accountOf } from '../../contract/steam-id.ts'
import { linkWithoutToken } from '../../contract/trade-link.ts'
import { VISIBLE } from '../../contract/visible-text.ts'
import type { Payment } from '../../contract/widget-api.ts'
import type { Db } from '../db/client.ts'
import type { TradeStateColumn } from '../db/trade-tables.ts'
import { numberOrNull } from '../kit/number-or-null.ts'
import { sha256 } from '../kit/sha256.ts'
import { mostCareful } from '../ledger/entry.ts'
import { pauseUntil } from '../shoppers/allowance.ts'
import { AT_ONCE, type EndReason } from './deposit.ts'
import { isAllowedUrl, wayBack } from './origins.ts'
import { receiptPath } from './receipt-link.ts'
import { type ViewRow, viewRowsOf } from './view-store.ts'

export type View = {
  depositId: bigint
  payment: Payment
  /** Changes with every field of the payment other than `timeLeft`, and with the moment at which that time ends. */
  etag: string
  /** The payment as JSON. */
  body: string
  /** The active trade, whose offer a bot should read on Steam; null if there is none. */
  openTrade: { tradeId: bigint; botId: bigint } | null
}

export type ViewReader = (hashes: readonly string[]) => Promise<Map<string, View>>

const SHOWN_MS = 30 * 86_400_000

/** Reasons of trades that ended although Steam had not said what became of the offer. */
const GIVEN_UP: readonly (string | null)[] = [
  'unresolved',
  'bot_retired',
  'ended_by_operator',
] satisfies EndReason[]

/** Reasons of trades whose offer somebody other than the till cancelled. */
const CANCELLED_ELSEWHERE: readonly (string | null)[] = [
  'cancelled_elsewhere',
  `cancelled_elsewhere${AT_ONCE}`,
] satisfies EndReason[]

/** Why a trade with the status `tradeHasInvalidItems` failed, if its items were not the cause. */
const FAILED_BY: ReadonlyMap<string | null, NonNullable<Payment['failedBy']>> = new Map<
  EndReason,
  NonNullable<Payment['failedBy']>
>([
  ['cancelled_by_second_factor', 'phone'],
  ['needs_confirmation', 'steam'],
  ['invalid', 'steam'],
  ['exchange_failed', 'steam'],
  ['exchange_taken_back', 'steam'],
])

/** The reason of a trade that ended because Steam held its items. */
const HELD_BY_STEAM: readonly (string | null)[] = ['escrow'] satisfies EndReason[]

/**
 * Returns a function that reads any number of views in one query, by the till's clock. `communityUrl`: where shoppers
 * accept offers. `shownMs`: how long after its expiry the page of an ended deposit shows the shopper's details.
 */
export function viewReader(db: Db, communityUrl: string, shownMs = SHOWN_MS): ViewReader {
  return async (hashes) => {
    const rows = await viewRowsOf(db, hashes, shownMs)
    return new Map(rows.map((row) => [row.hash, viewOf(row, communityUrl)]))
  }
}

/** States of a trade whose offer is being created. */
const CREATING_STATES: readonly (TradeStateColumn | null)[] = ['intended', 'sending', 'unknown']

function viewOf(row: ViewRow, communityUrl: string): View {
  const payment = paymentOf(row.is_old ? withoutDetails(row) : row, communityUrl)
  const { timeLeft, ...lasting } = payment
  const timeEnds = timeLeft === null ? null : row.status === 'created' ? row.expires_at : row.deadline
  const taggedJson = JSON.stringify({ ...lasting, timeEnds })
  const etag = `"${sha256(taggedJson).toString('base64url').slice(0, 22)}"`
  const isOpen = row.trade_state === 'active' && row.trade_id !== null && row.bot_id !== null
  return {
    depositId: row.id,
    payment,
    etag,
    body: JSON.stringify(payment),
    openTrade: isOpen && row.trade_id && row.bot_id ? { tradeId: row.trade_id, botId: row.bot_id } : null,
  }
}

/** The page of an old deposit shows how it ended, without amount, shopper, bot or code. */
const withoutDetails = (row: ViewRow): ViewRow => ({
  ...row,
  kept_amount: null,
  held_amount: 0n,
  held_until: null,
  customer_label: null,
  user_name: null,
  user_steam_id: null,
  bot_name: null,
  item_count: null,
  steam_offer_id: null,
  secret_code: null,
  total: null,
  store_told: null,
  // A fixed price would reveal the paid amount.
  min_amount: null,
  max_amount: null,
  target_amount: null,
})

function paymentOf(row: ViewRow, communityUrl: string): Payment {
  const creating = row.status === 'created' && CREATING_STATES.includes(row.trade_state)
  const offer = creating ? null : row.steam_offer_id
  const amount =
    row.status === 'succeeded' ? row.kept_amount : row.status === 'pending' || creating ? row.total : null
  return {
    hash: row.hash,
    id: String(row.id),
    storeName: row.store_name,
    storeAccent: row.store_accent,
    // Some names have no visible character, so the page would show an empty name.
    customerLabel:
      row.customer_label !== null && VISIBLE.test(row.customer_label) ? row.customer_label : null,
    status: row.status,
    currency: row.currency,
    amount: numberOrNull(amount),
    ...(row.taken_back !== null && { takenBack: row.taken_back }),
    user: userOf(row),
    userPending: isLookingUp(row),
    bot: offer === null ? null : botOf(row),
    timeLeft: timeLeftOf(row),
    technicalWorks: row.is_paused,
    technicalWorksText: noticeOf(row),
    technicalWorksUntil: row.notice_until?.toISOString() ?? null,
    // The offer ended before a person could have read it.
    endedAtOnce: row.trade_reason?.endsWith(AT_ONCE) ?? false,
    ...nextOfferOf(row),
    cancelledByStore: row.status === 'tradeTimeout' && row.trade_reason === 'cancelled_by_store',
    ...(row.status === 'tradeTimeout' &&
      CANCELLED_ELSEWHERE.includes(row.trade_reason) && { cancelledElsewhere: true }),
    ...(row.status === 'tradeTimeout' && GIVEN_UP.includes(row.trade_reason) && { outcomeUnknown: true }),
    failedBy: row.status === 'tradeHasInvalidItems' ? FAILED_BY.get(row.trade_reason) : undefined,
    steamHoldUntil: row.steam_hold_until?.toISOString() ?? null,
    ...(row.status === 'tradeHasInvalidItems' &&
      HELD_BY_STEAM.includes(row.trade_reason) &&
      row.steam_hold_until === null && { steamHoldOver: true }),
    // In the page's API, the offer's id has this name.
    steamTradeId: offer,
    steamTradeMessage: offer === null ? null : row.secret_code,
    acceptUrl: offer === null ? null : `${communityUrl}/tradeoffer/${offer}/`,
    clientUrl: offer === null ? null : `steam://url/ShowTradeOffer/${offer}`,
    backToStoreUrl: returnUrl(wayBack(row.back_to_store_url, row.store_origins), row),
    ...(row.status === 'succeeded' &&
    row.redirect_url !== null &&
    isAllowedUrl(row.redirect_url, row.store_origins)
      ? { redirectUrl: returnUrl(row.redirect_url, row) }
      : {}),
    ...(isFinal(row.status) && !row.is_old ? { receiptUrl: receiptPath(row.id, row.hash) } : {}),
    language: row.language,
    creating,
    itemCount: row.item_count ?? 0,
    ...(row.items !== null && (row.status === 'pending' || creating) && { items: row.items.map(itemOf) }),
    ...(row.store_told !== null && { storeTold: row.store_told }),
    ...heldOf(row),
    minAmount: numberOrNull(row.min_amount),
    maxAmount: numberOrNull(row.max_amount),
    games: row.games ?? [...GAMES],
    targetAmount: numberOrNull(row.target_amount),
  }
}

/** Longer than all attempts to look up the store's trade link. After that, the shopper must enter a link. */
const LOOKED_UP_MS = 5 * 60_000

const isLookingUp = (row: ViewRow): boolean =>
  row.status === 'created' &&
  row.has_link &&
  row.user_name === null &&
  row.now.getTime() - row.created_at.getTime() < LOOKED_UP_MS

function itemOf({ phase, ...item }: NonNullable<ViewRow['items']>[number]) {
  return { ...item, ...(phase !== null && { phase }) }
}

/** Libraries that build addresses encode braces, at least in a query. */
const PLACEHOLDER = /(?:\{|%7[Bb])(DEPOSIT_ID|EXTERNAL_ID|LANGUAGE)(?:\}|%7[Dd])/g

/**
 * Fills the ids into the store's address. They are encoded, so an id cannot change the rest of the address. The page
 * fills in its language.
 */
const returnUrl = (url: string, { id, external_id: externalId }: ViewRow): string => {
  const values = {
    DEPOSIT_ID: String(id),
    EXTERNAL_ID: encodeURIComponent(externalId),
    LANGUAGE: '{LANGUAGE}',
  }
  return url.replaceAll(PLACEHOLDER, (_all, name: keyof typeof values) => values[name])
}

/** Returns the held part, or the most that will be held once the open offer is accepted. */
function heldOf({ status, total, promised_amount: promised, ...row }: ViewRow) {
  // A promise above 0 shows that this shopper was not yet credited on release when the offer was made.
  const shopperMode = row.is_on_release && promised === 0n ? 'on_release' : null
  const rulingMode =
    row.trade_credit_mode ?? mostCareful([row.store_credit_mode, row.deposit_credit_mode, shopperMode])
  const heldBy = rulingMode === 'on_release' ? ('release' as const) : ('limit' as const)
  if (status !== 'pending') {
    return {
      heldAmount: Number(row.held_amount),
      heldUntil: row.held_until?.toISOString() ?? null,
      ...(row.held_amount > 0n && { heldBy }),
    }
  }
  const isHeld = total !== null && promised !== null && promised < total
  return {
    heldAmount: isHeld ? Number(total - promised) : 0,
    heldUntil: isHeld ? (row.promised_until?.toISOString() ?? null) : null,
    ...(isHeld && { heldBy }),
  }
}

/**
 * A pause after unused offers delays the store's next offer to the account, except for a deposit that is
 * locked to the account. `viewRowsOf` reads no unused offers for such a deposit.
 */
function nextOfferOf({ unused_count: count, unused_at: lastAt, now }: ViewRow): { nextOfferAt?: string } {
  if (count === null || count === 0 || lastAt === null) return {}
  const until = pauseUntil({ count, lastAt })
  return until > now ? { nextOfferAt: until.toISOString() } : {}
}

const noticeOf = ({ notice_text_en: en, notice_text_ru: ru }: ViewRow): Payment['technicalWorksText'] =>
  en === null || ru === null ? null : { en, ru }

/**
 * Returns the seconds to the expiry of a created deposit, or to the trade's deadline of a pending one; null once the
 * shopper has accepted, while the shopper's time is stopped, and after the end.
 */
function timeLeftOf(row: ViewRow): number | null {
  if (isFinal(row.status)) return null
  if (row.status === 'created') return row.deposit_countdown_paused ? null : row.seconds_to_expiry
  return row.accepted || row.offer_countdown_paused ? null : row.seconds_to_deadline
}

function userOf(row: ViewRow): Payment['user'] {
  const {
    user_name: name,
    user_avatar_url: avatarUrl,
    user_profile_url: profileUrl,
    user_steam_id: steamId,
  } = row
  if (name === null || avatarUrl === null || profileUrl === null || steamId === null) return null
  return { name, avatarUrl, profileUrl, tradeUrl: linkWithoutToken(accountOf(steamId)) }
}

function botOf(row: ViewRow): Payment['bot'] {
  if (row.bot_name === null || row.bot_profile_url === null || row.bot_avatar_url === null) return null
  return {
    name: row.bot_name,
    profileUrl: row.bot_profile_url,
    avatarUrl: row.bot_avatar_url,
    level: row.bot_level ?? 0,
    ...(row.bot_member_since !== null && { memberSince: row.bot_member_since }),
  }
}
