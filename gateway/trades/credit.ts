/** Gives, releases and takes back the credit of a delivery. Pure. */
import { decideDeposit } from '../deposits/deposit.ts'
import { deliveryMovements, heldPart, least, releaseMovements } from '../ledger/entry.ts'
import { chargedToStore, reversalMovements } from '../ledger/reversal.ts'
import { type Consequences, type Effect, type Funds, logLine, type PublishedEvent } from './effects.ts'
import { roomChange, takeRoom } from './room.ts'
import type { Trade, TradeEvent } from './trade.ts'
import { lostOf, worthOf } from './worth.ts'

/** A loss by a reversal uses the limit for this long, so the limit bounds losses too, not only exposure. */
export const LOST_ROOM_MS = 30 * 86_400_000

type Delivered = Extract<TradeEvent, { kind: 'delivered' }>

/** Credits a delivery. The first delivery makes the deposit succeed; a later one adds to it. */
export function deliver(funds: Funds, { steamTrade, settlesAt, at, byOperator }: Delivered): Consequences {
  const { total, gross, terms, riskRoom, deposit } = funds
  const by = byOperator && { creditedByOperator: byOperator }
  const isProtected = settlesAt !== null
  const held = heldPart({ total, isProtected, mode: terms.creditMode, riskRoom })
  const isFirst = decideDeposit(deposit, { kind: 'delivered' }) !== null
  if (!isFirst && deposit.status !== 'succeeded')
    throw new Error(`delivered to a deposit that is ${deposit.status}`)
  const items = steamTrade.received.map(({ assetId, newAssetId }) => ({
    assetId,
    receivedAssetId: newAssetId,
  }))
  const after: Funds = {
    ...funds,
    held,
    atRisk: isProtected ? total - held : 0n,
    settlesAt,
    deposit: {
      ...deposit,
      status: 'succeeded',
      credited: (deposit.credited ?? 0n) + total,
      held: deposit.held + held,
    },
  }
  const published: PublishedEvent = isFirst
    ? { kind: 'status', status: 'succeeded' }
    : { kind: 'change', change: 'amountIncreased', part: 0 }
  return {
    funds: after,
    effects: [
      { kind: 'change_trade', change: { deliveredAt: at, held, atRisk: after.atRisk, terms, ...by } },
      { kind: 'receive_items', items },
      { kind: 'record_custody', moved: 'in', items, at },
      ...(settlesAt === null ? [] : [{ kind: 'wake', at: settlesAt } as const]),
      changeOf(after, ['status', 'credited', 'held']),
      { kind: 'publish', event: published },
      ...takeRoom(after.atRisk, terms.riskLimitUsdCents),
      // Last, so the balances of a busy store are locked only briefly.
      { kind: 'post', movements: deliveryMovements({ total, gross, held }), part: 0, mayOwe: false, at },
      logLine('info', 'items were delivered', { held: String(held) }),
    ],
  }
}

/** `held` includes the time until which credit is held, and `reversed` the amount that the store was charged. */
export function changeOf(funds: Funds, columns: ('status' | 'credited' | 'held' | 'reversed')[]): Effect {
  const { status, credited, held, reversed, charged } = funds.deposit
  return {
    kind: 'change_deposit',
    change: {
      ...(columns.includes('status') && { status }),
      ...(columns.includes('credited') && { credited: credited ?? 0n }),
      ...(columns.includes('reversed') && { reversed, charged }),
      ...(columns.includes('held') && { held, heldUntil: heldUntil(funds) }),
    },
  }
}

/** When the last held credit of the deposit settles; null if none is held. */
function heldUntil({ deposit: { othersHeldUntil }, held, settlesAt }: Funds): Date | null {
  const ofTrade = held > 0n ? settlesAt : null
  if (ofTrade === null || othersHeldUntil === null) return ofTrade ?? othersHeldUntil
  return ofTrade > othersHeldUntil ? ofTrade : othersHeldUntil
}

/** Held credit becomes available. From now on, only what reversals took is at risk. */
export function release(
  funds: Funds,
  { at, byOperator }: Extract<TradeEvent, { kind: 'released' }>,
): Consequences {
  const { held, deposit } = funds
  const by = byOperator && { releasedByOperator: byOperator }
  const after: Funds = {
    ...funds,
    held: 0n,
    atRisk: lostOf(funds),
    deposit: { ...deposit, held: deposit.held - held },
  }
  const freed: Effect = { kind: 'change_trade', change: { held: 0n, atRisk: after.atRisk, ...by } }
  const room = roomChange({ ...funds, isProtected: true }, { ...after, isProtected: false })
  if (held === 0n) return { funds: after, effects: [freed, ...room] }
  return {
    funds: after,
    effects: [
      freed,
      ...room,
      changeOf(after, ['held']),
      { kind: 'publish', event: { kind: 'change', change: 'fundsAvailable', part: 0 } },
      { kind: 'post', movements: releaseMovements(held), part: 0, mayOwe: false, at },
    ],
  }
}

