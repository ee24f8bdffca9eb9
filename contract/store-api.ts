/** Calls under /v1. Money is an integer of minor units. */
import { z } from 'zod'
import { ERRORS, type ErrorCode } from './errors.ts'
import { GAMES, PHASES } from './games.ts'
import { LANGUAGES } from './languages.ts'
import { CURRENCIES, MOVEMENT_CAUSES } from './money.ts'
import { wholeNumber } from './query.ts'
import { DEPOSIT_STATUSES } from './statuses.ts'
import { isSteamId } from './steam-id.ts'
import { NO_CONTROLS, TEXT_DIRECTION } from './visible-text.ts'

const CREDIT_MODES = ['on_accept', 'on_release'] as const

export const LEAST_EXPIRY_MINUTES = 5
export const MOST_EXPIRY_MINUTES = 24 * 60
const MOST_METADATA = 20
const MOST_LIMIT = 100
const positiveMinorUnits = z.int().positive()
const minorUnits = z.int().nonnegative()
export const utcTime = z.iso.datetime('must be a time in UTC, such as 2026-01-31T12:00:00Z')

const plainText = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(NO_CONTROLS, 'must have no control characters')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')

const STEAM_ID_MESSAGE = 'must be the 64-bit Steam id (17 digits) of a person’s account'
const steamId = z
  .string()
  .regex(/^\d{17}$/, { message: STEAM_ID_MESSAGE, abort: true })
  .refine(isSteamId, STEAM_ID_MESSAGE)

const game = z.enum(GAMES)
const currency = z.enum(CURRENCIES)
const status = z.enum(DEPOSIT_STATUSES)
const externalId = plainText(128)
const customerReference = plainText(128)

const createDepositFields = z.strictObject({
  externalId: externalId.describe(
    'Your order id, unique in your store. A repeated call with the same id and values returns the same deposit.',
  ),
  currency,
  language: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag, such as en or ru-RU')
    .optional()
    .describe(
      `The language in which the page opens: ${LANGUAGES.join(' or ')}. Without it, or with any other language, the page follows the shopper’s preference, else English.`,
    ),
  backToStoreUrl: z
    .string()
    .max(2000)
    .describe(
      `The target of *Back to the store*, which the page shows after every outcome and with most messages. Its origin must be registered for the store. \`{DEPOSIT_ID}\` and \`{EXTERNAL_ID}\` in it are replaced by the ids, and \`{LANGUAGE}\` by the language of the shopper’s page: ${LANGUAGES.join(' or ')}.`,
    ),
  redirectUrl: z
    .string()
    .max(2000)
    .optional()
    .describe(
      'The address that the page opens automatically once the deposit has succeeded, but after no other outcome. The rules of `backToStoreUrl` apply.',
    ),
  embedOrigin: z
    .string()
    .max(300)
    .optional()
    .describe(
      'The origin that may show the deposit in a frame, as `https://host[:port]`. It must be registered for the store. By default, no origin may.',
    ),
  minAmount: positiveMinorUnits.optional().describe('The smallest accepted amount.'),
  maxAmount: positiveMinorUnits.optional().describe('The largest accepted amount.'),
  targetAmount: positiveMinorUnits
    .optional()
    .describe(
      'A fixed price: the items must be worth at least this. Any excess is credited too. Cannot be combined with minAmount or maxAmount.',
    ),
  games: z
    .array(game)
    .min(1)
    .max(GAMES.length)
    .refine((games) => new Set(games).size === games.length, 'must name no game twice')
    .optional()
    .describe('The games whose items are accepted. Default: all that your store takes.'),
  creditMode: z
    .enum(CREDIT_MODES)
    .optional()
    .describe(
      '`on_accept` credits you as soon as the items are delivered, as far as your limit of credit at risk allows. `on_release` holds the entire credit until Steam’s trade protection ends. Default: the setting of your store. A deposit cannot loosen that setting: if the setting is `on_release`, `on_accept` has no effect.',
    ),
  customerReference: customerReference
    .optional()
    .describe('Your id for the customer, for filtering lists. Never shown to the shopper.'),
  metadata: z
    .record(
      plainText(40),
      z.union([plainText(500), z.literal('')], 'must be a text of at most 500 characters'),
    )
    .refine(
      (metadata) => Object.keys(metadata).length <= MOST_METADATA,
      `must have at most ${MOST_METADATA} entries`,
    )
    .optional()
    .describe(`Up to ${MOST_METADATA} texts of your own, returned in every answer and event of the deposit.`),
  tradeUrl: z
    .string()
    .max(512)
    .optional()
    .describe('The shopper’s Steam trade link, if you know it. The page then does not ask for it.'),
  shopper: z
    .strictObject({
      steamId: steamId.describe('The 64-bit Steam id with which the shopper signed in to your store.'),
      lock: z.boolean().default(false).describe('Whether only this account may pay. Default: false.'),
    })
    .optional()
    .describe('The account that should pay.'),
  customerLabel: plainText(64)
    .refine((text) => !TEXT_DIRECTION.test(text), 'must not change the direction of text')
    .regex(/^$|\S/, 'must have a character that can be seen')
    .optional()
    .describe(
      'The account that is credited, such as the shopper’s name in your store. The page shows it next to your name.',
    ),
  expiresInMinutes: z
    .int()
    .min(LEAST_EXPIRY_MINUTES)
    .max(MOST_EXPIRY_MINUTES)
    .optional()
    .describe('Minutes until the deposit expires if no offer is made. Default: 60.'),
})

