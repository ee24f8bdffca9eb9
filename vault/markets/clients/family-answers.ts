/** Reads the answers of the market.csgo.com family. Their shapes come from the sources of public clients. */
import { z } from 'zod'
import { steamIdOfAccount } from '../../../contract/steam-id.ts'
import type { DueGift, Listed, Outcome, Problem, Repriced, Row } from '../market.ts'
import type { Scale } from '../scale.ts'
import {
  appNumber,
  decimal,
  digits,
  LAST_MS,
  listOf,
  MOST_ROWS,
  nameIn,
  priceListOf,
  shortText,
} from './answer-parts.ts'

const wholeNumber = digits.transform((value) => BigInt(value))

export const envelopeSchema = z.looseObject({
  success: z.boolean(),
  /** An error: a code, a sentence or a number. */
  error: z.union([shortText, z.number()]).optional(),
  message: shortText.optional(),
})

/** The market's call `test` tells whether the account may sell. */
export const testSchema = z.object({
  status: z.object({
    user_token: z.boolean(),
    trade_check: z.boolean(),
    site_online: z.boolean(),
    site_notmpban: z.boolean(),
  }),
})

export function problemsOf({ status }: z.infer<typeof testSchema>): Problem[] {
  return [
    ...(status.user_token ? [] : ['no_trade_token' as const]),
    ...(status.trade_check ? [] : ['trade_check_failed' as const]),
    ...(status.site_online ? [] : ['offline' as const]),
    ...(status.site_notmpban ? [] : ['banned_from_selling' as const]),
  ]
}

export const steamIdSchema = z.object({ steamid64: digits })
export const pingSchema = z.object({ online: z.boolean().optional() })
export const currencySchema = z.object({ currency: z.string().max(3) })
export const moneySchema = currencySchema.extend({
  money: decimal.pipe(z.number().nonnegative()),
  money_settlement: decimal.pipe(z.number().nonnegative()).optional(),
})

const listedRow = z.looseObject({
  success: z.boolean(),
  asset: digits,
  item_id: digits.optional(),
  error: z.union([shortText, z.number()]).optional(),
})
export const listedSchema = z.object({ items: listOf(listedRow, 50) })

/** Refusals that may be temporary. `not_mentioned` is one, because the row of a failed item can lack the item's id. */
const TEMPORARY = new Set(['inventory_not_loaded', 'item_not_in_inventory', 'not_mentioned'])

/** Returns one result for each requested asset. An asset that the market does not mention counts as refused. */
export function listedOf({ items }: z.infer<typeof listedSchema>, requested: readonly string[]): Listed[] {
  return requested.map((assetId): Listed => {
    const row = items.rows.find(({ asset }) => asset === assetId)
    if (row?.success === true && row.item_id !== undefined)
      return { kind: 'listed', assetId, itemId: row.item_id }
    const code = String(row?.error ?? 'not_mentioned')
    return { kind: 'refused', assetId, code, retry: TEMPORARY.has(code) }
  })
}

const repricedRow = z.looseObject({ success: z.boolean(), item_id: digits })
export const repricedSchema = z.object({ items: listOf(repricedRow, 50) })

export function repricedOf(
  { items }: z.infer<typeof repricedSchema>,
  requested: readonly string[],
): Repriced[] {
  return requested.map((itemId) => ({
    itemId,
    isDone: items.rows.some((row) => row.item_id === itemId && row.success),
  }))
}

const itemRow = z.looseObject({
  item_id: digits,
  assetid: digits,
  status: digits,
  left: decimal.nullish(),
  price: decimal.nullish(),
})
/**
 * Any other row with a number, such as one about a purchase. It must neither make the whole list unreadable
 * nor vanish from it, because a listing without a row counts as taken down.
 */
const otherItemRow = z
  .looseObject({ item_id: digits })
  .transform(({ item_id }) => ({ item_id, assetid: '', status: '', left: null, price: null }))
/** The market may send null or false for an empty list. */
export const itemsSchema = z.object({
  items: z.union([z.array(itemRow.or(otherItemRow)).max(MOST_ROWS), z.null(), z.literal(false)]).optional(),
})

/** The market's numbers for the stages of a listing. */
const STAGES: Readonly<Record<string, Row['stage']>> = {
  1: 'on_sale',
  2: 'sold',
  5: 'given',
  6: 'cancelled',
  7: 'offer_out',
}

