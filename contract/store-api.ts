/**
 * The calls a store makes, under /v1, with `Authorization: Bearer <API key>`. The descriptions are those of the
 * OpenAPI document. Money is an integer of minor units of the deposit's currency.
 */
import { z } from 'zod'
import { ERRORS, type ErrorCode } from './errors.ts'
import { GAMES } from './games.ts'
import { LANGUAGES } from './languages.ts'
import { CURRENCIES, MOVEMENT_CAUSES } from './money.ts'
import { DEPOSIT_STATUSES } from './statuses.ts'
import { isSteamId } from './steam-id.ts'

export const CREDIT_MODES = ['on_accept', 'on_release'] as const

export const MOST_EXPIRY_MINUTES = 24 * 60
const MOST_METADATA = 20
const MOST_LIMIT = 100

const positiveMinorUnits = z.int().positive()
const minorUnits = z.int().nonnegative()
const time = z.iso.datetime('must be a time in UTC, such as 2026-01-31T12:00:00Z')

/** Text that a database and a header can hold: no control characters, no half of a letter. */
const plainText = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^\P{Cc}*$/u, 'must have no control characters')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')

/** Characters that change the direction of the text around them. */
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const NO_STEAM_ID = 'must be a 64-bit Steam id: 17 digits, of a person'
const steamId = z
  .string()
  .regex(/^\d{17}$/, { message: NO_STEAM_ID, abort: true })
  .refine(isSteamId, NO_STEAM_ID)

const game = z.enum(GAMES)
const currency = z.enum(CURRENCIES)
const status = z.enum(DEPOSIT_STATUSES)
const externalId = plainText(128)
const customerReference = plainText(128)

const createDepositFields = z.strictObject({
  externalId: externalId.describe(
    'Your order id, unique in your store. Repeating a call with the same one and the same values returns the same deposit.',
  ),
  currency,
  language: z
    .string()
    .max(35)
    .regex(/^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i, 'must be a language tag, such as en or ru-RU')
    .optional()
    .describe(
      `The language the page opens in: ${LANGUAGES.join(' or ')}. Without one, or with one that it does not speak, it follows the shopper’s own preference, else English.`,
    ),
  backToStoreUrl: z
    .string()
    .max(2000)
    .describe(
      'Where *Back to the store* leads after every end, and from every page. Its origin must be registered for the store. `{DEPOSIT_ID}` and `{EXTERNAL_ID}` in it become the ids.',
    ),
  redirectUrl: z
    .string()
    .max(2000)
    .optional()
    .describe(
      'Where the page goes automatically once the deposit has succeeded, and after no other end. The same rules apply.',
    ),
  embedOrigin: z
    .string()
    .max(300)
    .optional()
    .describe(
      'The page of yours that may hold the deposit in a frame, as `https://host[:port]`: one of the origins that are registered for the store. Without it no page may.',
    ),
  minAmount: positiveMinorUnits.optional().describe('The least that is accepted.'),
  maxAmount: positiveMinorUnits.optional().describe('The most that is accepted.'),
  targetAmount: positiveMinorUnits
    .optional()
    .describe(
      'An exact price: the items must be worth at least this. Items have their own prices, so any excess is credited too. Not together with minAmount or maxAmount.',
    ),
  games: z
    .array(game)
    .min(1)
    .max(GAMES.length)
    .refine((games) => new Set(games).size === games.length, 'must name each game once')
    .optional()
    .describe('The games whose items are accepted; all by default.'),
  creditMode: z
    .enum(CREDIT_MODES)
    .optional()
    .describe('`on_release` holds the whole credit until Steam’s protection ends, whatever your limit.'),
  customerReference: customerReference
    .optional()
    .describe('Your id of the customer: lists can be filtered by it. Never shown to the shopper.'),
  metadata: z
    .record(plainText(40), z.union([plainText(500), z.literal('')]))
    .refine(
      (metadata) => Object.keys(metadata).length <= MOST_METADATA,
      `must have at most ${MOST_METADATA} entries`,
    )
    .optional()
    .describe(`Up to ${MOST_METADATA} texts of your own, given back with every answer and event.`),
  tradeUrl: z
    .string()
    .max(512)
    .optional()
    .describe('The shopper’s Steam trade link, if you know it: then the page does not ask for it.'),
  shopper: z
    .strictObject({
      steamId: steamId.describe('The 64-bit Steam id with which the shopper signed in to your store.'),
      lock: z.boolean().default(false).describe('True: trade links of other accounts are refused.'),
    })
    .optional()
    .describe('Who should pay.'),
  customerLabel: plainText(64)
    .refine((text) => !TURNS.test(text), 'must not change the direction of text')
    .regex(/^$|\S/, 'must have a character that can be seen')
    .optional()
    .describe(
      'Whose balance is filled, such as the shopper’s name in your store: the page shows it beside your name.',
    ),
  expiresInMinutes: z
    .int()
    .min(5)
    .max(MOST_EXPIRY_MINUTES)
    .optional()
    .describe('How long the shopper may take until there is an offer; 60 by default.'),
})