export const createDepositBodySchema = createDepositFields
  .refine(({ minAmount, maxAmount = Infinity }) => minAmount === undefined || minAmount <= maxAmount, {
    message: 'minAmount is larger than maxAmount',
    path: ['minAmount'],
  })
  .refine((body) => body.targetAmount === undefined || (body.minAmount ?? body.maxAmount) === undefined, {
    message: 'targetAmount cannot be combined with minAmount or maxAmount',
    path: ['targetAmount'],
  })
  .meta({ id: 'NewDeposit' })

/** A field that stored events of version 0.2.0 and earlier lack: stored events are never rewritten. */
const nullInOldEvents = <T extends z.ZodType>(schema: T) => schema.nullable().default(null)

const storeTradeSchema = z.object({
  game,
  partnerSteamId: nullInOldEvents(z.string()).describe(
    'The 64-bit Steam id of the account that gives the items. Null only in events of version 0.2.0 and earlier.',
  ),
  steamOfferId: z.string().nullable(),
  steamTradeId: z.string().nullable().describe('Steam’s id of the trade, once the offer is accepted.'),
  reason: z.string().nullable().describe('Why the trade ended, such as `deadline` or `declined`.'),
  items: z.array(
    z.object({
      assetId: z.string(),
      name: z
        .string()
        .describe('In the shopper’s language. Owners can rename items, so this may be any text.'),
      marketHashName: nullInOldEvents(z.string()).describe(
        'The item’s name on Steam’s market. Null only in events of version 0.2.0 and earlier.',
      ),
      phase: nullInOldEvents(z.enum(PHASES)).describe(
        'The phase of a Doppler, which `name` and `marketHashName` do not say. Null for every other item, and in events of version 0.2.0 and earlier.',
      ),
      price: minorUnits.describe('Your credit for the item, after the operator’s commission.'),
      reversed: z
        .boolean()
        .describe('True once the sender has taken the item back under Steam’s trade protection.'),
    }),
  ),
})

/** A deposit, as calls return it, and as the `data` of its events. POST /v1/deposits: 201, or 200 when repeated. */
export const storeDepositSchema = z
  .object({
    id: z.string(),
    externalId: z.string(),
    sequence: z
      .int()
      .nonnegative()
      // Events are stored before they get a number.
      .default(0)
      .describe(
        'Number of this deposit’s last event; 0 before the first. Of two versions of a deposit, keep the one with the larger sequence.',
      ),
    url: z.string().describe('Send the shopper here.'),
    receiptUrl: nullInOldEvents(z.string()).describe(
      'A page about the ended deposit that a shopper can show to support; null while it is open. It can be read as long as the deposit’s own page.',
    ),
    status,
    endReason: z
      .string()
      .nullable()
      .describe(
        'Why the deposit ended without items: `expired`, `cancelled_by_store`, or the reason of its trade. Null while it is open, and if it succeeded.',
      ),
    currency,
    amount: minorUnits
      .nullable()
      .describe('Your credit, after the operator’s commission. Null until the deposit has succeeded.'),
    heldAmount: minorUnits.describe(
      'The part of `amount` that cannot be paid out yet. It falls when held credit is released, and when items are taken back.',
    ),
    heldUntil: utcTime
      .nullable()
      .describe('When the last held credit should be released, unless Steam delays it. Null: none is held.'),
    reversedAmount: minorUnits.describe(
      'The value of the items that the sender took back. Deduct it from your shopper’s balance.',
    ),
    chargedAmount: nullInOldEvents(minorUnits).describe(
      'The part of `reversedAmount` that the till has charged to your balance. Null only in events of version 0.2.0 and earlier.',
    ),
    availableAmount: minorUnits.describe('`amount` minus `heldAmount` and `chargedAmount`.'),
    minAmount: positiveMinorUnits
      .nullable()
      .describe('Equals `targetAmount` if you gave one. Null: no limit.'),
    maxAmount: positiveMinorUnits.nullable().describe('Null: no limit.'),
    targetAmount: positiveMinorUnits.nullable(),
    games: z.array(game),
    language: z.enum(LANGUAGES).nullable().describe('Null: the page follows the shopper’s preference.'),
    embedOrigin: nullInOldEvents(z.string()).describe(
      'The origin that may show the deposit in a frame; null if none may.',
    ),
    customerReference: z.string().nullable(),
    customerLabel: nullInOldEvents(z.string()),
    shopper: nullInOldEvents(z.object({ steamId: z.string(), lock: z.boolean() })).describe(
      'The account that should pay, from your call. `trade.partnerSteamId` is the account that pays.',
    ),
    metadata: z.record(z.string(), z.string()),
    createdAt: utcTime,
    expiresAt: utcTime,
    trade: storeTradeSchema.nullable().describe('The open trade, or the one that ended the deposit.'),
  })
  .meta({ id: 'Deposit' })

