/** Known defects, put in by hand: the simulation must find each. What is not named here stays as it is. */
import type { TradeStatus } from '../../gateway/steam/steam.ts'
import { isDeliverable, isDelivered, isEnded, type Trade } from '../../gateway/trades/trade.ts'
import { CORE, type Core } from './core.ts'

const { decide, evolve } = CORE
type Decide = Core['decide']

/** A delivered trade as a watcher saw it that read it before the other one delivered it. */
function asSeenBefore(trade: Trade): Trade {
  if (trade.state !== 'held' && trade.state !== 'final') return trade
  const { tradeId, partnerSteamId, secretCode, items, startedAt, offerId, steamTradeId, acceptedAt } = trade
  const open = { deadline: acceptedAt, cancelling: null, badEnd: null }
  const common = { tradeId, partnerSteamId, secretCode, items, startedAt, offerId, steamTradeId, acceptedAt }
  return { ...common, ...open, state: 'active' }
}

const creditsTwice: Partial<Core> = {
  decide: (trade, fact, around) =>
    decide(fact.kind === 'exchange_read' ? asSeenBefore(trade) : trade, fact, around),
  evolve: (trade, event) => evolve(event.kind === 'delivered' ? asSeenBefore(trade) : trade, event),
}

const creditsWithoutProof: Decide = (trade, fact, around) => {
  const isAccepted = fact.kind === 'offer_read' && fact.offer.state === 'accepted'
  if (!isAccepted || trade.state !== 'active' || fact.offer.tradeId === null)
    return decide(trade, fact, around)
  const exchange: TradeStatus = {
    tradeId: fact.offer.tradeId,
    partnerSteamId: trade.partnerSteamId,
    state: 'complete',
    received: trade.items.map((asset) => ({ ...asset, newAssetId: '1', rolledBackAssetId: null })),
    settlesAt: null,
    rollbackOf: null,
  }
  return [{ kind: 'delivered', offerId: trade.offerId, exchange, settlesAt: null, at: around.now }]
}

const endsWithoutReading: Decide = (trade, fact, around) => {
  if (fact.kind !== 'cancelling' || trade.state !== 'active') return decide(trade, fact, around)
  const end = { state: 'timed_out', status: 'tradeTimeout', reason: 'deadline' } as const
  return [{ kind: 'ended', end, at: around.now }]
}

const sendsAgain: Decide = (trade, fact, around) => {
  const isUnknown = fact.kind === 'send_answered' && fact.answer.kind === 'unknown'
  if (!isUnknown || trade.state !== 'sending') return decide(trade, fact, around)
  return [{ kind: 'send_withdrawn', at: around.now }]
}

const ignoresLateAcceptance: Decide = (trade, fact, around) =>
  fact.kind === 'exchange_read' && isEnded(trade) ? [] : decide(trade, fact, around)

const believesOnce: Decide = (trade, fact, around) => {
  const isBad = fact.kind === 'offer_read' && fact.offer.state === 'invalid_items'
  if (!isBad || trade.state !== 'active' || trade.acceptedAt !== null) return decide(trade, fact, around)
  const end = { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'invalid_items' } as const
  return [{ kind: 'ended', end, at: around.now }]
}

const forgetsTheRest: Decide = (trade, fact, around) => {
  const isPart = fact.kind === 'exchange_read' && fact.exchange.state === 'partly_rolled_back'
  return isPart && isDeliverable(trade) ? [] : decide(trade, fact, around)
}

const reversesTwice: Core['evolve'] = (trade, event) =>
  event.kind === 'reversed' && isDelivered(trade) ? trade : evolve(trade, event)

const releasesUnseen: Decide = (trade, fact, around) => {
  const isDue = trade.state === 'held' && around.now >= trade.settlesAt
  if (fact.kind !== 'exchange_read' || !isDue) return decide(trade, fact, around)
  return [{ kind: 'released', at: around.now }]
}

const defect = (change: Partial<Core>): Core => ({ ...CORE, ...change })

export const DEFECTS = {
  'two watchers credit one exchange': defect(creditsTwice),
  'an offer in state 3 is credited without proof': defect({ decide: creditsWithoutProof }),
  'the deadline ends a trade without reading back': defect({ decide: endsWithoutReading }),
  'an unknown send is sent again': defect({ decide: sendsAgain }),
  'a late acceptance is ignored': defect({ decide: ignoresLateAcceptance }),
  'a bad end is believed at the first word': defect({ decide: believesOnce }),
  'what is left of a reversed exchange is not credited': defect({ decide: forgetsTheRest }),
  'a reversal is forgotten': defect({ evolve: reversesTwice }),
  'funds are released whatever Steam says': defect({ decide: releasesUnseen }),
}
