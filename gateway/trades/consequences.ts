/** The effects of a trade's events: on its deposit, the ledger, the custody of items and the store's events. Pure. */
import type { DepositStatus } from '../../contract/statuses.ts'
import type { BarReason } from '../bots/bar.ts'
import type { CreditMode, Liability } from '../db/trade-tables.ts'
import { type DepositCause, decideDeposit } from '../deposits/deposit.ts'
import { deliveryMovements, heldPart, least, type Movement, releaseMovements } from '../ledger/entry.ts'
import { chargedBy, reversalMovements } from '../ledger/reversal.ts'
import { lineOfEnd, lineOfHold, lineOfUnwatched } from './giving-up.ts'
import { type RoomChange, roomChange, roomOfDelivery } from './room.ts'
import type { Trade, TradeEvent } from './trade.ts'
import { lostOf, withReceived, worthOf } from './worth.ts'

/** How a store is credited, and who bears a reversal. Fixed on the trade at its delivery. */
export type Terms = { creditMode: CreditMode; liability: Liability; riskLimitUsdCents: bigint }

export type ItemWorth = { price: bigint; gross: bigint; receivedAssetId: string | null }

/** The deposit of a trade, as it is kept. Amounts are minor units. */
export type DepositStanding = {
  status: DepositStatus
  expiresAt: Date
  credited: bigint | null
  held: bigint
  reversed: bigint
  /** The part that the store paid for. The rest is the operator's loss. */
  charged: bigint
  /** Until when other trades of the deposit hold credit; null if none does. */
  othersHeldUntil: Date | null
}

/** The money of a trade and of its deposit, read under their locks. Amounts are minor units of one currency. */
export type Standing = {
  deposit: DepositStanding
  /** The store's credit, and the worth of the items before commission. */
  total: bigint
  gross: bigint
  held: bigint
  reversed: bigint
  /** Credit given before Steam's protection ended. It uses the store's limit. */
  atRisk: bigint
  /** When credit lost to a reversal stops using the limit; null while nothing was lost. */
  atRiskUntil: Date | null
  /** How many times the trade was reversed before. */
  reversals: number
  settlesAt: Date | null
  /** Fixed at delivery; before that, the current settings. */
  terms: Terms
  /** How much may still be credited before protection ends. Read only if a protected delivery needs it. */
  riskRoom: bigint
  /** By the shopper's asset id. */
  items: ReadonlyMap<string, ItemWorth>
}

type DepositChange = { credited?: bigint; heldUntil?: Date | null } & Partial<
  Pick<DepositStanding, 'status' | 'held' | 'reversed' | 'charged'>
>

type TradeMoneyChange = {
  deliveredAt?: Date
  held?: bigint
  reversed?: bigint
  atRisk?: bigint
  atRiskUntil?: Date | null
  protectionFoundAt?: Date
  terms?: Terms
  creditedByOperator?: true
  releasedByOperator?: true
  reversedByOperator?: true
}

export type Published =
  | { kind: 'status'; status: Exclude<DepositStatus, 'created'> }
  /** A change by a trade to a deposit that has succeeded. `part` counts those of its kind, from 0. */
  | { kind: 'change'; change: 'amountIncreased' | 'fundsAvailable' | 'reversed'; part: number }

type MovedItem = { assetId: string; receivedAssetId: string | null }

export type Effect =
  /** The items stay with the shopper, so other trades may name the assets again. */
  | { kind: 'free_items' }
  | { kind: 'receive_items'; items: readonly MovedItem[] }
  | { kind: 'reverse_items'; assetIds: readonly string[]; at: Date }
  | { kind: 'record_custody'; moved: 'in' | 'back'; items: readonly MovedItem[]; at: Date }
  | { kind: 'change_trade'; change: TradeMoneyChange }
  | { kind: 'change_deposit'; change: DepositChange }
  /** Wakes the trade's bot. */
  | { kind: 'wake'; at: Date }
  /** Appends an event, with the deposit as the earlier effects left it. */
  | { kind: 'publish'; event: Published }
  | { kind: 'post'; movements: Movement[]; part: number; mayOwe: boolean; at: Date }
  /** Comes before the posting, so deliveries are posted in the order in which they used the limit. */
  | RoomChange
  /** The shopper reversed a trade: their next deliveries are credited on release. */
  | { kind: 'credit_on_release'; at: Date }
  /** Adds to the total of reversals of the store. */
  | { kind: 'count_reversed'; amount: bigint }
  /** Steam refused the trade's bot, so it gets no new trades for a while. */
  | { kind: 'bar_bot'; reason: BarReason; at: Date }
  /** Steam accepted an offer of the trade's bot, so its pauses are over. */
  | { kind: 'trust_bot' }
  /** Steam refused this bot, but not the trade's bot, for the same items. */
  | { kind: 'doubt_bot'; botId: bigint }
  /** Another bot tries the same items for the same deposit, if one is free. */
  | { kind: 'move_to_other_bot'; inDoubt: boolean; at: Date }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; message: string; fields: Record<string, string> }

