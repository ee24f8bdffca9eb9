/** Reads the answers of Waxpeer. Their shapes come from the sources of public clients. */
import { z } from 'zod'
import type { DueGift, Listed, Outcome, Problem, Repriced, Row } from './market.ts'
import type { Scale } from './scale.ts'

const MOST_ROWS = 20_000
const DAY_MS = 86_400_000
const FIRST_STEAM_ID = 76561197960265728n

/** Waxpeer's names of the games, with Steam's app ids. */
export const GAMES: Readonly<Record<string, number>> = { csgo: 730, dota2: 570, tf2: 440, rust: 252490 }

/**
 * How long a sale in these games counts as settling. Steam lets a buyer reverse the trade for seven days. A day is
 * added, because it is unknown when Waxpeer pays.
 */
const SETTLING_MS: Readonly<Record<number, number>> = { 730: 8 * DAY_MS }

/** How far back to look for sales that may be settling: the longest settling time, and a day. */
export const LOOK_BACK_MS = Math.max(...Object.values(SETTLING_MS)) + DAY_MS

const digits = z
  .union([z.string().regex(/^\d{1,20}$/), z.int().nonnegative()])
  .transform((value): string => String(value))
const units = z.int().nonnegative().transform(BigInt)
const shortText = z.string().max(500)
const moment = z
  .union([z.iso.datetime({ offset: true }), z.int().positive()])
  .transform((value) => new Date(value))

export const envelopeSchema = z.looseObject({ success: z.boolean(), msg: shortText.nullish() })

export const userSchema = z.object({
  user: z.looseObject({
    id64: digits,
    wallet: units,
    can_p2p: z.boolean(),
    tradelink: shortText.nullish(),
    ban: z.boolean().optional(),
    /** The seller's share of a price. */
    sell_fees: z.number().min(0.5).max(1).nullish().catch(null),
  }),
})
type User = z.infer<typeof userSchema>['user']

export function problemsOf({ id64, can_p2p, tradelink, ban }: User, steamId: string): Problem[] {
  return [
    ...(id64 === steamId ? [] : ['other_account' as const]),
    ...(tradelink ? [] : ['no_trade_token' as const]),
    ...(can_p2p ? [] : ['offline' as const]),
    ...(ban === true ? ['banned_from_selling' as const] : []),
  ]
}

const ALL_BP = 10_000

export const feeOf = ({ sell_fees: share }: User): bigint | null =>
  share == null ? null : BigInt(ALL_BP - Math.round(share * ALL_BP))

const failedSchema = z.array(z.looseObject({ item_id: digits, msg: shortText.nullish() })).max(100)
export const listedSchema = z.object({
  listed: z
    .array(z.looseObject({ item_id: digits }))
    .max(100)
    .nullish(),
  failed: failedSchema.nullish(),
})

/** Waxpeer's messages about an item that it has not read yet, or that was changed too often just now. */
const RETRY_TEXTS = /not found|inventory|try again|limit|too many/i

/** Returns one result for each requested asset. Waxpeer identifies a listing by its asset id. */
export function listedOf(
  { listed, failed }: z.infer<typeof listedSchema>,
  requested: readonly string[],
): Listed[] {
  return requested.map((assetId): Listed => {
    if (listed?.some((row) => row.item_id === assetId) === true)
      return { kind: 'listed', assetId, itemId: assetId }
    const code = failed?.find((row) => row.item_id === assetId)?.msg ?? 'not mentioned'
    return { kind: 'refused', assetId, code, retry: RETRY_TEXTS.test(code) || code === 'not mentioned' }
  })
}

export const editedSchema = z.object({
  updated: z
    .array(z.looseObject({ item_id: digits }))
    .max(100)
    .nullish(),
})
export const editedOf = (
  { updated }: z.infer<typeof editedSchema>,
  requested: readonly string[],
): Repriced[] =>
  requested.map((itemId) => ({ itemId, isDone: updated?.some((row) => row.item_id === itemId) === true }))

export const removedSchema = z.object({ removed: z.array(digits).max(1_000).nullish() })
export const removedOf = (
  { removed }: z.infer<typeof removedSchema>,
  requested: readonly string[],
): Repriced[] => requested.map((itemId) => ({ itemId, isDone: removed?.includes(itemId) === true }))

