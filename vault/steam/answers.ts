import { z } from 'zod'
import { steamIdOfAccount } from '../../contract/steam-id.ts'
import type { SteamAnswer } from './session.ts'

const ID = z.string().regex(/^\d{1,20}$/)
const assetSchema = z.object({
  appid: z.int().positive(),
  contextid: ID,
  assetid: ID,
  amount: z.coerce.number().refine((amount) => amount === 1),
})
const assetsSchema = z
  .array(assetSchema)
  .max(1_000)
  .default([])
  .transform((all) =>
    all.map(({ appid, contextid, assetid }) => ({ appId: appid, contextId: contextid, assetId: assetid })),
  )

const offerSchema = z
  .object({
    tradeofferid: ID,
    accountid_other: z.int().positive(),
    message: z.string(),
    trade_offer_state: z.int(),
    is_our_offer: z.boolean(),
    items_to_give: assetsSchema,
    items_to_receive: assetsSchema,
    tradeid: ID.optional(),
  })
  .transform((row) => ({
    offerId: row.tradeofferid,
    partnerSteamId: steamIdOfAccount(row.accountid_other),
    message: row.message,
    state: row.trade_offer_state,
    isOurs: row.is_our_offer,
    gives: row.items_to_give,
    takes: row.items_to_receive,
    steamTradeId: row.tradeid ?? null,
  }))

export type Offer = z.output<typeof offerSchema>

const oneOfferSchema = z.object({ response: z.object({ offer: offerSchema }) })
const offersSchema = z.object({
  response: z.object({
    trade_offers_sent: z.array(z.unknown()).max(1_000).optional(),
    next_cursor: z.int().nonnegative().optional(),
  }),
})
const NOTHING = { message: null, accountid_other: null }
const unclearSchema = z
  .looseObject({
    message: z.string().nullable().catch(null),
    accountid_other: z.int().positive().nullable().catch(null),
  })
  .catch(NOTHING)

const movedSchema = assetSchema.extend({
  new_assetid: ID.optional(),
  rollback_new_assetid: ID.optional(),
})
const tradeSchema = z.object({
  response: z.object({
    trades: z
      .array(
        z.object({
          tradeid: ID,
          steamid_other: ID,
          status: z.int(),
          assets_given: z.array(movedSchema).max(1_000).default([]),
          assets_received: z.array(movedSchema).max(1_000).default([]),
        }),
      )
      .length(1),
  }),
})

const ownItemsSchema = z.object({
  response: z.object({
    assets: z
      .array(z.object({ appid: z.int(), contextid: ID, assetid: ID, classid: ID, instanceid: ID.optional() }))
      .max(5_000)
      .default([]),
    descriptions: z
      .array(
        z.object({
          classid: ID,
          instanceid: ID.optional(),
          market_hash_name: z.string(),
          tradable: z.union([z.boolean(), z.int()]),
        }),
      )
      .max(5_000)
      .default([]),
    more_items: z.boolean().default(false),
    last_assetid: ID.optional(),
    // Steam omits this field in answers that leave out items.
    total_inventory_count: z.int().nonnegative(),
  }),
})

const confirmationsSchema = z.object({
  success: z.literal(true),
  conf: z
    .array(z.object({ id: ID, nonce: ID, creator_id: ID, type: z.int() }))
    .max(1_000)
    .default([]),
})

export type Confirmation = z.output<typeof confirmationsSchema>['conf'][number]

export const readOffer = (reply: SteamAnswer) => parsed(oneOfferSchema, reply)?.response.offer
export type TradeRecord = z.output<typeof tradeSchema>['response']['trades'][number]

export const readTrade = (reply: SteamAnswer) => parsed(tradeSchema, reply)?.response.trades[0]
export const readOwnItems = (reply: SteamAnswer) => parsed(ownItemsSchema, reply)?.response
export const readConfirmations = (reply: SteamAnswer) => parsed(confirmationsSchema, reply)?.conf
export const isSuccess = (reply: SteamAnswer): boolean =>
  parsed(z.object({ success: z.literal(true) }), reply) !== undefined
export const readSent = (reply: SteamAnswer) => parsed(z.object({ tradeofferid: ID }), reply)?.tradeofferid

