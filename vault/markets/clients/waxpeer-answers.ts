/** Reads the answers of Waxpeer. Their shapes come from the sources of public clients. */
import { z } from 'zod'
import { DAY_MS } from '../../durations.ts'
import { type Partner, partnerOfLink } from '../../files/trade-link.ts'
import type { DueGift, Listed, Outcome, Problem, Repriced, Row } from '../market.ts'
import type { Scale } from '../scale.ts'
import {
  appNumber,
  decimal,
  digits,
  LAST_MS,
  listOf,
  nameIn,
  priceListOf,
  quotedDecimal,
  shortText,
} from './answer-parts.ts'

/** Waxpeer's names of the games, with Steam's app ids. */
export const GAMES: Readonly<Record<string, number>> = { csgo: 730, dota2: 570, tf2: 440, rust: 252490 }

/**
 * How long a sale in these games counts as settling. Steam lets a buyer reverse the trade for seven days. A day is
 * added, because it is unknown when Waxpeer pays.
 */
const SETTLING_MS: Readonly<Record<number, number>> = { 730: 8 * DAY_MS }

/** How far back to look for sales that may be settling: the longest settling time, and a day. */
export const LOOK_BACK_MS = Math.max(...Object.values(SETTLING_MS)) + DAY_MS

/** In thousandths of a dollar. Refuses a number with a point, or in quotes: it may be dollars. */
const units = z.int().nonnegative().transform(BigInt)
const UNITS_OF_A_DOLLAR = 1_000
const dollarsOf = (value: number): number => (Number.isInteger(value) ? value / UNITS_OF_A_DOLLAR : value)
/**
 * A price in dollars. Waxpeer writes whole thousandths of a dollar. Without the conversion, 30 of them would look like
 * 30 dollars, and an item whose price somebody lowered a thousandfold would be given. A number with a point, such as
 * 30.00, is in dollars.
 */
const price = z.union([
  z.number().transform(dollarsOf),
  quotedDecimal.transform((text) => (text.includes('.') ? Number(text) : dollarsOf(Number(text)))),
])
/** The number of a deal. */
const dealId = z.union([z.string().min(1).max(100), z.int().nonnegative()]).transform(String)
/** Numbers above this are milliseconds since 1970, others are seconds. Waxpeer sends both, and also dates as text. */
const LEAST_MS = 100_000_000_000
const moment = z
  .union([z.iso.datetime({ offset: true }), decimal.pipe(z.int().positive())])
  .transform((value) => new Date(typeof value === 'number' && value < LEAST_MS ? value * 1000 : value))
  .refine((date) => date.getTime() <= LAST_MS)

export const envelopeSchema = z.looseObject({ success: z.boolean(), msg: shortText.nullish() })

/** The step of an account that can sell. */
const LAST_STEP = 3
export const sellingSchema = envelopeSchema.extend({ step: z.int().nullish().catch(null) })
/** Why nothing sells, although the call succeeded. */
export const obstacleOf = ({ step, msg }: z.infer<typeof sellingSchema>): string | undefined =>
  step == null || step >= LAST_STEP ? undefined : (msg ?? `step ${step}`)

export const userSchema = z.object({
  user: z.looseObject({
    id64: digits,
    can_p2p: z.boolean(),
    tradelink: shortText.nullish(),
    ban: z.boolean().optional(),
    /** The seller's share of a price. */
    sell_fees: decimal.pipe(z.number().min(0.5).max(1)).nullish().catch(null),
  }),
})
type User = z.infer<typeof userSchema>['user']
/** Not a part of `userSchema`, because an account may sell although its wallet cannot be read. */
export const walletSchema = z.object({ user: z.looseObject({ wallet: units }) })

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

const failedRow = z.looseObject({
  item_id: digits,
  msg: shortText.nullish(),
  msBeforeNext: decimal.pipe(z.number().nonnegative()).nullish().catch(null),
})
export const listedSchema = z.object({
  listed: listOf(z.looseObject({ item_id: digits }), 100).nullish(),
  failed: listOf(failedRow, 100).nullish(),
})

/**
 * Returns one result for each requested asset. Waxpeer identifies a listing by its asset id. The texts of its refusals
 * are not documented, so any refusal may be temporary. `waitMs`: how long Waxpeer accepts no change of the item.
 */
export function listedOf(
  { listed, failed }: z.infer<typeof listedSchema>,
  requested: readonly string[],
): { line: Listed; waitMs: number }[] {
  return requested.map((assetId) => {
    if (listed?.rows.some((row) => row.item_id === assetId) === true)
      return { line: { kind: 'listed', assetId, itemId: assetId }, waitMs: 0 }
    const { msg, msBeforeNext } = failed?.rows.find((row) => row.item_id === assetId) ?? {}
    const waitMs = msBeforeNext ?? 0
    if (waitMs > 0) return { line: { kind: 'postponed', assetId }, waitMs }
    return { line: { kind: 'refused', assetId, code: msg ?? 'not mentioned', retry: true }, waitMs }
  })
}

