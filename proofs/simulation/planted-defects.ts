/** Known defects, put in by hand: the simulation must find each. Rules that are not named here stay as they are. */
import type { SteamTrade } from '../../gateway/steam/steam.ts'
import { CORE, type Core } from '../../gateway/trades/core.ts'
import { isDeliverable, isDelivered, isEnded, type Trade } from '../../gateway/trades/trade.ts'

const { decide, evolve, judgeDeparture, compareWithBooks, settleDrift } = CORE
type Decide = Core['decide']

/** A delivered trade as a watcher saw it that read it before the other one delivered it. */
function asSeenBefore(trade: Trade): Trade {
  if (trade.state !== 'held' && trade.state !== 'final') return trade
  const { tradeId, partnerSteamId, secretCode, items, startedAt, offerId, steamTradeId, acceptedAt } = trade
  const open = { deadline: acceptedAt, settlesAt: null, cancelling: null, badEnd: null }
  const common = { tradeId, partnerSteamId, secretCode, items, startedAt, offerId, steamTradeId, acceptedAt }
  return { ...common, ...open, state: 'active' }
}

const creditsTwice: Partial<Core> = {
  decide: (trade, fact, around) =>
    decide(fact.kind === 'steam_trade_read' ? asSeenBefore(trade) : trade, fact, around),
  evolve: (trade, event) => evolve(event.kind === 'delivered' ? asSeenBefore(trade) : trade, event),
}

const creditsWithoutProof: Decide = (trade, fact, around) => {
  const isAccepted = fact.kind === 'offer_read' && fact.offer.state === 'accepted'
  if (!isAccepted || trade.state !== 'active' || fact.offer.tradeId === null)
    return decide(trade, fact, around)
  const steamTrade: SteamTrade = {
    tradeId: fact.offer.tradeId,
    partnerSteamId: trade.partnerSteamId,
    state: 'complete',
    received: trade.items.map((asset) => ({ ...asset, newAssetId: '1', rolledBackAssetId: null })),
    begunAt: around.now,
    given: [],
    settlesAt: null,
    rollbackOf: null,
  }
  return [{ kind: 'delivered', offerId: trade.offerId, steamTrade, settlesAt: null, at: around.now }]
}

const endsWithoutReading: Decide = (trade, fact, around) => {
  if (fact.kind !== 'cancelling' || trade.state !== 'active') return decide(trade, fact, around)
  const end = { state: 'timed_out', status: 'tradeTimeout', reason: 'deadline' } as const
  return [{ kind: 'ended', end, heldUntil: null, at: around.now }]
}

const sendsAgain: Decide = (trade, fact, around) => {
  const isUnknown = fact.kind === 'send_answered' && fact.answer.kind === 'unknown'
  if (!isUnknown || trade.state !== 'sending') return decide(trade, fact, around)
  return [{ kind: 'send_withdrawn', at: around.now }]
}

const ignoresLateAcceptance: Decide = (trade, fact, around) =>
  fact.kind === 'steam_trade_read' && isEnded(trade) ? [] : decide(trade, fact, around)

const believesOnce: Decide = (trade, fact, around) => {
  const isBad = fact.kind === 'offer_read' && fact.offer.state === 'invalid_items'
  if (!isBad || trade.state !== 'active' || trade.acceptedAt !== null) return decide(trade, fact, around)
  const end = { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'invalid_items' } as const
  return [{ kind: 'ended', end, heldUntil: null, at: around.now }]
}

const forgetsTheRest: Decide = (trade, fact, around) => {
  const isPart = fact.kind === 'steam_trade_read' && fact.steamTrade.state === 'partly_rolled_back'
  return isPart && isDeliverable(trade) ? [] : decide(trade, fact, around)
}

const reversesTwice: Core['evolve'] = (trade, event) =>
  event.kind === 'reversed' && isDelivered(trade) ? trade : evolve(trade, event)

const releasesUnseen: Decide = (trade, fact, around) => {
  const isDue = trade.state === 'held' && around.now >= trade.settlesAt
  if (fact.kind !== 'steam_trade_read' || !isDue) return decide(trade, fact, around)
  return [{ kind: 'released', at: around.now }]
}

