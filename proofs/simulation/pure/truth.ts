/** Holds the rows of the till against what Steam knows. */
import { isFinal } from '../../../contract/statuses.ts'
import { OPEN_TRADE_STATES } from '../../../gateway/db/trade-tables.ts'
import { least } from '../../../gateway/ledger/entry.ts'
import type { OfferState } from '../../../gateway/steam/steam.ts'
import { LOST_ROOM_MS } from '../../../gateway/trades/consequences.ts'
import { isDelivered, type Trade } from '../../../gateway/trades/trade.ts'
import { isAway } from '../gifts.ts'
import type { Steam } from '../steam.ts'
import { isToldLate } from '../steam-answers.ts'
import type { ModelTrade } from '../steam-memory.ts'
import { hold } from '../violation.ts'
import type { Book } from './book.ts'
import type { Memory, Store, TradeRow } from './memory.ts'
import { roomBeside } from './promises.ts'
import { checkItem } from './thefts.ts'

/** A credit needs a Steam trade that brought these very items, and only one credit a Steam trade. */
export function checkCredit(steam: Steam, trades: Memory['trades'], row: TradeRow): void {
  const name = `trade ${row.facts.id}`
  const tradeId = row.deliveredBy ?? ''
  for (const other of trades.values()) {
    const isSame = other !== row && other.deliveredBy === tradeId
    hold(!isSame, 'I6', () => `${name} and ${other.facts.id} are credited for ${tradeId}`)
  }
  const steamTrade = steam.steamTrades.get(tradeId)
  hold(steamTrade !== undefined, 'I7', () => `${name} is credited for ${tradeId}, which Steam does not know`)
  if (steamTrade === undefined) return
  hold(steamTrade.offer.message === row.trade.secretCode, 'I7', () => `${name} is credited for another offer`)
  const arrived = steamTrade.items.every((item) => item.newAssetId !== null)
  hold(arrived, 'I7', () => `${name} is credited while its items are ${steamTrade.state}`)
}

/** Room that is about to be given back counts for neither side: clocks differ by minutes. */
const MARGIN_MS = 3_600_000
const DAY_MS = 86_400_000

/**
 * Called at each delivery. The credit before Steam's protection ends never exceeds the limit of the store, and
 * a store that waits for the release is credited nothing before, and neither is anybody for who took items back. Computed from the ledger alone.
 */
export function checkRisk(memory: Memory, row: TradeRow): void {
  const { book, trades, engine, steam } = memory
  const { store } = row.deposit
  const early = (of: TradeRow): bigint => book.early(of.facts.id)
  const steamTrade = steam.steamTrades.get(row.deliveredBy ?? '')
  // Nobody can know yet what Steam tells later.
  const isProtected = steamTrade !== undefined && steamTrade.settlesAt !== null && !isToldLate(steamTrade)
  const name = `trade ${row.facts.id}`
  if (isProtected && row.settings?.mode === 'on_release') {
    hold(early(row) === 0n, 'I15', () => `${name} is credited ${early(row)} before the release`)
  }
  if (!isProtected || early(row) === 0n) return
  let taken = 0n
  for (const other of trades.values()) {
    if (other.deposit.store !== store || other.protectionFoundAt !== null) continue
    if (other.trade.state === 'held') taken += early(other)
    else taken += book.lostSince(other.facts.id, engine.now() - LOST_ROOM_MS + MARGIN_MS)
  }
  hold(
    taken <= store.riskLimit,
    'I15',
    () => `store ${store.number} has ${taken} at risk, its limit is ${store.riskLimit}`,
  )
}

/** A shopper was told what is credited at once. It is kept as far as the store's limit goes, whatever others took. */
export function checkPromise(memory: Memory, row: TradeRow): void {
  const { book } = memory
  // Nor to somebody who took items back meanwhile.
  if (row.settings?.mode === 'on_release') return
  const { free } = roomBeside(memory, row)
  const due = least(row.promised, free)
  const atOnce = book.early(row.facts.id)
  hold(atOnce >= due, 'I15', () => `trade ${row.facts.id} is credited ${atOnce} at once, ${due} was promised`)
}

