/** Decides when an account makes which call to its market. */
import type { OwnItem } from '../steam/look.ts'
import { isLive, isOfAccount, type Journal, type Listing, type MarketAccount } from './book.ts'
import { feeOf } from './fees.ts'
import { isMaintenance } from './maintenance.ts'
import type { Line, Listed, Market, Money } from './market.ts'
import type { Others } from './others.ts'
import type { Bid } from './placement.ts'
import { bidsFor, type Pricing, repricesFor } from './pricing.ts'
import type { createSeller } from './seller.ts'
import type { Till } from './till.ts'

const MINUTE_MS = 60_000
/** Listings sell only while their seller pings the market every few minutes. */
const PING_MS = 3 * MINUTE_MS
/** How soon to ping again after a failure. */
const PING_AGAIN_MS = 20_000
/** How often to log in to Steam for a market that refuses pings. It may refuse them whatever the token is. */
const RENEW_MS = 15 * MINUTE_MS
/** How often to look for sales, which must be handed over within five minutes. */
const LOOK_MS = 15_000
/** How often to ask the market whether the account may sell. */
const READY_MS = 30 * MINUTE_MS
/** How often to list new items. */
const LIST_MS = 2 * MINUTE_MS
/** How soon to list again after the market was asked to read an inventory, which takes seconds. */
const LIST_AGAIN_MS = 20_000
/** Within this time after an item arrives, the till knows its cost and the market has read it. */
const ARRIVING_MS = 3 * MINUTE_MS
/** How often to adjust prices. */
const REPRICE_MS = 60 * MINUTE_MS
/**
 * The most listings to reprice in a round. The vault reads one price from Steam every few seconds, and buyers wait only
 * five minutes.
 */
const MOST_REPRICED = 10
/** How often to ask the market whether sales were paid. */
const MONEY_MS = 5 * MINUTE_MS
/** How often to ask that, and for how long, after an item was given or its money became due. */
const SOON_MONEY_MS = 20_000
const SOON_MONEY_FOR_MS = 2 * MINUTE_MS
/** How long to ask on about an item that was given, although the market calls its sale cancelled. */
const DENIED_MS = 14 * 86_400_000
/** How often to ask for the account's balance. */
const BALANCE_MS = 10 * MINUTE_MS
/** How long before the oldest unpaid listing to start reading the market's history, which has a resolution of days. */
const HISTORY_MARGIN_MS = 86_400_000
/** The most listings to change in one call. */
const MOST_LINES = 50
/** How long not to list an item again after a refusal, or after the market answered "retry" MOST_RETRIES times. */
const REFUSED_MS = 60 * MINUTE_MS
const MOST_RETRIES = 3

export type DeskParts = {
  market: Market
  marketAccount: MarketAccount
  seller: ReturnType<typeof createSeller>
  journal: Journal
  account: {
    freeItems(appId: number): Promise<ReadonlyMap<string, OwnItem> | undefined>
    accessToken(options: { fresh: boolean }): Promise<string | undefined>
  }
  /** The token of the account's trade link, if the rules list the account as a destination. */
  tradeToken: string | undefined
  pricing: Pricing
  /** The lowest prices of the vault's own listings on this market, of all its accounts, by market hash name. */
  ownPrices(appId: number): Promise<ReadonlyMap<string, bigint>>
  /** The prices of others, which all accounts at this market remember together. */
  others: Others
  till: Pick<Till, 'isOff'>
  /** Reports the account's money, as the market shows it. */
  reportBalance(money: Money): Promise<void>
  /** True if the operator has switched the account off at this market, in the vault. */
  isOff(): boolean
  now(): Date
  say(line: string, about: Record<string, string | number>): void
}

export type Desk = {
  marketAccount: MarketAccount
  games: readonly number[]
  /** Does everything except listing. The caller lists afterwards, because sales that must be handed over come first. */
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
  close(): void
}