export type Consequences = { standing: Standing; effects: Effect[] }

/** A loss by a reversal uses the limit for this long, so the limit bounds losses too, not only exposure. */
export const LOST_ROOM_MS = 30 * 86_400_000

/** `trade`: before the event. Effects are in the order in which they must be applied. */
export function consequences(trade: Trade, standing: Standing, event: TradeEvent): Consequences {
  const free: Effect = { kind: 'free_items' }
  switch (event.kind) {
    case 'send_begun':
    case 'send_withdrawn':
    case 'offer_missed':
    case 'cancel_begun':
    case 'accepted':
    case 'doubted':
    case 'looked':
      return { standing, effects: [] }
    case 'send_unanswered':
      return { standing, effects: [line('warn', 'send of an offer was not answered')] }
    case 'refused':
      return { standing, effects: [free, ...refusalEffects(event)] }
    case 'abandoned': {
      const { level, message } = lineOfEnd(event.reason) ?? NOT_FOUND
      return { standing, effects: [free, line(level, message)] }
    }
    case 'activated':
      return move(standing, { kind: 'offer_stands' }, [
        { kind: 'wake', at: event.deadline },
        { kind: 'trust_bot' },
        ...(event.doubted === null ? [] : [{ kind: 'doubt_bot', botId: event.doubted } as const]),
      ])
    case 'ended': {
      const cause = { kind: 'trade_ended', status: event.end.status } as const
      // Items in escrow may still arrive, so no other trade may name them.
      const freed = event.heldUntil === null ? [free] : []
      return move(standing, cause, [...freed, ...warningsOf(event.end.reason)])
    }
    case 'hold_seen':
      return { standing, effects: [line('warn', 'Steam holds the items of an offer whose trade had ended')] }
    case 'hold_ended': {
      const { level, message } = lineOfHold(event.because)
      return { standing, effects: [free, line(level, message)] }
    }
    case 'unwatched': {
      const { because } = event
      return { standing, effects: [line('error', lineOfUnwatched(trade), { because })] }
    }
    case 'delivered':
      return deliver(standing, event)
    case 'released':
      return release(standing, event)
    case 'reversed':
      return reverse(trade, standing, event)
    case 'prolonged': {
      const after = { ...standing, settlesAt: event.settlesAt }
      return { standing: after, effects: [changeOf(after, ['held']), { kind: 'wake', at: event.settlesAt }] }
    }
    case 'protection_found':
      return findProtection(standing, event)
    default:
      return event satisfies never
  }
}

/** True if an event has effects besides the trade's new state. */
export function hasConsequences({ kind }: TradeEvent): boolean {
  return !NOTHING_MORE.has(kind)
}

const NOTHING_MORE: ReadonlySet<TradeEvent['kind']> = new Set([
  'send_begun',
  'send_withdrawn',
  'offer_missed',
  'cancel_begun',
  'accepted',
  'doubted',
  'looked',
])

const NOT_FOUND = { level: 'warn', message: 'unanswered offer is not on Steam' } as const

type Line = Extract<Effect, { kind: 'log' }>

const line = (level: Line['level'], message: string, fields: Line['fields'] = {}): Effect => {
  return { kind: 'log', level, message, fields }
}

function refusalEffects({ reason, refusal, at }: Extract<TradeEvent, { kind: 'refused' }>): Effect[] {
  const effects: Effect[] = []
  if (refusal?.bars) effects.push({ kind: 'bar_bot', reason: refusal.bars, at })
  if (refusal !== null && refusal.next !== 'end') {
    effects.push({ kind: 'move_to_other_bot', inDoubt: refusal.next === 'move_in_doubt', at })
  }
  const because: string = refusal?.because ?? 'nobody_came'
  // A bar needs a person's attention. A busy Steam does not.
  if (refusal?.bars && refusal.bars !== 'rate_limited')
    return [...effects, line('error', 'bot was barred, because Steam refused its offer', { because })]
  return [...effects, line('warn', 'offer was refused', { reason, because })]
}