/** An offer that cannot be read, or whose items are missing. `null`: unknown. */
export type UnclearOffer = { message: string | null; partnerSteamId: string | null }

type OffersPage = { offers: Offer[]; unclear: UnclearOffer[]; cursor: number }

/**
 * A row that cannot be read does not hide the others. Undefined for an answer without content, which Steam sends while it
 * has trouble: even an empty list has a cursor.
 */
export function readOffers(reply: SteamAnswer): OffersPage | undefined {
  const page = parsed(offersSchema, reply)?.response
  if (page === undefined) return undefined
  const { trade_offers_sent: rows, next_cursor: cursor } = page
  if (rows === undefined && cursor === undefined) return undefined
  const [offers, unclear]: [Offer[], UnclearOffer[]] = [[], []]
  for (const row of rows ?? []) {
    const offer = offerSchema.safeParse(row).data
    if (offer !== undefined && offer.gives.length + offer.takes.length > 0) offers.push(offer)
    else unclear.push(unclearOf(row))
  }
  return { offers, unclear, cursor: cursor ?? 0 }
}

function unclearOf(row: unknown): UnclearOffer {
  const { message, accountid_other: account } = unclearSchema.parse(row)
  return { message, partnerSteamId: account === null ? null : steamIdOfAccount(account) }
}

/**
 * The numbers of refusals for which Steam can send a sentence alone. Each text is longer than any persona name, so no
 * name in another sentence can forge it. 25: too many open offers. 24: the account may not trade now.
 */
const REFUSING_TEXTS: readonly (readonly [RegExp, number])[] = [
  [/\bYou have sent too many trade offers\b/, 25],
  [/\bYou have logged in from a new device\b/, 24],
  [/\bYou must have had Steam Guard enabled\b/, 24],
]

/**
 * The number at the end of a text such as "There was an error sending your trade offer. (26)", or the number of one of
 * the REFUSING_TEXTS.
 */
export function refusalOf({ text }: SteamAnswer): number | undefined {
  const error = jsonOf(text, z.object({ strError: z.string() }))?.strError ?? ''
  const [, code] = /\((\d{1,3})\)\s*$/.exec(error) ?? []
  if (code !== undefined) return Number(code)
  return REFUSING_TEXTS.find(([pattern]) => pattern.test(error))?.[1]
}

const priceSchema = z.object({
  success: z.literal(true),
  lowest_price: z.string().optional(),
  median_price: z.string().optional(),
})

/** The price in US cents. Undefined if Steam's market has no price, and `unanswered` if Steam did not say. */
export function readPrice({ status, text }: SteamAnswer): bigint | undefined | 'unanswered' {
  // Steam answers 500 for an item without a price, but also while it is down: then with a page, or nothing.
  if (status === 500) return jsonOf(text, z.object({ success: z.literal(false) })) ? undefined : 'unanswered'
  const answer = status === 200 ? jsonOf(text, priceSchema) : undefined
  if (answer === undefined) return 'unanswered'
  const cents = [answer.lowest_price, answer.median_price].flatMap((price) => {
    const [, dollars, rest] = /^\$(\d{1,3}(?:,\d{3}){0,3}|\d{1,9})\.(\d{2})/.exec(price ?? '') ?? []
    return dollars === undefined ? [] : [BigInt(`${dollars.replaceAll(',', '')}${rest}`)]
  })
  // The higher price counts, so a price that somebody pushed down does not let more items out.
  return cents.sort((one, other) => Number(other - one))[0]
}

/** Steam sometimes sends the result "Fail" (2) with a complete answer. Empty lists prove nothing then. */
const RESULT_FAIL = 2
const filledSchema = z.object({
  response: z
    .record(z.string(), z.unknown())
    .refine((parts) =>
      Object.values(parts).some(
        (part) => typeof part === 'object' && part !== null && Object.keys(part).length > 0,
      ),
    ),
})

function parsed<T>(schema: z.ZodType<T>, { status, eresult, text }: SteamAnswer): T | undefined {
  const isFilled = eresult === RESULT_FAIL && jsonOf(text, filledSchema) !== undefined
  return status === 200 && (eresult === 1 || isFilled) ? jsonOf(text, schema) : undefined
}

function jsonOf<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
