/** Compares the till's rows with what Steam knows. */
import { isFinal } from '../../../contract/statuses.ts'
import { OPEN_TRADE_STATES } from '../../../gateway/db/trade-tables.ts'
import { least } from '../../../gateway/ledger/entry.ts'
import type { OfferState } from '../../../gateway/steam/steam.ts'
import { WAIT_MS } from '../../../gateway/trades/giving-up.ts'
import { isDelivered, type Trade } from '../../../gateway/trades/trade.ts'
import { hasLeftBots } from '../gifts.ts'
import type { Steam } from '../steam.ts'
import { isReportedLate } from '../steam-answers.ts'
import type { ModelTrade } from '../steam-memory.ts'
import { must } from '../violation.ts'
import { checkItem } from './departures.ts'
import type { Store, TillMemory, TradeRow } from './memory.ts'
import type { MemoryLedger } from './memory-ledger.ts'
import { roomBeside } from './promises.ts'
import { checkLimit } from './room.ts'

/** Checks that a trade's Steam trade came from its own offer, brought all items, and is credited to no other trade. */
export function checkCredit(steam: Steam, trades: TillMemory['trades'], row: TradeRow): void {
  const name = `trade ${row.facts.id}`
  const tradeId = row.deliveredBy ?? ''
  for (const other of trades.values()) {
    const isSame = other !== row && other.deliveredBy === tradeId
    must(!isSame, 'I6', () => `${name} and ${other.facts.id} are credited for ${tradeId}`)
  }
  const steamTrade = steam.steamTrades.get(tradeId)
  must(steamTrade !== undefined, 'I7', () => `${name} is credited for ${tradeId}, which Steam does not know`)
  if (steamTrade === undefined) return
  must(steamTrade.offer.message === row.trade.secretCode, 'I7', () => `${name} is credited for another offer`)
  const arrived = steamTrade.items.every((item) => item.newAssetId !== null)
  must(arrived, 'I7', () => `${name} is credited while its items are ${steamTrade.state}`)
}

/** The largest difference between clocks, with a margin. */
const MARGIN_MS = 3_600_000
const DAY_MS = 86_400_000

/**
 * Checks what a delivery credits before its protection ends: nothing if it is credited on release, and otherwise no
 * more than the store's limit allows.
 */
export function checkRisk(memory: TillMemory, row: TradeRow): void {
  const { ledger, steam } = memory
  const { store } = row.deposit
  const early = ledger.spendableAtOnce(row.facts.id)
  const steamTrade = steam.steamTrades.get(row.deliveredBy ?? '')
  // The till cannot know yet what Steam reports later.
  const isProtected = steamTrade !== undefined && steamTrade.settlesAt !== null && !isReportedLate(steamTrade)
  const name = `trade ${row.facts.id}`
  if (isProtected && row.settings?.mode === 'on_release') {
    must(early === 0n, 'I15', () => `${name} is credited ${early} before the release`)
  }
  if (isProtected && early > 0n) checkLimit(memory, store)
}

/** Checks that promised immediate credit was given, as far as the other trades leave room in the store's limit. */
export function checkPromise(memory: TillMemory, row: TradeRow): void {
  const { ledger } = memory
  // Promises end for a shopper who took items back.
  if (row.settings?.mode === 'on_release') return
  const { freeMinor } = roomBeside(memory, row)
  const due = least(row.promised, freeMinor)
  const atOnce = ledger.spendableAtOnce(row.facts.id)
  must(
    atOnce >= due,
    'I15',
    () => `trade ${row.facts.id} is credited ${atOnce} immediately, but ${due} was promised`,
  )
}

/** Steam can report a change this late. */
export const REPORTED_WITHIN_MS = 120_000

/** Checks that no funds are released for items that the shopper took back. */
export function checkRelease(steam: Steam, row: TradeRow, nowMs: number): void {
  const steamTrade = steam.steamTrades.get(row.deliveredBy ?? '')
  if (steamTrade === undefined || nowMs - steamTrade.changedAt < REPORTED_WITHIN_MS) return
  const back = steamTrade.items.filter((item) => item.rolledBackAssetId !== null)
  const reversed = isDelivered(row.trade) ? row.trade.reversed : []
  const isSeen = back.every(({ asset }) => reversed.includes(asset.assetId))
  must(isSeen, 'I7', () => `trade ${row.facts.id} is released, but its items went back`)
}

