/**
 * Decides when an account makes which call to its market. All calls of a desk but those for prices wait for each other:
 * while an answer to a listing is under way, the record must not be compared with the market's list.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { createLock } from '../lock.ts'
import type { OwnItem } from '../steam/look.ts'
import { isLive, isOfAccount, type Journal, type Listing, type MarketAccount, soldTimesMs } from './book.ts'
import { feeOf } from './fees.ts'
import type { Line, Listed, Money } from './market.ts'
import type { Bid } from './placement.ts'
import { bidsFor, type Changes, changesFor, type Pricing } from './pricing.ts'
import { createReadiness, type Readiness, type ReadinessParts } from './readiness.ts'
import type { createSeller } from './seller.ts'
import { createTakeDown } from './take-down.ts'
import { createTimetable, type Timetable } from './timetable.ts'
import { createUnlisted, type Stock, type Unlisted } from './unlisted.ts'
import { createUnreadSales, type UnreadSales } from './unread-sales.ts'

/** How often to look for sales, which must be handed over within five minutes. */
const LOOK_MS = 15_000
/** How often to list new items. */
const LIST_MS = 2 * MINUTE_MS
/** How soon to list again after the market was asked to read an inventory, which takes seconds. */
const LIST_AGAIN_MS = 20_000
/** Within this time after an item arrives, the till knows its cost and the market has read it. */
const ARRIVING_MS = 3 * MINUTE_MS
/** How often to adjust prices. */
const REPRICE_MS = 60 * MINUTE_MS
/**
 * The most listings to reprice in a round. The vault reads one price from Steam every few seconds, and new items and
 * wishes wait meanwhile.
 */
const MOST_REPRICED = 10
/** How often to ask the market whether sales were paid. */
const MONEY_MS = 5 * MINUTE_MS
/** How often to ask right after an item was given or its money became due, and for how long. */
const SOON_MONEY_MS = 20_000
const SOON_MONEY_FOR_MS = 2 * MINUTE_MS
/**
 * How long to keep asking about a given item whose sale the market calls cancelled or paid, since its word may change.
 */
const CHANGES_MS = 14 * DAY_MS
/**
 * How often to ask about all sales of the last CHANGES_MS, even those that have ended: a person may have handed over
 * the item of a sale that the vault gave up, or a paid sale may have been reversed.
 */
const LOOK_BACK_MS = 6 * HOUR_MS
/**
 * How long to ask how a sale ended. A market that has lost the sale never answers, and the history to read would become
 * longer and longer.
 */
const GIVE_UP_MS = 42 * DAY_MS
/** After a start, the vault does not report again a sale that it gave up on longer ago than this. */
const GIVE_UP_NEWS_MS = 7 * DAY_MS
/** How often to ask for the account's balance. */
const BALANCE_MS = 10 * MINUTE_MS
/** How long before the oldest unpaid sale to start reading the market's history, which has a resolution of days. */
const HISTORY_MARGIN_MS = DAY_MS
/** How long to wait before listing an item again that was refused, or got "retry" MOST_RETRIES times. */
const REFUSED_MS = 60 * MINUTE_MS
const MOST_RETRIES = 3

export type DeskParts = ReadinessParts & {
  seller: ReturnType<typeof createSeller>
  journal: Journal
  /** `recentItems`: the account's items of a game, as they were read in the last minutes. */
  account: { recentItems(appId: number): Promise<ReadonlyMap<string, OwnItem> | undefined> }
  pricing: Pricing
  /** Reports the account's money, as the market shows it. */
  reportBalance(money: Money): Promise<void>
}

export type Desk = {
  marketAccount: MarketAccount
  games: readonly number[]
  /** Does everything except listing and repricing, which read prices: that takes longer than buyers wait. */
  tend(): Promise<void>
  /** True if the desk may list now. */
  isOpen(): boolean
  /** True if it is time to list items of this game. Records the time if so. */
  isDue(appId: number): boolean
  /** Call this when items of this game have arrived. They are listed once the till and the market know them. */
  listSoon(appId: number): Promise<void>
  /** Bids for these items, except those that the market has recently refused. */
  bidsFor(appId: number, items: readonly OwnItem[]): Promise<Bid[]>
  list(appId: number, lines: readonly Line[]): Promise<void>
  /** Call this with all items of a game that the account could sell, before their bids. */
  noteStock(appId: number, stock: Stock): void
  /** Why items are not on sale. */
  unlisted(): Unlisted[]
  /** Changes the prices of a few listings. False if none may change now. */
  reprice(): Promise<boolean>
  close(): void
}