export const editedSchema = z.object({
  updated: listOf(z.looseObject({ item_id: digits }), 100).nullish(),
})
export const editedOf = (
  { updated }: z.infer<typeof editedSchema>,
  requested: readonly string[],
): Repriced[] =>
  requested.map((itemId) => ({
    itemId,
    isDone: updated?.rows.some((row) => row.item_id === itemId) === true,
  }))

/** Waxpeer lists the removed items, or says only how many they are. */
export const removedSchema = z.object({
  removed: z.array(digits).max(1_000).nullish().catch(null),
  count: z.int().nullish().catch(null),
})
export const removedOf = (
  { removed, count }: z.infer<typeof removedSchema>,
  requested: readonly string[],
): Repriced[] =>
  requested.map((itemId) => ({
    itemId,
    isDone: removed == null ? count === requested.length : removed.includes(itemId),
  }))

const onSaleRow = z.looseObject({ item_id: digits, price: price.nullable().catch(null) })
export const onSaleSchema = z.object({ items: listOf(onSaleRow).nullish() })
export const onSaleOf = ({ items }: z.infer<typeof onSaleSchema>): Row[] =>
  (items?.rows ?? []).map(({ item_id, price }) => ({
    itemId: item_id,
    assetId: item_id,
    stage: 'on_sale',
    leftS: null,
    price,
  }))

/** Waxpeer's numbers for the status of a sale. */
const STATUS = { made: 0, preparing: 1, sent: 4, accepted: 5, cancelled: 6 } as const

const readySchema = z.looseObject({
  /** The number of the deal. The name of the field is Waxpeer's own spelling. */
  costum_id: dealId,
  tradelink: shortText,
  trade_message: z.string().min(1).max(300),
  for_steamid64: digits.nullish(),
  send_until: moment,
  done: z.boolean().nullish(),
  items: z
    .array(z.looseObject({ item_id: digits, game: z.string().max(20), price }))
    .min(1)
    .max(100),
})
/** A list of deals, a single deal without a list, or nothing. An unreadable single deal must not count as nothing. */
export const readyTradesSchema = z.union([
  z.object({ trades: z.array(z.unknown()).max(500) }),
  z
    .looseObject({ costum_id: z.union([z.string(), z.number()]) })
    .transform((trade) => ({ trades: [trade] as unknown[] })),
  z
    .object({ trades: z.undefined().optional(), costum_id: z.null().optional() })
    .transform(() => ({ trades: [] as unknown[] })),
])

/** A deal that must be handed over, with a row for each item bought. */
export type DueDeal = { due: DueGift; rows: readonly Row[] }

/** Leaves out deals that are done. `unread`: the numbers of deals that cannot be read. */
export function dueDealsOf(
  { trades }: z.infer<typeof readyTradesSchema>,
  now: Date,
): { deals: DueDeal[]; unread: string[] } {
  const [deals, unread]: [DueDeal[], string[]] = [[], []]
  for (const trade of trades) {
    const ready = readySchema.safeParse(trade).data
    if (ready?.done === true) continue
    const deal = ready && dueDealOf(ready, now)
    if (deal === undefined) unread.push(nameIn(trade, 'costum_id'))
    else deals.push(deal)
  }
  return { deals, unread }
}

/** Undefined if the trade has no recipient, two different ones, or an item of an unknown game. */
function dueDealOf(trade: z.infer<typeof readySchema>, now: Date): DueDeal | undefined {
  const partner = partnerOfLink(trade.tradelink)
  if (partner === undefined) return undefined
  if (trade.for_steamid64 != null && trade.for_steamid64 !== partner.steamId) return undefined
  const assets = trade.items.flatMap(({ item_id: assetId, game }) => {
    const appId = GAMES[game]
    return appId === undefined ? [] : [{ appId, contextId: '2', assetId }]
  })
  if (assets.length !== trade.items.length) return undefined
  const leftS = secondsUntil(trade.send_until, now)
  const rows = trade.items.map(({ item_id, price }): Row => {
    return { itemId: item_id, assetId: item_id, stage: 'sold', leftS, dueAt: trade.send_until, price }
  })
  return { due: giftOf(trade.costum_id, partner, { message: trade.trade_message, assets }), rows }
}

const secondsUntil = (moment: Date, now: Date): number =>
  Math.floor((moment.getTime() - now.getTime()) / 1000)

const giftOf = (
  dealId: string,
  { steamId: partnerSteamId, token }: Partner,
  terms: Pick<DueGift, 'message' | 'assets'>,
): DueGift => ({ dealId, partnerSteamId, token, ...terms })

