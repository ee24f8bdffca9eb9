/** The lists of the simulated Steam, page by page. */
import type {
  HistoryPlace,
  OffersAnswer,
  SteamTrade,
  SteamTradesAnswer,
  UnreadableOffer,
} from '../../gateway/steam/steam.ts'
import { answerGift } from './gifts.ts'
import { answerOffer, answerSteamTrade } from './steam-answers.ts'
import type { SteamMemory, SteamOffer } from './steam-memory.ts'

/** The rows of a page: few, so lists have several pages. */
const PAGE = 4

/** An offer that the operator made by hand, in an unknown state. It never changes. */
const ODD_ROW: UnreadableOffer = { offerId: '7', partnerSteamId: '76561198099999999', message: 'by hand' }

/** Returns a page of offers, newest first. `cursor`: the oldest offer of the previous page. */
export function list(
  memory: SteamMemory,
  bot: string,
  { since, cursor }: { since: Date; cursor: string | null },
): OffersAnswer {
  const { engine, faults, offersByBot } = memory
  const offers = offersByBot.get(bot) ?? []
  const [sinceMs, nowMs] = [since.getTime(), engine.now()]
  const rows: SteamOffer[] = []
  for (let index = offers.length - 1; index >= 0 && rows.length <= PAGE; index -= 1) {
    const offer = offers[index]
    if (offer === undefined || (cursor !== null && Number(offer.offerId) >= Number(cursor))) continue
    if (offer.changedAt < sinceMs && offer.state !== 'active') continue
    if (offer.isCounter || offer.visibleAt <= nowMs || faults.areStopped) rows.push(offer)
    else faults.note('offer listed late')
  }
  const page = rows.slice(0, PAGE)
  const last = rows.length > PAGE ? page.at(-1) : undefined
  if (cursor !== null) faults.note('further page of a list')
  else if (rows.length > 0) faults.note('row that stays unreadable')
  const sent = page.filter(({ isCounter, isOpaque }) => !isCounter && !isOpaque)
  const opaque = page.filter(({ isOpaque }) => isOpaque)
  const isUnreadable = sent.length > 0 && faults.strike('unreadable row in a list', 0.005)
  const unreadable = isUnreadable ? sent.pop() : undefined
  return {
    kind: 'offers',
    sent: sent.map((offer) => answerOffer(memory, offer)),
    received: page.filter(({ isCounter }) => isCounter).map((offer) => answerOffer(memory, offer)),
    unreadable: [
      ...(cursor === null ? [ODD_ROW] : []),
      ...opaque.map(rowOf),
      ...(unreadable ? [unreadableRow(unreadable)] : []),
    ],
    next: last?.offerId ?? null,
  }
}

/** An unreadable row. Some lack even the message. */
const unreadableRow = (offer: SteamOffer): UnreadableOffer => ({
  ...rowOf(offer),
  message: Number(offer.offerId) % 2 === 0 ? offer.message : null,
})

const rowOf = ({ offerId, partner, message }: SteamOffer): UnreadableOffer => ({
  offerId,
  partnerSteamId: partner,
  message,
})

type Row = { tradeId: string; beganAt: number; answer: () => SteamTrade }

/** The rows of a bot's history, newest first. */
function rowsOf(memory: SteamMemory, bot: string): Row[] {
  const rows: Row[] = []
  for (const steamTrade of memory.steamTrades.values()) {
    const { tradeId, beganAt, offer } = steamTrade
    if (offer.bot === bot) rows.push({ tradeId, beganAt, answer: () => answerSteamTrade(memory, steamTrade) })
  }
  for (const gift of memory.gifts.values()) {
    const { tradeId, beganAt } = gift
    if (gift.bot === bot) rows.push({ tradeId, beganAt, answer: () => answerGift(memory, gift) })
  }
  for (const { bot: owner, row } of memory.fixedRows) {
    if (owner === bot) rows.push({ tradeId: row.tradeId, beganAt: row.begunAt.getTime(), answer: () => row })
  }
  return rows.sort((one, other) => (one.tradeId < other.tradeId ? 1 : -1))
}

/** Returns a page of the history, newest first, with an unreadable row. */
export function history(memory: SteamMemory, bot: string, after: HistoryPlace | null): SteamTradesAnswer {
  const rows = rowsOf(memory, bot)
  const start = after === null ? 0 : rows.findIndex(({ tradeId }) => tradeId === after.tradeId) + 1
  const page = rows.slice(start, start + PAGE)
  const last = start + PAGE < rows.length ? page.at(-1) : undefined
  if (after !== null) memory.faults.note('further page of a history')
  return {
    kind: 'trades',
    trades: page.map(({ answer }) => answer()),
    unreadable: 1,
    next: last === undefined ? null : { tradeId: last.tradeId, begunAt: new Date(last.beganAt) },
  }
}