type State = {
  timetable: Timetable
  readiness: Readiness
  unreadSales: UnreadSales
  unlisted: ReturnType<typeof createUnlisted>
  /** By game: how many items wait for the market's report of their payment, and when that number last grew. */
  newsDue: Map<number, { count: number; sinceMs: number }>
  /** The listings whose sale the vault no longer asks about. */
  givenUp: Set<Listing['itemId']>
  /** By game: when items last arrived. */
  arrivedAtMs: Map<number, number>
  /** The games whose last call to list failed, or refused a line that may succeed soon. */
  listAgain: Set<number>
  takeDown: ReturnType<typeof createTakeDown>
  /** By game: the assets whose listings wait to be repriced. */
  toReprice: Map<number, readonly string[]>
  /** By game and asset: how often the market answered "retry" (MOST_RETRIES at once for a final refusal), and when. */
  refused: Map<string, { times: number; atMs: number }>
}

export function createDesk(parts: DeskParts): Desk {
  const timetable = createTimetable(parts.now)
  const readiness = createReadiness(parts, timetable)
  const state: State = {
    timetable,
    readiness,
    unreadSales: createUnreadSales(parts),
    unlisted: createUnlisted(),
    newsDue: new Map(),
    givenUp: new Set(),
    arrivedAtMs: new Map(),
    listAgain: new Set(),
    takeDown: createTakeDown(parts),
    toReprice: new Map(),
    refused: new Map(),
  }
  const { market, marketAccount } = parts
  const inTurn = createLock()
  return {
    marketAccount,
    games: market.games,
    tend: () => inTurn(() => tend(parts, state)),
    isOpen: readiness.mayList,
    isDue(appId) {
      if (!timetable.isDue(`list ${appId}`, listEveryMs(parts, state, appId))) return false
      state.listAgain.delete(appId)
      return true
    },
    listSoon: (appId) => inTurn(() => listSoon(parts, state, appId)),
    // Out of turn: bids change nothing at the market or in the record, and their prices may take minutes.
    bidsFor(appId, items) {
      const listable = items.filter(({ assetId }) => mayList(parts, state, `${appId}/${assetId}`))
      const { judge } = state.unlisted
      for (const item of items) if (!listable.includes(item)) judge(appId, item, 'refused')
      return bidsFor(listable, {
        ...parts,
        feeBp: feeNow(parts, state),
        appId,
        listings: listingsOf(parts, appId),
        judge: (item, because) => judge(appId, item, because),
      })
    },
    noteStock: (appId, stock) => state.unlisted.noteStock(appId, stock),
    unlisted() {
      const { market, account } = marketAccount
      const because = readiness.listsNothingBecause()
      return because === undefined
        ? state.unlisted.counts().map((items) => ({ market, account, ...items }))
        : [{ market, account, reason: 'stopped', because }]
    },
    list: (appId, lines) => inTurn(() => list(parts, state, { appId, lines })),
    async reprice() {
      const batch = readiness.mayList() ? takeToReprice(parts, state) : undefined
      if (batch === undefined) return false
      const { appId } = batch
      // Out of turn, like bids.
      const changes = await changesOf(parts, state, batch)
      await inTurn(() => reprice(parts, state, { appId, ...changes }))
      return true
    },
    close: () => market.close(),
  }
}

async function listSoon({ market, now }: DeskParts, state: State, appId: number): Promise<void> {
  state.arrivedAtMs.set(appId, now().getTime())
  state.timetable.hurry(`list ${appId}`)
  await market.refresh(appId)
}

function listEveryMs({ now }: DeskParts, { arrivedAtMs, listAgain }: State, appId: number): number {
  const lastArrivalMs = arrivedAtMs.get(appId)
  const isArriving = lastArrivalMs !== undefined && now().getTime() - lastArrivalMs < ARRIVING_MS
  return isArriving || listAgain.has(appId) ? LIST_AGAIN_MS : LIST_MS
}

const feeNow = ({ journal, market }: DeskParts, { readiness }: State): bigint =>
  feeOf(journal.book(), market.name, readiness.feeBp())

function mayList({ now }: DeskParts, { refused }: State, key: string): boolean {
  const known = refused.get(key)
  return known === undefined || known.times < MOST_RETRIES || now().getTime() - known.atMs >= REFUSED_MS
}