const { consequences, alarm } = CORE
type Consequences = Core['consequences']
type Caused = ReturnType<Consequences>

/** The rule with other terms than those that were fixed. */
const withTerms =
  (terms: Partial<Parameters<Consequences>[1]['terms']>, riskRoom?: bigint): Consequences =>
  (trade, standing, event) => {
    const other = {
      ...standing,
      terms: { ...standing.terms, ...terms },
      riskRoom: riskRoom ?? standing.riskRoom,
    }
    return consequences(trade, other, event)
  }

/** The rule, with each effect changed or left out. */
const withEffects =
  (change: (effect: Caused['effects'][number]) => Caused['effects']): Consequences =>
  (trade, standing, event) => {
    const caused = consequences(trade, standing, event)
    return { ...caused, effects: caused.effects.flatMap(change) }
  }

const ALL_ROOM = 10n ** 12n

const releasesAll: Consequences = (trade, standing, event) => {
  const held = standing.held + standing.reversed
  return consequences(trade, event.kind === 'released' ? { ...standing, held } : standing, event)
}

const freesLostRoom: Consequences = (trade, standing, event) => {
  const caused = consequences(trade, standing, event)
  if (event.kind !== 'reversed') return caused
  const effects = caused.effects.map((effect) =>
    effect.kind === 'change_trade' ? { ...effect, change: { ...effect.change, atRisk: 0n } } : effect,
  )
  return { standing: { ...caused.standing, atRisk: 0n }, effects }
}

const neverProtected: Decide = (trade, fact, around) =>
  decide(trade, fact, around).map((event) =>
    event.kind === 'delivered' ? { ...event, settlesAt: null } : event,
  )

const takesAllBack: Decide = (trade, fact, around) =>
  decide(trade, fact, around).map((event) =>
    event.kind === 'reversed' ? { ...event, assetIds: trade.items.map(({ assetId }) => assetId) } : event,
  )

const ignoresCounters: Decide = (trade, fact, around) =>
  fact.kind === 'offer_read' && fact.offer.state === 'countered' ? [] : decide(trade, fact, around)

/** The deadline then cancels what Steam holds. */
const ignoresHolds: Decide = (trade, fact, around) =>
  fact.kind === 'offer_read' && fact.offer.state === 'in_escrow' ? [] : decide(trade, fact, around)

/** Takes a cancel for the shopper's word. */
const blamesTheShopper: Decide = (trade, fact, around) => {
  if (fact.kind !== 'offer_read' || fact.offer.state !== 'cancelled') return decide(trade, fact, around)
  return decide(trade, { ...fact, offer: { ...fact.offer, state: 'declined' } }, around)
}

const overlooksProtection: Decide = (trade, fact, around) =>
  decide(trade, fact, around).map((event) =>
    event.kind === 'protection_found' ? { kind: 'looked', next: null } : event,
  )

/** Of a trade that was taken back whole, believes the marks of Steam. */
const believesMarks: Decide = (trade, fact, around) => {
  if (fact.kind !== 'steam_trade_read' || fact.steamTrade.state !== 'rolled_back')
    return decide(trade, fact, around)
  const isMarked = fact.steamTrade.received.some(({ rolledBackAssetId }) => rolledBackAssetId !== null)
  const state = isMarked ? 'partly_rolled_back' : 'rolled_back'
  return decide(trade, { ...fact, steamTrade: { ...fact.steamTrade, state } }, around)
}

/** Takes what is under way for arrived. */
const creditsUnderWay: Decide = (trade, fact, around) => {
  if (fact.kind !== 'steam_trade_read' || fact.steamTrade.state !== 'pending')
    return decide(trade, fact, around)
  return decide(trade, { ...fact, steamTrade: { ...fact.steamTrade, state: 'complete' } }, around)
}

const forgetsUnknown: Core['alarm'] = (trade, now) => (trade.state === 'unknown' ? null : alarm(trade, now))