/** POST /v1/deposits: request. */
export const createDepositBodySchema = createDepositFields
  .refine((body) => (body.minAmount ?? 0) <= (body.maxAmount ?? Number.MAX_SAFE_INTEGER), {
    message: 'minAmount is larger than maxAmount',
    path: ['minAmount'],
  })
  .refine((body) => body.targetAmount === undefined || (body.minAmount ?? body.maxAmount) === undefined, {
    message: 'targetAmount does not go together with minAmount or maxAmount',
    path: ['targetAmount'],
  })
  .meta({ id: 'NewDeposit' })

/** Events keep the form in which they were written, and those of version 0.2.0 and before do not have this. */
const sinceNext = <T extends z.ZodType>(schema: T) => schema.nullable().default(null)

const storeTradeSchema = z.object({
  game,
  partnerSteamId: sinceNext(z.string()).describe(
    'The 64-bit Steam id of the account whose items these are. Null only in events of version 0.2.0 and before.',
  ),
  steamOfferId: z.string().nullable(),
  steamTradeId: z.string().nullable().describe('Steam’s id of the trade, once the offer was accepted.'),
  reason: z.string().nullable().describe('Why it ended as it did, such as `deadline` or `declined`.'),
  items: z.array(
    z.object({
      assetId: z.string(),
      name: z
        .string()
        .describe('In the shopper’s language. An owner can rename an item, so this may be their own words.'),
      marketHashName: sinceNext(z.string()).describe(
        'The name by which Steam’s market knows it. Null only in events of version 0.2.0 and before.',
      ),
      price: minorUnits,
      reversed: z.boolean().describe('True once its sender took it back under Steam’s trade protection.'),
    }),
  ),
})

/** POST /v1/deposits (201, or 200 when repeated), GET /v1/deposits/{id}, and `data` of every event. */
export const storeDepositSchema = z
  .object({
    id: z.string(),
    externalId: z.string(),
    sequence: z
      .int()
      .nonnegative()
      // Events are written before they have a number.
      .default(0)
      .describe(
        'Number of the last event that told of this deposit; 0 before the first. Of two versions of a deposit, keep the one with the larger sequence.',
      ),
    url: z.string().describe('Send the shopper here.'),
    status,
    endReason: z
      .string()
      .nullable()
      .describe('Why it ended without items: `expired`, `cancelled_by_store`, or the reason of its trade.'),
    currency,
    amount: minorUnits
      .nullable()
      .describe(
        'What you were credited, once succeeded; else null. The operator’s commission is off already.',
      ),
    heldAmount: minorUnits.describe('The part of amount that cannot be paid out before heldUntil.'),
    heldUntil: time.nullable(),
    reversedAmount: minorUnits.describe(
      'The worth of the items that their sender took back: take it from your shopper.',
    ),
    chargedAmount: sinceNext(minorUnits).describe(
      'What that cost you here: book it with the till. Null only in events of version 0.2.0 and before.',
    ),
    availableAmount: minorUnits.describe('amount less heldAmount and chargedAmount.'),
    minAmount: positiveMinorUnits.nullable().describe('Equals targetAmount where you gave that.'),
    maxAmount: positiveMinorUnits.nullable(),
    targetAmount: positiveMinorUnits.nullable(),
    games: z.array(game),
    language: z.enum(LANGUAGES).nullable().describe('Null: the page follows the shopper’s own preference.'),
    embedOrigin: sinceNext(z.string()).describe('The origin whose pages may frame it; null: none may.'),
    customerReference: z.string().nullable(),
    customerLabel: sinceNext(z.string()),
    shopper: sinceNext(z.object({ steamId: z.string(), lock: z.boolean() })).describe(
      'Who should pay, as you said. `trade.partnerSteamId` is who did.',
    ),
    metadata: z.record(z.string(), z.string()),
    createdAt: time,
    expiresAt: time,
    trade: storeTradeSchema.nullable().describe('The trade that is under way or ended the deposit.'),
  })
  .meta({ id: 'Deposit' })

/** An id that the till gave. */
export const idText = z.string().regex(/^[1-9]\d{0,17}$/, 'must be an id as the till gave it: digits')

export const idParamsSchema = z.object({ id: idText })