/** Steam may report late; allow for that. */
export const TOLD_WITHIN_MS = 120_000

/** Funds are released only for what is still with the bot. */
export function checkRelease(steam: Steam, row: TradeRow, nowMs: number): void {
  const steamTrade = steam.steamTrades.get(row.deliveredBy ?? '')
  if (steamTrade === undefined || nowMs - steamTrade.changedAt < TOLD_WITHIN_MS) return
  const back = steamTrade.items.filter((item) => item.rolledBackAssetId !== null)
  const reversed = isDelivered(row.trade) ? row.trade.reversed : []
  const isSeen = back.every(({ asset }) => reversed.includes(asset.assetId))
  hold(isSeen, 'I7', () => `trade ${row.facts.id} is released, but its items went back`)
}

export function checkReversal(steam: Steam, row: TradeRow, assetId: string): void {
  const steamTrade = steam.steamTrades.get(row.deliveredBy ?? '')
  const item = steamTrade?.items.find(({ asset }) => asset.assetId === assetId)
  const isBack = item !== undefined && item.rolledBackAssetId !== null
  hold(isBack, 'I7', () => `trade ${row.facts.id}: ${assetId} is taken back, but not on Steam`)
}

const TOLD: Record<'declined' | 'countered' | 'timed_out', readonly OfferState[]> = {
  declined: ['declined'],
  countered: ['countered'],
  timed_out: ['cancelled', 'expired'],
}

/** Whether Steam said of the offer or its Steam trade what makes a trade `invalid` for this reason. */
export function isToldInvalid(steam: Steam, offerId: string | null, reason: string): boolean {
  const offer = steam.offers.get(offerId ?? '')
  const steamTrade = steam.steamTrades.get(offer?.tradeId ?? '')
  const times = (state: OfferState): number => offer?.told.get(state) ?? 0
  switch (reason) {
    case 'escrow':
      return times('in_escrow') > 0
    case 'needs_confirmation':
      return times('needs_confirmation') > 0 && times('cancelled') > 0
    case 'cancelled_by_second_factor':
      return times('cancelled_by_second_factor') > 0
    case 'exchange_failed':
      return steamTrade?.told.has('failed') === true
    case 'exchange_taken_back':
      return steamTrade !== undefined && isToldTakenBack(steamTrade)
    case 'invalid':
    case 'invalid_items':
      // A bad end counts only when it was told twice.
      return times(reason) > 1
    default:
      return false
  }
}

/** All at once, or in parts that together are all. */
const isToldTakenBack = ({ told, items }: ModelTrade): boolean =>
  told.has('rolled_back') ||
  (told.has('partly_rolled_back') && items.every((item) => item.rolledBackAssetId !== null))

/** Only Steam's word ends an offer that was open. */
export function checkEnd(
  { steam, engine, bots, trades }: Memory,
  { trade, before }: { trade: Trade; before: Trade },
): void {
  if (!('reason' in trade)) return
  if (trade.reason === 'unresolved') {
    const waitedMs = engine.now() - (trade.startedAt?.getTime() ?? 0)
    hold(
      waitedMs > 15 * DAY_MS - CLOCKS_MS,
      'I7',
      () => `trade ${trade.tradeId} was given up after ${waitedMs} ms`,
    )
    return
  }
  if (trade.reason === 'bot_retired') {
    const bot = bots.get(trades.get(trade.tradeId)?.facts.botId ?? 0n)
    hold(
      bot?.state === 'retired',
      'I7',
      () => `trade ${trade.tradeId} was given up, its bot is ${bot?.state}`,
    )
    return
  }
  if (trade.state === 'refused' || trade.state === 'abandoned') return
  const offerId = 'offerId' in before ? before.offerId : null
  const told = steam.offers.get(offerId ?? '')?.told
  const { state, reason } = trade
  const isSaid =
    state === 'invalid' ? isToldInvalid(steam, offerId, reason) : TOLD[state].some((word) => told?.has(word))
  hold(isSaid, 'I7', () => `trade ${trade.tradeId} ended as ${reason}, which Steam never said`)
}