export function rowsOf({ items }: z.infer<typeof itemsSchema>): Row[] {
  return (items || []).map(({ item_id: itemId, assetid: assetId, status, left = null, price = null }) => {
    const stage = STAGES[status] ?? 'unknown'
    // A sold item without time left was given, and only the market's payment is missing.
    const isGiven = stage === 'sold' && left !== null && left < 1
    return { itemId, assetId, stage: isGiven ? 'given' : stage, leftS: left, price }
  })
}

const offerSchema = z.looseObject({
  hash: z.string().min(1).max(200),
  partner: digits,
  token: z.string().regex(/^[\w-]{1,20}$/),
  tradeoffermessage: z.string().min(1).max(300),
  items: z
    .array(z.looseObject({ appid: appNumber, contextid: digits, assetid: digits }))
    .min(1)
    .max(100),
})
/** The market may send null or false for an empty list. */
export const offersSchema = z.object({
  offers: z.union([listOf(offerSchema, 500), z.null(), z.literal(false)]).optional(),
})

const EMPTY = { rows: [], unread: [] }

/** `unread`: the numbers of deals that cannot be read. */
export const duesOf = ({ offers }: z.infer<typeof offersSchema>): { due: DueGift[]; unread: string[] } => ({
  due: (offers || EMPTY).rows.map(dueOf),
  unread: (offers || EMPTY).unread.map((offer) => nameIn(offer, 'hash')),
})

function dueOf({ hash, partner, token, tradeoffermessage, items }: z.infer<typeof offerSchema>): DueGift {
  return {
    dealId: hash,
    partnerSteamId: steamIdOfAccount(partner),
    token,
    message: tradeoffermessage,
    assets: items.map((item) => ({
      appId: item.appid,
      contextId: item.contextid,
      assetId: item.assetid,
    })),
  }
}

const seconds = wholeNumber.refine((value) => value * 1_000n <= LAST_MS)
const historyRow = z.looseObject({
  item_id: digits,
  event: z.string(),
  time: seconds,
  received: wholeNumber.nullish(),
  stage: digits,
  settlement: seconds.nullish(),
  causer: z.string().max(20).nullish(),
  refund_seller: wholeNumber.nullish(),
})
/** The most rows of a history to look at. */
const MOST_OF_HISTORY = 200_000
export const historySchema = z.object({
  data: z.union([listOf(historyRow, MOST_OF_HISTORY), z.null(), z.literal(false)]).optional(),
})

/** The stages in the history. They differ from those of a listing. */
const HISTORY_PAID = '2'
const HISTORY_CANCELLED = '5'

/** The newest sales of a history. An unknown stage counts as pending, never as a failure. */
export function outcomesOf({ data }: z.infer<typeof historySchema>, scale: Scale, now: Date): Outcome[] {
  return (data || EMPTY).rows
    .filter(({ event }) => event === 'sell')
    .sort((one, other) => Number(other.time - one.time))
    .slice(0, MOST_ROWS)
    .map((row) => ({ itemId: row.item_id, soldAt: dateOf(row.time), end: endOf(row, scale, now) }))
}

function endOf(row: z.infer<typeof historyRow>, scale: Scale, now: Date): Outcome['end'] {
  const { causer, stage, received, settlement, refund_seller } = row
  // The market gives a causer only if the trade was reversed.
  if (causer !== null && causer !== undefined && causer !== '') {
    const knownCauser = causer === 'buyer' || causer === 'seller' ? causer : 'unknown'
    return { kind: 'reversed', causer: knownCauser, refundMinor: scale.toMinor(refund_seller ?? 0n) }
  }
  if (stage === HISTORY_CANCELLED) return { kind: 'cancelled' }
  const settlesAt = dateOf(settlement ?? 0n)
  // While the market holds the money, the buyer has the item, but the stage may still be that of a new sale.
  const isGiven = stage === HISTORY_PAID || (settlesAt > now && received !== 0n)
  if (!isGiven || received === undefined || received === null) return { kind: 'pending' }
  const receivedMinor = scale.toMinor(received)
  return settlesAt > now ? { kind: 'settling', receivedMinor, settlesAt } : { kind: 'paid', receivedMinor }
}

const dateOf = (seconds: bigint): Date => new Date(Number(seconds) * 1000)

export const pricesSchema = priceListOf(
  z.looseObject({
    market_hash_name: z.string().max(300),
    price: z.string().regex(/^\d{1,9}(?:\.\d{1,6})?$/),
  }),
)