export function checkReversal(steam: Steam, row: TradeRow, assetId: string): void {
  const steamTrade = steam.steamTrades.get(row.deliveredBy ?? '')
  const item = steamTrade?.items.find(({ asset }) => asset.assetId === assetId)
  const isBack = item !== undefined && item.rolledBackAssetId !== null
  must(isBack, 'I7', () => `trade ${row.facts.id}: ${assetId} is taken back, but not on Steam`)
}

/** The answers of Steam that justify each end. */
const ANSWERS: Record<'declined' | 'countered' | 'timed_out', readonly OfferState[]> = {
  declined: ['declined'],
  countered: ['countered'],
  timed_out: ['cancelled', 'expired'],
}

/** Whether Steam's answers about the offer or its Steam trade justify the state `invalid` for this reason. */
export function isReportedInvalid(steam: Steam, offerId: string | null, reason: string): boolean {
  const offer = steam.offers.get(offerId ?? '')
  const steamTrade = steam.steamTrades.get(offer?.tradeId ?? '')
  const times = (state: OfferState): number => offer?.reported.get(state) ?? 0
  switch (reason) {
    case 'escrow':
      return times('in_escrow') > 0
    case 'needs_confirmation':
      return times('needs_confirmation') > 0 && times('cancelled') > 0
    case 'cancelled_by_second_factor':
      return times('cancelled_by_second_factor') > 0
    case 'exchange_failed':
      return steamTrade?.reported.has('failed') === true
    case 'exchange_taken_back':
      return steamTrade !== undefined && isReportedTakenBack(steamTrade)
    case 'invalid':
    case 'invalid_items':
      // The till believes these two only after a second report.
      return times(reason) > 1
    default:
      return false
  }
}

/** Whether Steam reported all items as taken back, at once or in parts. */
const isReportedTakenBack = ({ reported, items }: ModelTrade): boolean =>
  reported.has('rolled_back') ||
  (reported.has('partly_rolled_back') && items.every((item) => item.rolledBackAssetId !== null))

/** Checks that a trade with an open offer ended after an answer from Steam, a long wait, or its bot's retirement. */
export function checkEnd(
  { steam, engine, bots, trades }: TillMemory,
  { trade, before }: { trade: Trade; before: Trade },
): void {
  if (!('reason' in trade)) return
  if (trade.reason === 'unresolved') {
    const waitedMs = engine.now() - (trade.startedAt?.getTime() ?? 0)
    must(
      waitedMs > WAIT_MS - CLOCKS_MS,
      'I7',
      () => `trade ${trade.tradeId} was given up after ${waitedMs} ms`,
    )
    return
  }
  if (trade.reason === 'bot_retired') {
    const bot = bots.get(trades.get(trade.tradeId)?.facts.botId ?? 0n)
    must(
      bot?.state === 'retired',
      'I7',
      () => `trade ${trade.tradeId} was given up, its bot is ${bot?.state}`,
    )
    return
  }
  if (trade.state === 'refused' || trade.state === 'abandoned') return
  const offerId = 'offerId' in before ? before.offerId : null
  const reported = steam.offers.get(offerId ?? '')?.reported
  const { state, reason } = trade
  const isReported =
    state === 'invalid'
      ? isReportedInvalid(steam, offerId, reason)
      : ANSWERS[state].some((answer) => reported?.has(answer))
  must(isReported, 'I7', () => `trade ${trade.tradeId} ended as ${reason}, which Steam never reported`)
}

