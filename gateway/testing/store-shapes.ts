/** The `--json` output of the commands about stores, their webhooks, keys and payouts. */
import { z } from 'zod'
import { amount, currency, game, id, minor, scopes, time } from './shapes.ts'

const freshKey = z.strictObject({ keyId: z.string(), apiKey: z.string() })
const keys = z.array(
  z.strictObject({
    keyId: z.string(),
    name: z.string(),
    scopes,
    createdAt: time,
    lastUsedAt: time.nullable(),
    expiresAt: time.nullable(),
    revokedAt: time.nullable(),
    unused: z.boolean(),
    endsSoon: z.boolean(),
  }),
)
const balances = z.array(
  z.strictObject({ currency, availableMinor: minor, heldMinor: minor, reversedMinor: minor }),
)
const balanceAt = z.strictObject({ currency, heldMinor: minor, availableMinor: minor })
const books = {
  rows: z.array(
    z.strictObject({
      begins: z.iso.date(),
      currency,
      cause: z.string(),
      movements: z.int(),
      heldMinor: minor,
      availableMinor: minor,
      commissionMinor: minor.nullable(),
    }),
  ),
  opening: z.array(balanceAt),
  closing: z.array(balanceAt),
}
const updatedStore = z.strictObject({
  storeId: id,
  mode: z.enum(['sandbox', 'live']),
  webhookSecret: z.string().nullable(),
})
const switchedStore = z.strictObject({ storeId: id, name: z.string(), disabledAt: time.nullable() })
const adjusted = z.strictObject({
  adjustmentId: id,
  storeId: id,
  kind: z.enum(['credit', 'debit', 'write_off']),
  ...amount.shape,
  reference: z.string(),
})

export const STORE_SHAPES: Record<string, z.ZodObject> = {
  'webhook list': z.strictObject({
    endpoints: z.array(
      z.strictObject({
        endpointId: id,
        storeId: id,
        store: z.string(),
        url: z.string(),
        state: z.enum(['pending', 'enabled', 'disabled']),
        disabledReason: z.string().nullable(),
        retrying: z.int(),
        givenUp: z.int(),
        givenUpFrom: id.nullable(),
        givenUpTo: id.nullable(),
        failingSince: time.nullable(),
        lastAttempt: z
          .strictObject({ at: time, status: z.int().nullable(), failure: z.string().nullable() })
          .nullable(),
      }),
    ),
    next: id.nullable(),
  }),
  'webhook attempts': z.strictObject({
    endpointId: id,
    storeId: id,
    attempts: z.array(
      z.strictObject({
        attemptId: id,
        at: time,
        eventId: z.string(),
        type: z.string(),
        sequence: id.nullable(),
        attempt: z.int(),
        durationMs: z.int(),
        status: z.int().nullable(),
        failure: z.string().nullable(),
        answer: z.string().nullable(),
      }),
    ),
    next: id.nullable(),
  }),
  'webhook replay': z.strictObject({ endpointId: id, storeId: id, replayed: z.int() }),
  'webhook rotate': z.strictObject({ endpointId: id, storeId: id, webhookSecret: z.string() }),
  'webhook remove': z.strictObject({ endpointId: id, storeId: id, url: z.string() }),
  'store add': updatedStore.extend({ apiKey: z.string() }),
  'store update': updatedStore,
  'store allow-address': z.strictObject({ storeId: id, address: z.string(), inside: z.boolean() }),
  'store forbid-address': z.strictObject({ storeId: id, address: z.string() }),
  'store free-room': z.strictObject({ storeId: id, trades: z.int() }),
  'store show': z.strictObject({
    storeId: id,
    name: z.string(),
    createdAt: time,
    origins: z.array(z.string()),
    creditMode: z.enum(['on_accept', 'on_release']),
    riskLimit: amount,
    atRisk: amount,
    liability: z.enum(['operator', 'store']),
    commissionBps: z.int().nullable(),
    games: z.array(game).nullable(),
    disabledAt: time.nullable(),
    accent: z.string().nullable(),
    keys,
    endpoints: z.array(
      z.strictObject({
        endpointId: id,
        url: z.string(),
        eventTypes: z.array(z.string()).nullable(),
        state: z.string(),
        disabledReason: z.string().nullable(),
        previousSecretUntil: time.nullable(),
        createdAt: time,
      }),
    ),
    addresses: z.array(z.strictObject({ address: z.string(), inside: z.boolean(), allowedAt: time })),
    balances,
  }),
  'store list': z.strictObject({
    stores: z.array(
      z.strictObject({
        storeId: id,
        name: z.string(),
        createdAt: time,
        disabledAt: time.nullable(),
        creditMode: z.string(),
        liability: z.string(),
        commissionBps: z.int().nullable(),
        games: z.array(game).nullable(),
        riskLimit: amount,
        atRisk: amount,
        balances,
      }),
    ),
    next: id.nullable(),
  }),
  'store disable': switchedStore,
  'store enable': switchedStore,
  'store statement': z.strictObject({
    currency,
    movements: z.array(
      z.strictObject({
        entryId: id,
        at: time,
        cause: z.string(),
        depositId: id.nullable(),
        reference: z.string().nullable(),
        heldMinor: minor,
        availableMinor: minor,
      }),
    ),
    next: id.nullable(),
  }),
  'store report': z.strictObject({ storeId: id, ...books }),
  'report money': z.strictObject({
    ...books,
    own: z.array(z.strictObject({ begins: z.iso.date(), currency, kind: z.string(), amountMinor: minor })),
  }),
  'store credit': adjusted,
  'store debit': adjusted,
  'store write-off': adjusted,
  'key list': z.strictObject({ keys }),
  'payout list': z.strictObject({
    payouts: z.array(
      z.strictObject({
        payoutId: id,
        storeId: id,
        ...amount.shape,
        reference: z.string(),
        paidAt: time,
        voidedAt: time.nullable(),
      }),
    ),
    next: id.nullable(),
  }),
  'payout void': z.strictObject({ payoutId: id, storeId: id, ...amount.shape, reference: z.string() }),
  'key add': freshKey,
  'key rotate': freshKey,
  'key revoke': z.strictObject({ keyId: z.string() }),
  'payout record': z.strictObject({ storeId: id, ...amount.shape, reference: z.string() }),
}
