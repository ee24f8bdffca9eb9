import { CATALOGUE } from '../items.ts'
import { obstacleToReceiving, obstacleToTrading, traitsOf } from './people.ts'
import { newToken } from './seed.ts'
import { beginTrade, cancelEscrow } from './trades.ts'
import {
  type Account,
  type Answer,
  type Asset,
  DAY_S,
  findAccount,
  findOffer,
  MOST_KEPT,
  type Offer,
  refuse,
  STATE,
  type World,
  withAccount,
  withOffer,
} from './world.ts'

const LIMIT_PER_PARTNER = 5
const LIMIT_IN_TOTAL = 30
/** How long an account cannot trade after it has ended a trade in escrow. */
const COOLDOWN_S = 7 * DAY_S

export type AssetRef = { appId: number; contextId: string; assetId: string }
export type Intent = {
  sender: string
  partner: string
  token: string
  message: string
  /** The items that the partner gives. */
  items: AssetRef[]
  /** The items that the sender gives. */
  give?: AssetRef[]
  /** The offer that this one counters. A counteroffer needs no token. */
  counters?: string
}

/**
 * Sends an offer. A bot or seller that gives items must confirm it by phone. Refusals: 2 (the sender has not
 * acknowledged trade protection), 11 (no active offer to counter), 15 (a wrong token, an unknown account, an offer to
 * oneself, or a partner who cannot receive offers), 24 (a sender who cannot trade), 25 (too many live offers), 26 (no
 * items, or one is missing or not tradable).
 */
export function sendOffer(
  world: World,
  intent: Intent,
  nowS: number,
): Answer<{ kind: 'sent'; offerId: string; needsConfirmation: boolean }> {
  const sender = findAccount(world, intent.sender)
  const partner = findAccount(world, intent.partner)
  if (!sender || !partner || sender === partner) return refuse(world, 15)
  const countered = intent.counters === undefined ? undefined : findOffer(world, intent.counters)
  if (intent.counters !== undefined && !isCounterable(countered, intent)) return refuse(world, 11)
  if (traitsOf(world, sender).mustAcknowledge && !sender.acknowledged) return refuse(world, 2)
  if (obstacleToTrading(world, sender, nowS)) return refuse(world, 24)
  const obstacle = obstacleToReceiving(world, partner, nowS)
  if (obstacle) return refuse(world, 15, obstacle)
  if (!countered && !isTokenOf(world, partner, intent.token)) return refuse(world, 15)
  if (isOverLimit(world, intent)) return refuse(world, 25, 'too_many')
  const items = tradableOf(partner, intent.items)
  const give = tradableOf(sender, intent.give ?? [])
  if (!items || !give || items.length + give.length === 0) return refuse(world, 26)
  const needsConfirmation = sender.kind !== 'shopper' && give.length > 0
  const offer: Offer = {
    id: String(world.lastId + 1),
    sender: intent.sender,
    partner: intent.partner,
    message: intent.message.slice(0, 128),
    state: needsConfirmation ? STATE.needsConfirmation : STATE.active,
    createdAtS: nowS,
    updatedAtS: nowS,
    items,
    give,
    ...(countered ? { counters: countered.id } : {}),
  }
  const before = countered
    ? withOffer(world, { ...countered, state: STATE.countered, updatedAtS: nowS })
    : world
  const next = { ...before, lastId: world.lastId + 1, offers: [...before.offers, offer].slice(-MOST_KEPT) }
  return { world: next, answer: { kind: 'sent', offerId: offer.id, needsConfirmation } }
}

export const isTokenOf = (world: World, account: Account, token: string | null): boolean =>
  token === validTokenOf(world, account)

/** The token of the valid trade link. After a replacement, it differs from the token that others know. */
export const validTokenOf = (world: World, account: Account): string =>
  traitsOf(world, account).tokenRegenerated ? newToken(`${account.steamId} ${account.token}`) : account.token

function isCounterable(countered: Offer | undefined, intent: Intent): countered is Offer {
  return (
    countered?.state === STATE.active &&
    countered.partner === intent.sender &&
    countered.sender === intent.partner
  )
}

/** True if the sender has too many live offers, in total or to this partner. Those in escrow do not count. */
function isOverLimit(world: World, { sender, partner }: Intent): boolean {
  const live = world.offers.filter(
    (offer) =>
      offer.sender === sender && (offer.state === STATE.active || offer.state === STATE.needsConfirmation),
  )
  const toPartner = live.filter((offer) => offer.partner === partner)
  return live.length >= LIMIT_IN_TOTAL || toPartner.length >= LIMIT_PER_PARTNER
}

function tradableOf({ assets }: Account, wanted: AssetRef[]): Asset[] | undefined {
  const items = wanted.flatMap((want) => assets.filter((asset) => isTradableMatch(asset, want)))
  return new Set(items.map(({ assetId }) => assetId)).size === wanted.length ? items : undefined
}

function isTradableMatch(asset: Asset, wanted: AssetRef): boolean {
  const isSame =
    asset.assetId === wanted.assetId && asset.appId === wanted.appId && asset.contextId === wanted.contextId
  return isSame && asset.contextId === '2' && CATALOGUE.get(asset.classId)?.tradable === true
}

type End = { offerId: string; by: string; how: 'cancel' | 'decline' }

/**
 * Ends an offer that is live or in escrow: its sender cancels it, or its partner declines it. Ending one in escrow
 * begins a cooldown. Refusals: 42 (unknown), 15 (not theirs), 11 (not in a state that allows it, or accepted at that
 * very moment because of `acceptsOnCancel`).
 */
