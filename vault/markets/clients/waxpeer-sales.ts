/** The sales of an account at Waxpeer: what is due, whether a deal is still wanted, and how each sale ended. */

import { keepNewest } from '../../keep-newest.ts'
import { CLOCKS_DIFFER_MS, type DueGift, type Market, type MarketAnswer } from '../market.ts'
import type { Scale } from '../scale.ts'
import { firstOfEach } from './first-of-each.ts'
import type { Time } from './pace.ts'
import {
  checkedSchema,
  type DueDeal,
  dueDealsOf,
  envelopeSchema,
  GAMES,
  type HistoryRow,
  isCancelledStatus,
  isOpenStatus,
  isOverStatus,
  onSaleOf,
  onSaleSchema,
  outcomeOf,
  type PushedDeal,
  readyTradesSchema,
  rowUnderWay,
  statusIn,
} from './waxpeer-answers.ts'
import { gameOf, type WaxpeerCaller } from './waxpeer-calls.ts'
import type { History } from './waxpeer-history.ts'
import type { Socket } from './waxpeer-socket.ts'
import type { Token } from './waxpeer-token.ts'

/** After this many refusals of the poll in a row, only the socket reports deals. A single refusal may be temporary. */
const POLL_REFUSALS = 3
/** How often to ask whether a deal was called off. */
const CALLED_OFF_MS = 30_000

type Parts = {
  call: WaxpeerCaller
  socket: Socket
  token: Token
  history: History
  scale: Scale
  time: Time
  now: () => Date
}
type SaleCalls = Pick<Market, 'round' | 'isWanted' | 'isCalledOff' | 'reportOffer' | 'outcomes'>

export function saleCalls(parts: Parts): SaleCalls {
  const { call, socket, token, history, scale, now } = parts
  let refusals = 0
  /** The numbers of deals that were read. A later answer without their details does not make them unread. */
  const readDealIds = new Map<string, true>()
  return {
    async round(appId) {
      socket.keepOpen()
      // Taken before the poll, which may report the same deal in a readable form.
      const unreadPushes = socket.unread()
      // The order matters: an item that is sold between the two answers appears in the second one.
      const onSale = await call('list-items-steam', onSaleSchema, { query: [gameOf(appId)], read: onSaleOf })
      if (onSale.kind !== 'answered') return onSale
      const ready = await readyDeals(parts)
      refusals = ready.kind === 'refused' ? refusals + 1 : 0
      if (ready.kind !== 'answered' && refusals < POLL_REFUSALS) return ready
      const polled = ready.kind === 'answered' ? ready.value : { deals: [], unread: [] }
      const sales = await history.underWay()
      if (sales.kind !== 'answered') return sales
      // A listing without a row counts as taken down, so an answer must contain each sale that may be under way.
      if (sales.value.isCut) return { kind: 'unanswered', because: 'a history that is too long to read' }
      const pushed = socket
        .deals()
        .filter((each) => mayBeOpen(each, sales.value.rows))
        .map((each) => withPrices(each, sales.value.rows))
      const allDeals = joinDeals(polled.deals, pushed)
      for (const { due } of allDeals) keepNewest(readDealIds, due.dealId, true)
      const deals = allDeals.filter(({ due }) => isOfGame(due.assets, appId))
      const pending = sales.value.rows.flatMap((row) =>
        GAMES[row.game] === appId ? (rowUnderWay(row) ?? []) : [],
      )
      const allRows = [...deals.flatMap((each) => each.rows), ...onSale.value, ...pending]
      const rows = firstOfEach(allRows, ({ itemId }) => itemId)
      const unread = [...polled.unread, ...unreadPushes].filter((dealId) => !readDealIds.has(dealId))
      const due = deals.filter((each) => !mustWait(each)).map((each) => each.due)
      return { kind: 'answered', value: { rows, due, unread } }
    },
    isWanted: (deal, about) => isWanted(parts, deal, about),
    isCalledOff: createIsCalledOff(parts),
    async reportOffer(_appId, { offerId, dealId }) {
      const body = { tradeid: offerId, waxid: dealId }
      const report = () => call('steam-trade', envelopeSchema, { body, read: () => null })
      const answer = await report()
      const lacksToken = answer.kind === 'refused' && /token/i.test(answer.code)
      return lacksToken && (await token.sendAgain()) ? report() : answer
    },
    async outcomes(appId, since) {
      const sales = await history.since(since)
      if (sales.kind !== 'answered') return sales
      const rowsOfGame = sales.value.rows.filter(({ game }) => GAMES[game] === appId)
      return { kind: 'answered', value: rowsOfGame.map((row) => outcomeOf(row, scale, now())) }
    },
  }
}

/** The deals to hand over, of all games. */
const readyDeals = ({ call, now }: Parts) =>
  call('ready-to-transfer-p2p', readyTradesSchema, { read: (answer) => dueDealsOf(answer, now()) })