/** Moves the deposit to the status of the cause, after the effects `before`. */
function move(
  standing: Standing,
  cause: Exclude<DepositCause, { kind: 'delivered' }>,
  before: Effect[],
): Consequences {
  const status = decideDeposit(standing.deposit, cause)
  if (status === null) return { standing, effects: before }
  const deposit = { ...standing.deposit, status }
  return { standing: { ...standing, deposit }, effects: [...before, ...moved(status)] }
}

/** Returns the effects of a deposit's new status. */
export function moved(status: Exclude<DepositStatus, 'created'>): Effect[] {
  return [
    { kind: 'change_deposit', change: { status } },
    { kind: 'publish', event: { kind: 'status', status } },
  ]
}

function warningsOf(reason: string): Effect[] {
  const givenUp = lineOfEnd(reason)
  if (givenUp !== undefined) return [line(givenUp.level, givenUp.message)]
  if (reason.startsWith('cancelled_elsewhere')) {
    return [line('error', 'offer was cancelled, but not by this till: check the account of the bot')]
  }
  if (reason === 'declined_at_once') {
    return [line('warn', 'offer was declined at once: the session of the shopper may be in other hands')]
  }
  return []
}

type Delivered = Extract<TradeEvent, { kind: 'delivered' }>

/** The one credit of a delivery. The first delivery makes the deposit succeed; a later one adds to it. */
function deliver(standing: Standing, { steamTrade, settlesAt, at, byOperator }: Delivered): Consequences {
  const { total, gross, terms, riskRoom, deposit } = standing
  const by = byOperator && { creditedByOperator: byOperator }
  const isProtected = settlesAt !== null
  const held = heldPart({ total, isProtected, mode: terms.creditMode, riskRoom })
  const isFirst = decideDeposit(deposit, { kind: 'delivered' }) !== null
  if (!isFirst && deposit.status !== 'succeeded')
    throw new Error(`delivered to a deposit that is ${deposit.status}`)
  const items = steamTrade.received.map((one) => ({ assetId: one.assetId, receivedAssetId: one.newAssetId }))
  const after: Standing = {
    ...standing,
    held,
    atRisk: isProtected ? total - held : 0n,
    settlesAt,
    items: withReceived(standing.items, items),
    deposit: {
      ...deposit,
      status: 'succeeded',
      credited: (deposit.credited ?? 0n) + total,
      held: deposit.held + held,
    },
  }
  const published: Published = isFirst
    ? { kind: 'status', status: 'succeeded' }
    : { kind: 'change', change: 'amountIncreased', part: 0 }
  return {
    standing: after,
    effects: [
      { kind: 'change_trade', change: { deliveredAt: at, held, atRisk: after.atRisk, terms, ...by } },
      { kind: 'receive_items', items },
      { kind: 'record_custody', moved: 'in', items, at },
      ...(settlesAt === null ? [] : [{ kind: 'wake', at: settlesAt } as const]),
      changeOf(after, ['status', 'credited', 'held']),
      { kind: 'publish', event: published },
      ...roomOfDelivery(after.atRisk, terms.riskLimitUsdCents),
      // Last, so the balances of a busy store are locked only briefly.
      { kind: 'post', movements: deliveryMovements({ total, gross, held }), part: 0, mayOwe: false, at },
      line('info', 'items were delivered', { held: String(held) }),
    ],
  }
}

/** The deposit's new columns. The held amount comes with its end. */
function changeOf(standing: Standing, columns: ('status' | 'credited' | 'held' | 'reversed')[]): Effect {
  const { status, credited, held, reversed, charged } = standing.deposit
  return {
    kind: 'change_deposit',
    change: {
      ...(columns.includes('status') && { status }),
      ...(columns.includes('credited') && { credited: credited ?? 0n }),
      ...(columns.includes('reversed') && { reversed, charged }),
      ...(columns.includes('held') && { held, heldUntil: heldUntil(standing) }),
    },
  }
}

/** The last of the deposit's trades decides. */
function heldUntil({ deposit: { othersHeldUntil }, held, settlesAt }: Standing): Date | null {
  const own = held > 0n ? settlesAt : null
  if (own === null || othersHeldUntil === null) return own ?? othersHeldUntil
  return own > othersHeldUntil ? own : othersHeldUntil
}

