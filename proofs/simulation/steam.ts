/** A Steam that knows the truth about every offer, Steam trade and item, but sometimes reports it late or falsely. */
import type {
  CancelAnswer,
  HistoryPlace,
  OfferAnswer,
  OfferAsset,
  OfferState,
  PartnerAnswer,
  RefusedReason,
  SendAnswer,
  SteamTradeAnswer,
  SteamTradeState,
} from '../../gateway/steam/steam.ts'
import { PROTECTED_APP } from '../../steam-sandbox/world/world.ts'
import { answerGift, planGifts, putInto, undoDelivery } from './gifts.ts'
import type { Misfortune } from './misfortunes.ts'
import { drift, ownInventory } from './own-inventory.ts'
import { LONGEST_PAUSE_MS, type Sim } from './process.ts'
import { answerOffer, answerSteamTrade, STALE_MS, statusOf } from './steam-answers.ts'
import { history, list } from './steam-lists.ts'
import {
  createSteamMemory,
  itemOf,
  type ModelTrade,
  type SteamMemory,
  type SteamOffer,
} from './steam-memory.ts'
import { must } from './violation.ts'

export type Steam = ReturnType<typeof createSteam>
export type OfferToSend = { bot: string; partner: string; assets: readonly OfferAsset[]; message: string }

const PROTECTION_MS = 7 * 86_400_000 // of Steam itself; the till waits for eight days
/** The longest time from a delivery until Steam reports its protection. The till checks the trade again after a day. */
const LATEST_SETTLEMENT_MS = 20 * 3_600_000
const MOST_OPEN_PER_PARTNER = 5 // open offers of a bot to one account
/** Falsehoods of Steam about an offer, and about a send that made one. */
const FALSE_STATES = ['declined', 'countered', 'cancelled', 'expired', 'invalid_items', 'accepted'] as const
const FALSE_REFUSALS = ['rate_limited', 'too_many_offers', 'session_dead', 'access_denied'] as const

export function createSteam(sim: Sim) {
  const memory = createSteamMemory(sim)
  const { offers, steamTrades, gifts, strayItems, lastOmitted, shownInFull, byMessage, owners, misfortunes } =
    memory
  return {
    offers,
    steamTrades,
    gifts,
    strayItems,
    lastOmitted,
    shownInFull,
    byMessage,
    owners,
    misfortunes,
    check: (bot: string) => check(memory, bot),
    refusesToken: (bot: string) => misfortuneOf(memory, bot) === 'token',
    send: (parcel: OfferToSend) => send(memory, parcel),
    read: (offerId: string) => read(memory, offerId),
    list: (bot: string, page: { since: Date; cursor: string | null }) => list(memory, bot, page),
    cancel: (offerId: string) => cancel(memory, offerId),
    refuseCounter: (offerId: string) => refuseCounter(memory, offerId),
    status: (tradeId: string) => status(memory, tradeId),
    history: (bot: string, after: HistoryPlace | null) => history(memory, bot, after),
    accept: (offer: SteamOffer, options = {}) => accept(memory, offer, options),
    expire: (isMeant: (offer: SteamOffer) => boolean) => expire(memory, isMeant),
    decline: (offer: SteamOffer, state: Decline) => decline(memory, offer, state),
    ownInventory: (bot: string, appId: number) => ownInventory(memory, bot, appId),
    drift: (bot: string) => drift(memory, bot),
    planGifts: (bots: readonly string[]) => planGifts(memory, bots),
    reverse: (steamTrade: ModelTrade, assetIds?: readonly string[]) => reverse(memory, steamTrade, assetIds),
  }
}

type Decline = 'declined' | 'countered' | 'cancelled'

const setOfferState = (memory: SteamMemory, offer: SteamOffer, state: OfferState): void => {
  offer.earlier = offer.state
  offer.state = state
  offer.changedAt = memory.engine.now()
}

const endOthersFor = (memory: SteamMemory, accepted: SteamOffer): void => {
  const gone = new Set(accepted.assets.map(({ assetId }) => assetId))
  for (const offer of memory.offers.values()) {
    const isOpen = offer !== accepted && offer.state === 'active' && !offer.isCounter
    if (isOpen && offer.assets.some(({ assetId }) => gone.has(assetId)))
      setOfferState(memory, offer, 'invalid_items')
  }
}

const owns = (memory: SteamMemory, steamId: string, assets: readonly OfferAsset[]): boolean =>
  assets.every(({ assetId }) => memory.owners.get(assetId) === steamId)

