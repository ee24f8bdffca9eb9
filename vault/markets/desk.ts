/** Sells on one market, round by round: when to ask what, and when to list nothing. The shell around the seller. */
import type { OwnItem } from '../steam/look.ts'
import { isLive, type Listing } from './book.ts'
import { isMaintenance } from './maintenance.ts'
import type { Market } from './market.ts'
import { type Pricing, pricesFor, repricesFor } from './pricing.ts'
import type { Alarm, createSeller, Journal } from './seller.ts'
import type { Till } from './till.ts'

const MINUTE_MS = 60_000
/** Listings sell only while the market hears from their seller every few minutes. */
const PING_MS = 3 * MINUTE_MS
/** A sale must be handed over within five minutes. */
const LOOK_MS = 15_000
const READY_MS = 30 * MINUTE_MS
const LIST_MS = 2 * MINUTE_MS
/** The market reads an inventory within seconds. */
const LIST_AGAIN_MS = 20_000
const REPRICE_MS = 60 * MINUTE_MS
const MONEY_MS = 5 * MINUTE_MS
const BALANCE_MS = 10 * MINUTE_MS
/** The market keeps its history by day. */
const HISTORY_MS = 86_400_000
const MOST_LINES = 50

export type DeskParts = {
  market: Market
  seller: ReturnType<typeof createSeller>
  journal: Journal
  account: {
    freeItems(appId: number): Promise<ReadonlyMap<string, OwnItem> | undefined>
    accessToken(options: { fresh: boolean }): Promise<string | undefined>
  }
  /** The token of the account's trade link, if the rules have it as a destination. */
  tradeToken: string | undefined
  pricing: Pricing
  till: Pick<Till, 'isOff' | 'saysBalance'>
  /** Whether the operator has switched the market off at the vault. */
  isOff(): boolean
  now(): Date
  say(line: string, about: Record<string, string | number>): void
}

export type Desk = { round(): Promise<void>; close(): void }

type State = {
  /** When each step ran last, in milliseconds. */
  done: Map<string, number>
  /** Why nothing is listed; undefined if all is well. */
  stopped: string | undefined
}

export function createDesk(parts: DeskParts): Desk {
  const state: State = { done: new Map(), stopped: undefined }
  return { round: () => round(parts, state), close: () => parts.market.close() }
}

/** Whether it is time to run this step again; if so, records the time. A clock that was set back delays nothing. */
function isDue({ now }: DeskParts, { done }: State, [what, everyMs]: [string, number]): boolean {
  const nowMs = now().getTime()
  const last = done.get(what) ?? Number.NEGATIVE_INFINITY
  if (nowMs >= last && nowMs - last < everyMs) return false
  done.set(what, nowMs)
  return true
}

async function round(parts: DeskParts, state: State): Promise<void> {
  const { market, seller, journal, say } = parts
  const reason = await reasonToStop(parts, state)
  if (reason !== state.stopped) {
    state.stopped = reason
    say(reason === undefined ? 'the vault sells' : 'the vault does not sell', {
      market: market.name,
      ...(reason === undefined ? {} : { because: reason }),
    })
  }
  await stayOnline(parts, state)
  for (const appId of market.games) {
    if (reason === undefined) await offer(parts, state, appId)
    else await takeDown(parts, appId)
    if (openOf(journal, market, appId) && isDue(parts, state, [`look ${appId}`, LOOK_MS]))
      await seller.round(appId)
  }
  await seller.advance()
  await followMoney(parts, state)
}

const ownOf = ({ journal, market }: Pick<DeskParts, 'journal' | 'market'>, appId: number): Listing[] =>
  journal.book().listings.filter((each) => each.market === market.name && each.appId === appId)

const openOf = (journal: Journal, market: Market, appId: number): boolean =>
  ownOf({ journal, market }, appId).some(isLive)

/** The till may stop the vault, but never start it. */
async function reasonToStop(parts: DeskParts, state: State): Promise<string | undefined> {
  const { market, till, now } = parts
  if (parts.isOff()) return 'switched off at the vault'
  const isOff = await till.isOff(market.name).catch(() => undefined)
  if (isOff === undefined) return 'the till does not answer'
  if (isOff) return 'switched off by the till'
  if (isMaintenance(now())) return 'maintenance of Steam'
  return readiness(parts, state)
}

/** Kept between rounds. */
async function readiness(parts: DeskParts, state: State): Promise<string | undefined> {
  const known = state.done.has('ready') ? state.stopped : undefined
  if (!isDue(parts, state, ['ready', READY_MS])) return known
  // A seller whom the market has never heard from counts as offline.
  await ping(parts)
  const said = await readyWithToken(parts)
  if (said.kind === 'locked_out') return 'the market refuses the key'
  if (said.kind !== 'said') {
    state.done.delete('ready')
    return 'the market does not answer'
  }
  const problems = said.value.problems.filter((problem) => problem !== 'offline')
  return problems.length === 0 ? undefined : problems.join(', ')
}