/** A row that cannot be read must not keep the others from being read. */
const unreadable = z.unknown().transform(() => null)

export const onSaleSchema = z.object({
  items: z
    .array(z.looseObject({ item_id: digits, price: z.number().nullable().catch(null) }).or(unreadable))
    .max(MOST_ROWS)
    .nullish(),
})
export const onSaleOf = ({ items }: z.infer<typeof onSaleSchema>): Row[] =>
  (items ?? [])
    .filter((row) => row !== null)
    .map(({ item_id, price }) => ({
      itemId: item_id,
      assetId: item_id,
      stage: 'on_sale',
      leftS: null,
      price,
    }))

const LINK = /^https:\/\/steamcommunity\.com\/tradeoffer\/new\/\?partner=(\d{1,10})&token=([\w-]{8})$/

/** The recipient that a trade link names. Undefined for any other text. */
function recipientOf(link: string): { partnerSteamId: string; token: string } | undefined {
  const [, partner, token] = LINK.exec(link) ?? []
  if (partner === undefined || token === undefined) return undefined
  return { partnerSteamId: String(FIRST_STEAM_ID + BigInt(partner)), token }
}

/** Waxpeer's numbers for the status of a sale. */
const STATUS = { made: 0, preparing: 1, sent: 4, accepted: 5, cancelled: 6 } as const

const readySchema = z.looseObject({
  /** The number of the deal. The name of the field is Waxpeer's own spelling. */
  costum_id: z.string().min(1).max(100),
  tradelink: shortText,
  trade_message: z.string().min(1).max(300),
  for_steamid64: digits.nullish(),
  send_until: moment,
  done: z.boolean().nullish(),
  items: z
    .array(z.looseObject({ item_id: digits, game: z.string().max(20), price: z.number() }))
    .min(1)
    .max(100),
})
/** A list of deals, a single deal without a list, or nothing. */
export const readyTradesSchema = z.union([
  z.object({ trades: z.array(z.unknown()).max(500) }),
  readySchema.transform((trade) => ({ trades: [trade] as unknown[] })),
  z.object({ trades: z.undefined().optional() }).transform(() => ({ trades: [] as unknown[] })),
])

/** A deal that must be handed over, with a row for each item bought. */
export type DueDeal = { due: DueGift; rows: readonly Row[] }

/**
 * Leaves out deals that are done. Also leaves out a deal that cannot be read or that names two recipients, so the others
 * can still be handed over.
 */
export function dueDealsOf({ trades }: z.infer<typeof readyTradesSchema>, now: Date): DueDeal[] {
  return trades.flatMap((row): DueDeal[] => {
    const trade = readySchema.safeParse(row).data
    const recipient = trade && recipientOf(trade.tradelink)
    if (trade === undefined || recipient === undefined || trade.done === true) return []
    if (trade.for_steamid64 != null && trade.for_steamid64 !== recipient.partnerSteamId) return []
    const assets = trade.items.flatMap(({ item_id: assetId, game }) => {
      const appId = GAMES[game]
      return appId === undefined ? [] : [{ appId, contextId: '2', assetId }]
    })
    if (assets.length !== trade.items.length) return []
    const leftS = Math.floor((trade.send_until.getTime() - now.getTime()) / 1000)
    const rows = trade.items.map(({ item_id, price }): Row => {
      return { itemId: item_id, assetId: item_id, stage: 'sold', leftS, price }
    })
    return [{ due: { dealId: trade.costum_id, ...recipient, message: trade.trade_message, assets }, rows }]
  })
}

const pushedSchema = z.looseObject({
  waxid: z.string().min(1).max(100),
  tradelink: shortText,
  tradeoffermessage: z.string().min(1).max(300),
  send_until: moment,
  json_tradeoffer: z.object({
    // `them` is never read: a sale takes nothing.
    me: z.object({
      assets: z
        .array(z.looseObject({ appid: z.int(), contextid: digits, assetid: digits }))
        .min(1)
        .max(100),
    }),
  }),
})