/** Checks that the rows of one trade and its deposit agree. */
export function checkTrade({ trade, deposit, held, reversed, total, holdsAssets }: TradeRow): void {
  const name = `trade ${trade.tradeId}`
  const isSound = held >= 0n && reversed >= 0n && held + reversed <= total
  must(isSound, 'I13', () => `${name}: held ${held} and reversed ${reversed} of ${total}`)
  const isOpen = ['intended', 'sending', 'unknown', 'active'].includes(trade.state)
  // Items in escrow stay reserved. An escrow that is seen again after it seemed to have ended does not reserve them.
  const isInEscrow = 'steamHoldUntil' in trade && trade.steamHoldUntil !== null && trade.reason === 'escrow'
  must(
    isInEscrow || holdsAssets === isOpen,
    'I8',
    () => `${name} is ${trade.state}, its assets are ${holdsAssets ? 'taken' : 'free'}`,
  )
  let [credited, heldSum, back] = [0n, 0n, 0n]
  for (const row of deposit.trades) {
    if (isDelivered(row.trade)) credited += row.total
    heldSum += row.held
    back += row.reversed
  }
  const stated = { credited: deposit.credited ?? 0n, held: deposit.held, reversed: deposit.reversed }
  const isSummed = stated.credited === credited && stated.held === heldSum && stated.reversed === back
  must(
    isSummed,
    'I13',
    () => `deposit ${deposit.id} says ${Object.values(stated)}, its trades ${[credited, heldSum, back]}`,
  )
  const until = deposit.trades.flatMap((row) =>
    row.held > 0n && row.settlesAt ? [row.settlesAt.getTime()] : [],
  )
  const last = until.length > 0 ? Math.max(...until) : null
  must(
    (deposit.heldUntil?.getTime() ?? null) === last,
    'I13',
    () => `deposit ${deposit.id} is held until ${deposit.heldUntil?.toISOString()}, its trades until ${last}`,
  )
  const hasEvent = deposit.status === 'created' || deposit.events.includes(deposit.status)
  must(hasEvent, 'I9', () => `deposit ${deposit.id} is ${deposit.status} without an event`)
}

const MINUTE_MS = 60_000
const PATIENCE_MS = 10 * MINUTE_MS
const WINDOW_MS = 5 * MINUTE_MS

/** The longest time between looks at a trade in its first hour of waiting. Only its deadline can be further away. */
const NEXT_LOOK_MS = 2 * MINUTE_MS

/**
 * Checks that each deposit has ended ten minutes after the latest of three times: its deadline, the end of the faults,
 * and a look that a process with a fast clock planned. Skips deposits whose bot is not active or offer is unreadable.
 */
export function checkNotOverdue(memory: TillMemory, faultsEndedAt: number): void {
  const now = memory.engine.now()
  for (const { id, status, trades, expiresAt } of memory.deposits.values()) {
    if (isFinal(status)) continue
    const row = trades.findLast(({ trade }) => OPEN.includes(trade.state))
    if (row !== undefined && isUnreadable(memory, row)) continue
    const plannedAt = row?.facts.dueAt?.getTime() ?? 0
    if (row !== undefined && plannedAt > now + NEXT_LOOK_MS) memory.plannedAhead.set(row.facts.id, plannedAt)
    const ahead = memory.plannedAhead.get(row?.facts.id ?? 0n) ?? 0
    const deadline = row === undefined ? expiresAt.getTime() : Math.max(deadlineOf(row), ahead)
    const waitedMs = now - Math.max(deadline, faultsEndedAt)
    must(waitedMs <= PATIENCE_MS, 'I12', () => `deposit ${id} is still ${status} after ${waitedMs} ms`)
  }
}

const OPEN: readonly Trade['state'][] = OPEN_TRADE_STATES

const deadlineOf = ({ trade, createdAt }: TradeRow): number =>
  trade.state === 'active' ? trade.deadline.getTime() : createdAt.getTime() + WINDOW_MS

/** Whether the bot is not active, or Steam's answers about the offer cannot be read or never prove its delivery. */
function isUnreadable({ steam, bots }: TillMemory, { trade, facts }: TradeRow): boolean {
  if (bots.get(facts.botId)?.state !== 'active') return true
  const offer = steam.byMessage.get(trade.secretCode)
  if (offer?.isOpaque === true || offer?.isIdLost === true) return true
  // An offer that no list shows may be the unreadable one.
  const isLookedFor = trade.state === 'sending' || trade.state === 'unknown'
  const ofBot = [...steam.offers.values()].filter(({ bot }) => bot === String(facts.botId))
  return isLookedFor && ofBot.some(({ isOpaque }) => isOpaque)
}

