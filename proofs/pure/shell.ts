/** What the holder of a bot's lease does, step by step as the services do it: every wait is a chance for all others. */

import type { Offer, Unavailable } from '../../gateway/steam/steam.ts'
import type { Fact } from '../../gateway/trades/decide.ts'
import { isOfferOf, isWhatWasAskedFor } from '../../gateway/trades/decide.ts'
import { judgeExchange, type Proof } from '../../gateway/trades/proof.ts'
import { LIST_MARGIN_MS, SEARCH_MARGIN_MS, WRITE_DEADLINE_MS } from '../../gateway/trades/send.ts'
import { isDelivered, isEnded, type Trade } from '../../gateway/trades/trade.ts'
import type { Fault } from '../faults.ts'
import type { Core } from './core.ts'
import { JobFailed, type Process, type Task, timeOf } from './process.ts'
import type { Bot, TradeRow } from './rows.ts'
import type { Sim, Steam } from './steam.ts'
import type { Recorded, Source, Till } from './till.ts'

export type Shell = Sim & {
  core: Core
  till: Till
  steam: Steam
  outage: { isDown: boolean; isKnown: boolean }
}
/** A process at a bot, under the lease it had when it began. */
export type Hand = { process: Process; bot: Bot; epoch: bigint }

const TIMEOUT_MS = 10_000
/** A send whose answer is lost is what most may go wrong after. */
const SEND_RISK = 0.05
const UNAVAILABLE: Unavailable = { kind: 'unavailable', reason: 'timeout', detail: 'simulated' }

const mayWrite = (sim: Shell, { process, bot }: Hand): boolean =>
  (process.leases.get(bot.number)?.endsAt ?? 0) - sim.engine.now() > WRITE_DEADLINE_MS

const sourceOf = (hand: Hand, row: TradeRow): Source => ({ row, writer: { epoch: hand.epoch } })

/** A call to Steam: on its way, done, and on its way back. `lost`: what is known when no answer comes. */
function* ask<T>(sim: Shell, act: () => T, lost: T, risk = 0.012): Task<T> {
  const { random, faults, outage } = sim
  yield random.between(20, 400)
  if (outage.isDown) return lost
  if (faults.strike('answer lost before Steam acted', 0.01)) {
    yield random.between(1_000, TIMEOUT_MS)
    return lost
  }
  const answer = act()
  const isLost = faults.strike('answer lost after Steam acted', risk)
  yield isLost ? random.between(1_000, TIMEOUT_MS) : random.between(20, 400)
  return isLost ? lost : answer
}

/** One commit. It may have to be repeated, and its answer may be lost. */
export function* commit<T>(sim: Sim, act: () => T): Task<T> {
  const { random, faults } = sim
  yield random.between(1, 10)
  if (faults.strike('serialization failure', 0.003)) yield random.between(1, 50)
  const done = act()
  if (faults.strike('commit answered by nobody', 0.001))
    throw new JobFailed('the connection broke at the commit')
  yield random.between(1, 10)
  return done
}

function* record(sim: Shell, hand: Hand, row: TradeRow, fact: Fact): Task<Recorded | undefined> {
  return yield* commit(sim, () => sim.till.record(sourceOf(hand, row), fact, timeOf(sim, hand.process)))
}

function* later(sim: Shell, hand: Hand, row: TradeRow, seen: Trade): Task {
  const when = sim.core.retryAt(seen, timeOf(sim, hand.process))
  yield* commit(sim, () => sim.till.later(sourceOf(hand, row), seen, when))
}

/** Does what is due for a trade, and what that makes due. */
export function* advance(sim: Shell, hand: Hand, row: TradeRow): Task {
  const done = new Set<string>(['nothing'])
  for (;;) {
    yield sim.random.between(1, 10)
    const seen = row.trade
    const next = sim.core.due(seen, timeOf(sim, hand.process), { steamDown: sim.outage.isKnown })
    if (done.has(next)) return
    yield* act(sim, hand, { row, seen, next })
    done.add(next).add('review')
    if (next === 'send' || next === 'reconcile') done.add('read')
  }
}

type Step = { row: TradeRow; seen: Trade; next: ReturnType<Core['due']> }