/** The sums of one trade and its deposit. */
export function checkTrade({ trade, deposit, held, reversed, total, live }: TradeRow): void {
  const name = `trade ${trade.tradeId}`
  const isSound = held >= 0n && reversed >= 0n && held + reversed <= total
  hold(isSound, 'I13', () => `${name}: held ${held} and reversed ${reversed} of ${total}`)
  const isOpen = ['intended', 'sending', 'unknown', 'active'].includes(trade.state)
  // Nobody else may name what Steam holds. A hold that was taken for over, and is seen again, takes nothing back.
  const isHeld = 'heldUntil' in trade && trade.heldUntil !== null && trade.reason === 'escrow'
  hold(
    isHeld || live === isOpen,
    'I8',
    () => `${name} is ${trade.state}, its assets are ${live ? 'taken' : 'free'}`,
  )
  let [credited, parts, back] = [0n, 0n, 0n]
  for (const row of deposit.trades) {
    if (isDelivered(row.trade)) credited += row.total
    parts += row.held
    back += row.reversed
  }
  const is = { credited: deposit.credited ?? 0n, held: deposit.held, reversed: deposit.reversed }
  const isSummed = is.credited === credited && is.held === parts && is.reversed === back
  hold(
    isSummed,
    'I13',
    () => `deposit ${deposit.id} says ${Object.values(is)}, its trades ${[credited, parts, back]}`,
  )
  const until = deposit.trades.flatMap((row) =>
    row.held > 0n && row.settlesAt ? [row.settlesAt.getTime()] : [],
  )
  const last = until.length > 0 ? Math.max(...until) : null
  hold(
    (deposit.heldUntil?.getTime() ?? null) === last,
    'I13',
    () => `deposit ${deposit.id} is held until ${deposit.heldUntil?.toISOString()}, its trades until ${last}`,
  )
  const isTold = deposit.status === 'created' || deposit.events.includes(deposit.status)
  hold(isTold, 'I9', () => `deposit ${deposit.id} is ${deposit.status} and did not tell`)
}

const MINUTE_MS = 60_000
const PATIENCE_MS = 10 * MINUTE_MS
const WINDOW_MS = 5 * MINUTE_MS

/** Looks at open trades are never planned further ahead than this, their deadlines apart. */
const NEXT_LOOK_MS = 2 * MINUTE_MS

/**
 * No deposit is open longer than its own deadline and ten minutes in which Steam answers readably about its offer.
 * `calmSince`: when the faults ended. A look that a clock which ran ahead has planned is waited for.
 */
export function checkAlive(memory: Memory, calmSince: number): void {
  const now = memory.engine.now()
  for (const { id, status, trades, expiresAt } of memory.deposits.values()) {
    if (isFinal(status)) continue
    const row = trades.findLast(({ trade }) => OPEN.includes(trade.state))
    if (row !== undefined && isUnreadable(memory, row)) continue
    const plannedAt = row?.facts.dueAt?.getTime() ?? 0
    if (row !== undefined && plannedAt > now + NEXT_LOOK_MS) memory.plannedAhead.set(row.facts.id, plannedAt)
    const ahead = memory.plannedAhead.get(row?.facts.id ?? 0n) ?? 0
    const deadline = row === undefined ? expiresAt.getTime() : Math.max(deadlineOf(row), ahead)
    const waitedMs = now - Math.max(deadline, calmSince)
    hold(waitedMs <= PATIENCE_MS, 'I12', () => `deposit ${id} is still ${status} after ${waitedMs} ms`)
  }
}

const OPEN: readonly Trade['state'][] = OPEN_TRADE_STATES

const deadlineOf = ({ trade, createdAt }: TradeRow): number =>
  trade.state === 'active' ? trade.deadline.getTime() : createdAt.getTime() + WINDOW_MS

