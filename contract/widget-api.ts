/**
 * The calls of the widget (§7 of the widget's specification). The widget imports only the types of this file, so zod
 * stays on the server.
 *
 * Money is an integer of minor units (cents) of the deposit's currency everywhere. Times are seconds or ISO 8601.
 */
import { z } from 'zod'
import { GAMES, PHASES } from './games.ts'
import { WEARS } from './item-name.ts'
import { LANGUAGES } from './languages.ts'
import { MOST_UNAVAILABLE_NAMES } from './limits.ts'
import { CURRENCIES } from './money.ts'
import {
  DEPOSIT_STATUSES,
  INVENTORY_ERROR_CAUSES,
  INVENTORY_ERROR_TYPES,
  UNAVAILABLE_REASONS,
} from './statuses.ts'
import { LONGEST_TRADE_LINK } from './trade-link.ts'

const minorUnits = z.int().nonnegative()

/** 128 random bits as 32 lowercase hex digits. */
export const hashSchema = z.string().regex(/^[0-9a-f]{32}$/)

export const userSchema = z.object({
  name: z.string(),
  profileUrl: z.string(),
  avatarUrl: z.string(),
  /** The link without its token, so no reader of the answer can send the shopper offers. */
  tradeUrl: z.string(),
})

export const botSchema = z.object({
  name: z.string(),
  profileUrl: z.string(),
  avatarUrl: z.string(),
  level: z.int().nonnegative(),
  /** The day on which the account joined Steam, YYYY-MM-DD; absent if its profile hides it, or was not read yet. */
  memberSince: z.iso.date().optional(),
})

/**
 * Why credit is held until Steam's protection ends. `limit`: until then, the store can spend credit only up to its
 * limit. `release`: it can spend none.
 */
const HELD_BY = ['limit', 'release'] as const

/** Equal items of a trade. `name` is Steam's, with the wear. Hostile: plain text only. */
const tradedItemsSchema = z.object({
  name: z.string(),
  phase: z.enum(PHASES).optional(),
  /** Of one item. */
  price: minorUnits,
  count: z.int().positive(),
})

/** GET /api/payment: request. The link may be cut short, so any text that is not a hash means an unknown deposit. */
export const paymentQuerySchema = z.object({ hash: z.string().max(512) })

