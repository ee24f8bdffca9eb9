/** Writes the catalogue of events into docs/webhooks.md: a sample of every type, checked by the schemas. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DepositEventType, EPOCH_TYPE, EVENT_TYPES, type EventType } from '../contract/event-types.ts'
import type { DepositStatus } from '../contract/statuses.ts'
import type { StoreDeposit } from '../contract/store-api.ts'
import { type WebhookEvent, webhookSchema } from '../contract/webhooks.ts'
import { inventedDeposit } from '../gateway/conformance/invented.ts'

const FILE = join(import.meta.dirname, '../docs/webhooks.md')

type Sample = { meaning: string; sequence: number; change: Partial<StoreDeposit>; tradeReason?: string }

const HELD = { heldAmount: 250, heldUntil: '2026-01-09T12:03:20.000Z', availableAmount: 1_000 }
const PAID = { status: 'succeeded', amount: 1_250, availableAmount: 1_250 } as const

const endedWith = (status: DepositStatus, reason: string) => ({
  change: { status, endReason: reason },
  tradeReason: reason,
})

const SAMPLES: Record<DepositEventType, Sample> = {
  'deposit.pending': {
    meaning: 'A trade offer is open on Steam.',
    sequence: 11,
    change: { status: 'pending' },
  },
  'deposit.succeeded': {
    meaning:
      '**Credit `data.amount`.** The items are in the bot’s hands. All or part of the amount may be held.',
    sequence: 12,
    change: { ...PAID, ...HELD },
  },
  'deposit.amount_increased': {
    meaning:
      'Rare: the items of another offer of the deposit arrived too. `data.amount` is the new total: **credit the difference.**',
    sequence: 13,
    change: { ...PAID, amount: 2_500, availableAmount: 2_500 },
  },
  'deposit.payment_timeout': {
    meaning:
      'Nobody paid in time (`expired`), or you cancelled before there was an offer (`cancelled_by_store`).',
    sequence: 14,
    change: { status: 'paymentTimeout', endReason: 'expired', trade: null },
  },
  'deposit.trade_timeout': {
    meaning:
      'The offer was not accepted in time (`deadline`, `expired`), you cancelled it (`cancelled_by_store`), or somebody else cancelled it with the bot’s session (`cancelled_elsewhere`, `cancelled_elsewhere_at_once`). If the offer’s outcome stayed unknown, the trade ended after 15 days (`unresolved`), or earlier because the operator ended it (`ended_by_operator`) or retired its bot (`bot_retired`). As after every end, `deposit.succeeded` can still follow.',
    sequence: 15,
    ...endedWith('tradeTimeout', 'deadline'),
  },
  'deposit.trade_declined': {
    meaning:
      'The shopper declined. The reason `declined_at_once` means within seconds, which suggests a stolen session.',
    sequence: 16,
    ...endedWith('tradeDeclined', 'declined'),
  },
  'deposit.trade_countered': {
    meaning: 'The shopper sent a counteroffer instead, which the till always refuses.',
    sequence: 17,
    ...endedWith('tradeCountered', 'countered'),
  },
  'deposit.trade_has_invalid_items': {
    meaning:
      'The trade could not be completed, most often because an item could no longer be traded (`invalid_items`). Otherwise Steam declared the offer invalid (`invalid`), wanted a confirmation from the bot (`needs_confirmation`), put the items into escrow (`escrow`), failed to complete the trade (`exchange_failed`) or undid it (`exchange_taken_back`), or the offer was cancelled on the phone that confirms trades (`cancelled_by_second_factor`).',
    sequence: 18,
    ...endedWith('tradeHasInvalidItems', 'invalid_items'),
  },
  'deposit.funds_available': {
    meaning: 'Held credit can be paid out now. `data.heldAmount` is what is still held, normally nothing.',
    sequence: 19,
    change: PAID,
  },
  'deposit.reversed': {
    meaning:
      'The sender took items back under Steam’s trade protection: **take `data.reversedAmount` from your shopper’s balance; `data.chargedAmount` is the cost to you at the till.** This event can be sent more than once.',
    sequence: 20,
    change: { ...PAID, reversedAmount: 1_250, chargedAmount: 0 },
  },
}

const EPOCH_MEANING =
  'Rare: the till lost its latest changes, and its numbers skip a million or more ([what to do](store-guide.md#after-the-till-was-restored)). It no longer has the events after `data.previousSequence`: **compare your open deposits, and keep your cursor as it is.**'

/** An event's id without its last two digits. */
const ID_PREFIX = '6f1c7a52-3b90-4c5e-9d2a-0000000000'
const AT = '2026-01-01T12:03:21.000Z'

const OPENED_AT = new Date('2026-01-01T12:00:00.000Z')
const FIELDS = {
  externalId: 'order-1001',
  currency: 'USD',
  customerReference: 'customer-77',
  metadata: {},
} as const

const epochSample = (): WebhookEvent =>
  webhookSchema.parse({
    id: `${ID_PREFIX}21`,
    type: EPOCH_TYPE,
    timestamp: AT,
    sequence: 1_000_018,
    data: { epoch: 2, previousSequence: 17 },
  })

function sampleOf(type: DepositEventType): WebhookEvent {
  const { sequence, change, tradeReason: reason = null } = SAMPLES[type]
  const isReversed = (change.reversedAmount ?? 0) > 0
  return webhookSchema.parse({
    id: `${ID_PREFIX}${sequence}`,
    type,
    timestamp: AT,
    sequence,
    data: {
      ...inventedDeposit('1007', FIELDS, OPENED_AT),
      sequence,
      url: 'https://pay.example/deposit/0123456789abcdef0123456789abcdef',
      receiptUrl:
        change.status === 'pending'
          ? null
          : 'https://pay.example/receipt/1007-fedcba9876543210fedcba9876543210',
      language: 'en',
      customerLabel: 'Nova',
      shopper: { steamId: '76561198000000077', lock: true },
      trade: {
        game: 'cs',
        partnerSteamId: '76561198000000077',
        steamOfferId: '7654321098',
        steamTradeId: change.amount === undefined ? null : '5432109876543210',
        reason,
        items: [
          {
            assetId: '30412345678',
            name: 'AK-47 | Redline (Field-Tested)',
            marketHashName: 'AK-47 | Redline (Field-Tested)',
            phase: null,
            price: 1_250,
            reversed: isReversed,
          },
        ],
      },
      ...change,
    },
  })
}

const sampleWithMeaning = (type: EventType): [string, WebhookEvent] =>
  type === EPOCH_TYPE ? [EPOCH_MEANING, epochSample()] : [SAMPLES[type].meaning, sampleOf(type)]

/** Returns the text with the current samples between its markers. Throws if a marker is missing. */
export function withSamples(text: string): string {
  const samplesBlock = /(<!-- event samples -->\n)[\s\S]*?(<!-- end of event samples -->)/
  if (!samplesBlock.test(text)) throw new Error('docs/webhooks.md has no place for the samples of events')
  const parts = EVENT_TYPES.map((type) => {
    const [meaning, sample] = sampleWithMeaning(type)
    const json = JSON.stringify(sample, null, 2)
    return `### \`${type}\`\n\n${meaning}\n\n\`\`\`json\n${json}\n\`\`\`\n`
  })
  return text.replace(
    samplesBlock,
    (_whole, begin: string, end: string) => `${begin}${parts.join('\n')}${end}`,
  )
}

if (import.meta.main) writeFileSync(FILE, withSamples(readFileSync(FILE, 'utf8')))
