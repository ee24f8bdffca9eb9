/** Known defects to plant. The simulation must find each. */
import type { SteamTrade } from '../../gateway/steam/steam.ts'
import { CORE, type Core } from '../../gateway/trades/core.ts'
import { isDeliverable, isDelivered, isEnded, type Trade } from '../../gateway/trades/trade.ts'

const { decide, evolve, judgeDeparture, compareWithCustody, settleDrift } = CORE
type Decide = Core['decide']

/** A delivered trade as it was before its delivery. A watcher that read the trade earlier still sees it like this. */
function asSeenBefore(trade: Trade): Trade {
  if (trade.state !== 'held' && trade.state !== 'final') return trade
  const { tradeId, partnerSteamId, secretCode, items, startedAt, offerId, steamTradeId, acceptedAt } = trade
  const open = { deadline: acceptedAt, settlesAt: null, cancelling: null, badEnd: null }
  const common = { tradeId, partnerSteamId, secretCode, items, startedAt, offerId, steamTradeId, acceptedAt }
  return { ...common, ...open, state: 'active' }
}

const creditsTwice: Partial<Core> = {
  decide: (trade, fact, context) =>
    decide(fact.kind === 'steam_trade_read' ? asSeenBefore(trade) : trade, fact, context),
  evolve: (trade, event) => evolve(event.kind === 'delivered' ? asSeenBefore(trade) : trade, event),
}

const creditsWithoutProof: Decide = (trade, fact, context) => {
  const isAccepted = fact.kind === 'offer_read' && fact.offer.state === 'accepted'
  if (!isAccepted || trade.state !== 'active' || fact.offer.tradeId === null)
    return decide(trade, fact, context)
  const steamTrade: SteamTrade = {
    tradeId: fact.offer.tradeId,
    partnerSteamId: trade.partnerSteamId,
    state: 'complete',
    received: trade.items.map((asset) => ({ ...asset, newAssetId: '1', rolledBackAssetId: null })),
    begunAt: context.now,
    given: [],
    settlesAt: null,
    rollbackOf: null,
  }
  return [{ kind: 'delivered', offerId: trade.offerId, steamTrade, settlesAt: null, at: context.now }]
}

const endsWithoutReading: Decide = (trade, fact, context) => {
  if (fact.kind !== 'cancelling' || trade.state !== 'active') return decide(trade, fact, context)
  const end = { state: 'timed_out', status: 'tradeTimeout', reason: 'deadline' } as const
  return [{ kind: 'ended', end, steamHoldUntil: null, at: context.now }]
}

const sendsAgain: Decide = (trade, fact, context) => {
  const isUnknown = fact.kind === 'send_answered' && fact.answer.kind === 'unknown'
  if (!isUnknown || trade.state !== 'sending') return decide(trade, fact, context)
  return [{ kind: 'send_withdrawn', at: context.now }]
}

const ignoresLateAcceptance: Decide = (trade, fact, context) =>
  fact.kind === 'steam_trade_read' && isEnded(trade) ? [] : decide(trade, fact, context)

const believesOnce: Decide = (trade, fact, context) => {
  const isBad = fact.kind === 'offer_read' && fact.offer.state === 'invalid_items'
  if (!isBad || trade.state !== 'active' || trade.acceptedAt !== null) return decide(trade, fact, context)
  const end = { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'invalid_items' } as const
  return [{ kind: 'ended', end, steamHoldUntil: null, at: context.now }]
}

const forgetsTheRest: Decide = (trade, fact, context) => {
  const isPart = fact.kind === 'steam_trade_read' && fact.steamTrade.state === 'partly_rolled_back'
  return isPart && isDeliverable(trade) ? [] : decide(trade, fact, context)
}

const forgetsReversals: Core['evolve'] = (trade, event) =>
  event.kind === 'reversed' && isDelivered(trade) ? trade : evolve(trade, event)

const releasesUnseen: Decide = (trade, fact, context) => {
  const isDue = trade.state === 'held' && context.now >= trade.settlesAt
  if (fact.kind !== 'steam_trade_read' || !isDue) return decide(trade, fact, context)
  return [{ kind: 'released', at: context.now }]
}

const { consequences, alarm } = CORE
type Consequences = Core['consequences']
type Caused = ReturnType<Consequences>

/** `consequences` with terms other than those fixed at delivery. */
const withTerms =
  (terms: Partial<Parameters<Consequences>[1]['terms']>, riskRoom?: bigint): Consequences =>
  (trade, funds, event) => {
    const changedFunds = {
      ...funds,
      terms: { ...funds.terms, ...terms },
      riskRoom: riskRoom ?? funds.riskRoom,
    }
    return consequences(trade, changedFunds, event)
  }