/** GET /api/payment: answer. A month after its expiry, by default, an ended deposit no longer has its details. */
export const paymentSchema = z.object({
  hash: hashSchema,
  /** Number shown to the shopper as #id. */
  id: z.string(),
  storeName: z.string(),
  /** The store's own colour, as `#rrggbb`; null if it has none. */
  storeAccent: z.string().nullable(),
  /** The store's name for the balance that is topped up; null if it gave none. Hostile: plain text only. */
  customerLabel: z.string().nullable(),
  status: z.enum(DEPOSIT_STATUSES),
  currency: z.enum(CURRENCIES),
  /**
   * The total of the trade once its offer is being created; after success the credited amount, without the part that
   * `takenBack` concerns; else null.
   */
  amount: minorUnits.nullable(),
  /** After success: the items that went back to their sender on Steam. Absent if none did. */
  takenBack: z.enum(['all', 'some']).optional(),
  user: userSchema.nullable(),
  /**
   * True while the till asks Steam for the shopper of the trade link that the store sent. After five minutes, it has
   * stopped asking.
   */
  userPending: z.boolean(),
  /** The bot that sent the offer; null before an offer is sent. */
  bot: botSchema.nullable(),
  /**
   * Seconds to the expiry while created, and to the trade's deadline while pending. Null once the shopper has accepted,
   * while an outage or maintenance stops the time, and after the end.
   */
  timeLeft: z.int().nonnegative().nullable(),
  /** True during maintenance, and while Steam takes no offers. */
  technicalWorks: z.boolean(),
  /** The operator's own text about the maintenance; null if there is none. */
  technicalWorksText: z.object({ en: z.string(), ru: z.string() }).nullable(),
  /** When the maintenance should end; null if unknown. */
  technicalWorksUntil: z.iso.datetime().nullable(),
  /**
   * True if the offer was declined, or cancelled by someone other than the till, within seconds after it was sent. The
   * shopper had no time to read it, so a scammer may control the shopper's account or the bot's, and prepare a
   * look-alike of the offer.
   */
  endedAtOnce: z.boolean(),
  /**
   * When the next offer to the same account may be sent, after offers that it declined or let expire. Absent if the
   * next offer does not have to wait.
   */
  nextOfferAt: z.iso.datetime().optional(),
  /** True if the store cancelled the open offer, so the page does not say that time ran out. */
  cancelledByStore: z.boolean(),
  /** True if the offer was cancelled on Steam, but not by the till: perhaps by somebody with the bot's session. */
  cancelledElsewhere: z.boolean().optional(),
  /** True if the till gave the offer up: Steam did not say what became of it, and may have moved the items. */
  outcomeUnknown: z.boolean().optional(),
  /**
   * Present if the status is `tradeHasInvalidItems`, but the items were not the cause. `phone`: the offer was cancelled
   * on the phone that confirms trades. `steam`: Steam did not complete the trade.
   */
  failedBy: z.enum(['phone', 'steam']).optional(),
  /** When Steam ends its hold on the items of the ended trade. It then delivers them unless the shopper cancels. */
  steamHoldUntil: z.iso.datetime().nullable(),
  /** True if the trade ended because Steam held it, and that hold is over without a delivery. */
  steamHoldOver: z.boolean().optional(),
  /** The number of the offer on Steam. The specification of the widget fixes the field's name. */
  steamTradeId: z.string().nullable(),
  /** The secret code: the message of the Steam offer. */
  steamTradeMessage: z.string().nullable(),
  /** Where to accept the offer, in a browser and in the Steam client; null before there is an offer. */
  acceptUrl: z.string().nullable(),
  clientUrl: z.string().nullable(),
  backToStoreUrl: z.string(),
  /** Present only after success, and only if the store gave one. */
  redirectUrl: z.string().optional(),
  /** The path of the receipt on this till, present after the end, for as long as the page shows the details. */
  receiptUrl: z.string().optional(),
  language: z.enum(LANGUAGES).nullable(),
  /** True while an offer is being created. The widget then reopens the confirmation modal and waits for the offer. */
  creating: z.boolean(),
  /**
   * Number of items in the deposit's trade, even if it ended without them; 0 if there is no trade, or once the deposit
   * no longer has its details.
   */
  itemCount: z.int().nonnegative(),
  /** The items that itemCount counts, the most expensive first; only while the offer is open or being created. */
  items: z.array(tradedItemsSchema).optional(),
  /**
   * The part of amount that the store cannot spend before heldUntil, because Steam can still reverse the trade. While
   * pending it is the most that will be held, and heldUntil the latest time. The rest is credited at once.
   */
  heldAmount: minorUnits,
  heldUntil: z.iso.datetime().nullable(),
  /**
   * After success: whether an endpoint of the store accepted the webhook about it. Absent if no endpoint gets that
   * webhook, or if the till has given it up.
   */
  storeTold: z.boolean().optional(),
  /** Present if a part is held. */
  heldBy: z.enum(HELD_BY).optional(),
  minAmount: minorUnits.nullable(),
  maxAmount: minorUnits.nullable(),
  /** The games whose items the store accepts. The page offers no others. */
  games: z.array(z.enum(GAMES)).min(1),
  /** The price that the store asks for; null if it asks for none. */
  targetAmount: minorUnits.nullable(),
})

/** POST /api/trade-url: request; the answer is a User. */
export const tradeUrlBodySchema = z.object({ hash: hashSchema, tradeUrl: z.string().max(LONGEST_TRADE_LINK) })

/** GET /api/inventory: request. */
export const inventoryQuerySchema = z.object({
  hash: hashSchema,
  game: z.enum(GAMES),
  language: z.enum(LANGUAGES).optional(),
  /** Asks Steam again once its last answer is 5 seconds old. Without this, an answer with items is used for a minute. */
  reload: z.stringbool().optional(),
})

export const itemSchema = z.object({
  /** Steam's asset id. */
  id: z.string(),
  name: z.string(),
  iconUrl: z.string(),
  price: minorUnits,
  rarity: z.templateLiteral(['rarity-', z.enum(['0', '1', '2', '3', '4', '5', '6', '7'])]),
  /** Rarity or quality in Steam's words for the game, in the language of the call. Hostile: plain text only. */
  rarityName: z.string().max(40).nullable(),
  wearCategory: z.enum(WEARS).nullable(),
  isStatTrak: z.boolean(),
  /** The phase of a Doppler; absent for other items, or if its paint is unknown. A phase can have its own price. */
  phase: z.enum(PHASES).optional(),
})