async function tend(parts: DeskParts, state: State): Promise<void> {
  const { market, marketAccount, journal, seller, pricing } = parts
  const { readiness, timetable, unreadSales } = state
  await readiness.ask()
  const isStopped = readiness.stoppedBecause() !== undefined
  // The limits may have been lowered since an item was listed.
  const mustEnd = ({ priceMinor }: Listing) => isStopped || !pricing.mayLeave(priceMinor)
  const isOurs = isOfAccount(marketAccount)
  if (!isStopped || journal.book().listings.some((each) => isLive(each) && isOurs(each)))
    await readiness.stayOnline()
  for (const appId of market.games) {
    await state.takeDown(appId, listingsOf(parts, appId).filter(mustEnd))
    if (!listingsOf(parts, appId).some(isLive)) unreadSales.note(appId, undefined)
    else if (timetable.isDue(`look ${appId}`, LOOK_MS)) unreadSales.note(appId, await seller.round(appId))
  }
  await seller.advance()
  await followMoney(parts, state)
}

const listingsOf = (
  { journal, marketAccount }: Pick<DeskParts, 'journal' | 'marketAccount'>,
  appId: number,
): Listing[] =>
  journal.book().listings.filter((each) => isOfAccount(marketAccount)(each) && each.appId === appId)

type Batch = { appId: number; assetIds: ReadonlySet<string> }

/** Takes a few listings of one game to reprice. The others, and other games, have their turns in later rounds. */
function takeToReprice(parts: DeskParts, { toReprice, timetable }: State): Batch | undefined {
  for (const appId of parts.market.games) {
    if (toReprice.has(appId) || !timetable.isDue(`reprice ${appId}`, REPRICE_MS)) continue
    const onSale = listingsOf(parts, appId).filter((listing) => listing.state === 'on_sale')
    if (onSale.length > 0)
      toReprice.set(
        appId,
        onSale.map(({ assetId }) => assetId),
      )
  }
  const [next] = toReprice
  if (next === undefined) return undefined
  const [appId, assetIds] = next
  toReprice.delete(appId)
  // At the end of the map, so the game waits for the others.
  if (assetIds.length > MOST_REPRICED) toReprice.set(appId, assetIds.slice(MOST_REPRICED))
  return { appId, assetIds: new Set(assetIds.slice(0, MOST_REPRICED)) }
}

/** The changes of prices that these listings need. */
async function changesOf(parts: DeskParts, state: State, { appId, assetIds }: Batch): Promise<Changes> {
  const inventory = await parts.account.recentItems(appId)
  const items = inventory && new Map([...inventory].filter(([assetId]) => assetIds.has(assetId)))
  return changesFor(listingsOf(parts, appId), { ...parts, feeBp: feeNow(parts, state), items })
}

async function reprice(
  parts: DeskParts,
  { readiness, takeDown }: State,
  { appId, reprices, overLimits }: Changes & { appId: number },
): Promise<void> {
  // While the prices were read, which may take minutes, the account may have been stopped, and a listing sold.
  const onSale = listingsOf(parts, appId).filter((listing) => listing.state === 'on_sale')
  const ids = new Set(onSale.map(({ itemId }) => itemId))
  const lines = reprices.filter(({ itemId }) => ids.has(itemId))
  if (!readiness.mayList()) return
  if (lines.length > 0) await parts.seller.reprice(appId, lines)
  // Left at its old price, an item would be sold for less than it is worth now.
  const mustEnd = onSale.filter(({ itemId }) => itemId !== null && overLimits.includes(itemId))
  if (mustEnd.length > 0) await takeDown(appId, mustEnd)
}

type Lines = { appId: number; lines: readonly Line[] }

async function list(parts: DeskParts, state: State, { appId, lines }: Lines): Promise<void> {
  const { market, seller } = parts
  // The account may have been stopped since its bids: the other markets make theirs in between, which may take minutes.
  if (!state.readiness.mayList()) return
  const reply = await seller.list(appId, lines)
  // A market that refuses a whole call may do so each time, so the refusal counts for each line.
  const answers =
    reply.kind === 'answered' ? reply.value : reply.kind === 'refused' ? lines.map(refusedLine) : []
  for (const answer of answers) noteAnswer(parts, state, { appId, answer })
  if (reply.kind !== 'answered') state.readiness.doubt()
  else if (!reply.value.some((line) => line.kind === 'refused' && line.retry)) return
  // The call failed, or a line may succeed later, perhaps once the market has read the inventory.
  state.listAgain.add(appId)
  await market.refresh(appId)
}

const refusedLine = ({ assetId }: Line): Listed => ({ kind: 'refused', assetId, code: 'call', retry: true })

function noteAnswer(
  { now }: DeskParts,
  { refused }: State,
  { appId, answer }: { appId: number; answer: Listed },
): void {
  const key = `${appId}/${answer.assetId}`
  const nowMs = now().getTime()
  for (const [each, { atMs }] of refused) if (nowMs - atMs >= REFUSED_MS) refused.delete(each)
  if (answer.kind === 'listed') return void refused.delete(key)
  // The market was not asked, or refuses any change of the item for a while.
  if (answer.kind === 'postponed') return
  const times = answer.retry ? (refused.get(key)?.times ?? 0) + 1 : MOST_RETRIES
  refused.set(key, { times, atMs: nowMs })
}