type NewOffer = Pick<SteamOffer, 'offerId' | 'bot' | 'partner' | 'isCounter' | 'message' | 'assets'>
/** An open offer that Steam reports truly and lists at once. */
const plainOffer = (offer: NewOffer, now: number): SteamOffer => ({
  ...offer,
  createdAt: now,
  visibleAt: now,
  state: 'active',
  changedAt: now,
  earlier: 'active',
  lie: null,
  tradeId: null,
  reported: new Map(),
  escrowEndsAt: null,
  isOpaque: false,
  isIdLost: false,
  answer: null,
})

function makeOffer(memory: SteamMemory, { bot, partner, assets, message }: OfferToSend): SteamOffer {
  const { engine, random, faults, offers, offersByBot, byMessage } = memory
  memory.lastId += 1
  const now = engine.now()
  const offerId = String(memory.lastId)
  const offer = plainOffer({ offerId, bot, partner, isCounter: false, message, assets }, now)
  if (faults.plan(0.1)) offer.visibleAt = now + random.between(1_000, 400_000)
  offer.isOpaque = faults.plan(0.003)
  if (faults.plan(0.05)) {
    const from = now + random.between(3_000, 280_000)
    offer.lie = { state: random.pick(FALSE_STATES), from, until: from + random.between(5_000, 70_000) }
  }
  offers.set(offer.offerId, offer)
  byMessage.set(message, offer)
  const sent = offersByBot.get(bot) ?? []
  offersByBot.set(bot, sent)
  sent.push(offer)
  return offer
}

function misfortuneOf(
  { engine, faults, misfortunes }: SteamMemory,
  bot: string,
): Misfortune['reason'] | undefined {
  if (faults.areStopped) return undefined
  const now = engine.now()
  return misfortunes.get(bot)?.find(({ from, until }) => from <= now && now < until)?.reason
}

/** Reports no hold on the partner's side: simulated shoppers remove their authenticator only after this check. */
function check(memory: SteamMemory, bot: string): PartnerAnswer {
  const isHeld = misfortuneOf(memory, bot) === 'hold'
  if (isHeld) memory.faults.note('hold on the bot’s side')
  return { kind: 'ok', holdDays: { partner: 0, own: isHeld ? 15 : 0 } }
}

function send(memory: SteamMemory, parcel: OfferToSend): SendAnswer {
  const { random, faults, offersByBot, byMessage } = memory
  const refused = (reason: RefusedReason): SendAnswer => ({ kind: 'refused', reason })
  const { message } = parcel
  must(!byMessage.has(message), 'I8', () => `the offer of code ${message} was sent twice`)
  const misfortune = misfortuneOf(memory, parcel.bot)
  if (misfortune !== undefined && misfortune !== 'hold' && misfortune !== 'token') {
    faults.note('refusal on the bot’s side')
    return refused(misfortune)
  }
  if (!owns(memory, parcel.partner, parcel.assets)) return refused('items_gone')
  const open = (offersByBot.get(parcel.bot) ?? []).filter(
    (offer) => offer.partner === parcel.partner && offer.state === 'active' && !offer.isCounter,
  )
  if (open.length >= MOST_OPEN_PER_PARTNER) return refused('too_many_offers')
  const offer = makeOffer(memory, parcel)
  if (faults.strike('refusal of an offer that was made', 0.05)) return refused(random.pick(FALSE_REFUSALS))
  return { kind: 'sent', offerId: offer.offerId }
}

function read(memory: SteamMemory, offerId: string): OfferAnswer {
  const offer = memory.offers.get(offerId)
  if (offer?.isOpaque === true) {
    memory.faults.note('offer in an unknown state')
    return { kind: 'unavailable', reason: 'steam_error', detail: 'simulated' }
  }
  return offer === undefined ? { kind: 'missing' } : { kind: 'offer', offer: answerOffer(memory, offer) }
}

/** The bot declines a shopper's counter-offer. */
function refuseCounter(memory: SteamMemory, offerId: string): CancelAnswer {
  const offer = memory.offers.get(offerId)
  if (offer === undefined || !offer.isCounter || offer.state !== 'active') return { kind: 'not_active' }
  setOfferState(memory, offer, 'declined')
  memory.faults.note('counter-offer declined')
  return { kind: 'done' }
}

function cancel(memory: SteamMemory, offerId: string): CancelAnswer {
  const { faults, offers } = memory
  const offer = offers.get(offerId)
  if (offer === undefined) return { kind: 'not_active' }
  if (offer.state !== 'active' && offer.state !== 'in_escrow') return { kind: 'not_active' }
  if (faults.strike('cancel that does nothing', 0.04)) return { kind: 'done' }
  if (
    offer.state === 'active' &&
    faults.strike('acceptance faster than a cancel', 0.04) &&
    accept(memory, offer)
  ) {
    return { kind: 'not_active' }
  }
  if (offer.state === 'in_escrow') {
    coolDown(memory, offer)
    fail(memory, offer)
  }
  setOfferState(memory, offer, 'cancelled')
  return { kind: 'done' }
}