/** GET /api/inventory: answer, newest items first. A state like a hidden inventory is an answer, not a refusal. */
export const inventorySchema = z.object({
  items: z.array(itemSchema),
  /** Smallest total that can be paid, in the deposit's currency. */
  minPrice: minorUnits,
  currency: z.enum(CURRENCIES),
  /** The most items in one trade. */
  maxItems: z.int().positive(),
  /**
   * Forecast for a game whose trades a sender can reverse for days: how much of a payment with these items would be
   * credited at once, and when the rest would be. Other payments may change it until the offer is created: only the
   * offer's heldAmount is a promise. `atOnce` is rounded and at most the items' total, so it does not reveal the
   * store's limit. Null if nothing would be held, or there are no items.
   */
  hold: z
    .object({
      atOnce: minorUnits,
      days: z.int().positive(),
      until: z.iso.datetime(),
      by: z.enum(HELD_BY).optional(),
    })
    .nullable(),
  unavailableItems: z.int().nonnegative(),
  unavailableByReason: z.partialRecord(z.enum(UNAVAILABLE_REASONS), z.int().positive()),
  /**
   * The distinct names of the unavailable items, newest first, at most `MOST_UNAVAILABLE_NAMES` per reason; absent if
   * there are none.
   */
  unavailableNames: z
    .partialRecord(z.enum(UNAVAILABLE_REASONS), z.array(z.string()).max(MOST_UNAVAILABLE_NAMES))
    .optional(),
  /** How many items have each of `unavailableNames`, in the same order. */
  unavailableCounts: z.partialRecord(z.enum(UNAVAILABLE_REASONS), z.array(z.int().positive())).optional(),
  /** When the first item under `tradeHold` or `tradeProtected` becomes free; absent if Steam does not say. */
  nextTradableAt: z.iso.datetime().optional(),
  /** Identifies the prices of this answer; sent with the trade. Null if there are no items. */
  quoteId: z.string().nullable(),
  /** Seconds since Steam answered. */
  ageSeconds: z.int().nonnegative(),
  inventoryError: z.boolean(),
  inventoryErrorType: z.enum(INVENTORY_ERROR_TYPES).nullable(),
  inventoryErrorCause: z.enum(INVENTORY_ERROR_CAUSES).optional(),
})

/** GET /api/price: request. `quoteId` is from the inventory that showed the item. */
export const priceQuerySchema = z.object({
  hash: hashSchema,
  quoteId: z.string().max(64),
  item: z.string().regex(/^\d{1,20}$/),
})

/** `source`: null for the operator's own list or own price. `ageSeconds`: null for an own price, which does not age. */
const sourceSchema = z.object({
  source: z.string().max(60).nullable(),
  ageSeconds: z.int().nonnegative().nullable(),
})

/** GET /api/price: answer, for one shown item. */
export const priceReasonSchema = z.object({
  price: minorUnits,
  currency: z.enum(CURRENCIES),
  /** The sources from which the price was computed. */
  said: z.array(sourceSchema),
  /** The source of the exchange rate; null for a price in dollars, the currency of the sources. */
  rate: sourceSchema.nullable(),
})

/** POST /api/trade: request. */
export const tradeBodySchema = z.object({
  hash: hashSchema,
  game: z.enum(GAMES),
  /**
   * Asset ids. The server refuses more than its limit with `too_many_items`, for which the page has a text of its own.
   * More ids than are allowed here would not fit into a body of 64 KB.
   */
  items: z
    .array(z.string().regex(/^\d{1,20}$/))
    .min(1)
    .max(4000),
  quoteId: z.string().max(64).optional(),
})

/** POST /api/trade: answer. 200 `active`: the offer is open. 202 `sending`: still unknown, so repeat the same call. */
export const tradeAnswerSchema = z.object({
  state: z.enum(['active', 'sending']),
  code: z.literal('trade_sending').optional(),
})

/** POST /api/error-report: request; the answer is 204. */
export const errorReportBodySchema = z.object({
  message: z.string().max(2000),
  type: z.string().max(100),
  filename: z.string().max(500),
  lineno: z.number(),
  /** True if the browser's event had no error object. */
  empty: z.boolean(),
  url: z.string().max(1000),
})

/** Web vitals (https://web.dev/articles/vitals), by the names of the package `web-vitals`. */
const PAGE_METRICS = ['CLS', 'FCP', 'INP', 'LCP', 'TTFB'] as const
export const SCREENS = ['deposit', 'help', 'landing', 'other'] as const

/** POST /api/metrics: request; the answer is 204. Values are milliseconds; CLS has no unit. */
export const metricsBodySchema = z.strictObject({
  screen: z.enum(SCREENS),
  metrics: z
    .array(z.strictObject({ name: z.enum(PAGE_METRICS), value: z.number().nonnegative().max(600_000) }))
    .min(1)
    .max(PAGE_METRICS.length),
})

export type User = z.infer<typeof userSchema>
export type Bot = z.infer<typeof botSchema>
export type Payment = z.infer<typeof paymentSchema>
export type Item = z.infer<typeof itemSchema>
export type Inventory = z.infer<typeof inventorySchema>
export type InventoryQuery = z.infer<typeof inventoryQuerySchema>
export type PriceQuery = z.infer<typeof priceQuerySchema>
export type PriceReason = z.infer<typeof priceReasonSchema>
export type TradeUrlBody = z.infer<typeof tradeUrlBodySchema>
export type TradeBody = z.infer<typeof tradeBodySchema>
export type MetricsBody = z.infer<typeof metricsBodySchema>
export type ErrorReportBody = z.infer<typeof errorReportBodySchema>