/** `consequences` with each effect changed or omitted. */
const withEffects =
  (change: (effect: Caused['effects'][number]) => Caused['effects']): Consequences =>
  (trade, funds, event) => {
    const caused = consequences(trade, funds, event)
    return { ...caused, effects: caused.effects.flatMap(change) }
  }

const ALL_ROOM = 10n ** 12n

const releasesAll: Consequences = (trade, funds, event) => {
  const held = funds.held + funds.reversed
  return consequences(trade, event.kind === 'released' ? { ...funds, held } : funds, event)
}

const freesLostRoom: Consequences = (trade, funds, event) => {
  const caused = consequences(trade, funds, event)
  if (event.kind !== 'reversed') return caused
  const effects = caused.effects.map((effect) =>
    effect.kind === 'change_trade' ? { ...effect, change: { ...effect.change, atRisk: 0n } } : effect,
  )
  return { funds: { ...caused.funds, atRisk: 0n }, effects }
}

const neverProtected: Decide = (trade, fact, context) =>
  decide(trade, fact, context).map((event) =>
    event.kind === 'delivered' ? { ...event, settlesAt: null } : event,
  )

const takesAllBack: Decide = (trade, fact, context) =>
  decide(trade, fact, context).map((event) =>
    event.kind === 'reversed' ? { ...event, assetIds: trade.items.map(({ assetId }) => assetId) } : event,
  )

const ignoresCounters: Decide = (trade, fact, context) =>
  fact.kind === 'offer_read' && fact.offer.state === 'countered' ? [] : decide(trade, fact, context)

const ignoresEscrow: Decide = (trade, fact, context) =>
  fact.kind === 'offer_read' && fact.offer.state === 'in_escrow' ? [] : decide(trade, fact, context)

const blamesTheShopper: Decide = (trade, fact, context) => {
  if (fact.kind !== 'offer_read' || fact.offer.state !== 'cancelled') return decide(trade, fact, context)
  return decide(trade, { ...fact, offer: { ...fact.offer, state: 'declined' } }, context)
}

const overlooksProtection: Decide = (trade, fact, context) =>
  decide(trade, fact, context).map((event) =>
    event.kind === 'protection_found' ? { kind: 'looked', next: null } : event,
  )

/** If Steam marks some items of a trade that wholly went back (`rolledBackAssetId`), believes that only these did. */
const believesMarks: Decide = (trade, fact, context) => {
  if (fact.kind !== 'steam_trade_read' || fact.steamTrade.state !== 'rolled_back')
    return decide(trade, fact, context)
  const isMarked = fact.steamTrade.received.some(({ rolledBackAssetId }) => rolledBackAssetId !== null)
  const state = isMarked ? 'partly_rolled_back' : 'rolled_back'
  return decide(trade, { ...fact, steamTrade: { ...fact.steamTrade, state } }, context)
}

const creditsUnderWay: Decide = (trade, fact, context) => {
  if (fact.kind !== 'steam_trade_read' || fact.steamTrade.state !== 'pending')
    return decide(trade, fact, context)
  return decide(trade, { ...fact, steamTrade: { ...fact.steamTrade, state: 'complete' } }, context)
}

const forgetsUnknown: Core['alarm'] = (trade, now) => (trade.state === 'unknown' ? null : alarm(trade, now))

const neverGivesUp: Decide = (trade, fact, context) =>
  fact.kind === 'given_up' && fact.because === 'unresolved' ? [] : decide(trade, fact, context)

const defect = (change: Partial<Core>): Core => ({ ...CORE, ...change })