/** True where Steam says nothing of the trade's offer that can be read, or proves what was accepted. */
function isUnreadable({ steam, bots }: Memory, { trade, facts }: TradeRow): boolean {
  if (bots.get(facts.botId)?.state !== 'active') return true
  const offer = steam.byMessage.get(trade.secretCode)
  if (offer?.isOpaque === true || offer?.isIdLost === true) return true
  // An offer that is not listed may be the one that cannot be read.
  const isLookedFor = trade.state === 'sending' || trade.state === 'unknown'
  const ofBot = [...steam.offers.values()].filter(({ bot }) => bot === String(facts.botId))
  return isLookedFor && ofBot.some(({ isOpaque }) => isOpaque)
}

const REST_MS = 17 * DAY_MS
/** Clocks are wrong by minutes. */
const CLOCKS_MS = 20 * MINUTE_MS
/** Each end of the three may wait for the sweep of its hour. */
const SWEEPS_MS = 3 * 60 * MINUTE_MS

/** Every trade is at rest within 17 days of the last thing that happened to it. */
export function checkRested(memory: Memory): void {
  const { steam, bots, trades, engine } = memory
  for (const row of trades.values()) {
    const { trade, facts, createdAt } = row
    const isDue = facts.dueAt !== null || OPEN.includes(trade.state)
    // Held credit of a bot that may come back is left alone until the operator retires it.
    if (!isDue || (isDelivered(trade) && bots.get(facts.botId)?.state === 'dead')) continue
    const offer = steam.byMessage.get(trade.secretCode)
    const last = Math.max(
      createdAt.getTime(),
      isDelivered(trade) ? trade.acceptedAt.getTime() : 0,
      offer?.changedAt ?? 0,
      steam.steamTrades.get(offer?.tradeId ?? '')?.changedAt ?? 0,
    )
    const waitedMs = engine.now() - last
    hold(
      waitedMs <= REST_MS + SWEEPS_MS + CLOCKS_MS,
      'I12',
      () => `trade ${facts.id} is ${trade.state} after ${waitedMs} ms`,
    )
  }
}

/** Long after the faults: what every item is worth stands where the item is. */
export function checkRest(memory: Memory): void {
  const { book, steam, trades, deposits } = memory
  book.verify()
  for (const offer of steam.offers.values()) {
    const isOpen = offer.state === 'active' && !offer.isCounter
    hold(!isOpen, 'I12', () => `the offer of ${offer.message} still stands on Steam`)
  }
  const entries = Map.groupBy(book.entries, (entry) => entry.tradeId)
  for (const row of trades.values()) checkSettled(memory, row, entries.get(row.facts.id) ?? [])
  const reversed = new Map<Store, bigint>()
  for (const { store, reversed: back } of deposits.values()) {
    reversed.set(store, (reversed.get(store) ?? 0n) + back)
  }
  for (const [store, total] of reversed) {
    hold(store.reversed === total, 'I13', () => `store ${store.number} counts ${store.reversed} of ${total}`)
  }
  for (const { id, status } of deposits.values()) {
    hold(isFinal(status), 'I12', () => `deposit ${id} is still ${status}`)
  }
}

