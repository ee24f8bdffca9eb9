/**
 * The calls a store makes, under /v1, with `Authorization: Bearer <API key>`.
 * Money is an integer of minor units of the deposit's currency.
 */
import { z } from 'zod'
import { GAMES } from './games.ts'
import { LANGUAGES } from './languages.ts'
import { CURRENCIES } from './money.ts'
import { DEPOSIT_STATUSES } from './statuses.ts'

const positiveMinorUnits = z.int().positive()

/** POST /v1/deposits: request. */
export const createDepositBodySchema = z
  .strictObject({
    /** The store's own reference. Repeating a call with the same one returns the same deposit. */
    externalId: z.string().min(1).max(128),
    currency: z.enum(CURRENCIES),
    /** Language the widget opens in; without it the shopper's own preference. */
    language: z.enum(LANGUAGES).optional(),
    /** Where the shopper goes back to; its origin must be registered for the store. */
    backToStoreUrl: z.string().max(2000),
    /** Where the shopper is sent by itself once the deposit succeeded; same rule. */
    redirectUrl: z.string().max(2000).optional(),
    minAmount: positiveMinorUnits.optional(),
    maxAmount: positiveMinorUnits.optional(),
  })
  .refine((body) => (body.minAmount ?? 0) <= (body.maxAmount ?? Number.MAX_SAFE_INTEGER), {
    message: 'minAmount is larger than maxAmount',
    path: ['minAmount'],
  })

/** POST /v1/deposits (201, or 200 when repeated), GET /v1/deposits/{id}, and `data` of every webhook. */
export const storeDepositSchema = z.object({
  id: z.string(),
  externalId: z.string(),
  /** Send the shopper here. */
  url: z.string(),
  status: z.enum(DEPOSIT_STATUSES),
  currency: z.enum(CURRENCIES),
  /** What the store was credited, once succeeded; else null. */
  amount: z.int().nonnegative().nullable(),
  /** The part of amount that cannot be spent before heldUntil. */
  heldAmount: z.int().nonnegative(),
  heldUntil: z.iso.datetime().nullable(),
  /** The part of amount that its sender took back with the items: no longer yours. */
  reversedAmount: z.int().nonnegative(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** The trade that is under way or ended the deposit. */
  trade: z
    .object({
      game: z.enum(GAMES),
      steamOfferId: z.string().nullable(),
      /** Why it ended as it did, e.g. `deadline`, `declined`, `countered`. */
      reason: z.string().nullable(),
      items: z.array(z.object({ assetId: z.string(), name: z.string(), price: z.int().nonnegative() })),
    })
    .nullable(),
})

export const depositIdParamsSchema = z.object({ id: z.string().regex(/^\d{1,18}$/) })

export type CreateDepositBody = z.infer<typeof createDepositBodySchema>
export type StoreDeposit = z.infer<typeof storeDepositSchema>