const COOLDOWN_MS = 7 * 86_400_000
/** How long a till can be unaware of a hold: a stale read reported an active offer, and then the process paused. */
const UNAWARE_MS = STALE_MS + LONGEST_PAUSE_MS + 30_000

/** A cancelled hold costs the bot a cooldown of days. Only a till that cannot know of the hold yet may cause that. */
function coolDown({ engine, misfortunes }: SteamMemory, { offerId, bot, changedAt }: SteamOffer): void {
  const now = engine.now()
  must(
    now - changedAt < UNAWARE_MS,
    'I17',
    () => `bot ${bot} earned a cooldown: offer ${offerId} was held for ${now - changedAt} ms`,
  )
  const cooldown: Misfortune = { reason: 'bot_cannot_trade', from: now, until: now + COOLDOWN_MS }
  misfortunes.set(bot, [...(misfortunes.get(bot) ?? []), cooldown])
}

function fail(memory: SteamMemory, offer: SteamOffer): void {
  const { steamTrades, owners } = memory
  const steamTrade = steamTrades.get(offer.tradeId ?? '')
  if (steamTrade === undefined) return
  setTradeState(memory, steamTrade, 'failed')
  for (const { asset } of steamTrade.items) owners.set(asset.assetId, offer.partner)
}

function setTradeState(memory: SteamMemory, steamTrade: ModelTrade, state: SteamTradeState): void {
  steamTrade.earlier = statusOf(steamTrade)
  steamTrade.state = state
  steamTrade.changedAt = memory.engine.now()
}

/** The shopper accepts. Returns false if Steam refuses. */
function accept(memory: SteamMemory, offer: SteamOffer, { hasEscrow = false } = {}): boolean {
  const { engine, random, faults, steamTrades, owners } = memory
  if (offer.state !== 'active') return false
  if (!owns(memory, offer.partner, offer.assets)) {
    setOfferState(memory, offer, 'invalid_items')
    return false
  }
  memory.lastId += 1
  const tradeId = `61${String(memory.lastId).padStart(17, '0')}`
  offer.tradeId = tradeId
  const items = offer.assets.map(itemOf)
  const state: SteamTradeState = hasEscrow ? 'in_escrow' : 'pending'
  const now = engine.now()
  const newTrade = { tradeId, offer, state, changedAt: now, beganAt: now, items, settlesAt: null }
  const steamTrade: ModelTrade = {
    ...newTrade,
    settlementReportedAt: 0,
    isPartlyMarked: false,
    reported: new Set(),
    earlier: statusOf(newTrade),
  }
  steamTrades.set(tradeId, steamTrade)
  for (const { assetId } of offer.assets) owners.set(assetId, 'under way')
  setOfferState(memory, offer, hasEscrow ? 'in_escrow' : 'accepted')
  endOthersFor(memory, offer)
  if (hasEscrow) beginEscrow(memory, steamTrade)
  else offer.isIdLost = faults.plan(0.006)
  if (!hasEscrow && faults.plan(0.06)) {
    const lieState = random.pick<OfferState>(['active', 'invalid_items'])
    offer.lie = {
      state: lieState,
      from: now + random.between(0, 8_000),
      until: now + random.between(9_000, 40_000),
    }
  }
  if (!hasEscrow)
    engine.after(random.chance(0.7) ? 0 : random.between(500, 25_000), () => arrive(memory, steamTrade))
  return true
}

const HOLD_MS = 15 * 86_400_000 // of an escrow

/** Begins a hold. The shopper cancels it, or it completes at its end. */
function beginEscrow(memory: SteamMemory, steamTrade: ModelTrade): void {
  const { engine, random, faults } = memory
  const { offer } = steamTrade
  faults.note('escrow')
  offer.escrowEndsAt = new Date(engine.now() + HOLD_MS)
  const isHeld = (): boolean => offer.state === 'in_escrow'
  if (random.chance(0.5)) {
    engine.after(random.int(HOLD_MS), () => {
      if (!isHeld()) return
      faults.note('escrow that is cancelled')
      fail(memory, offer)
      setOfferState(memory, offer, random.chance(0.5) ? 'cancelled' : 'declined')
    })
    return
  }
  engine.after(HOLD_MS, () => {
    if (!isHeld()) return
    faults.note('escrow that completes')
    setOfferState(memory, offer, 'accepted')
    arrive(memory, steamTrade)
  })
}