function* act(sim: Shell, hand: Hand, { row, seen, next }: Step): Task {
  switch (next) {
    case 'send':
      return yield* send(sim, hand, row, seen)
    case 'give_up':
      yield* commit(sim, () => sim.till.record({ row }, { kind: 'nobody_came' }, timeOf(sim, hand.process)))
      return
    case 'reconcile':
      return yield* reconcile(sim, hand, row, seen)
    case 'read':
      return yield* read(sim, hand, row, seen)
    case 'prove':
    case 'settle':
    case 'last_look':
      if ((seen.state !== 'active' && !isDelivered(seen)) || seen.steamTradeId === null) return
      yield* prove(sim, hand, row, { seen, tradeId: seen.steamTradeId, offerId: seen.offerId })
      return
    case 'cancel':
      return yield* cancel(sim, hand, row, seen)
    case 'review':
      return yield* review(sim, hand, row, seen)
    case 'nothing':
      return
    default:
      return next satisfies never
  }
}

function* send(sim: Shell, hand: Hand, row: TradeRow, seen: Trade): Task {
  if (!mayWrite(sim, hand)) return yield* later(sim, hand, row, seen)
  const claimed = yield* record(sim, hand, row, { kind: 'sending' })
  if (claimed === undefined || claimed.events.length === 0) return
  if (!mayWrite(sim, hand)) {
    yield* record(sim, hand, row, { kind: 'not_sent' })
    return
  }
  const { secretCode: message, partnerSteamId: partner } = seen
  const parcel = { botId: hand.bot.number, partner, assets: row.assets, message }
  const lost = { kind: 'unknown', detail: 'simulated' } as const
  const answer = yield* ask(sim, () => sim.steam.send(parcel), lost, SEND_RISK)
  const recorded = yield* record(sim, hand, row, { kind: 'send_answered', answer })
  if (answer.kind !== 'sent') return
  const isOurs = recorded && 'offerId' in recorded.trade && recorded.trade.offerId === answer.offerId
  if (!isOurs && mayWrite(sim, hand)) yield* ask(sim, () => sim.steam.cancel(answer.offerId), UNAVAILABLE)
}

function* reconcile(sim: Shell, hand: Hand, row: TradeRow, seen: Trade): Task {
  if (seen.state !== 'sending' && seen.state !== 'unknown') return
  const since = new Date(seen.startedAt.getTime() - SEARCH_MARGIN_MS)
  const answer = yield* ask(sim, () => sim.steam.list(hand.bot.number, since), UNAVAILABLE)
  if (answer.kind === 'unavailable') return yield* later(sim, hand, row, seen)
  const { offers, unreadable } = answer
  yield* record(sim, hand, row, { kind: 'listed', offers, unreadable })
  const found = offers.find((offer) => isWhatWasAskedFor(seen, offer))
  if (found !== undefined) yield* record(sim, hand, row, { kind: 'offer_read', offer: found })
}

function* read(sim: Shell, hand: Hand, row: TradeRow, seen: Trade): Task {
  if (seen.state !== 'active') return
  const answer = yield* ask(sim, () => sim.steam.read(seen.offerId), UNAVAILABLE)
  if (answer.kind !== 'offer') return yield* later(sim, hand, row, seen)
  yield* record(sim, hand, row, { kind: 'offer_read', offer: answer.offer })
}

type Accepted = { seen: Trade; tradeId: string; offerId: string }

function* prove(sim: Shell, hand: Hand, row: TradeRow, proof: Accepted): Task<Proof['kind'] | undefined> {
  const answer = yield* ask(sim, () => sim.steam.status(proof.tradeId), UNAVAILABLE)
  if (answer.kind !== 'trade') {
    yield* later(sim, hand, row, proof.seen)
    return undefined
  }
  const { trade: exchange } = answer
  const { kind } = judgeExchange(proof.seen, exchange)
  if (kind === 'contradiction') throw new Error('Steam contradicts itself')
  const recorded = yield* record(sim, hand, row, { kind: 'exchange_read', offerId: proof.offerId, exchange })
  return recorded && kind
}

function* cancel(sim: Shell, hand: Hand, row: TradeRow, seen: Trade): Task {
  if (seen.state !== 'active') return
  if (!mayWrite(sim, hand)) return yield* later(sim, hand, row, seen)
  const recorded = yield* record(sim, hand, row, { kind: 'cancelling', because: 'deadline' })
  if (recorded?.trade.state !== 'active' || recorded.trade.acceptedAt !== null) return
  yield* ask(sim, () => sim.steam.cancel(seen.offerId), UNAVAILABLE)
  const answer = yield* ask(sim, () => sim.steam.read(seen.offerId), UNAVAILABLE)
  if (answer.kind === 'offer') yield* record(sim, hand, row, { kind: 'offer_read', offer: answer.offer })
}