async function followMoney(parts: DeskParts, state: State): Promise<void> {
  const { market, seller } = parts
  const { timetable } = state
  const given = lastGiven(parts)
  for (const appId of market.games) {
    const listings = listingsOf(parts, appId)
    const unpaid = listings.filter((listing) => mayBePaid(listing, given))
    const everyMs = moneyEveryMs(parts, state, { appId, unpaid })
    const asksUnpaid = unpaid.length > 0 && timetable.isDue(`money ${appId}`, everyMs)
    const soldMs = asksUnpaid ? recentTimesMs(parts, state, unpaid) : []
    const lookBackMs = parts.now().getTime() - CHANGES_MS
    const isOpen = (each: Listing) => isLive(each) || each.end?.kind === 'settling' || isIn(given, each)
    const isRecent = listings.some(
      (each) => isOpen(each) || (each.offSaleAt ?? each.begunAt).getTime() > lookBackMs,
    )
    if (isRecent && timetable.isDue(`look back ${appId}`, LOOK_BACK_MS)) soldMs.push(lookBackMs)
    if (soldMs.length === 0) continue
    const since = new Date(Math.min(...soldMs) - HISTORY_MARGIN_MS)
    const hasNews = await seller.followMoney(appId, since)
    // Read the balance again: the till compares its books with it, and an older balance would differ.
    if (hasNews) timetable.hurry('balance')
  }
  if (!timetable.isDue('balance', BALANCE_MS)) return
  const reply = await market.money()
  if (reply.kind === 'answered') await parts.reportBalance(reply.value).catch(() => {})
}

/** Returns the times of the sales that the vault still asks about. Reports each sale that it gives up on, once. */
function recentTimesMs(
  { journal, market, now, say, needs }: DeskParts,
  { givenUp }: State,
  unpaid: readonly Listing[],
): number[] {
  const times = soldTimesMs(journal.book(), unpaid)
  const isOver = (soldMs: number): boolean => now().getTime() - soldMs >= GIVE_UP_MS
  for (const [index, { itemId }] of unpaid.entries()) {
    if (!isOver(times[index] ?? 0) || givenUp.has(itemId)) continue
    givenUp.add(itemId)
    const line = 'the market has not said for six weeks how a sale ended, so the vault stops asking'
    say(line, { market: market.name, listing: itemId ?? '' })
    const overMs = now().getTime() - (times[index] ?? 0) - GIVE_UP_MS
    if (overMs < GIVE_UP_NEWS_MS) needs.note('sale_untold', `${market.name} listing ${itemId}`, line)
  }
  return times.filter((soldMs) => !isOver(soldMs))
}

/** How often to ask whether sales were paid: more often after items were given or their money became due. */
function moneyEveryMs(
  { now }: DeskParts,
  { newsDue }: State,
  { appId, unpaid }: { appId: number; unpaid: Listing[] },
): number {
  const nowMs = now().getTime()
  const count = unpaid.filter(
    ({ end }) => end === null || (end.kind === 'settling' && end.settlesAt.getTime() <= nowMs),
  ).length
  const last = newsDue.get(appId) ?? { count: 0, sinceMs: Number.NEGATIVE_INFINITY }
  const sinceMs = count > last.count ? nowMs : last.sinceMs
  newsDue.set(appId, { count, sinceMs })
  return nowMs - sinceMs < SOON_MONEY_FOR_MS ? SOON_MONEY_MS : MONEY_MS
}

function mayBePaid({ state, end, ...listing }: Listing, given: ReadonlySet<string>): boolean {
  if (state !== 'given' && state !== 'in_deal') return false
  // A buyer may accept late, after the market has called the sale cancelled.
  if (end?.kind === 'cancelled') return isIn(given, listing)
  return end?.kind !== 'paid' && end?.kind !== 'reversed'
}

const isIn = (numbers: ReadonlySet<string>, { itemId }: Pick<Listing, 'itemId'>): boolean =>
  itemId !== null && numbers.has(itemId)

/** The market's numbers of the listings whose items were given lately. */
function lastGiven({ journal, market, now }: DeskParts): ReadonlySet<string> {
  const sinceMs = now().getTime() - CHANGES_MS
  const deals = [...journal.book().deals.values()].filter(
    (deal) =>
      deal.state === 'delivered' && deal.market === market.name && deal.deliveredAt.getTime() > sinceMs,
  )
  return new Set(deals.flatMap(({ itemIds }) => itemIds))
}