/** A deal that the socket reported. Undefined if it cannot be read. */
export function pushedDealOf(data: unknown, now: Date): DueDeal | undefined {
  const pushed = pushedSchema.safeParse(data).data
  const recipient = pushed && recipientOf(pushed.tradelink)
  if (pushed === undefined || recipient === undefined) return undefined
  const leftS = Math.floor((pushed.send_until.getTime() - now.getTime()) / 1000)
  const assets = pushed.json_tradeoffer.me.assets.map(({ appid, contextid, assetid }) => {
    return { appId: appid, contextId: contextid, assetId: assetid }
  })
  const rows = assets.map(({ assetId }): Row => {
    return { itemId: assetId, assetId, stage: 'sold', leftS, price: null }
  })
  return { due: { dealId: pushed.waxid, ...recipient, message: pushed.tradeoffermessage, assets }, rows }
}

const dealNumber = z.string().max(100).nullish()
export const checkedSchema = z.object({
  trades: z
    .array(
      z.looseObject({
        /** The number of a purchase. Buyers know a sale by it. */
        id: z.union([z.string().max(100), z.int()]),
        /** The number of the deal, in both of Waxpeer's spellings. */
        custom_id: dealNumber,
        costum_id: dealNumber,
        status: z.int(),
      }),
    )
    .max(100)
    .nullish(),
})

/** The deal's status. Undefined if the answer omits the deal. */
export const statusIn = ({ trades }: z.infer<typeof checkedSchema>, dealId: string): number | undefined =>
  trades?.find(({ id, custom_id, costum_id }) => [String(id), custom_id, costum_id].includes(dealId))?.status

/** True if Waxpeer still wants a deal with this status. */
export const isOpenStatus = (status: number | undefined): boolean =>
  status === STATUS.made || status === STATUS.preparing || status === STATUS.sent

export const isCancelledStatus = (status: number | undefined): boolean => status === STATUS.cancelled

const historyRow = z.looseObject({
  item_id: digits,
  give_amount: units.nullish().catch(null),
  game: z.string().max(20),
  // Without its row, an item that was sold would seem to be gone.
  status: z.int().catch(-1),
  action: z.string().max(30).catch(''),
  created: moment.catch(new Date(0)),
})
export const historySchema = z.object({
  data: z.object({ trades: z.array(historyRow.or(unreadable)).max(100) }),
})
export type HistoryRow = z.infer<typeof historyRow>

export const isSale = ({ action }: HistoryRow): boolean => action !== 'buy'

/** An unknown status counts as pending, never as a failure. */
export function outcomeOf(row: HistoryRow, scale: Scale, now: Date): Outcome {
  return { itemId: row.item_id, soldAt: row.created, end: endOf(row, scale, now) }
}

function endOf({ status, give_amount, game, created }: HistoryRow, scale: Scale, now: Date): Outcome['end'] {
  if (status === STATUS.cancelled) return { kind: 'cancelled' }
  if (status !== STATUS.accepted || give_amount == null) return { kind: 'pending' }
  const receivedMinor = scale.toMinor(give_amount)
  const settlesAt = new Date(created.getTime() + (SETTLING_MS[GAMES[game] ?? 0] ?? 0))
  return settlesAt > now ? { kind: 'settling', receivedMinor, settlesAt } : { kind: 'paid', receivedMinor }
}

export const isOver = ({ status }: HistoryRow): boolean =>
  status === STATUS.accepted || status === STATUS.cancelled

/**
 * A row for the item of a sale that is not cancelled. Without it, the item would seem to be gone. An unknown status
 * counts as open.
 */
export function rowUnderWay(row: HistoryRow): Row | undefined {
  const { item_id, status } = row
  if (status === STATUS.cancelled) return undefined
  const item = { itemId: item_id, assetId: item_id, leftS: null, price: null }
  if (status === STATUS.sent) return { ...item, stage: 'offer_out' }
  return { ...item, stage: status === STATUS.accepted ? 'given' : 'unknown' }
}

export const pricesSchema = z.object({
  items: z.array(z.looseObject({ name: z.string().max(300), min: units.nullish() })).max(200_000),
})