function checkSettled(memory: Memory, row: TradeRow, entries: Book['entries']): void {
  const { steam, bots } = memory
  const { trade, facts } = row
  const name = `trade ${facts.id} (${trade.state})`
  const isGone = bots.get(facts.botId)?.state !== 'active'
  const isLeft = isGone && isDelivered(trade)
  hold(isLeft || facts.dueAt === null, 'I12', () => `${name} is still due at ${facts.dueAt?.toISOString()}`)
  const offer = steam.byMessage.get(trade.secretCode)
  // Nobody can see what becomes of these; the operator credits what came whole.
  const isUntold = offer?.isOpaque === true || offer?.isIdLost === true
  if (isGone || (isUntold && row.deliveredBy === null)) {
    checkHonest(memory, row)
    checkTold(row)
    return
  }
  const steamTrade = steam.steamTrades.get(offer?.tradeId ?? '')
  let kept = 0n
  for (const item of steamTrade?.items ?? []) {
    const isOurs = item.newAssetId !== null && item.rolledBackAssetId === null
    if (isOurs) kept += row.items.get(item.asset.assetId)?.price ?? 0n
    checkItem(memory, row, { item, isKept: row.deliveredBy !== null && isOurs && !isAway(item) })
  }
  const credited = row.deliveredBy === null ? 0n : row.total - row.reversed
  hold(kept === credited, 'I7', () => `${name}: the bot has items of ${kept}, credited are ${credited}`)
  const net = { held: 0n, available: 0n, loss: 0n, commission: 0n, items: 0n, paid_out: 0n, adjustments: 0n }
  for (const entry of entries) {
    net[entry.debit] -= entry.amount
    net[entry.credit] += entry.amount
  }
  const settled = net.held + net.available + net.loss
  hold(
    net.held === 0n && settled === credited,
    'I13',
    () => `${name}: posted ${settled}, credited ${credited}`,
  )
  const commission = keptGross(row, steamTrade) - credited
  hold(
    net.commission === commission,
    'I13',
    () => `${name}: commission ${net.commission}, earned ${commission}`,
  )
  checkBearer(row, entries)
  checkTold(row)
  if (steamTrade !== undefined) checkFound(row, steamTrade)
}

/** Items that came whole are credited, by Steam's word or the operator's. */
function checkHonest({ steam }: Memory, { trade, deliveredBy }: TradeRow): void {
  const steamTrade = steam.steamTrades.get(steam.byMessage.get(trade.secretCode)?.tradeId ?? '')
  const isCredited = deliveredBy !== null
  hold(
    isCredited || steamTrade?.state !== 'complete',
    'I7',
    () => `trade ${trade.tradeId}: the bot has its items, and nobody was credited`,
  )
}

/** The worth before commission of the items that the bot has. */
function keptGross({ items, deliveredBy }: TradeRow, steamTrade: ModelTrade | undefined): bigint {
  let gross = 0n
  for (const { asset, newAssetId, rolledBackAssetId } of steamTrade?.items ?? []) {
    const isOurs = deliveredBy !== null && newAssetId !== null && rolledBackAssetId === null
    if (isOurs) gross += items.get(asset.assetId)?.gross ?? 0n
  }
  return gross
}

/** The first look after Steam told of its protection has noticed it. */
function checkFound({ trade, facts, deliveredBy, protectionFoundAt }: TradeRow, told: ModelTrade): void {
  if (!isDelivered(trade) || trade.state === 'reversed' || !isToldLate(told)) return
  const lastLookAt = trade.deliveredAt.getTime() + DAY_MS
  const isLater = told.settlementToldAt > trade.deliveredAt.getTime() + TOLD_WITHIN_MS
  if (deliveredBy === null || !isLater || told.settlementToldAt > lastLookAt - MARGIN_MS) return
  hold(protectionFoundAt !== null, 'I15', () => `trade ${facts.id} is protected, and nobody noticed`)
}

/** The store heard of everything that changed its money. */
function checkTold({ facts: { id }, deposit, reversals, deliveredBy }: TradeRow): void {
  const times = (start: string): number => deposit.events.filter((event) => event.startsWith(start)).length
  hold(
    times(`reversed ${id} `) === reversals,
    'I9',
    () => `trade ${id}: ${reversals} reversals, told otherwise`,
  )
  if (deliveredBy === null) return
  const delivered = deposit.trades.filter((row) => row.deliveredBy !== null).length
  hold(
    times('amountIncreased') === delivered - 1,
    'I9',
    () => `deposit ${deposit.id} did not tell of ${delivered}`,
  )
}

/** A reversal is borne by whom the settings at delivery say. */
function checkBearer({ settings, facts }: TradeRow, entries: Book['entries']): void {
  const bearer = settings?.liability === 'store' ? 'available' : 'loss'
  const wrong = entries.find(
    ({ cause, debit }) => cause === 'reversed' && debit !== 'held' && debit !== bearer,
  )
  hold(wrong === undefined, 'I15', () => `trade ${facts.id}: ${wrong?.debit} bears a reversal, not ${bearer}`)
}