/**
 * Releases all held credit if the store's limit allows it, and nothing otherwise. Released credit is at risk until
 * Steam's protection ends.
 */
export function releaseEarly(
  funds: Funds,
  { at }: Extract<TradeEvent, { kind: 'released_early' }>,
): Consequences {
  const { held, riskRoom, deposit, limitUsdCents } = funds
  if (held === 0n || held > riskRoom) return { funds, effects: [] }
  const after: Funds = {
    ...funds,
    held: 0n,
    atRisk: funds.atRisk + held,
    riskRoom: riskRoom - held,
    deposit: { ...deposit, held: deposit.held - held },
  }
  const room = roomChange({ ...funds, isProtected: true }, { ...after, isProtected: true })
  return {
    funds: after,
    effects: [
      { kind: 'change_trade', change: { held: 0n, atRisk: after.atRisk, releasedEarly: true } },
      changeOf(after, ['held']),
      { kind: 'publish', event: { kind: 'change', change: 'fundsAvailable', part: 0 } },
      ...room.map((change) => ({ ...change, limitUsdCents })),
      { kind: 'post', movements: releaseMovements(held), part: 0, mayOwe: false, at },
      logLine('warn', 'held credit was released before its protection ended', { held: String(held) }),
    ],
  }
}

/**
 * Steam protects a delivery whose credit is available already. The credit stays available, but uses the store's limit
 * until the protection ends.
 */
export function findProtection(
  funds: Funds,
  { settlesAt, at }: Extract<TradeEvent, { kind: 'protection_found' }>,
): Consequences {
  const atRisk = funds.total - funds.reversed + funds.atRisk
  const after = { ...funds, settlesAt, atRisk }
  return {
    funds: after,
    effects: [
      { kind: 'change_trade', change: { atRisk, protectionFoundAt: at } },
      ...roomChange({ ...funds, isProtected: false }, { ...after, isProtected: true }),
      { kind: 'wake', at: settlesAt },
      logLine('error', 'Steam protects a delivery after all: its credit is at risk'),
    ],
  }
}

/** The sender took items back, so their credit is taken back too. */
export function reverse(
  trade: Trade,
  funds: Funds,
  { assetIds, at, byOperator }: Extract<TradeEvent, { kind: 'reversed' }>,
): Consequences {
  const { total, gross } = worthOf(funds.items, assetIds)
  const { deposit, reversals } = funds
  const { liability } = funds.terms
  const partner = trade.partnerSteamId
  const movements = reversalMovements({ total, gross, held: funds.held, liability })
  const charged = deposit.charged + chargedToStore(movements)
  const fromHeld = least(funds.held, total)
  const lostNow = total - fromHeld
  const reversed = funds.reversed + total
  const isWhole = reversed === funds.total
  const held = funds.held - fromHeld
  // While Steam protects the trade, all its credit at risk uses the limit; afterwards, only the loss does.
  const lost = trade.state === 'final' ? funds.atRisk + lostNow : lostOf({ ...funds, held, reversed })
  const after: Funds = {
    ...funds,
    held,
    reversed,
    reversals: reversals + 1,
    atRisk: isWhole || trade.state === 'final' ? lost : funds.atRisk,
    atRiskUntil: lostNow > 0n ? new Date(at.getTime() + LOST_ROOM_MS) : funds.atRiskUntil,
    deposit: { ...deposit, held: deposit.held - fromHeld, reversed: deposit.reversed + total, charged },
  }
  const { atRisk, atRiskUntil } = after
  const isProtected = trade.state === 'held'
  const by = byOperator && { reversedByOperator: byOperator }
  return {
    funds: after,
    effects: [
      { kind: 'reverse_items', assetIds, at },
      { kind: 'record_custody', moved: 'back', assetIds, at },
      { kind: 'change_trade', change: { held, reversed, atRisk, atRiskUntil, ...by } },
      changeOf(after, ['held', 'reversed']),
      { kind: 'publish', event: { kind: 'change', change: 'reversed', part: reversals } },
      ...roomChange({ ...funds, isProtected }, { ...after, isProtected: isProtected && !isWhole }),
      { kind: 'post', movements, part: reversals, mayOwe: liability === 'store', at },
      { kind: 'count_reversed', amount: total },
      // An operator's statement is not a fact from Steam, so it does not put the shopper on release.
      ...(byOperator ? [] : [{ kind: 'credit_on_release', at } as const]),
      logLine('error', 'items of a trade were taken back by their sender', {
        total: String(total),
        liability,
        partner,
      }),
    ],
  }
}