/** Sends the account's trade token to a market that lacks it. */
async function readyWithToken({ market, tradeToken }: DeskParts): ReturnType<Market['ready']> {
  const said = await market.ready()
  const isMissing = said.kind === 'said' && said.value.problems.includes('no_trade_token')
  if (!isMissing || tradeToken === undefined) return said
  await market.setTradeToken(tradeToken)
  return market.ready()
}

async function stayOnline(parts: DeskParts, state: State): Promise<void> {
  const { journal, market } = parts
  const isNeeded = state.stopped === undefined || journal.book().listings.some(isLive)
  if (!isNeeded || !isDue(parts, state, ['ping', PING_MS])) return
  if (!(await ping(parts))) {
    state.done.delete('ping')
    parts.say('the market does not take the ping', { market: market.name })
  }
}

/** A session that the market rejects is renewed once. */
async function ping({ market, account }: DeskParts): Promise<boolean> {
  for (const fresh of [false, true]) {
    const token = await account.accessToken({ fresh })
    if (token === undefined) return false
    const said = await market.keepOnline(token)
    if (said.kind === 'said') return true
    if (said.kind !== 'refused') return false
  }
  return false
}

async function takeDown({ market, seller, journal }: DeskParts, appId: number): Promise<void> {
  const listed = ownOf({ journal, market }, appId).flatMap(({ state, itemId }) =>
    state === 'on_sale' && itemId !== null ? [itemId] : [],
  )
  if (listed.length > 0) await seller.unlist(appId, listed.slice(0, MOST_LINES))
}

async function offer(parts: DeskParts, state: State, appId: number): Promise<void> {
  const { market, seller, account, journal } = parts
  const own = ownOf(parts, appId)
  if (isDue(parts, state, [`reprice ${appId}`, REPRICE_MS])) {
    const lines = await repricesFor(own, { ...parts, items: await account.freeItems(appId) })
    if (lines.length > 0) await seller.reprice(appId, lines.slice(0, MOST_LINES))
  }
  if (!isDue(parts, state, [`list ${appId}`, LIST_MS])) return
  const items = await account.freeItems(appId)
  const isBusy = new Set(
    journal.book().listings.flatMap((each) => (each.appId === appId && isLive(each) ? [each.assetId] : [])),
  )
  const free = [...(items?.values() ?? [])].filter((item) => item.isTradable && !isBusy.has(item.assetId))
  const lines = await pricesFor(free.slice(0, MOST_LINES), { ...parts, appId, own })
  if (lines.length === 0) return
  const said = await seller.list(appId, lines)
  if (said.kind === 'said' && !said.value.some((line) => line.kind === 'refused' && line.retry)) return
  // The market has not read the inventory, or not since these items came.
  await market.refresh(appId)
  state.done.set(`list ${appId}`, parts.now().getTime() - LIST_MS + LIST_AGAIN_MS)
}

async function followMoney(parts: DeskParts, state: State): Promise<void> {
  const { market, seller, now, till } = parts
  for (const appId of market.games) {
    const unpaid = ownOf(parts, appId).filter(
      ({ state: at, end }) => (at === 'given' || at === 'in_deal') && !isPaid(end),
    )
    if (unpaid.length === 0 || !isDue(parts, state, [`money ${appId}`, MONEY_MS])) continue
    const first = Math.min(...unpaid.map(({ begunAt }) => begunAt.getTime()))
    await seller.followMoney(appId, new Date(first - HISTORY_MS))
  }
  if (!isDue(parts, state, ['balance', BALANCE_MS])) return
  const said = await market.money()
  if (said.kind === 'said') await till.saysBalance(market.name, said.value, now()).catch(() => {})
}

const isPaid = (end: Listing['end']): boolean =>
  end?.kind === 'paid' || end?.kind === 'cancelled' || end?.kind === 'reversed'

/** The operator's text of an alarm. */
export function alarmLine(alarm: Alarm): [line: string, about: Record<string, string>] {
  switch (alarm.kind) {
    case 'due_refused':
      return ['the vault gives nothing for a sale', { deal: alarm.dealId, problem: alarm.problem }]
    case 'strange_listing':
      return ['something is listed that the vault did not list', { listing: alarm.itemId }]
    case 'too_much':
      return ['the market says that it pays more than the price', { listing: alarm.itemId }]
    case 'no_room':
      return ['the limits have no room for a sale', { deal: alarm.dealId }]
    default:
      return alarm satisfies never
  }
}