const limit = z.coerce
  .number()
  .int()
  .min(1)
  .max(MOST_LIMIT)
  .default(50)
  .describe(`Most entries, up to ${MOST_LIMIT}.`)

/** GET /v1/deposits/lookup: request. */
export const lookupQuerySchema = z.strictObject({ externalId })

/** GET /v1/deposits: request. */
export const listDepositsQuerySchema = z.strictObject({
  status: status.optional(),
  customerReference: customerReference.optional(),
  createdFrom: time.optional().describe('Created at this time or later.'),
  createdBefore: time.optional().describe('Created before this time.'),
  after: idText.optional().describe('`next` of the page before.'),
  limit,
})

export const depositListSchema = z
  .object({
    deposits: z.array(storeDepositSchema).describe('Newest first.'),
    next: z.string().nullable().describe('Give this as `after` for the next page; null on the last one.'),
  })
  .meta({ id: 'DepositList' })

const balanceSchema = z.object({
  currency,
  held: minorUnits.describe('Credited, but not paid out before Steam’s protection ends.'),
  available: z.int().describe('What can be paid out; below zero is what you owe.'),
  reversed: minorUnits.describe('All that senders ever took back.'),
})

/** GET /v1/balance: one entry for each currency that ever moved. */
export const balancesSchema = z.object({ balances: z.array(balanceSchema) }).meta({ id: 'Balances' })

/** GET /v1/statement: request. */
export const statementQuerySchema = z.strictObject({
  currency,
  after: idText.optional().describe('`next` of the page before.'),
  limit,
})

export const statementSchema = z
  .object({
    movements: z
      .array(
        z.object({
          id: z.string(),
          at: time,
          cause: z.enum(MOVEMENT_CAUSES),
          depositId: z.string().nullable(),
          payoutReference: z.string().nullable().describe('Of a payout, its void or an adjustment.'),
          held: z.int().describe('Change of what is held.'),
          available: z.int().describe('Change of what is available.'),
        }),
      )
      .describe(
        'Newest first. Their sums are the balance. A reversal that cost nothing has a line of zeros.',
      ),
    next: z.string().nullable(),
  })
  .meta({ id: 'Statement' })

/** GET /v1/games: what can be paid with, and the smallest sums of one trade. */
export const gamesSchema = z
  .object({
    games: z.array(
      z.object({
        game,
        title: z.string(),
        steamAppId: z.int(),
        protectionDays: z.int().describe('Days in which Steam lets a sender take a trade back.'),
        minimums: z
          .partialRecord(currency, minorUnits)
          .describe('By currency; a currency without an exchange rate is missing.'),
      }),
    ),
  })
  .meta({ id: 'Games' })

/** GET /v1/prices: request. */
export const pricesQuerySchema = z.strictObject({
  game,
  currency,
  name: z
    .union(
      [plainText(200).transform((one) => [one]), z.array(plainText(200)).min(1).max(50)],
      'must be 1 to 50 market hash names, each a `name` of its own',
    )
    .describe('Market hash name; up to 50 of them by repeating `name`.'),
})

export const pricesSchema = z
  .object({
    prices: z.array(
      z.object({
        name: z.string(),
        price: minorUnits.nullable().describe('What a shopper would be credited now; null: not accepted.'),
        reason: z.string().nullable().describe('Why it is not accepted.'),
      }),
    ),
  })
  .meta({ id: 'Prices' })

export const healthSchema = z
  .object({
    status: z.enum(['ok', 'degraded']),
    trades: z.boolean().describe('New trades can begin.'),
    inventories: z.boolean().describe('Inventories can be read.'),
    maintenance: z
      .boolean()
      .describe('The operator has paused new trades; deposits do not expire meanwhile.'),
  })
  .meta({ id: 'Health' })

const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

/** Every refusal: RFC 9457. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(codes).describe('Decide by this: it never changes.'),
    detail: z.string().describe('For people, in English or Russian.'),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe('Field by field, of `invalid_request`.'),
  })
  .meta({ id: 'Problem' })

export type CreateDepositBody = z.infer<typeof createDepositBodySchema>
export type ListDepositsQuery = z.infer<typeof listDepositsQuerySchema>
export type StoreDeposit = z.infer<typeof storeDepositSchema>
export type StatementQuery = z.infer<typeof statementQuerySchema>
export type Statement = z.infer<typeof statementSchema>
export type Balances = z.infer<typeof balancesSchema>
export type Games = z.infer<typeof gamesSchema>
export type Prices = z.infer<typeof pricesSchema>
export type PricesQuery = z.infer<typeof pricesQuerySchema>
export type Health = z.infer<typeof healthSchema>
