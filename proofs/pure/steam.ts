/** A Steam that knows the truth about every offer, exchange and item, and does not always tell it at once. */
import type {
  CancelAnswer,
  Offer,
  OfferAnswer,
  OfferAsset,
  OfferState,
  OffersAnswer,
  RefusedReason,
  SendAnswer,
  TradeState,
  TradeStatus,
  TradeStatusAnswer,
} from '../../gateway/steam/steam.ts'
import type { Engine } from '../engine.ts'
import type { Faults } from '../faults.ts'
import type { Random } from '../random.ts'
import { hold } from '../violation.ts'

export type SteamOffer = {
  offerId: string
  botId: number
  partner: string
  message: string
  assets: readonly OfferAsset[]
  createdAt: number
  /** From when on lists show it. */
  visibleAt: number
  state: OfferState
  changedAt: number
  earlier: OfferState
  lie: { state: OfferState; from: number; until: number } | null
  tradeId: string | null
  /** How often each state was told: nothing else may end a trade. */
  told: Map<OfferState, number>
}

export type Exchange = {
  tradeId: string
  offer: SteamOffer
  state: TradeState
  changedAt: number
  earlier: TradeStatus
  items: { asset: OfferAsset; newAssetId: string | null; rolledBackAssetId: string | null }[]
  settlesAt: number | null
}

export type Sim = { engine: Engine; random: Random; faults: Faults }
export type Steam = ReturnType<typeof createSteam>
export type Parcel = { botId: number; partner: string; assets: readonly OfferAsset[]; message: string }

const PROTECTION_MS = 7 * 86_400_000
const STALE_MS = 60_000
const PER_PARTNER = 5
const PROTECTED_APP = 730
const FALSE_ENDS = ['declined', 'countered', 'cancelled', 'expired', 'invalid_items'] as const
const FALSE_REFUSALS = ['rate_limited', 'too_many_offers', 'session_dead', 'access_denied'] as const

type Memory = Sim & {
  offers: Map<string, SteamOffer>
  exchanges: Map<string, Exchange>
  ofBot: Map<number, SteamOffer[]>
  byMessage: Map<string, SteamOffer>
  /** Asset id → Steam id of its owner, `bot`, or where it is under way. */
  owners: Map<string, string>
  lastId: number
}

export function createSteam(sim: Sim) {
  const memory: Memory = {
    ...sim,
    offers: new Map(),
    exchanges: new Map(),
    ofBot: new Map(),
    byMessage: new Map(),
    owners: new Map(),
    lastId: 1_000,
  }
  const { offers, exchanges, byMessage, owners } = memory
  return {
    ...{ offers, exchanges, byMessage, owners },
    send: (parcel: Parcel) => send(memory, parcel),
    read: (offerId: string) => read(memory, offerId),
    list: (botId: number, since: Date) => list(memory, botId, since),
    cancel: (offerId: string) => cancel(memory, offerId),
    status: (tradeId: string) => status(memory, tradeId),
    accept: (offer: SteamOffer, how = {}) => accept(memory, offer, how),
    decline: (offer: SteamOffer, state: Decline) => decline(memory, offer, state),
    reverse: (exchange: Exchange, assetIds?: readonly string[]) => reverse(memory, exchange, assetIds),
  }
}

type Decline = 'declined' | 'countered' | 'cancelled'

const change = (memory: Memory, offer: SteamOffer, state: OfferState): void => {
  const { engine } = memory
  offer.earlier = offer.state
  offer.state = state
  offer.changedAt = engine.now()
}

const robOthers = (memory: Memory, accepted: SteamOffer): void => {
  const { offers } = memory
  const gone = new Set(accepted.assets.map(({ assetId }) => assetId))
  for (const offer of offers.values()) {
    const isOpen = offer !== accepted && offer.state === 'active'
    if (isOpen && offer.assets.some(({ assetId }) => gone.has(assetId)))
      change(memory, offer, 'invalid_items')
  }
}

const owns = (memory: Memory, steamId: string, assets: readonly OfferAsset[]): boolean =>
  assets.every(({ assetId }) => memory.owners.get(assetId) === steamId)

function make(memory: Memory, { botId, partner, assets, message }: Parcel): SteamOffer {
  const { engine, random, faults, offers, ofBot, byMessage } = memory
  memory.lastId += 1
  const now = engine.now()
  const isLate = faults.strike('offer listed late', 0.1)
  const offer: SteamOffer = {
    offerId: String(memory.lastId),
    botId,
    partner,
    message,
    assets,
    createdAt: now,
    visibleAt: isLate ? now + random.between(1_000, 400_000) : now,
    state: 'active',
    changedAt: now,
    earlier: 'active',
    lie: null,
    tradeId: null,
    told: new Map(),
  }
  if (faults.strike('false end', 0.05)) {
    const from = now + random.between(3_000, 280_000)
    offer.lie = { state: random.pick(FALSE_ENDS), from, until: from + random.between(5_000, 70_000) }
  }
  offers.set(offer.offerId, offer)
  byMessage.set(message, offer)
  const sent = ofBot.get(botId) ?? []
  ofBot.set(botId, sent)
  sent.push(offer)
  return offer
}