async function isWanted(
  parts: Parts,
  { dealId, assets }: DueGift,
  { offerId, listedAt }: { offerId: string; listedAt: Date },
): Promise<MarketAnswer<boolean>> {
  if (parts.socket.isCalledOff(offerId)) return { kind: 'answered', value: false }
  const status = await statusOf(parts, dealId)
  if (status.kind !== 'answered') return status
  const isOpen = isOpenStatus(status.value)
  if (isOpen !== undefined) return { kind: 'answered', value: isOpen }
  const ready = await readyDeals(parts)
  if (ready.kind !== 'answered' && ready.kind !== 'refused') return ready
  if (ready.kind === 'answered' && ready.value.deals.some(({ due }) => due.dealId === dealId))
    return { kind: 'answered', value: true }
  const sales = await parts.history.underWay()
  if (sales.kind !== 'answered') return sales
  const areOpen = assets.map(({ assetId }) => isOpenSale(newestSaleOf(assetId, sales.value.rows), listedAt))
  if (areOpen.includes(false)) return { kind: 'answered', value: false }
  return areOpen.includes(undefined)
    ? { kind: 'unanswered', because: 'an answer that does not show the state of the sale' }
    : { kind: 'answered', value: true }
}

/**
 * The status of a deal. Undefined if Waxpeer does not give it: the call is meant for buyers, and may refuse or omit the
 * deal number that a seller knows.
 */
async function statusOf({ call }: Parts, dealId: string): Promise<MarketAnswer<number | undefined>> {
  const answer = await call('check-many-steam', checkedSchema, {
    query: [['id', dealId]],
    read: (checked) => statusIn(checked, dealId),
  })
  return answer.kind === 'refused' ? { kind: 'answered', value: undefined } : answer
}

/** Only an explicit report from Waxpeer calls a deal off: cancelling a good offer counts as a failure to hand over. */
function createIsCalledOff(parts: Parts): NonNullable<Market['isCalledOff']> {
  const { socket, time } = parts
  /** By deal: the last answer, and when it was asked for. */
  const checks = new Map<string, { isCalledOff: boolean; atMs: number }>()
  return async ({ dealId }, offerId) => {
    const last = checks.get(dealId)
    if (socket.isCalledOff(offerId) || last?.isCalledOff === true) return true
    const atMs = time.now()
    if (last !== undefined && atMs - last.atMs < CALLED_OFF_MS) return false
    const status = await statusOf(parts, dealId)
    const isCalledOff = status.kind === 'answered' && isCancelledStatus(status.value)
    keepNewest(checks, dealId, { isCalledOff, atMs })
    return isCalledOff
  }
}

/** The latest sale of an item. `history`: newest first. */
const newestSaleOf = (assetId: string, history: readonly HistoryRow[]): HistoryRow | undefined =>
  history.find(({ item_id }) => item_id === assetId)

/**
 * Whether the sale of an item listed at `listedAt` is open. Undefined if the row does not tell, because it may show a
 * former sale of the item: the history can be late.
 */
function isOpenSale(sale: HistoryRow | undefined, listedAt: Date): boolean | undefined {
  const isOpen = isOpenStatus(sale?.status)
  if (sale === undefined || isOpen === undefined) return undefined
  const afterMs = sale.created.getTime() - listedAt.getTime()
  return afterMs > (isOpen ? -CLOCKS_DIFFER_MS : CLOCKS_DIFFER_MS) ? isOpen : undefined
}

/** How much the times that Waxpeer gives for one sale may differ. */
const SAME_SALE_MS = 60_000

/**
 * True unless the history shows that an item's sale is over. The socket's list keeps a deal until its deadline, even if
 * the deal ends before that.
 */
const mayBeOpen = ({ due, madeAt }: PushedDeal, history: readonly HistoryRow[]): boolean =>
  due.assets.every(({ assetId }) => {
    const sale = newestSaleOf(assetId, history)
    return !isOverStatus(sale?.status) || isFormer(sale, madeAt)
  })

/** True if the sale was made before the deal. */
const isFormer = (sale: HistoryRow | undefined, madeAt: Date): boolean =>
  Number(sale?.created) < madeAt.getTime() - SAME_SALE_MS

/**
 * Adds the prices from the history, because the socket gives none. Without a price, the vault could not notice that an
 * item was sold at a price that it did not set.
 */
function withPrices(deal: PushedDeal, history: readonly HistoryRow[]): PushedDeal {
  const rows = deal.rows.map((row) => {
    const sale = newestSaleOf(row.assetId, history)
    return sale === undefined || isFormer(sale, deal.madeAt) ? row : { ...row, price: sale.price ?? null }
  })
  return { ...deal, rows }
}

/** A deal without a price waits for the history only until this much of its time is left. */
const LEFT_AFTER_WAIT_S = 150

/**
 * True while the history may still give a missing price. Meanwhile the deal is not due, but its rows show the items as
 * sold.
 */
const mustWait = ({ rows }: DueDeal): boolean =>
  rows.some(({ price, leftS }) => price === null && leftS !== null && leftS > LEFT_AFTER_WAIT_S)

/** If both poll and socket report a deal, the poll's version counts. */
function joinDeals(polled: readonly DueDeal[], pushed: readonly DueDeal[]): DueDeal[] {
  const polledIds = new Set(polled.map(({ due }) => due.dealId))
  return [...polled, ...pushed.filter(({ due }) => !polledIds.has(due.dealId))]
}

const isOfGame = (assets: readonly { appId: number }[], appId: number): boolean =>
  assets.some((asset) => asset.appId === appId)
