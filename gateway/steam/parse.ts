/** Parses raw answers of Steam. Every field is checked here, and invalid values are left out or refused. */
import { z } from 'zod'
import { steamIdOfAccount } from '../../contract/steam-id.ts'
import { isNoted, marketFields, marketOf } from './market.ts'
import { paintIndexOf, propertiesById } from './properties.ts'
import { restrictionFields, restrictionOf } from './restriction.ts'
import type { Offer, OfferAsset, OfferState, SteamItem, UnreadableOffer } from './steam.ts'

const MAX_TEXT_CHARACTERS = 200
/** A longer list of tags counts as empty. */
const MAX_TAGS = 30

/** Ids can exceed 2^53, so they are text, or a number small enough to be exact. */
export const id = z
  .union([z.string(), z.int().nonnegative()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,20}$/))
/**
 * A number, bare or in quotes. `z.coerce` would read null as 0, and an unknown hold as none. At most PostgreSQL's largest
 * `integer`, because app numbers are stored as one.
 */
export const count = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).pipe(
  z
    .int()
    .nonnegative()
    .max(2 ** 31 - 1),
)
/** Whether something is so. `z.coerce` would read null as no, and an unknown end of a list as its end. */
export const flag = z.union([z.boolean(), z.literal([0, 1])]).transform(Boolean)
const text = z.string().transform((value) => plainText(value).slice(0, MAX_TEXT_CHARACTERS))

const OFFER_STATES: Record<number, OfferState> = {
  1: 'invalid',
  2: 'active',
  3: 'accepted',
  4: 'countered',
  5: 'expired',
  6: 'cancelled',
  7: 'declined',
  8: 'invalid_items',
  9: 'needs_confirmation',
  10: 'cancelled_by_second_factor',
  11: 'in_escrow',
  12: 'reverted',
}

export const assetRow = z.object({ appid: count, contextid: id, assetid: id })

const offerRow = z.object({
  tradeofferid: id,
  accountid_other: id,
  message: z.string().catch(''),
  trade_offer_state: z.int(),
  tradeid: id.optional(),
  items_to_receive: z.array(z.unknown()).catch([]),
  items_to_give: z.array(z.unknown()).catch([]),
  time_created: count.catch(0),
  escrow_end_date: count.catch(0).default(0),
  delay_settlement: z.coerce.boolean().catch(false).default(false),
  settlement_date: count.catch(0).default(0),
})

const offerAnswer = z.object({ response: z.object({ offer: z.unknown().optional() }) })

/** An answer with more rows than these limits is unreadable. */
const offersAnswer = z.object({
  response: z.object({
    trade_offers_sent: z.array(z.unknown()).max(5000).optional(),
    trade_offers_received: z.array(z.unknown()).max(5000).optional(),
    next_cursor: count.optional(),
  }),
})

const holdAnswer = z.object({
  response: z.object({
    my_escrow: z.object({ escrow_end_duration_seconds: count }),
    their_escrow: z.object({ escrow_end_duration_seconds: count }),
  }),
})

/** `undefined`: the answer cannot be read, so nothing is known. `null`: it contains no offer. */
export function parseOffer(body: unknown): Offer | null | undefined {
  const answer = offerAnswer.safeParse(body)
  if (!answer.success) return undefined
  const { offer } = answer.data.response
  return offer === undefined ? null : parseOfferRow(offer)
}

type OffersPage = { sent: Offer[]; received: Offer[]; unreadable: UnreadableOffer[]; nextCursor: number }

/**
 * One page of offers. Keeps what can be read of a broken row of a sent offer, because a caller may be looking for that
 * offer. `nothing`: an answer without content, which Steam sends while it has trouble. Even an empty list would have a
 * `next_cursor`.
 */
export function parseOffers(body: unknown): OffersPage | 'nothing' | undefined {
  const answer = offersAnswer.safeParse(body)
  if (!answer.success) return undefined
  const { trade_offers_sent: sent, trade_offers_received: received, next_cursor: next } = answer.data.response
  if (sent === undefined && received === undefined && next === undefined) return 'nothing'
  const readable: Offer[] = []
  const unreadable: UnreadableOffer[] = []
  for (const row of sent ?? []) {
    const offer = parseOfferRow(row)
    if (offer === undefined) unreadable.push(unreadableOf(row))
    else readable.push(offer)
  }
  return {
    sent: readable,
    received: (received ?? []).flatMap((row) => parseOfferRow(row) ?? []),
    unreadable,
    nextCursor: next ?? 0,
  }
}