function send(memory: Memory, parcel: Parcel): SendAnswer {
  const { random, faults, ofBot, byMessage } = memory
  const refused = (reason: RefusedReason): SendAnswer => ({ kind: 'refused', reason })
  const { message } = parcel
  hold(!byMessage.has(message), 'I8', () => `the offer of code ${message} was sent twice`)
  if (!owns(memory, parcel.partner, parcel.assets)) return refused('items_gone')
  const open = (ofBot.get(parcel.botId) ?? []).filter(
    (offer) => offer.partner === parcel.partner && offer.state === 'active',
  )
  if (open.length >= PER_PARTNER) return refused('too_many_offers')
  const offer = make(memory, parcel)
  if (faults.strike('refusal of an offer that was made', 0.05)) return refused(random.pick(FALSE_REFUSALS))
  return { kind: 'sent', offerId: offer.offerId }
}

/** What Steam tells of the offer, which may be old or wrong. */
function tell(memory: Memory, offer: SteamOffer): Offer {
  const { engine, faults } = memory
  const now = engine.now()
  const { lie } = offer
  let state = offer.state
  if (lie !== null && now >= lie.from && now < lie.until && !faults.stopped) {
    state = lie.state
  } else if (now - offer.changedAt < STALE_MS && faults.strike('stale read', 0.05)) {
    state = offer.earlier
  }
  offer.told.set(state, (offer.told.get(state) ?? 0) + 1)
  const isExchanged = state === 'accepted' || state === 'reverted' || state === 'in_escrow'
  return {
    offerId: offer.offerId,
    partnerSteamId: offer.partner,
    message: offer.message,
    state,
    tradeId: isExchanged ? offer.tradeId : null,
    itemsToReceive: [...offer.assets],
    itemsToGive: [],
    createdAt: new Date(offer.createdAt),
  }
}

function read(memory: Memory, offerId: string): OfferAnswer {
  const { offers } = memory
  const offer = offers.get(offerId)
  return offer === undefined ? { kind: 'missing' } : { kind: 'offer', offer: tell(memory, offer) }
}

function list(memory: Memory, botId: number, since: Date): OffersAnswer {
  const { engine, faults, ofBot } = memory
  const sent = ofBot.get(botId) ?? []
  const told: Offer[] = []
  for (let index = sent.length - 1; index >= 0; index -= 1) {
    const offer = sent[index]
    if (offer === undefined) break
    const isAsked = offer.changedAt >= since.getTime() || offer.state === 'active'
    if (!isAsked) continue
    if (offer.visibleAt <= engine.now() || faults.stopped) told.push(tell(memory, offer))
  }
  const unreadable = faults.strike('unreadable row in a list', 0.005) ? 1 : 0
  if (unreadable > 0) told.pop()
  return { kind: 'offers', offers: told, received: [], unreadable }
}

function cancel(memory: Memory, offerId: string): CancelAnswer {
  const { faults, offers } = memory
  const offer = offers.get(offerId)
  if (offer === undefined) return { kind: 'not_active' }
  if (offer.state !== 'active' && offer.state !== 'in_escrow') return { kind: 'not_active' }
  if (faults.strike('cancel that does nothing', 0.04)) return { kind: 'done' }
  if (offer.state === 'active' && faults.strike('cancel loses to an accept', 0.04) && accept(memory, offer)) {
    return { kind: 'not_active' }
  }
  if (offer.state === 'in_escrow') fail(memory, offer)
  change(memory, offer, 'cancelled')
  return { kind: 'done' }
}

function fail(memory: Memory, offer: SteamOffer): void {
  const { exchanges, owners } = memory
  const exchange = exchanges.get(offer.tradeId ?? '')
  if (exchange === undefined) return
  turn(memory, exchange, 'failed')
  for (const { asset } of exchange.items) owners.set(asset.assetId, offer.partner)
}

function turn(memory: Memory, exchange: Exchange, state: TradeState): void {
  const { engine } = memory
  exchange.earlier = statusOf(exchange)
  exchange.state = state
  exchange.changedAt = engine.now()
}