export function endOffer(world: World, end: End, nowS: number): Answer<{ kind: 'ended' }> {
  const offer = findOffer(world, end.offerId)
  if (!offer) return refuse(world, 42)
  if (end.by !== (end.how === 'cancel' ? offer.sender : offer.partner)) return refuse(world, 15)
  const state = end.how === 'cancel' ? STATE.canceled : STATE.declined
  if (offer.state === STATE.inEscrow) {
    const ended = cancelEscrow(world, { ...offer, state }, nowS)
    const cooling = withAccount(ended, end.by, (account) => ({
      ...account,
      restrictedUntilS: Math.max(account.restrictedUntilS ?? 0, nowS + COOLDOWN_S),
    }))
    return { world: cooling, answer: { kind: 'ended' } }
  }
  const isOpen =
    offer.state === STATE.active || (end.how === 'cancel' && offer.state === STATE.needsConfirmation)
  if (!isOpen) return refuse(world, 11)
  const partner = findAccount(world, offer.partner)
  if (end.how === 'cancel' && partner && traitsOf(world, partner).acceptsOnCancel) {
    return refuse(acceptOffer(world, { offerId: offer.id, by: offer.partner }, nowS).world, 11)
  }
  return { world: withOffer(world, { ...offer, state, updatedAtS: nowS }), answer: { kind: 'ended' } }
}

type Confirm = { offerId: string; allow: boolean }

/**
 * Answers a confirmation: the sender's phone confirms an offer, and the partner's phone confirms an acceptance. Without
 * `allow`, the phone refuses: the offer is cancelled, or stays unaccepted.
 * Refusals: 42 (unknown), 11 (nothing to confirm), and those of accepting.
 */
export function answerConfirmation(
  world: World,
  { offerId, allow }: Confirm,
  nowS: number,
): Answer<{ kind: 'answered' }> {
  const offer = findOffer(world, offerId)
  if (!offer) return refuse(world, 42)
  if (offer.state === STATE.needsConfirmation) {
    const state = allow ? STATE.active : STATE.canceledBySecondFactor
    return { world: withOffer(world, { ...offer, state, updatedAtS: nowS }), answer: { kind: 'answered' } }
  }
  if (offer.state !== STATE.active || !offer.waitsForPhone) return refuse(world, 11)
  const { waitsForPhone: _, ...answered } = offer
  const worldAfter = withOffer(world, answered)
  if (!allow) return { world: worldAfter, answer: { kind: 'answered' } }
  const done = acceptOffer(worldAfter, { offerId, by: offer.partner, isConfirmedByPhone: true }, nowS)
  const answer = done.answer.kind === 'refused' ? done.answer : { kind: 'answered' as const }
  return { world: done.world, answer }
}

/**
 * Accepts as the partner. The items change owners or go into escrow. A bot or seller that gives items must confirm on
 * its phone. Refusals: 42 (unknown), 15 (not theirs, or the partner cannot trade), 28 (already accepted), 11 (not
 * live), 26 (an item is gone).
 */
export function acceptOffer(
  world: World,
  accept: { offerId: string; by: string; isConfirmedByPhone?: boolean },
  nowS: number,
): Answer<{ kind: 'accepted'; tradeId: string } | { kind: 'waits' }> {
  const offer = findOffer(world, accept.offerId)
  if (!offer) return refuse(world, 42)
  if (offer.partner !== accept.by) return refuse(world, 15)
  if (offer.state === STATE.accepted || offer.state === STATE.inEscrow) return refuse(world, 28)
  if (offer.state !== STATE.active) return refuse(world, 11)
  const partner = findAccount(world, offer.partner)
  const obstacle = partner && obstacleToTrading(world, partner, nowS)
  if (obstacle) return refuse(world, 15, obstacle)
  const has = (steamId: string, items: Asset[]) => {
    const owned = new Set(findAccount(world, steamId)?.assets.map(({ assetId }) => assetId))
    return items.every(({ assetId }) => owned.has(assetId))
  }
  if (!has(offer.partner, offer.items) || !has(offer.sender, offer.give)) {
    return refuse(withOffer(world, { ...offer, state: STATE.invalidItems, updatedAtS: nowS }), 26)
  }
  if (
    partner !== undefined &&
    partner.kind !== 'shopper' &&
    offer.items.length > 0 &&
    !accept.isConfirmedByPhone
  ) {
    return { world: withOffer(world, { ...offer, waitsForPhone: true }), answer: { kind: 'waits' } }
  }
  const trade = beginTrade(world, offer, nowS)
  return { world: trade.world, answer: { kind: 'accepted', tradeId: trade.tradeId } }
}

/**
 * Answers as the partner with a counteroffer. `assetIds`: the items that the partner still gives; all by default.
 * Refusals: 42 (unknown), 15 (not theirs), and those of sending.
 */
export function counterOffer(
  world: World,
  counter: { offerId: string; by: string; assetIds?: string[]; message?: string },
  nowS: number,
): Answer<{ kind: 'sent'; offerId: string; needsConfirmation: boolean }> {
  const offer = findOffer(world, counter.offerId)
  if (!offer) return refuse(world, 42)
  if (offer.partner !== counter.by) return refuse(world, 15)
  const give = offer.items.filter(({ assetId }) => counter.assetIds?.includes(assetId) ?? true)
  const intent = {
    sender: counter.by,
    partner: offer.sender,
    token: '',
    message: counter.message ?? offer.message,
    items: offer.give,
    give,
    counters: offer.id,
  }
  return sendOffer(world, intent, nowS)
}
