/** The sandbox's world behind sessions of our own: what it tells may be old, wrong, late, or lost on the way. */
import type {
  CancelAnswer,
  Offer,
  OfferAnswer,
  OfferState,
  OffersAnswer,
  RefusedReason,
  SendAnswer,
  SteamSession,
  TradeState,
  TradeStatus,
  TradeStatusAnswer,
  TradesAnswer,
  Unavailable,
} from '../../gateway/steam/steam.ts'
import { acceptOffer, counterOffer, endOffer, sendOffer } from '../../steam-sandbox/world/offers.ts'
import { settle } from '../../steam-sandbox/world/time.ts'
import { reverseTrade } from '../../steam-sandbox/world/trades.ts'
import {
  STATE,
  TRADE,
  type World,
  type Offer as WorldOffer,
  type Trade as WorldTrade,
} from '../../steam-sandbox/world/world.ts'
import type { Engine } from '../engine.ts'
import type { Faults } from '../faults.ts'
import type { Random } from '../random.ts'
import { hold } from '../violation.ts'

export type Sim = { engine: Engine; random: Random; faults: Faults }

/** What is peculiar about the telling of an offer. */
type Telling = {
  visibleAt: number
  lie: { state: OfferState; from: number; until: number } | null
  /** The last state that was seen to be true, the one before, and since when. */
  state: OfferState
  earlier: OfferState
  changedAt: number
  told: Map<OfferState, number>
}

export type Steam = ReturnType<typeof createSteam>

const STALE_MS = 60_000
const FALSE_ENDS = ['declined', 'countered', 'cancelled', 'expired', 'invalid_items'] as const
const FALSE_REFUSALS = ['rate_limited', 'too_many_offers', 'session_dead', 'access_denied'] as const

const OFFER_STATES: Record<number, OfferState> = {
  [STATE.active]: 'active',
  [STATE.accepted]: 'accepted',
  [STATE.countered]: 'countered',
  [STATE.expired]: 'expired',
  [STATE.canceled]: 'cancelled',
  [STATE.declined]: 'declined',
  [STATE.invalidItems]: 'invalid_items',
  [STATE.needsConfirmation]: 'needs_confirmation',
  [STATE.canceledBySecondFactor]: 'cancelled_by_second_factor',
  [STATE.inEscrow]: 'in_escrow',
  [STATE.reverted]: 'reverted',
}

const TRADE_STATES: Record<number, TradeState> = {
  [TRADE.complete]: 'complete',
  [TRADE.supportRollback]: 'rolled_back',
  [TRADE.selectiveRollback]: 'partly_rolled_back',
  [TRADE.inEscrow]: 'in_escrow',
  [TRADE.escrowRollback]: 'failed',
  [TRADE.protectionRollback]: 'rolled_back',
}

type Memory = Sim & {
  world: World
  tellings: Map<string, Telling>
  /** When the record of an exchange is whole: Steam takes its time. */
  arrivals: Map<string, number>
}

export function createSteam(sim: Sim, first: World) {
  const memory: Memory = { ...sim, world: first, tellings: new Map(), arrivals: new Map() }
  return {
    tellings: memory.tellings,
    current: () => current(memory),
    change: <T>(step: Step<T>) => change(memory, step),
    send: (intent: Parameters<typeof sendOffer>[1]) => send(memory, intent),
    tell: (offer: WorldOffer) => tell(memory, offer),
    list: (bot: string, since: Date) => list(memory, bot, since),
    end: (by: string, offerId: string, how: 'cancel' | 'decline') => end(memory, { by, offerId, how }),
    accept: (offer: WorldOffer) => accept(memory, offer),
    statusOf: (trade: WorldTrade, bot: string) => statusOf(memory, trade, bot),
    reverse: (trade: WorldTrade, assetIds?: string[]) => reverse(memory, trade, assetIds),
  }
}

type Step<T> = (world: World, nowS: number) => { world: World; answer: T }

const nowS = (memory: Memory): number => Math.floor(memory.engine.now() / 1_000)

const current = (memory: Memory): World => {
  memory.world = settle(memory.world, nowS(memory))
  return memory.world
}

const change = <T>(memory: Memory, step: Step<T>): T => {
  const { world: next, answer } = step(current(memory), nowS(memory))
  memory.world = next
  return answer
}