const identifyingFields = z.object({
  tradeofferid: id.nullable().catch(null),
  accountid_other: id.nullable().catch(null),
  message: z.string().nullable().catch(null),
})

function unreadableOf(row: unknown): UnreadableOffer {
  const parsed = identifyingFields.safeParse(row)
  const { tradeofferid: offerId = null, accountid_other: account = null, message = null } = parsed.data ?? {}
  return { offerId, partnerSteamId: account === null ? null : steamIdOfAccount(account), message }
}

function parseOfferRow(row: unknown): Offer | undefined {
  const parsed = offerRow.safeParse(row)
  const state = parsed.success ? OFFER_STATES[parsed.data.trade_offer_state] : undefined
  if (!parsed.success || !state) return undefined
  const { data } = parsed
  const itemsToReceive = parseAssets(data.items_to_receive)
  const itemsToGive = parseAssets(data.items_to_give)
  if (!itemsToReceive || !itemsToGive) return undefined
  return {
    offerId: data.tradeofferid,
    partnerSteamId: steamIdOfAccount(data.accountid_other),
    message: data.message.slice(0, MAX_TEXT_CHARACTERS),
    state,
    tradeId: nullIfZero(data.tradeid),
    itemsToReceive,
    itemsToGive,
    createdAt: new Date(data.time_created * 1000),
    escrowEndsAt: dateOf(data.escrow_end_date),
    delaysSettlement: data.delay_settlement,
    settlesAt: dateOf(data.settlement_date),
  }
}

export const dateOf = (seconds: number): Date | null => (seconds > 0 ? new Date(seconds * 1000) : null)

/** `undefined` if one asset is unreadable: the rest would look like a different offer. */
function parseAssets(rows: readonly unknown[]): OfferAsset[] | undefined {
  const assets = z.array(assetRow).safeParse(rows)
  return assets.data?.map(({ appid, contextid, assetid }) => ({
    appId: appid,
    contextId: contextid,
    assetId: assetid,
  }))
}

/** Days for which each side makes Steam hold a trade with this partner; undefined if the answer does not say. */
export function parseHoldDays(body: unknown): { partner: number; own: number } | undefined {
  const answer = holdAnswer.safeParse(body)
  if (!answer.success) return undefined
  const { my_escrow: mine, their_escrow: theirs } = answer.data.response
  const days = ({ escrow_end_duration_seconds: seconds }: typeof mine) => Math.ceil(seconds / 86_400)
  return { partner: days(theirs), own: days(mine) }
}

/** A short text of a tag. A text of more than 40 characters becomes empty. */
const word = text.transform((value) => (value.length > 40 ? '' : value.trim())).catch('')

const descriptionRow = z.object({
  name: text,
  market_hash_name: text,
  tradable: z.unknown().transform((value) => value === 1 || value === true || value === '1'),
  tags: z
    .array(z.object({ category: text, internal_name: text, localized_tag_name: word, name: word }))
    .max(MAX_TAGS)
    .catch([]),
  ...restrictionFields,
  ...marketFields,
})

export const descriptionKey = z.object({ classid: id, instanceid: id.catch('0') })

export const ownedRow = z.object({
  assetid: id.optional(),
  id: id.optional(),
  classid: id,
  instanceid: id.catch('0'),
  // The till accepts only single items (amount 1), so an unreadable amount counts as 0.
  amount: count.default(1).catch(0),
})

/** Rows by their keys. Steam writes an empty object as an array. Anything else counts as no rows. */
export const rows = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).catch({})
export const success = z.union([z.literal(true), z.literal(1)])

const partnerPage = z.object({
  success,
  more: z.coerce.boolean().catch(false),
  more_start: z.union([count, z.literal(false)]).catch(false),
  rgInventory: rows,
  rgDescriptions: rows,
  rgAssetProperties: rows,
})

