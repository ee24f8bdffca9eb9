/**
 * Entries of sales in the form of the vault's log: JSON, with the buyer's trade token sealed. `book.ts` explains them.
 */
import { z } from 'zod'
import type { Key } from '../files/key.ts'
import { type Entry, unreadableEntry } from '../files/log.ts'
import type { DatedEntry, SaleEntry } from './book.ts'

const market = z.string()
const account = z.string().nullable().default(null)
const dealId = z.string()
const itemId = z.string()
const assetId = z.string()
const appId = z.int()
const minorAmount = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt)
const moment = z.iso.datetime().transform((text) => new Date(text))

const dueSchema = z.strictObject({
  dealId,
  partnerSteamId: z.string(),
  sealedToken: z.string(),
  message: z.string(),
  assets: z.array(z.strictObject({ appId, contextId: z.string(), assetId })),
})
const endSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pending') }),
  z.strictObject({ kind: z.literal('settling'), receivedMinor: minorAmount, settlesAt: moment }),
  z.strictObject({ kind: z.literal('paid'), receivedMinor: minorAmount }),
  z.strictObject({ kind: z.literal('cancelled') }),
  z.strictObject({
    kind: z.literal('reversed'),
    causer: z.enum(['buyer', 'seller', 'unknown']),
    refundMinor: minorAmount,
  }),
])
const offerEnds = z.enum(['declined', 'countered', 'invalid', 'withdrawn', 'expired', 'failed'])

const saleSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('listing_begun'),
    market,
    account,
    appId,
    assetId,
    priceMinor: minorAmount,
  }),
  z.strictObject({ kind: z.literal('listed'), market, appId, assetId, itemId }),
  z.strictObject({ kind: z.literal('not_listed'), market, appId, assetId, code: z.string() }),
  z.strictObject({ kind: z.literal('repriced'), market, itemId, priceMinor: minorAmount }),
  z.strictObject({ kind: z.literal('unlisted'), market, itemId }),
  z.strictObject({ kind: z.literal('due_refused'), market, due: dueSchema, problem: z.string() }),
  z.strictObject({
    kind: z.literal('deal_intended'),
    market,
    account,
    due: dueSchema,
    itemIds: z.array(itemId),
  }),
  z.strictObject({ kind: z.literal('send_begun'), market, dealId }),
  z.strictObject({ kind: z.literal('send_refused'), market, dealId, because: z.string() }),
  z.strictObject({ kind: z.literal('send_unanswered'), market, dealId }),
  z.strictObject({ kind: z.literal('offer_missed'), market, dealId }),
  z.strictObject({ kind: z.literal('abandoned'), market, dealId }),
  z.strictObject({ kind: z.literal('offer_known'), market, dealId, offerId: z.string() }),
  z.strictObject({ kind: z.literal('confirmed'), market, dealId }),
  z.strictObject({ kind: z.literal('told'), market, dealId }),
  z.strictObject({ kind: z.literal('offer_ended'), market, dealId, how: offerEnds }),
  z.strictObject({ kind: z.literal('delivered'), market, dealId, steamTradeId: z.string() }),
  z.strictObject({ kind: z.literal('outcome'), market, itemId, end: endSchema }),
])
const lineSchema = z.strictObject({ kind: z.literal('sale'), sale: saleSchema })
const anySaleSchema = z.looseObject({ kind: z.literal('sale') })

/** True if the entry is about a sale, even if this version cannot read it. */
export const isSaleLine = (entry: unknown): boolean => anySaleSchema.safeParse(entry).success

const placeOf = (id: string): string => `buyer of ${id}`

/** Throws if the entry could not be read again: the vault would not start with it. */
export function toLog(entry: SaleEntry, key: Key): Entry['entry'] {
  const sale = 'due' in entry ? { ...entry, due: sealToken(entry.due, key) } : entry
  const json: unknown = JSON.parse(
    JSON.stringify({ kind: 'sale', sale }, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  )
  lineSchema.parse(json)
  return z.json().parse(json)
}

function sealToken({ token, ...due }: Extract<SaleEntry, { due: unknown }>['due'], key: Key) {
  return { ...due, sealedToken: key.seal(token, placeOf(due.dealId)) }
}

/**
 * Reads an entry about a sale from the log. Undefined for other entries, which are about wishes. Throws if this version
 * cannot read a sale, or the token cannot be unsealed.
 */
export function fromLog({ n, at, entry }: Entry, key: Key): DatedEntry | undefined {
  const line = lineSchema.safeParse(entry)
  if (!line.success) {
    if (!isSaleLine(entry)) return undefined
    throw unreadableEntry(n, line.error)
  }
  const { sale } = line.data
  if (!('due' in sale)) return { at, entry: sale }
  const { sealedToken, ...due } = sale.due
  return {
    at,
    entry: { ...sale, due: { ...due, token: key.open(sealedToken, placeOf(due.dealId)) } },
  }
}