export const DEFECTS = {
  'two watchers credit one Steam trade': defect(creditsTwice),
  'an offer in state 3 is credited without proof': defect({ decide: creditsWithoutProof }),
  'the deadline ends a trade without reading back': defect({ decide: endsWithoutReading }),
  'an unknown send is sent again': defect({ decide: sendsAgain }),
  'a late acceptance is ignored': defect({ decide: ignoresLateAcceptance }),
  'a bad end is believed at the first report': defect({ decide: believesOnce }),
  'the rest of a Steam trade that was reversed in part is not credited': defect({ decide: forgetsTheRest }),
  'a reversal is forgotten': defect({ evolve: forgetsReversals }),
  'funds are released whatever Steam reports': defect({ decide: releasesUnseen }),
  'no credit is ever held': defect({ consequences: withTerms({ creditMode: 'on_accept' }, ALL_ROOM) }),
  'on_release is ignored': defect({ consequences: withTerms({ creditMode: 'on_accept' }) }),
  'the limit is ignored': defect({
    consequences: (trade, funds, event) => consequences(trade, { ...funds, riskRoom: ALL_ROOM }, event),
  }),
  'an early release is not at risk': defect({
    consequences: (trade, funds, event) => {
      const caused = consequences(trade, funds, event)
      if (event.kind !== 'released_early') return caused
      return { ...caused, effects: caused.effects.filter(({ kind }) => kind !== 'change_room') }
    },
  }),
  'the operator pays for every reversal': defect({ consequences: withTerms({ liability: 'operator' }) }),
  'the store pays for every reversal': defect({ consequences: withTerms({ liability: 'store' }) }),
  'a reversal frees its room in the limit': defect({ consequences: freesLostRoom }),
  'protection is never seen': defect({ decide: neverProtected }),
  'a release also releases what was reversed': defect({ consequences: releasesAll }),
  'a reversal in part takes everything back': defect({ decide: takesAllBack }),
  'items stay reserved after their trade has ended': defect({
    consequences: withEffects((effect) => (effect.kind === 'free_items' ? [] : [effect])),
  }),
  'a reversal is not written into custody': defect({
    consequences: withEffects((effect) =>
      effect.kind === 'record_custody' && effect.moved === 'back' ? [] : [effect],
    ),
  }),
  'the commission of a reversal is kept': defect({
    consequences: withEffects((effect) =>
      effect.kind === 'post'
        ? [{ ...effect, movements: effect.movements.filter(({ cause }) => cause !== 'commission_reversed') }]
        : [effect],
    ),
  }),
  'a store does not hear of a reversal': defect({
    consequences: withEffects((effect) =>
      effect.kind === 'publish' && effect.event.kind === 'change' && effect.event.change === 'reversed'
        ? []
        : [effect],
    ),
  }),
  'a shopper who took items back is still trusted': defect({
    consequences: withEffects((effect) => (effect.kind === 'credit_on_release' ? [] : [effect])),
  }),
  'the date until which credit is held is forgotten': defect({
    consequences: withEffects((effect) =>
      effect.kind === 'change_deposit'
        ? [{ ...effect, change: { ...effect.change, heldUntil: null } }]
        : [effect],
    ),
  }),
  'a counter-offer ends nothing': defect({ decide: ignoresCounters }),
  'an offer in escrow is cancelled': defect({ decide: ignoresEscrow }),
  'a cancelled offer counts as declined': defect({ decide: blamesTheShopper }),
  'a Steam trade under way is credited': defect({ decide: creditsUnderWay }),
  'the automatic end never comes': defect({ decide: neverGivesUp }),
  'protection that is reported late is overlooked': defect({ decide: overlooksProtection }),
  'a reversal takes back only the items that Steam has marked': defect({ decide: believesMarks }),
  'the till never looks for an unknown send': defect({ alarm: forgetsUnknown, retryAt: forgetsUnknown }),
  'a theft counts as the operator’s own act': defect({
    judgeDeparture: (known, steamTrade, context) =>
      judgeDeparture(known, steamTrade, { ...context, destination: 'storage' }),
  }),
  'a reversed delivery counts as a theft': defect({
    judgeDeparture: (known, steamTrade, context) =>
      judgeDeparture(known, { ...steamTrade, rollbackOf: null }, context),
  }),
  'another bot of the till counts as a thief': defect({
    judgeDeparture: (known, steamTrade, context) =>
      judgeDeparture(known, steamTrade, { ...context, isOwnBot: false }),
  }),
  'items that a destination sends back are overlooked': defect({ itemsSentBack: () => [] }),
  'items that came back are not booked back': defect({
    judgeDeparture: (known, steamTrade, context) =>
      judgeDeparture(known, steamTrade, context).filter(({ kind }) => kind !== 'returned'),
  }),
  'items that Steam holds count as gone': defect({
    judgeDeparture: (known, steamTrade, context) =>
      judgeDeparture(
        known,
        steamTrade.state === 'in_escrow' ? { ...steamTrade, state: 'complete' } : steamTrade,
        context,
      ),
  }),
}

/** Defects in the checks of inventories, which only the pure level runs. */
export const DRIFT_DEFECTS = {
  'a part of an inventory counts as all of it': defect({
    compareWithCustody: (books, looks, begunAt) =>
      compareWithCustody(
        books,
        looks.map((look) => ({ ...look, isComplete: true })),
        begunAt,
      ),
  }),
  'drift is certain after the first look': defect({
    settleDrift: (noted, ...context) =>
      settleDrift(noted, ...context).map((each) => ({ ...each, isSure: true })),
  }),
  'missing items are overlooked': defect({
    compareWithCustody: (...compared) => {
      const { findings, learnt } = compareWithCustody(...compared)
      return { findings: findings.filter(({ kind }) => kind !== 'missing'), learnt }
    },
  }),
} satisfies Record<string, Core>