type State = {
  /** When each step ran last, in milliseconds. */
  lastRunMs: Map<string, number>
  /** By game: how many items wait for the market's report of their payment, and when that number last grew. */
  newsDue: Map<number, { count: number; sinceMs: number }>
  /** By game: when items last arrived. */
  arrivedAtMs: Map<number, number>
  /** By game: the assets whose listings wait to be repriced. */
  toReprice: Map<number, readonly string[]>
  /** The reason why nothing is listed; undefined if all is well. */
  stoppedBecause: string | undefined
  /** The market's latest reasons why the account cannot sell. */
  unreadyBecause: string | undefined
  /** The fee that the market states. */
  feeBp: bigint | null
  /** By game and asset: how often the market answered "retry" (MOST_RETRIES at once for a final refusal), and when. */
  refused: Map<string, { times: number; atMs: number }>
}

export function createDesk(parts: DeskParts): Desk {
  const state: State = {
    stoppedBecause: undefined,
    unreadyBecause: undefined,
    feeBp: null,
    lastRunMs: new Map(),
    newsDue: new Map(),
    arrivedAtMs: new Map(),
    toReprice: new Map(),
    refused: new Map(),
  }
  const { market, marketAccount } = parts
  return {
    marketAccount,
    games: market.games,
    tend: () => tend(parts, state),
    isOpen: () => state.lastRunMs.has('ready') && state.stoppedBecause === undefined,
    isDue: (appId) => isDue(parts, state, [`list ${appId}`, listEveryMs(parts, state, appId)]),
    listSoon: (appId) => listSoon(parts, state, appId),
    bidsFor: (appId, items) =>
      bidsFor(
        items.filter(({ assetId }) => mayList(parts, state, `${appId}/${assetId}`)),
        { ...parts, feeBp: feeNow(parts, state), appId, listings: listingsOf(parts, appId) },
      ),
    list: (appId, lines) => list(parts, state, { appId, lines }),
    close: () => market.close(),
  }
}

async function listSoon({ market, now }: DeskParts, state: State, appId: number): Promise<void> {
  state.arrivedAtMs.set(appId, now().getTime())
  state.lastRunMs.delete(`list ${appId}`)
  await market.refresh(appId)
}

function listEveryMs({ now }: DeskParts, { arrivedAtMs }: State, appId: number): number {
  const lastArrivalMs = arrivedAtMs.get(appId)
  const isArriving = lastArrivalMs !== undefined && now().getTime() - lastArrivalMs < ARRIVING_MS
  return isArriving ? LIST_AGAIN_MS : LIST_MS
}

const feeNow = ({ journal, market }: DeskParts, { feeBp }: State): bigint =>
  feeOf(journal.book(), market.name, feeBp)

function mayList({ now }: DeskParts, { refused }: State, key: string): boolean {
  const known = refused.get(key)
  if (known === undefined || known.times < MOST_RETRIES) return true
  if (now().getTime() - known.atMs < REFUSED_MS) return false
  refused.delete(key)
  return true
}

/** True if this step is due. Records the time if so. A clock that was set back delays nothing. */
function isDue({ now }: DeskParts, { lastRunMs }: State, [what, everyMs]: [string, number]): boolean {
  const nowMs = now().getTime()
  const last = lastRunMs.get(what) ?? Number.NEGATIVE_INFINITY
  if (nowMs >= last && nowMs - last < everyMs) return false
  lastRunMs.set(what, nowMs)
  return true
}

async function tend(parts: DeskParts, state: State): Promise<void> {
  const { market, seller, say } = parts
  const reason = await reasonToStop(parts, state)
  if (reason !== state.stoppedBecause) {
    state.stoppedBecause = reason
    say(reason === undefined ? 'the vault began to sell' : 'the vault stopped selling', {
      market: market.name,
      account: parts.marketAccount.account,
      ...(reason === undefined ? {} : { because: reason }),
    })
  }
  await stayOnline(parts, state)
  for (const appId of market.games) {
    if (reason !== undefined) await takeDown(parts, appId)
    if (listingsOf(parts, appId).some(isLive) && isDue(parts, state, [`look ${appId}`, LOOK_MS]))
      await seller.round(appId)
  }
  await seller.advance()
  if (reason === undefined) await repriceSome(parts, state)
  await followMoney(parts, state)
}