function send(memory: Memory, intent: Parameters<typeof sendOffer>[1]): SendAnswer {
  const { engine, random, faults, tellings } = memory
  const isTwin = current(memory).offers.some(
    ({ sender, message }) => sender === intent.sender && message === intent.message,
  )
  hold(!isTwin, 'I8', () => `the offer of code ${intent.message} was sent twice`)
  const answer = change(memory, (now, at) => sendOffer(now, intent, at))
  if (answer.kind === 'refused') {
    const reasons: Record<number, RefusedReason> = { 26: 'items_gone', 25: 'too_many_offers' }
    return { kind: 'refused', reason: reasons[answer.eresult] ?? 'partner_cannot_trade' }
  }
  const now = engine.now()
  const isLate = faults.strike('offer listed late', 0.2)
  const from = now + random.between(3_000, 200_000)
  const isFalse = faults.strike('false end', 0.08)
  const until = from + random.between(12_000, 70_000)
  tellings.set(answer.offerId, {
    visibleAt: isLate ? now + random.between(1_000, 300_000) : now,
    lie: isFalse ? { state: random.pick(FALSE_ENDS), from, until } : null,
    ...{ state: 'active', earlier: 'active', changedAt: now, told: new Map() },
  })
  if (faults.strike('refusal of an offer that was made', 0.04)) {
    return { kind: 'refused', reason: random.pick(FALSE_REFUSALS) }
  }
  return { kind: 'sent', offerId: answer.offerId }
}

function tell(memory: Memory, offer: WorldOffer): Offer {
  const state = toldState(memory, offer)
  const isExchanged = state === 'accepted' || state === 'reverted' || state === 'in_escrow'
  const asset = ({ appId, contextId, assetId }: WorldOffer['items'][number]) => ({
    appId,
    contextId,
    assetId,
  })
  return {
    offerId: offer.id,
    partnerSteamId: offer.partner,
    message: offer.message,
    state,
    tradeId: isExchanged ? (offer.tradeId ?? null) : null,
    itemsToReceive: offer.items.map(asset),
    itemsToGive: offer.give.map(asset),
    createdAt: new Date(offer.createdAtS * 1_000),
  }
}

function toldState(memory: Memory, offer: WorldOffer): OfferState {
  const { engine, faults, tellings } = memory
  const now = engine.now()
  const truth = OFFER_STATES[offer.state] ?? 'invalid'
  const telling = tellings.get(offer.id)
  if (telling === undefined) return truth
  if (telling.state !== truth) {
    Object.assign(telling, { earlier: telling.state, state: truth, changedAt: now })
  }
  let state = truth
  const { lie } = telling
  if (lie !== null && now >= lie.from && now < lie.until && !faults.stopped) state = lie.state
  else if (now - telling.changedAt < STALE_MS && faults.strike('stale read', 0.05)) state = telling.earlier
  telling.told.set(state, (telling.told.get(state) ?? 0) + 1)
  return state
}

function list(memory: Memory, bot: string, since: Date): OffersAnswer {
  const { engine, faults, tellings } = memory
  const isAsked = ({ updatedAtS, state }: WorldOffer) =>
    updatedAtS * 1_000 >= since.getTime() || state === STATE.active
  const { offers } = current(memory)
  const isVisible = ({ id }: WorldOffer) =>
    faults.stopped || (tellings.get(id)?.visibleAt ?? 0) <= engine.now()
  const sent = offers
    .filter((offer) => offer.sender === bot && isAsked(offer) && isVisible(offer))
    .map((entry) => tell(memory, entry))
  const received = offers
    .filter((offer) => offer.partner === bot && isAsked(offer))
    .map((offer) => ({ ...tell(memory, offer), partnerSteamId: offer.sender }))
  const unreadable = faults.strike('unreadable row in a list', 0.02) ? 1 : 0
  if (unreadable > 0) sent.pop()
  return { kind: 'offers', offers: sent, received, unreadable }
}

type End = { by: string; offerId: string; how: 'cancel' | 'decline' }

function end(memory: Memory, { by, offerId, how }: End): CancelAnswer {
  const { faults } = memory
  if (how === 'cancel' && faults.strike('cancel that does nothing', 0.06)) return { kind: 'done' }
  const offer = current(memory).offers.find(({ id }) => id === offerId)
  const isOpen = offer?.state === STATE.active
  if (how === 'cancel' && isOpen && faults.strike('cancel loses to an accept', 0.06)) accept(memory, offer)
  const answer = change(memory, (now, at) => endOffer(now, { offerId, by, how }, at))
  if (answer.kind === 'ended' && how === 'decline') faults.saw('counter-offer declined')
  return { kind: answer.kind === 'ended' ? 'done' : 'not_active' }
}

function statusOf(memory: Memory, trade: WorldTrade, bot: string): TradeStatus {
  const { engine, faults, arrivals } = memory
  const isUnderWay = (arrivals.get(trade.id) ?? 0) > engine.now() && !faults.stopped
  const isEscrow = trade.status === TRADE.inEscrow
  const received = trade.items.filter(({ from }) => from !== bot)
  return {
    tradeId: trade.id,
    partnerSteamId: trade.partner === bot ? trade.sender : trade.partner,
    state: isUnderWay && !isEscrow ? 'pending' : (TRADE_STATES[trade.status] ?? 'failed'),
    received: received.map(({ appId, contextId, assetId, newAssetId, rolledBackAssetId }) => ({
      ...{ appId, contextId, assetId },
      newAssetId: isUnderWay ? null : (newAssetId ?? null),
      rolledBackAssetId: rolledBackAssetId ?? null,
    })),
    settlesAt: trade.settlesAtS > 0 ? new Date(trade.settlesAtS * 1_000) : null,
    rollbackOf: trade.rollbackOf ?? null,
  }
}