const REST_MS = 17 * DAY_MS
/** The largest difference between clocks. */
const CLOCKS_MS = 20 * MINUTE_MS
/** Up to three steps before rest can each wait for an hourly sweep. */
const SWEEPS_MS = 3 * 60 * MINUTE_MS

/** Checks that no trade is open or due more than 17 days, with a margin, after its last change. */
export function checkTradesAtRest(memory: TillMemory): void {
  const { steam, bots, trades, engine } = memory
  for (const row of trades.values()) {
    const { trade, facts, createdAt } = row
    const isDue = facts.dueAt !== null || OPEN.includes(trade.state)
    // A dead bot may come back, so its delivered trades stay due until the operator retires it.
    if (!isDue || (isDelivered(trade) && bots.get(facts.botId)?.state === 'dead')) continue
    const offer = steam.byMessage.get(trade.secretCode)
    const lastChangeMs = Math.max(
      createdAt.getTime(),
      isDelivered(trade) ? trade.acceptedAt.getTime() : 0,
      offer?.changedAt ?? 0,
      steam.steamTrades.get(offer?.tradeId ?? '')?.changedAt ?? 0,
    )
    const waitedMs = engine.now() - lastChangeMs
    must(
      waitedMs <= REST_MS + SWEEPS_MS + CLOCKS_MS,
      'I12',
      () => `trade ${facts.id} is ${trade.state} after ${waitedMs} ms`,
    )
  }
}

/** Checks, long after the faults, that nothing is open, and that exactly the items that bots kept are credited. */
export function checkFinalState(memory: TillMemory): void {
  const { ledger, steam, trades, deposits } = memory
  ledger.verify()
  for (const offer of steam.offers.values()) {
    const isOpen = offer.state === 'active' && !offer.isCounter
    must(!isOpen, 'I12', () => `the offer of ${offer.message} is still open on Steam`)
  }
  const entries = Map.groupBy(ledger.entries, (entry) => entry.tradeId)
  for (const row of trades.values()) checkSettled(memory, row, entries.get(row.facts.id) ?? [])
  const reversed = new Map<Store, bigint>()
  for (const { store, reversed: back } of deposits.values()) {
    reversed.set(store, (reversed.get(store) ?? 0n) + back)
  }
  for (const [store, total] of reversed) {
    must(store.reversed === total, 'I13', () => `store ${store.number} counts ${store.reversed} of ${total}`)
  }
  for (const { id, status } of deposits.values()) {
    must(isFinal(status), 'I12', () => `deposit ${id} is still ${status}`)
  }
}

function checkSettled(memory: TillMemory, row: TradeRow, entries: MemoryLedger['entries']): void {
  const { steam, bots } = memory
  const { trade, facts } = row
  const name = `trade ${facts.id} (${trade.state})`
  const isOutOfService = bots.get(facts.botId)?.state !== 'active'
  const mayBeDue = isOutOfService && isDelivered(trade)
  must(mayBeDue || facts.dueAt === null, 'I12', () => `${name} is still due at ${facts.dueAt?.toISOString()}`)
  const offer = steam.byMessage.get(trade.secretCode)
  // The till cannot see the outcome of an unprovable offer. The operator credits complete deliveries.
  const isUnprovable = offer?.isOpaque === true || offer?.isIdLost === true
  if (isOutOfService || (isUnprovable && row.deliveredBy === null)) {
    checkDeliveryCredited(memory, row)
    checkEvents(row)
    return
  }
  const steamTrade = steam.steamTrades.get(offer?.tradeId ?? '')
  let kept = 0n
  for (const item of steamTrade?.items ?? []) {
    const isOurs = item.newAssetId !== null && item.rolledBackAssetId === null
    if (isOurs) kept += row.items.get(item.asset.assetId)?.price ?? 0n
    checkItem(memory, row, { item, isKept: row.deliveredBy !== null && isOurs && !hasLeftBots(item) })
  }
  const credited = row.deliveredBy === null ? 0n : row.total - row.reversed
  must(kept === credited, 'I7', () => `${name}: the bot has items worth ${kept}, but ${credited} is credited`)
  const net = { held: 0n, available: 0n, loss: 0n, commission: 0n, items: 0n, paid_out: 0n, adjustments: 0n }
  for (const entry of entries) {
    net[entry.debit] -= entry.amount
    net[entry.credit] += entry.amount
  }
  const settled = net.held + net.available + net.loss
  must(
    net.held === 0n && settled === credited,
    'I13',
    () => `${name}: posted ${settled}, credited ${credited}`,
  )
  const commission = keptGross(row, steamTrade) - credited
  must(
    net.commission === commission,
    'I13',
    () => `${name}: commission ${net.commission}, earned ${commission}`,
  )
  checkBearer(row, entries)
  checkEvents(row)
  if (steamTrade !== undefined) checkFound(row, steamTrade)
}