const publicPage = z.object({
  success,
  assets: z.array(z.unknown()).catch([]),
  descriptions: z.array(z.unknown()).catch([]),
  asset_properties: z.array(z.unknown()).catch([]),
  more_items: z.coerce.boolean().catch(false),
  last_assetid: id.optional().catch(undefined),
  total_inventory_count: count.optional().catch(undefined),
})

/** `total`: how many items the inventory has. Only public pages say so. */
export type InventoryPage = { items: SteamItem[]; next: string | null; total?: number | undefined }

/** A page of the inventory that a bot sees when it makes an offer. */
export function parsePartnerPage(body: unknown): InventoryPage | undefined {
  const page = partnerPage.safeParse(body)
  if (!page.success) return undefined
  const { more, more_start: start, rgInventory, rgDescriptions, rgAssetProperties } = page.data
  const details: PageDetails = {
    describe: describer(new Map(Object.entries(rgDescriptions))),
    properties: new Map(Object.entries(rgAssetProperties)),
  }
  return {
    items: Object.values(rgInventory).flatMap((row) => parseItem(row, details)),
    next: more && start ? String(start) : null,
  }
}

/** A page of the inventory that its owner shows to everybody. */
export function parsePublicPage(body: unknown): InventoryPage | undefined {
  const page = publicPage.safeParse(body)
  if (!page.success) return undefined
  const rowsByKey = new Map<string, unknown>()
  for (const row of page.data.descriptions) {
    const key = descriptionKey.safeParse(row)
    if (key.success) rowsByKey.set(`${key.data.classid}_${key.data.instanceid}`, row)
  }
  const details: PageDetails = {
    describe: describer(rowsByKey),
    properties: propertiesById(page.data.asset_properties),
  }
  return {
    items: page.data.assets.flatMap((row) => parseItem(row, details)),
    next: page.data.more_items ? (page.data.last_assetid ?? null) : null,
    total: page.data.total_inventory_count,
  }
}

/** The fields of an item that are read from Steam's description of its class. */
type Description = Omit<SteamItem, 'assetId' | 'classId' | 'instanceId' | 'amount' | 'paintIndex'>

/** The descriptions of a page by class, and its asset properties by asset id. */
type PageDetails = { describe(key: string): Description; properties: ReadonlyMap<string, unknown> }

/** Stands in for a missing or unreadable description. The item counts as present, but cannot be traded. */
const INDESCRIBABLE: Description = {
  name: '',
  marketHashName: '',
  tradable: false,
  restriction: { kind: 'undescribed', until: null },
  market: { kind: 'closed' },
  isNoted: false,
  tags: [],
}

/** Returns a function that finds a description by its key. It parses each one once, however many items share it. */
function describer(rowsByKey: ReadonlyMap<string, unknown>): (key: string) => Description {
  const descriptionByKey = new Map<string, Description>()
  return (key) => {
    const known = descriptionByKey.get(key) ?? parseDescription(rowsByKey.get(key))
    descriptionByKey.set(key, known)
    return known
  }
}

function parseDescription(row: unknown): Description {
  const parsed = descriptionRow.safeParse(row)
  if (!parsed.success) return INDESCRIBABLE
  const { name, market_hash_name: marketHashName, tradable, tags } = parsed.data
  return {
    name,
    marketHashName,
    tradable,
    restriction: tradable ? null : restrictionOf(parsed.data),
    market: marketOf(parsed.data),
    isNoted: isNoted(parsed.data),
    // The page for an offer has `name`, the public page `localized_tag_name`.
    tags: tags.map(({ category, internal_name: internalName, localized_tag_name: label, name: word }) => {
      return { category, internalName, name: label || word }
    }),
  }
}

function parseItem(row: unknown, { describe, properties }: PageDetails): SteamItem[] {
  const owned = ownedRow.safeParse(row)
  const assetId = owned.data?.assetid ?? owned.data?.id
  if (!owned.success || !assetId) return []
  const { classid: classId, instanceid: instanceId, amount } = owned.data
  const paintIndex = paintIndexOf(properties.get(assetId))
  return [{ assetId, classId, instanceId, amount, ...describe(`${classId}_${instanceId}`), paintIndex }]
}

/** Trims, and removes control characters and marks that change the direction of the text after them. */
export function plainText(value: string): string {
  return value.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '').trim()
}

export function nullIfZero(value: string | undefined): string | null {
  return value === undefined || value === '0' ? null : value
}