function arrive(memory: SteamMemory, steamTrade: ModelTrade): void {
  const { engine, random, faults, owners } = memory
  if (faults.strike('Steam trade that fails', 0.01)) {
    fail(memory, steamTrade.offer)
    return
  }
  const isProtected = steamTrade.items.some(({ asset }) => asset.appId === PROTECTED_APP)
  setTradeState(memory, steamTrade, random.chance(0.2) ? 'committed' : 'complete')
  // Steam sometimes reports protection up to 20 hours late, even for a game that it does not usually protect.
  const isLate = faults.plan(0.04)
  steamTrade.settlesAt = isProtected || isLate ? engine.now() + PROTECTION_MS : null
  if (isLate) steamTrade.settlementReportedAt = engine.now() + random.between(1_000, LATEST_SETTLEMENT_MS)
  for (const item of steamTrade.items) {
    memory.lastId += 1
    item.newAssetId = String(memory.lastId)
    putInto(item, steamTrade.offer.bot, item.newAssetId)
    owners.set(item.asset.assetId, 'bot')
  }
  if (isProtected && steamTrade.state === 'complete' && faults.plan(0.08)) {
    engine.after(random.between(50, 3_000), () => takePartBack(memory, steamTrade))
  }
  if (steamTrade.state !== 'committed') return
  engine.after(
    random.between(1_000, 40_000),
    () => steamTrade.state === 'committed' && setTradeState(memory, steamTrade, 'complete'),
  )
}

/** The shopper takes back some items of a Steam trade that has just completed. */
function takePartBack(memory: SteamMemory, steamTrade: ModelTrade): void {
  const { items } = steamTrade
  const someItems = items.slice(0, Math.max(1, memory.random.int(items.length)))
  reverse(
    memory,
    steamTrade,
    someItems.map(({ asset }) => asset.assetId),
  )
}

/** Ends open offers, as Steam does after a time. */
function expire(memory: SteamMemory, isMeant: (offer: SteamOffer) => boolean): void {
  for (const offer of memory.offers.values()) {
    if (offer.state === 'active' && isMeant(offer)) setOfferState(memory, offer, 'expired')
  }
}

function decline(memory: SteamMemory, offer: SteamOffer, state: Decline): boolean {
  if (offer.state !== 'active') return false
  setOfferState(memory, offer, state)
  if (state === 'countered') counter(memory, offer)
  return true
}

/** Makes a counter-offer, which asks the bot for items, so the till must never accept it. */
function counter(memory: SteamMemory, { bot, partner, message, assets }: SteamOffer): void {
  memory.lastId += 1
  const now = memory.engine.now()
  const offerId = String(memory.lastId)
  const offer = plainOffer({ offerId, bot, partner, isCounter: true, message: `${message} ?`, assets }, now)
  memory.offers.set(offer.offerId, offer)
  memory.offersByBot.get(bot)?.push(offer)
}

/** The shopper takes these items back; all of them without `assetIds`. Returns false if Steam refuses. */
function reverse(memory: SteamMemory, steamTrade: ModelTrade, assetIds?: readonly string[]): boolean {
  const { engine, faults, owners } = memory
  const isDone = steamTrade.state === 'complete' || steamTrade.state === 'partly_rolled_back'
  if (!isDone || steamTrade.settlesAt === null || engine.now() >= steamTrade.settlesAt) return false
  const open = steamTrade.items.filter((item) => item.rolledBackAssetId === null)
  const back = open.filter(({ asset }) => assetIds === undefined || assetIds.includes(asset.assetId))
  if (back.length === 0) return false
  const isWhole = back.length === steamTrade.items.length
  if (!steamTrade.reported.has('complete') && !steamTrade.reported.has('committed')) {
    faults.note('reversal before the delivery was reported')
  }
  setTradeState(memory, steamTrade, isWhole ? 'rolled_back' : 'partly_rolled_back')
  faults.note(isWhole ? 'reversal, whole' : 'reversal, in part')
  for (const item of back) {
    item.rolledBackAssetId = item.asset.assetId
    item.place = null
    owners.set(item.asset.assetId, steamTrade.offer.partner)
  }
  undoDelivery(memory, steamTrade, back)
  if (isWhole) setOfferState(memory, steamTrade.offer, 'reverted')
  if (isWhole && back.length > 1)
    steamTrade.isPartlyMarked = faults.strike('rolled back, with only some items marked', 0.8)
  return true
}

function status(memory: SteamMemory, tradeId: string): SteamTradeAnswer {
  const { steamTrades, gifts } = memory
  const [steamTrade, gift] = [steamTrades.get(tradeId), gifts.get(tradeId)]
  if (gift !== undefined) return { kind: 'trade', trade: answerGift(memory, gift) }
  return steamTrade === undefined
    ? { kind: 'missing' }
    : { kind: 'trade', trade: answerSteamTrade(memory, steamTrade) }
}