/** Checks that a complete delivery is credited, automatically or by the operator. */
function checkDeliveryCredited({ steam }: TillMemory, { trade, deliveredBy }: TradeRow): void {
  const steamTrade = steam.steamTrades.get(steam.byMessage.get(trade.secretCode)?.tradeId ?? '')
  const isCredited = deliveredBy !== null
  must(
    isCredited || steamTrade?.state !== 'complete',
    'I7',
    () => `trade ${trade.tradeId}: the bot has its items, but nobody was credited`,
  )
}

/** The value, before commission, of the items that the bot received and that were not taken back. */
function keptGross({ items, deliveredBy }: TradeRow, steamTrade: ModelTrade | undefined): bigint {
  let gross = 0n
  for (const { asset, newAssetId, rolledBackAssetId } of steamTrade?.items ?? []) {
    const isOurs = deliveredBy !== null && newAssetId !== null && rolledBackAssetId === null
    if (isOurs) gross += items.get(asset.assetId)?.gross ?? 0n
  }
  return gross
}

/** Checks that the till noticed protection that Steam reported after the delivery. */
function checkFound(
  { trade, facts, deliveredBy, protectionFoundAt }: TradeRow,
  steamTrade: ModelTrade,
): void {
  if (!isDelivered(trade) || trade.state === 'reversed' || !isReportedLate(steamTrade)) return
  const lastLookAt = trade.deliveredAt.getTime() + DAY_MS
  const isLater = steamTrade.settlementReportedAt > trade.deliveredAt.getTime() + REPORTED_WITHIN_MS
  if (deliveredBy === null || !isLater || steamTrade.settlementReportedAt > lastLookAt - MARGIN_MS) return
  must(protectionFoundAt !== null, 'I15', () => `trade ${facts.id} is protected, which was not noticed`)
}

/** Checks that the store has an event for every reversal, and for every delivery after the first of a deposit. */
function checkEvents({ facts: { id }, deposit, reversals, deliveredBy }: TradeRow): void {
  const times = (start: string): number => deposit.events.filter((event) => event.startsWith(start)).length
  must(
    times(`reversed ${id} `) === reversals,
    'I9',
    () => `trade ${id}: ${reversals} reversals, but a different number of events`,
  )
  if (deliveredBy === null) return
  const delivered = deposit.trades.filter((row) => row.deliveredBy !== null).length
  must(
    times('amountIncreased') === delivered - 1,
    'I9',
    () => `deposit ${deposit.id} lacks an event for one of its ${delivered} deliveries`,
  )
}

/** Checks that the settings at delivery decide who pays for a reversal. */
function checkBearer({ settings, facts }: TradeRow, entries: MemoryLedger['entries']): void {
  const bearer = settings?.liability === 'store' ? 'available' : 'loss'
  const wrong = entries.find(
    ({ cause, debit }) => cause === 'reversed' && debit !== 'held' && debit !== bearer,
  )
  must(wrong === undefined, 'I15', () => `trade ${facts.id}: ${wrong?.debit}, not ${bearer}, was charged`)
}