/** One list read for all open offers of the bot. */
export function* watch(sim: Shell, hand: Hand): Task {
  const active = [...hand.bot.open].filter(({ trade }) => trade.state === 'active')
  if (active.length === 0) return
  const oldest = Math.min(...active.map((row) => row.createdAt))
  const since = new Date(oldest - LIST_MARGIN_MS)
  const answer = yield* ask(sim, () => sim.steam.list(hand.bot.number, since), UNAVAILABLE)
  if (answer.kind === 'unavailable') return
  const ours = new Map(active.map((row) => ['offerId' in row.trade ? row.trade.offerId : null, row]))
  const strays: Offer[] = []
  for (const offer of answer.offers) {
    const row = ours.get(offer.offerId)
    if (row === undefined) {
      strays.push(offer)
      continue
    }
    const isDue = row.dueAt !== null && row.dueAt <= timeOf(sim, hand.process)
    const recorded = yield* record(sim, hand, row, { kind: 'offer_read', offer })
    if (recorded && (isDue || recorded.events.length > 0)) yield* advance(sim, hand, row)
  }
  for (const offer of strays) yield* tendIfStray(sim, hand, offer)
}

const UNSENT = ['intended', 'sending', 'unknown']

function* tendIfStray(sim: Shell, hand: Hand, offer: Offer): Task {
  const row = sim.till.byCode.get(offer.message)
  if (row === undefined || UNSENT.includes(row.trade.state)) return
  if (isDelivered(row.trade) && row.trade.steamTradeId === offer.tradeId) return
  yield* tendStray(sim, hand, { row, seen: row.trade, offer })
}

type Stray = { row: TradeRow; seen: Trade; offer: Offer }

function* tendStray(sim: Shell, hand: Hand, { row, seen, offer }: Stray): Task {
  const verdict = sim.core.judgeStray(offer)
  if (verdict.kind === 'nothing') return
  if (seen.state === 'abandoned') sim.faults.saw('abandoned offer turns up')
  const { offerId } = offer
  if (verdict.kind === 'prove') {
    return yield* proveStray(sim, hand, row, { seen, tradeId: verdict.steamTradeId, offerId })
  }
  if (!mayWrite(sim, hand)) return
  yield* ask(sim, () => sim.steam.cancel(offerId), UNAVAILABLE)
  const answer = yield* ask(sim, () => sim.steam.read(offerId), UNAVAILABLE)
  if (answer.kind !== 'offer') return
  const after = sim.core.judgeStray(answer.offer)
  if (after.kind === 'prove') {
    yield* proveStray(sim, hand, row, { seen, tradeId: after.steamTradeId, offerId })
  }
}

function* proveStray(sim: Shell, hand: Hand, row: TradeRow, proof: Accepted): Task {
  const kind = yield* prove(sim, hand, row, proof)
  if (kind !== 'not_yet' || !isEnded(proof.seen)) return
  yield* later(sim, hand, row, proof.seen)
}

function* review(sim: Shell, hand: Hand, row: TradeRow, seen: Trade): Task {
  if (!isEnded(seen) || seen.startedAt === null) return
  const offers = yield* offersOf(sim, hand, seen)
  if (offers === undefined) return yield* later(sim, hand, row, seen)
  const when = sim.core.alarm(seen, timeOf(sim, hand.process))
  yield* commit(sim, () => sim.till.later(sourceOf(hand, row), seen, when))
  for (const offer of offers) yield* tendStray(sim, hand, { row, seen, offer })
}

function* offersOf(sim: Shell, hand: Hand, seen: Trade): Task<Offer[] | undefined> {
  if (!isEnded(seen) || seen.startedAt === null) return []
  const { offerId, startedAt } = seen
  if (offerId !== null) {
    const answer = yield* ask(sim, () => sim.steam.read(offerId), UNAVAILABLE)
    if (answer.kind === 'unavailable') return undefined
    return answer.kind === 'offer' ? [answer.offer] : []
  }
  const since = new Date(startedAt.getTime() - SEARCH_MARGIN_MS)
  const answer = yield* ask(sim, () => sim.steam.list(hand.bot.number, since), UNAVAILABLE)
  if (answer.kind === 'unavailable') return undefined
  return answer.offers.filter((offer) => isOfferOf(seen, offer))
}

/** The fault that an acceptance is, if the till has ended the trade by now. */
export function lateFault(trade: Trade): Fault | undefined {
  return isEnded(trade) ? `acceptance after ${trade.state}` : undefined
}
