/** Invented deposits and events, in the form that a till sends. */
import { randomUUID } from 'node:crypto'
import type { DepositEventType } from '../../contract/event-types.ts'
import { GAMES } from '../../contract/games.ts'
import { isFinal } from '../../contract/statuses.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { DepositEvent } from '../../contract/webhooks.ts'
import type { Clock } from '../kit/clock.ts'
import { HOUR_MS } from '../kit/duration.ts'

/** The store's order that an invented deposit pays for. */
export type Order = {
  externalId: string
  currency: StoreDeposit['currency']
  customerReference: string | null
  metadata: Record<string, string>
}

export const AMOUNT_MINOR = 1_000
const SHOPPER_STEAM_ID = '76561198000000077'

const ITEM = {
  assetId: '30412345678',
  name: 'AK-47 | Redline (Field-Tested)',
  marketHashName: 'AK-47 | Redline (Field-Tested)',
  phase: null,
  price: AMOUNT_MINOR,
  reversed: false,
}

/** Makes the deposit of an order, before any payment. */
export function inventedDeposit(id: string, order: Order, now: Date): StoreDeposit {
  return {
    id,
    ...order,
    sequence: 0,
    url: `https://pay.invalid/deposit/${randomUUID().replaceAll('-', '')}`,
    receiptUrl: null,
    status: 'created',
    endReason: null,
    amount: null,
    heldAmount: 0,
    heldUntil: null,
    reversedAmount: 0,
    chargedAmount: 0,
    availableAmount: 0,
    minAmount: null,
    maxAmount: null,
    targetAmount: null,
    games: [...GAMES],
    language: null,
    embedOrigin: null,
    customerLabel: null,
    shopper: null,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + HOUR_MS).toISOString(),
    trade: null,
  }
}

export type Change = Partial<StoreDeposit>

/** Returns the deposit after a change, with the fields that follow from the change. */
export function withChange(deposit: StoreDeposit, change: Change): StoreDeposit {
  const changed = { ...deposit, ...change }
  const { amount, heldAmount, chargedAmount } = changed
  const isPaid = amount !== null
  const trade: StoreDeposit['trade'] = {
    game: 'cs',
    partnerSteamId: SHOPPER_STEAM_ID,
    steamOfferId: '7654321098',
    steamTradeId: isPaid ? '5432109876543210' : null,
    reason: changed.endReason,
    items: [
      { ...ITEM, price: amount ?? AMOUNT_MINOR, reversed: isPaid && changed.reversedAmount === amount },
    ],
  }
  return {
    ...changed,
    receiptUrl: isFinal(changed.status)
      ? `https://pay.invalid/receipt/${changed.id}-${'0'.repeat(32)}`
      : null,
    availableAmount: (amount ?? 0) - heldAmount - (chargedAmount ?? 0),
    trade: changed.status === 'created' || changed.status === 'paymentTimeout' ? null : trade,
  }
}

type EventFacts = { type: DepositEventType; sequence: number; deposit: StoreDeposit }

export function eventOf({ type, sequence, deposit }: EventFacts, clock: Clock): DepositEvent {
  const data = { ...deposit, sequence }
  return { id: randomUUID(), type, timestamp: clock.now().toISOString(), sequence, data }
}