const neverGivesUp: Decide = (trade, fact, around) =>
  fact.kind === 'given_up' && fact.because === 'unresolved' ? [] : decide(trade, fact, around)

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
  'nothing is ever held': defect({ consequences: withTerms({ creditMode: 'on_accept' }, ALL_ROOM) }),
  'on_release is ignored': defect({ consequences: withTerms({ creditMode: 'on_accept' }) }),
  'the limit is ignored': defect({
    consequences: (trade, standing, event) => consequences(trade, { ...standing, riskRoom: ALL_ROOM }, event),
  }),
  'reversals are always the operator’s': defect({ consequences: withTerms({ liability: 'operator' }) }),
  'reversals are always the store’s': defect({ consequences: withTerms({ liability: 'store' }) }),
  'a reversal gives its room back': defect({ consequences: freesLostRoom }),
  'protection is never seen': defect({ decide: neverProtected }),
  'a release also releases what was reversed': defect({ consequences: releasesAll }),
  'a reversal in part takes everything back': defect({ decide: takesAllBack }),
  'items stay taken after the end': defect({
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
  'a store is not told of a reversal': defect({
    consequences: withEffects((effect) =>
      effect.kind === 'publish' && effect.event.kind === 'change' && effect.event.change === 'reversed'
        ? []
        : [effect],
    ),
  }),
  'who took items back is trusted as before': defect({
    consequences: withEffects((effect) => (effect.kind === 'credit_on_release' ? [] : [effect])),
  }),
  'until when funds are held is forgotten': defect({
    consequences: withEffects((effect) =>
      effect.kind === 'change_deposit'
        ? [{ ...effect, change: { ...effect.change, heldUntil: null } }]
        : [effect],
    ),
  }),
  'a counter-offer ends nothing': defect({ decide: ignoresCounters }),
  'a held offer is cancelled': defect({ decide: ignoresHolds }),
  'a cancelled offer counts as declined': defect({ decide: blamesTheShopper }),
  'an exchange under way is credited': defect({ decide: creditsUnderWay }),
  'the automatic end never comes': defect({ decide: neverGivesUp }),
  'protection that is told late is overlooked': defect({ decide: overlooksProtection }),
  'a reversal takes back what Steam has marked': defect({ decide: believesMarks }),
  'an unknown send is never looked for': defect({ alarm: forgetsUnknown, retryAt: forgetsUnknown }),
  'a theft is taken for the operator’s own act': defect({
    judgeDeparture: (known, steamTrade, around) =>
      judgeDeparture(known, steamTrade, { ...around, destination: 'storage' }),
  }),
  'a reversed delivery is taken for a theft': defect({
    judgeDeparture: (known, steamTrade, around) =>
      judgeDeparture(known, { ...steamTrade, rollbackOf: null }, around),
  }),
  'another bot of the till is taken for a thief': defect({
    judgeDeparture: (known, steamTrade, around) =>
      judgeDeparture(known, steamTrade, { ...around, isOwnBot: false }),
  }),
  'what a destination sends back is overlooked': defect({ sentBack: () => [] }),
  'what came back stays away in custody': defect({
    judgeDeparture: (known, steamTrade, around) =>
      judgeDeparture(known, steamTrade, around).filter(({ kind }) => kind !== 'returned'),
  }),
  'what Steam holds counts as gone': defect({
    judgeDeparture: (known, steamTrade, around) =>
      judgeDeparture(
        known,
        steamTrade.state === 'in_escrow' ? { ...steamTrade, state: 'complete' } : steamTrade,
        around,
      ),
  }),
}

/** Of the looks at inventories, which only the pure level has. */
export const DRIFT_DEFECTS = {
  'a part of an inventory passes for all of it': defect({
    compareWithBooks: (books, looks, begunAt) =>
      compareWithBooks(
        books,
        looks.map((look) => ({ ...look, isComplete: true })),
        begunAt,
      ),
  }),
  'the first look makes a drift sure': defect({
    settleDrift: (noted, ...around) =>
      settleDrift(noted, ...around).map((each) => ({ ...each, isSure: true })),
  }),
  'what is missing is overlooked': defect({
    compareWithBooks: (...compared) => {
      const { found, learnt } = compareWithBooks(...compared)
      return { found: found.filter(({ kind }) => kind !== 'missing'), learnt }
    },
  }),
} satisfies Record<string, Core>