function accept(memory: Memory, offer: WorldOffer): boolean {
  const { engine, random, faults, tellings, arrivals } = memory
  const answer = change(memory, (now, at) => acceptOffer(now, { offerId: offer.id, by: offer.partner }, at))
  if (answer.kind !== 'accepted') return false
  const now = engine.now()
  if (random.chance(0.3)) arrivals.set(answer.tradeId, now + random.between(500, 25_000))
  const telling = tellings.get(offer.id)
  if (telling !== undefined && faults.strike('flip of an accepted offer', 0.08)) {
    const state = random.pick<OfferState>(['active', 'invalid_items'])
    telling.lie = {
      state,
      from: now + random.between(0, 8_000),
      until: now + random.between(9_000, 40_000),
    }
  }
  return true
}

function reverse(memory: Memory, trade: WorldTrade, assetIds?: string[]): boolean {
  const { engine, faults, arrivals } = memory
  // Only what has arrived can be taken back.
  if ((arrivals.get(trade.id) ?? 0) > engine.now()) return false
  const reversal = { tradeId: trade.id, ...(assetIds && { assetIds }) }
  const answer = change(memory, (now, at) => reverseTrade(now, reversal, at))
  if (answer.kind !== 'reversed') return false
  const isWhole =
    current(memory).trades.find(({ id }) => id === trade.id)?.status === TRADE.protectionRollback
  faults.saw(isWhole ? 'reversal, whole' : 'reversal, in part')
  return true
}

export function counter(steam: Steam, offer: WorldOffer): boolean {
  const by = offer.partner
  return steam.change((now, at) => counterOffer(now, { offerId: offer.id, by }, at)).kind === 'sent'
}

const UNAVAILABLE: Unavailable = { kind: 'unavailable', reason: 'timeout', detail: 'simulated' }

/** Waits so long for the process's turn; the range of milliseconds. */
export type Gate = (low: number, high: number) => Promise<void>

/** A bot's session in one process. */
export function sessionOf(
  { faults }: Sim,
  steam: Steam,
  { bot, gate }: { bot: string; gate: Gate },
): SteamSession {
  async function ask<T>(act: () => T, lost: T, risk = 0.015): Promise<T> {
    await gate(20, 400)
    if (faults.strike('answer lost before Steam acted', 0.015)) {
      await gate(1_000, 10_000)
      return lost
    }
    const answer = act()
    const isLost = faults.strike('answer lost after Steam acted', risk)
    await gate(isLost ? 1_000 : 20, isLost ? 10_000 : 400)
    return isLost ? lost : answer
  }
  const offerOf = (offerId: string) =>
    steam.current().offers.find(({ id, sender }) => id === offerId && sender === bot)
  const tradeOf = (tradeId: string) => steam.current().trades.find(({ id }) => id === tradeId)
  const unknown: SendAnswer = { kind: 'unknown', detail: 'simulated' }
  return {
    steamId: bot,
    checkPartner: async () => ({ kind: 'ok', holdDays: 0 }),
    readInventory: async () => UNAVAILABLE,
    sendOffer: (partner, items, message) => {
      const intent = { sender: bot, partner: partner.steamId, token: partner.token, message, items }
      return ask(() => steam.send(intent), unknown, 0.08)
    },
    readOffer: (offerId) =>
      ask<OfferAnswer>(() => {
        const offer = offerOf(offerId)
        return offer === undefined ? { kind: 'missing' } : { kind: 'offer', offer: steam.tell(offer) }
      }, UNAVAILABLE),
    listSentOffers: (since) => ask(() => steam.list(bot, since), UNAVAILABLE),
    cancelOffer: (offerId) => ask(() => steam.end(bot, offerId, 'cancel'), UNAVAILABLE),
    declineOffer: (offerId) => ask(() => steam.end(bot, offerId, 'decline'), UNAVAILABLE),
    readTradeStatus: (tradeId) =>
      ask<TradeStatusAnswer>(() => {
        const trade = tradeOf(tradeId)
        return trade === undefined
          ? { kind: 'missing' }
          : { kind: 'trade', trade: steam.statusOf(trade, bot) }
      }, UNAVAILABLE),
    listTrades: (since) =>
      ask<TradesAnswer>(() => {
        const trades = steam
          .current()
          .trades.filter(({ sender, atS }) => sender === bot && atS * 1_000 >= since.getTime())
          .map((trade) => steam.statusOf(trade, bot))
        return { kind: 'trades', trades, unreadable: 0 }
      }, UNAVAILABLE),
    acknowledgeProtection: async () => ({ kind: 'done' }),
    close: () => {},
  }
}