const listingsOf = (
  { journal, marketAccount }: Pick<DeskParts, 'journal' | 'marketAccount'>,
  appId: number,
): Listing[] =>
  journal.book().listings.filter((each) => isOfAccount(marketAccount)(each) && each.appId === appId)

/** Returns the reason not to list; undefined if there is none. The till cannot undo a switch at the vault. */
async function reasonToStop(parts: DeskParts, state: State): Promise<string | undefined> {
  const { market, till, now } = parts
  if (parts.isOff()) return 'switched off at the vault'
  const isOff = await till.isOff(market.name).catch(() => undefined)
  if (isOff === undefined) return 'the till does not answer'
  if (isOff) return 'switched off by the till'
  if (isMaintenance(now())) return 'maintenance of Steam'
  return readiness(parts, state)
}

async function readiness(parts: DeskParts, state: State): Promise<string | undefined> {
  if (!isDue(parts, state, ['ready', READY_MS])) return state.unreadyBecause
  // A seller counts as offline until its first ping.
  await ping(parts, state)
  const reply = await readyWithToken(parts)
  state.unreadyBecause = unreadyOf(reply)
  if (reply.kind === 'answered') state.feeBp = reply.value.feeBp
  else if (reply.kind !== 'locked_out') state.lastRunMs.delete('ready')
  return state.unreadyBecause
}

function unreadyOf(reply: Awaited<ReturnType<Market['ready']>>): string | undefined {
  if (reply.kind === 'locked_out') return 'the market refuses the key'
  if (reply.kind === 'refused') return `the market refuses: ${reply.code.slice(0, 100)}`
  if (reply.kind !== 'answered') return 'the market does not answer'
  // Pings end `offline`, and the desk sends them anyway.
  const problems = reply.value.problems.filter((problem) => problem !== 'offline')
  return problems.length === 0 ? undefined : problems.join(', ')
}

/** Sends the account's trade token to a market that lacks it. */
async function readyWithToken({ market, tradeToken }: DeskParts): ReturnType<Market['ready']> {
  const reply = await market.ready()
  const isMissing = reply.kind === 'answered' && reply.value.problems.includes('no_trade_token')
  if (!isMissing || tradeToken === undefined) return reply
  await market.setTradeToken(tradeToken)
  return market.ready()
}

async function stayOnline(parts: DeskParts, state: State): Promise<void> {
  const { journal, market, marketAccount } = parts
  const isLiveHere = journal.book().listings.some((each) => isLive(each) && isOfAccount(marketAccount)(each))
  const isNeeded = state.stoppedBecause === undefined || isLiveHere
  if (!isNeeded || !isDue(parts, state, ['ping', PING_MS])) return
  if (!(await ping(parts, state))) {
    state.lastRunMs.set('ping', parts.now().getTime() - PING_MS + PING_AGAIN_MS)
    parts.say('the ping failed', { market: market.name })
  }
}

/** Tells the market that the seller is online. Renews the session if the market rejects it, unless it just did. */
async function ping(parts: DeskParts, state: State): Promise<boolean> {
  const { market, account } = parts
  for (const fresh of [false, true]) {
    if (fresh && !isDue(parts, state, ['renew', RENEW_MS])) return false
    const token = await account.accessToken({ fresh })
    if (token === undefined) return false
    const reply = await market.keepOnline(token)
    if (reply.kind === 'answered') return true
    if (reply.kind !== 'refused') return false
  }
  return false
}

async function takeDown(parts: DeskParts, appId: number): Promise<void> {
  const listed = listingsOf(parts, appId).flatMap(({ state, itemId }) =>
    state === 'on_sale' && itemId !== null ? [itemId] : [],
  )
  if (listed.length > 0) await parts.seller.unlist(appId, listed.slice(0, MOST_LINES))
}