export const idText = z.string().regex(/^[1-9]\d{0,17}$/, 'must be an id that the till assigned: digits')

export const idParamsSchema = z.object({ id: idText })

const limit = wholeNumber({ least: 1, most: MOST_LIMIT, fallback: 50 }).describe(
  `Page size, at most ${MOST_LIMIT}.`,
)

export const lookupQuerySchema = z.strictObject({ externalId })

export const listDepositsQuerySchema = z.strictObject({
  status: status.optional(),
  customerReference: customerReference.optional(),
  createdFrom: utcTime.optional().describe('Created at this time or later.'),
  createdBefore: utcTime.optional().describe('Created before this time.'),
  after: idText.optional().describe('`next` of the previous page.'),
  limit,
})

export const depositListSchema = z
  .object({
    deposits: z.array(storeDepositSchema).describe('Newest first.'),
    next: z.string().nullable().describe('Pass this as `after` to get the next page; null on the last page.'),
  })
  .meta({ id: 'DepositList' })

const balanceSchema = z.object({
  currency,
  held: minorUnits.describe('Credited, but cannot be paid out yet.'),
  available: z.int().describe('Can be paid out. A negative amount is your debt.'),
  reversed: minorUnits.describe('All that senders took back, at your cost or the operator’s.'),
})

export const balancesSchema = z
  .object({ balances: z.array(balanceSchema).describe('One for each currency in which money ever moved.') })
  .meta({ id: 'Balances' })

export const statementQuerySchema = z.strictObject({
  currency,
  after: idText.optional().describe('`next` of the previous page.'),
  limit,
})

export const statementSchema = z
  .object({
    movements: z
      .array(
        z.object({
          id: z.string(),
          at: utcTime,
          cause: z
            .enum(MOVEMENT_CAUSES)
            .describe(
              '`delivered`: a trade was credited. `released`: held credit became available. `reversed`: the sender took items back. `paid_out`: the operator paid you. `payout_voided`: a recorded payout did not happen. `adjusted`: a credit or debit by the operator. `written_off`: the operator gave up a debt of yours.',
            ),
          depositId: z.string().nullable(),
          payoutReference: z
            .string()
            .nullable()
            .describe('For a payout, a voided payout, an adjustment or a debt that was written off.'),
          held: z.int().describe('Change of the held amount.'),
          available: z.int().describe('Change of the available amount.'),
        }),
      )
      .describe(
        'Newest first. The movements add up to the balance. A reversal that costs you nothing has zeros.',
      ),
    next: z.string().nullable().describe('Pass this as `after` to get the next page; null on the last page.'),
  })
  .meta({ id: 'Statement' })

export const gamesSchema = z
  .object({
    games: z.array(
      z.object({
        game,
        title: z.string(),
        steamAppId: z.int(),
        protectionDays: z
          .int()
          .describe(
            'Days for which the till treats a trade as reversible: Steam’s trade protection and a margin; 0 if Steam does not protect trades of the game.',
          ),
        minimums: z
          .partialRecord(currency, minorUnits)
          .describe(
            'The smallest sum of one trade, by currency. A currency without an exchange rate is missing.',
          ),
      }),
    ),
  })
  .meta({ id: 'Games' })

export const pricesQuerySchema = z.strictObject({
  game,
  currency,
  name: z
    .union(
      [plainText(200).transform((name) => [name]), z.array(plainText(200)).min(1).max(50)],
      'must be 1 to 50 market hash names, one per `name`',
    )
    .describe('Market hash name. Repeat `name` for up to 50 of them, in a URL of at most 8 KB.'),
})

export const pricesSchema = z
  .object({
    prices: z.array(
      z.object({
        name: z.string(),
        price: minorUnits.nullable().describe('The credit for the item now; null: not accepted.'),
        reason: z.string().nullable().describe('Why the item is not accepted; null if it is.'),
      }),
    ),
  })
  .meta({ id: 'Prices' })

export const healthSchema = z
  .object({
    status: z
      .enum(['ok', 'degraded'])
      .describe('`ok` if both `trades` and `inventories` are true; otherwise `degraded`.'),
    trades: z.boolean().describe('New trades can start.'),
    inventories: z.boolean().describe('Inventories can be read.'),
    maintenance: z
      .boolean()
      .describe('The operator has paused new trades. Deposits do not expire meanwhile.'),
    maintenanceUntil: z.iso
      .datetime()
      .nullable()
      .describe('When the maintenance should end; null if unknown, or if there is none.'),
  })
  .meta({ id: 'Health' })

const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

/** A refusal (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(codes).describe('For programs. A code never changes.'),
    detail: z.string().describe('For people, in the language of the call.'),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe('The invalid fields, for `invalid_request`.'),
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