const pushedSchema = z.looseObject({
  waxid: dealId,
  tradelink: shortText,
  tradeoffermessage: z.string().min(1).max(300),
  created: moment.nullish().catch(null),
  send_until: moment,
  json_tradeoffer: z.object({
    // `them` is never read: a sale takes nothing.
    me: z.object({
      assets: z
        .array(z.looseObject({ appid: appNumber, contextid: digits, assetid: digits }))
        .min(1)
        .max(100),
    }),
  }),
})

/** Waxpeer makes a deal this long before the deal's deadline. */
const HAND_OVER_MS = 5 * 60_000

/** `madeAt`: by Waxpeer's clock. */
export type PushedDeal = DueDeal & { madeAt: Date }

/** A deal that the socket reported. Undefined if it cannot be read. */
export function pushedDealOf(data: unknown, now: Date): PushedDeal | undefined {
  const pushed = pushedSchema.safeParse(data).data
  const partner = pushed && partnerOfLink(pushed.tradelink)
  if (pushed === undefined || partner === undefined) return undefined
  const leftS = secondsUntil(pushed.send_until, now)
  const assets = pushed.json_tradeoffer.me.assets.map(({ appid, contextid, assetid }) => {
    return { appId: appid, contextId: contextid, assetId: assetid }
  })
  const rows = assets.map(({ assetId }): Row => {
    return { itemId: assetId, assetId, stage: 'sold', leftS, dueAt: pushed.send_until, price: null }
  })
  const due = giftOf(pushed.waxid, partner, { message: pushed.tradeoffermessage, assets })
  return { due, rows, madeAt: pushed.created ?? new Date(pushed.send_until.getTime() - HAND_OVER_MS) }
}

const dealNumber = dealId.nullish().catch(null)
const checkedRow = z.looseObject({
  /** The number of a purchase. Buyers know a sale by it. */
  id: z.union([z.string().max(100), z.int()]).nullish(),
  /** The number of the deal, in both of Waxpeer's spellings. */
  custom_id: dealNumber,
  costum_id: dealNumber,
  status: digits.transform(Number),
})
export const checkedSchema = z.object({ trades: listOf(checkedRow, 100).nullish() })

/** The deal's status. Undefined if the answer omits the deal. */
export const statusIn = ({ trades }: z.infer<typeof checkedSchema>, dealId: string): number | undefined =>
  trades?.rows.find(({ id, custom_id, costum_id }) => [String(id), custom_id, costum_id].includes(dealId))
    ?.status

/** Whether Waxpeer still wants a deal with this status. Undefined if the status does not tell. */
export function isOpenStatus(status: number | undefined): boolean | undefined {
  if (status === STATUS.made || status === STATUS.preparing || status === STATUS.sent) return true
  return isOverStatus(status) ? false : undefined
}

export const isOverStatus = (status: number | undefined): boolean =>
  status === STATUS.accepted || status === STATUS.cancelled

export const isCancelledStatus = (status: number | undefined): boolean => status === STATUS.cancelled

const historyRow = z.looseObject({
  /** The number of the sale. */
  id: z
    .union([z.string().max(100), z.int()])
    .nullish()
    .catch(null),
  item_id: digits,
  price: price.nullish().catch(null),
  give_amount: units.nullish().catch(null),
  game: z.string().max(20),
  // An unreadable status must not lose the row: without it, the sold item would seem to be gone.
  status: digits.transform(Number).catch(-1),
  action: z.string().max(30).catch(''),
  created: moment.catch(new Date(0)),
})
/** Sales and payouts may share the rows of a page. */
export const historySchema = z.object({
  data: z.object({
    trades: listOf(historyRow, 100),
    transactions: z.array(z.unknown()).max(100).nullish().catch(null),
  }),
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
  if (settlesAt.getTime() > LAST_MS) return { kind: 'pending' }
  return settlesAt > now ? { kind: 'settling', receivedMinor, settlesAt } : { kind: 'paid', receivedMinor }
}

/**
 * A row for the item of a sale that is not cancelled. Without it, the item would seem to be gone. Every status but
 * `sent` and `accepted` gives the stage `unknown`.
 */
export function rowUnderWay(row: HistoryRow): Row | undefined {
  const { item_id, status, price = null } = row
  if (status === STATUS.cancelled) return undefined
  const item = { itemId: item_id, assetId: item_id, leftS: null, price }
  if (status === STATUS.sent) return { ...item, stage: 'offer_out' }
  return { ...item, stage: status === STATUS.accepted ? 'given' : 'unknown' }
}

export const pricesSchema = priceListOf(z.looseObject({ name: z.string().max(300), min: units.nullish() }))