/** Reprices a few listings of one game. The others, and other games, have their turns in later rounds. */
async function repriceSome(parts: DeskParts, state: State): Promise<void> {
  const { market, account, seller } = parts
  const { toReprice } = state
  for (const appId of market.games) {
    if (toReprice.has(appId) || !isDue(parts, state, [`reprice ${appId}`, REPRICE_MS])) continue
    const onSale = listingsOf(parts, appId).filter((listing) => listing.state === 'on_sale')
    if (onSale.length > 0)
      toReprice.set(
        appId,
        onSale.map(({ assetId }) => assetId),
      )
  }
  const [next] = toReprice
  if (next === undefined) return
  const [appId, assetIds] = next
  toReprice.delete(appId)
  // At the end of the map, so the game waits for the others.
  if (assetIds.length > MOST_REPRICED) toReprice.set(appId, assetIds.slice(MOST_REPRICED))
  const taken = new Set(assetIds.slice(0, MOST_REPRICED))
  const inventory = await account.freeItems(appId)
  const items = inventory && new Map([...inventory].filter(([assetId]) => taken.has(assetId)))
  const lines = await repricesFor(listingsOf(parts, appId), { ...parts, feeBp: feeNow(parts, state), items })
  if (lines.length > 0) await seller.reprice(appId, lines)
}

type Lines = { appId: number; lines: readonly Line[] }

async function list(parts: DeskParts, state: State, { appId, lines }: Lines): Promise<void> {
  const { market, seller, now } = parts
  const reply = await seller.list(appId, lines)
  const answers = reply.kind === 'answered' ? reply.value : []
  for (const answer of answers) noteAnswer(parts, state, { appId, answer })
  if (reply.kind === 'answered' && !answers.some((line) => line.kind === 'refused' && line.retry)) return
  // The call failed, or a line may succeed later, perhaps once the market has read the inventory. So listing is due
  // again after LIST_AGAIN_MS.
  await market.refresh(appId)
  state.lastRunMs.set(`list ${appId}`, now().getTime() - listEveryMs(parts, state, appId) + LIST_AGAIN_MS)
}

function noteAnswer(
  { now }: DeskParts,
  { refused }: State,
  { appId, answer }: { appId: number; answer: Listed },
): void {
  const key = `${appId}/${answer.assetId}`
  if (answer.kind === 'listed') return void refused.delete(key)
  const times = answer.retry ? (refused.get(key)?.times ?? 0) + 1 : MOST_RETRIES
  refused.set(key, { times, atMs: now().getTime() })
}

async function followMoney(parts: DeskParts, state: State): Promise<void> {
  const { market, seller } = parts
  for (const appId of market.games) {
    const unpaid = listingsOf(parts, appId).filter((listing) => mayBePaid(parts, listing))
    const everyMs = moneyEveryMs(parts, state, { appId, unpaid })
    if (unpaid.length === 0 || !isDue(parts, state, [`money ${appId}`, everyMs])) continue
    const oldestMs = Math.min(...unpaid.map(({ begunAt }) => begunAt.getTime()))
    const hasNews = await seller.followMoney(appId, new Date(oldestMs - HISTORY_MARGIN_MS))
    // Read the balance again: the till compares its books with it, and an older balance would differ.
    if (hasNews) state.lastRunMs.delete('balance')
  }
  if (!isDue(parts, state, ['balance', BALANCE_MS])) return
  const reply = await market.money()
  if (reply.kind === 'answered') await parts.reportBalance(reply.value).catch(() => {})
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
  const before = newsDue.get(appId) ?? { count: 0, sinceMs: Number.NEGATIVE_INFINITY }
  const sinceMs = count > before.count ? nowMs : before.sinceMs
  newsDue.set(appId, { count, sinceMs })
  return nowMs - sinceMs < SOON_MONEY_FOR_MS ? SOON_MONEY_MS : MONEY_MS
}

function mayBePaid({ journal, market, now }: DeskParts, { state, itemId, end }: Listing): boolean {
  if (state !== 'given' && state !== 'in_deal') return false
  if (end?.kind !== 'cancelled') return end?.kind !== 'paid' && end?.kind !== 'reversed'
  // A buyer may accept late, after the market has called the sale cancelled.
  return [...journal.book().deals.values()].some(
    (deal) =>
      deal.state === 'delivered' &&
      deal.market === market.name &&
      itemId !== null &&
      deal.itemIds.includes(itemId) &&
      now().getTime() - deal.deliveredAt.getTime() < DENIED_MS,
  )
}