/** The shopper presses the button; false when Steam refuses it. */
function accept(memory: Memory, offer: SteamOffer, { hasEscrow = false } = {}): boolean {
  const { engine, random, faults, exchanges, owners } = memory
  if (offer.state !== 'active') return false
  if (!owns(memory, offer.partner, offer.assets)) {
    change(memory, offer, 'invalid_items')
    return false
  }
  memory.lastId += 1
  const tradeId = `61${String(memory.lastId).padStart(17, '0')}`
  offer.tradeId = tradeId
  const items = offer.assets.map((asset) => ({ asset, newAssetId: null, rolledBackAssetId: null }))
  const state: TradeState = hasEscrow ? 'in_escrow' : 'pending'
  const begun = { tradeId, offer, state, changedAt: engine.now(), items, settlesAt: null }
  const exchange: Exchange = { ...begun, earlier: statusOf(begun) }
  exchanges.set(tradeId, exchange)
  for (const { assetId } of offer.assets) owners.set(assetId, 'under way')
  change(memory, offer, hasEscrow ? 'in_escrow' : 'accepted')
  robOthers(memory, offer)
  if (!hasEscrow && faults.strike('flip of an accepted offer', 0.06)) {
    const now = engine.now()
    const lied = random.pick<OfferState>(['active', 'invalid_items'])
    offer.lie = {
      state: lied,
      from: now + random.between(0, 8_000),
      until: now + random.between(9_000, 40_000),
    }
  }
  if (!hasEscrow)
    engine.after(random.chance(0.7) ? 0 : random.between(500, 25_000), () => arrive(memory, exchange))
  return true
}

function arrive(memory: Memory, exchange: Exchange): void {
  const { engine, random, faults, owners } = memory
  if (faults.strike('exchange that fails', 0.01)) {
    fail(memory, exchange.offer)
    return
  }
  const isProtected = exchange.items.some(({ asset }) => asset.appId === PROTECTED_APP)
  turn(memory, exchange, random.chance(0.2) ? 'committed' : 'complete')
  exchange.settlesAt = isProtected ? engine.now() + PROTECTION_MS : null
  for (const item of exchange.items) {
    memory.lastId += 1
    item.newAssetId = String(memory.lastId)
    owners.set(item.asset.assetId, 'bot')
  }
  if (exchange.state !== 'committed') return
  engine.after(
    random.between(1_000, 40_000),
    () => exchange.state === 'committed' && turn(memory, exchange, 'complete'),
  )
}

function decline(memory: Memory, offer: SteamOffer, state: Decline): boolean {
  if (offer.state !== 'active') return false
  change(memory, offer, state)
  return true
}

/** The shopper takes items back; all of them where none are named. False when Steam refuses. */
function reverse(memory: Memory, exchange: Exchange, assetIds?: readonly string[]): boolean {
  const { engine, faults, owners } = memory
  const isDone = exchange.state === 'complete' || exchange.state === 'partly_rolled_back'
  if (!isDone || exchange.settlesAt === null || engine.now() >= exchange.settlesAt) return false
  const open = exchange.items.filter((item) => item.rolledBackAssetId === null)
  const back = open.filter(({ asset }) => assetIds === undefined || assetIds.includes(asset.assetId))
  if (back.length === 0) return false
  const isWhole = back.length === exchange.items.length
  turn(memory, exchange, isWhole ? 'rolled_back' : 'partly_rolled_back')
  faults.saw(isWhole ? 'reversal, whole' : 'reversal, in part')
  for (const item of back) {
    item.rolledBackAssetId = item.asset.assetId
    owners.set(item.asset.assetId, exchange.offer.partner)
  }
  if (isWhole) change(memory, exchange.offer, 'reverted')
  return true
}

function status(memory: Memory, tradeId: string): TradeStatusAnswer {
  const { engine, faults, exchanges } = memory
  const exchange = exchanges.get(tradeId)
  if (exchange === undefined) return { kind: 'missing' }
  const isFresh = engine.now() - exchange.changedAt < STALE_MS
  const old = isFresh && faults.strike('stale read', 0.05)
  return { kind: 'trade', trade: old ? exchange.earlier : statusOf(exchange) }
}

function statusOf(exchange: Omit<Exchange, 'earlier' | 'changedAt'>): TradeStatus {
  return {
    tradeId: exchange.tradeId,
    partnerSteamId: exchange.offer.partner,
    state: exchange.state,
    received: exchange.items.map(({ asset, newAssetId, rolledBackAssetId }) => ({
      ...asset,
      newAssetId,
      rolledBackAssetId,
    })),
    settlesAt: exchange.settlesAt === null ? null : new Date(exchange.settlesAt),
    rollbackOf: null,
  }
}