/** The trade can no longer be reversed: held credit becomes available, and nothing of it is at risk. */
function release(
  standing: Standing,
  { at, byOperator }: Extract<TradeEvent, { kind: 'released' }>,
): Consequences {
  const { held, deposit } = standing
  const by = byOperator && { releasedByOperator: byOperator }
  const after: Standing = {
    ...standing,
    held: 0n,
    atRisk: lostOf(standing),
    deposit: { ...deposit, held: deposit.held - held },
  }
  const freed: Effect = { kind: 'change_trade', change: { held: 0n, atRisk: after.atRisk, ...by } }
  const room = roomChange({ ...standing, isHeld: true }, { ...after, isHeld: false })
  if (held === 0n) return { standing: after, effects: [freed, ...room] }
  return {
    standing: after,
    effects: [
      freed,
      ...room,
      changeOf(after, ['held']),
      { kind: 'publish', event: { kind: 'change', change: 'fundsAvailable', part: 0 } },
      { kind: 'post', movements: releaseMovements(held), part: 0, mayOwe: false, at },
    ],
  }
}

/** Available credit stays available: it uses the store's limit until Steam's protection ends. */
function findProtection(
  standing: Standing,
  { settlesAt, at }: Extract<TradeEvent, { kind: 'protection_found' }>,
): Consequences {
  const atRisk = standing.total - standing.reversed + standing.atRisk
  const after = { ...standing, settlesAt, atRisk }
  return {
    standing: after,
    effects: [
      { kind: 'change_trade', change: { atRisk, protectionFoundAt: at } },
      ...roomChange({ ...standing, isHeld: false }, { ...after, isHeld: true }),
      { kind: 'wake', at: settlesAt },
      line('error', 'Steam protects a delivery after all: what was credited for it is at risk'),
    ],
  }
}

/** The sender took items back, so their credit is taken back too. */
function reverse(
  trade: Trade,
  standing: Standing,
  { assetIds, at, byOperator }: Extract<TradeEvent, { kind: 'reversed' }>,
): Consequences {
  const { total, gross } = worthOf(standing.items, assetIds)
  const { deposit, reversals } = standing
  const { liability } = standing.terms
  const partner = trade.partnerSteamId
  const movements = reversalMovements({ total, gross, held: standing.held, liability })
  const charged = deposit.charged + chargedBy(movements)
  const fromHeld = least(standing.held, total)
  const lostNow = total - fromHeld
  const reversed = standing.reversed + total
  const isWhole = reversed === standing.total
  const held = standing.held - fromHeld
  // While Steam protects the trade, it uses the limit by all its credit; afterwards, by the loss.
  const lost = trade.state === 'final' ? standing.atRisk + lostNow : lostOf({ ...standing, held, reversed })
  const after: Standing = {
    ...standing,
    held,
    reversed,
    reversals: reversals + 1,
    atRisk: isWhole || trade.state === 'final' ? lost : standing.atRisk,
    atRiskUntil: lostNow > 0n ? new Date(at.getTime() + LOST_ROOM_MS) : standing.atRiskUntil,
    deposit: { ...deposit, held: deposit.held - fromHeld, reversed: deposit.reversed + total, charged },
  }
  const { atRisk, atRiskUntil } = after
  const isHeld = trade.state === 'held'
  const by = byOperator && { reversedByOperator: byOperator }
  const receivedAs = (assetId: string) => standing.items.get(assetId)?.receivedAssetId ?? null
  const gone = assetIds.map((assetId) => ({ assetId, receivedAssetId: receivedAs(assetId) }))
  return {
    standing: after,
    effects: [
      { kind: 'reverse_items', assetIds, at },
      { kind: 'record_custody', moved: 'back', items: gone, at },
      { kind: 'change_trade', change: { held, reversed, atRisk, atRiskUntil, ...by } },
      changeOf(after, ['held', 'reversed']),
      { kind: 'publish', event: { kind: 'change', change: 'reversed', part: reversals } },
      ...roomChange({ ...standing, isHeld }, { ...after, isHeld: isHeld && !isWhole }),
      { kind: 'post', movements, part: reversals, mayOwe: liability === 'store', at },
      { kind: 'count_reversed', amount: total },
      // An operator's statement is not a fact from Steam.
      ...(byOperator ? [] : [{ kind: 'credit_on_release', at } as const]),
      line('error', 'trade was taken back by its sender', { total: String(total), liability, partner }),
    ],
  }
}
