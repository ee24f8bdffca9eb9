/** Compares the rows in the database with each other, with earlier rows, and with the simulated Steam. */
import type pg from 'pg'
import { z } from 'zod'
import { type DepositStatus, isFinal } from '../../../contract/statuses.ts'
import type { TradeStateColumn } from '../../../gateway/db/trade-tables.ts'
import { DEPOSIT_EDGES } from '../../../gateway/deposits/deposit.ts'
import type { OfferState } from '../../../gateway/steam/steam.ts'
import { LOST_ROOM_MS } from '../../../gateway/trades/credit.ts'
import type { Terms } from '../../../gateway/trades/effects.ts'
import { WAIT_MS } from '../../../gateway/trades/giving-up.ts'
import { EDGES } from '../../../gateway/trades/trade.ts'
import { isReportedInvalid, REPORTED_WITHIN_MS } from '../pure/truth.ts'
import type { Steam } from '../steam.ts'
import { isReportedLate } from '../steam-answers.ts'
import type { SteamOffer } from '../steam-memory.ts'
import { must } from '../violation.ts'
import { isLost } from './deaths.ts'
import { BOTS } from './people.ts'
import type { Scene } from './scene.ts'

const money = z.string().transform(BigInt)
const statusSchema = z.custom<DepositStatus>((value) => typeof value === 'string' && value in DEPOSIT_EDGES)
const stateSchema = z.custom<TradeStateColumn>((value) => typeof value === 'string' && value in EDGES)

/**
 * `early`: credit that could be spent at once. `released`: credit that was released after the delivery. `lost`: what
 * recent reversals took beyond the held part. `bearers`: the kinds of account that paid what any reversal took beyond
 * that part. `twins`: assets that two trades reserve. `repeated`: events that exist twice.
 */
const snapshotSchema = z.object({
  accounts: z.array(
    z.object({ id: z.number(), balance: money, entries: money, floor: money.nullable(), kind: z.string() }),
  ),
  trades: z.array(
    z.object({
      id: z.number(),
      deposit: z.number(),
      bot: z.number(),
      state: stateSchema,
      reason: z.string().nullable(),
      code: z.string(),
      offer: z.string().nullable(),
      steamTrade: z.string().nullable(),
      delivered: z.boolean(),
      partner: z.string(),
      deliveredAtMs: z.number().nullable(),
      backAtMs: z.number().nullable(),
      cancelling: z.string().nullable(),
      total: money,
      held: money,
      reversed: money,
      live: z.number(),
      isHeldBySteam: z.boolean(),
      itemsBack: z.number(),
      store: z.number(),
      wasProtected: z.boolean(),
      settlesAt: z.string().nullable(),
      mode: z.enum(['on_accept', 'on_release']).nullable(),
      liability: z.enum(['operator', 'store']).nullable(),
      limit: money.nullable(),
      early: money,
      released: money,
      lost: money,
      bearers: z.array(z.string()),
    }),
  ),
  deposits: z.array(
    z.object({
      id: z.number(),
      status: statusSchema,
      credited: money.nullable(),
      held: money,
      reversed: money,
      heldUntil: z.string().nullable(),
      hasEvent: z.boolean(),
    }),
  ),
  twins: z.number(),
  repeated: z.number(),
})

export type Snapshot = z.infer<typeof snapshotSchema>
type TradeRow = Snapshot['trades'][number]

const SNAPSHOT = `select
  (select coalesce(json_agg(json_build_object('id', id, 'kind', kind, 'balance', balance::text, 'floor', floor::text,
    'entries', (select coalesce(sum(case when credit_account = a.id then amount else -amount end), 0)::text
      from ledger_entry where a.id in (credit_account, debit_account))) order by id), '[]') from account a) as accounts,
  (select coalesce(json_agg(json_build_object('id', id, 'deposit', deposit_id, 'bot', bot_id, 'state', state, 'reason', reason,
    'partner', partner_steam_id, 'deliveredAtMs', (extract(epoch from delivered_at) * 1000)::bigint,
    'backAtMs', (select (max(extract(epoch from reversed_at)) * 1000)::bigint from trade_item where trade_id = t.id),
    'code', secret_code, 'offer', steam_offer_id, 'steamTrade', steam_trade_id, 'delivered', delivered_at is not null, 'cancelling', cancelling,
    'total', total::text, 'held', held_amount::text, 'reversed', reversed_amount::text,
    'live', (select count(*) from trade_item where trade_id = t.id and live),
    'isHeldBySteam', reason is not distinct from 'escrow' and steam_hold_until is not null,
    'itemsBack', (select count(*) from trade_item where trade_id = t.id and reversed_at is not null),
    'store', (select store_id from deposit where id = t.deposit_id), 'wasProtected', settles_at is not null and protection_found_at is null, 'settlesAt', settles_at,
    'mode', credit_mode, 'liability', liability, 'limit', risk_limit_usd_cents::text,
    'early', (select coalesce(sum(amount), 0)::text from ledger_entry e join account a on a.id = e.credit_account
      where e.trade_id = t.id and e.cause = 'delivered' and a.kind = 'available'),
    'released', (select coalesce(sum(amount), 0)::text from ledger_entry e where e.trade_id = t.id and e.cause = 'released'),
    'lost', (select coalesce(sum(amount), 0)::text from ledger_entry e join account a on a.id = e.debit_account
      where e.trade_id = t.id and e.cause = 'reversed' and a.kind <> 'held' and e.created_at > (select time from sim.clock) - interval '${LOST_ROOM_MS - 3_600_000} milliseconds'),
    'bearers', (select coalesce(json_agg(distinct a.kind), '[]') from ledger_entry e join account a on a.id = e.debit_account
      where e.trade_id = t.id and e.cause = 'reversed' and a.kind <> 'held')) order by id), '[]') from trade t) as trades,
  (select coalesce(json_agg(json_build_object('id', id, 'status', status, 'credited', credited_amount::text,
    'held', held_amount::text, 'reversed', reversed_amount::text, 'heldUntil', held_until, 'hasEvent', status = 'created' or exists (
      select from event where deposit_id = d.id and type = 'deposit.' || lower(regexp_replace(
        d.status, '([A-Z])', '_\\1', 'g')))) order by id), '[]') from deposit d) as deposits,
  (select count(*)::int from (select 1 from trade_item where live group by app_id, asset_id having count(*) > 1) x)
    as twins,
  (select count(*)::int from (select 1 from event group by deposit_id, type, trade_id, part having count(*) > 1) x)
    as repeated`

export async function readSnapshot(monitor: pg.ClientBase): Promise<Snapshot> {
  const { rows } = await monitor.query<Record<string, unknown>>({ name: 'snapshot', text: SNAPSHOT })
  return snapshotSchema.parse(rows[0])
}

const OPEN = ['intended', 'sending', 'unknown', 'active']
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)

/** Checks the promises that must hold after every commit. */
export function checkSnapshot(scene: Scene, before: Snapshot | undefined, now: Snapshot): void {
  checkAccounts(now)
  must(now.twins === 0, 'I8', () => 'an asset is reserved by two trades')
  must(now.repeated === 0, 'I9', () => 'an event exists twice')
  const tradesBefore = new Map(before?.trades.map((trade) => [trade.id, trade]))
  for (const trade of now.trades) {
    checkTrade(scene, tradesBefore.get(trade.id), trade)
    if (trade.state === 'final' && tradesBefore.get(trade.id)?.state === 'held') checkRelease(scene, trade)
    if (trade.delivered) checkTerms(scene, trade, now)
    if (trade.delivered && tradesBefore.get(trade.id)?.delivered !== true) checkRisk(trade, now)
  }
  const statuses = new Map(before?.deposits.map(({ id, status }) => [id, status]))
  const trades = Map.groupBy(now.trades, (trade) => trade.deposit)
  for (const deposit of now.deposits) {
    checkDeposit(deposit, trades.get(deposit.id) ?? [])
    const was = statuses.get(deposit.id)
    const isValid = was === undefined || was === deposit.status || reaches(DEPOSIT_EDGES, was, deposit.status)
    must(isValid, 'I10', () => `deposit ${deposit.id}: ${was} to ${deposit.status}`)
  }
  const steamTrades = now.trades.flatMap(({ delivered, steamTrade }) => (delivered ? [steamTrade] : []))
  must(new Set(steamTrades).size === steamTrades.length, 'I6', () => 'a Steam trade is credited twice')
}

/** The largest difference between clocks. */
const CLOCKS_MS = 20 * 60_000

export const termsKeyOf = ({ creditMode, liability, riskLimitUsdCents }: Terms): string =>
  `${creditMode} ${liability} ${riskLimitUsdCents}`

/** Checks that the terms of a delivery were the store's settings at some time, and that the delivery follows them. */
function checkTerms({ settings }: Scene, trade: TradeRow, { trades }: Snapshot): void {
  const { id, store, mode, liability, limit, early, wasProtected, bearers } = trade
  const back = trades.flatMap((other) => (other.partner === trade.partner ? (other.backAtMs ?? []) : []))
  const hadTakenBack = Math.min(...back) < (trade.deliveredAtMs ?? 0) - 2 * CLOCKS_MS
  const isOnRelease = mode === 'on_release'
  must(
    isOnRelease || !hadTakenBack,
    'I15',
    () => `trade ${id}: its shopper took items back earlier, yet it is credited ${mode}`,
  )
  const storeHad = (credit: string) => settings.get(store)?.has(`${credit} ${liability} ${limit}`) === true
  const wereSet = storeHad(`${mode}`) || (isOnRelease && back.length > 0 && storeHad('on_accept'))
  must(wereSet, 'I15', () => `trade ${id} has terms that its store never had: ${mode} ${liability} ${limit}`)
  const isEarly = wasProtected && mode === 'on_release' && early > 0n
  must(!isEarly, 'I15', () => `trade ${id} is credited ${early} before the release`)
  const bearer = liability === 'store' ? 'available' : 'loss'
  must(
    bearers.every((kind) => kind === bearer),
    'I15',
    () => `trade ${id}: ${bearers} pays for a reversal instead of ${bearer}`,
  )
}

/** Checks at a delivery that the store's credit at risk, including recent losses, stays within the store's limit. */
function checkRisk({ store, limit, early, wasProtected }: TradeRow, { trades }: Snapshot): void {
  if (!wasProtected || early === 0n) return
  const atRisk = sum(
    trades.flatMap((trade) =>
      trade.store === store && trade.delivered && trade.wasProtected
        ? [trade.state === 'held' ? trade.early + trade.released : trade.lost]
        : [],
    ),
  )
  must(atRisk <= (limit ?? 0n), 'I15', () => `store ${store} has ${atRisk} at risk, its limit is ${limit}`)
}

function checkAccounts({ accounts }: Snapshot): void {
  const total = sum(accounts.map(({ balance }) => balance))
  must(total === 0n, 'I1', () => `the accounts sum to ${total}`)
  for (const { id, kind, balance, entries, floor } of accounts) {
    must(balance === entries, 'I3', () => `account ${id} has ${balance}, its entries ${entries}`)
    must(floor === null || balance >= floor, 'I4', () => `account ${id} (${kind}): ${balance} < ${floor}`)
  }
}

/** Whether a state can be reached in one or two steps, because a commit may contain two events of a trade. */
function reaches<S extends string>(edges: Record<S, readonly S[]>, from: S, to: S): boolean {
  return edges[from].includes(to) || edges[from].some((middle) => edges[middle].includes(to))
}

function checkTrade(scene: Scene, before: TradeRow | undefined, trade: TradeRow): void {
  const { state } = trade
  const name = `trade ${trade.id}`
  const isSound = trade.held >= 0n && trade.reversed >= 0n && trade.held + trade.reversed <= trade.total
  must(isSound, 'I13', () => `${name}: held ${trade.held} and reversed ${trade.reversed} of ${trade.total}`)
  const isConsistent = trade.isHeldBySteam || OPEN.includes(state) === trade.live > 0
  must(isConsistent, 'I8', () => `${name} is ${state}, yet ${trade.live} items count as in an open trade`)
  if (before === undefined || before.state === state) return
  must(reaches(EDGES, before.state, state), 'I10', () => `${name}: ${before.state} to ${state}`)
  if (trade.delivered && !before.delivered) checkCredit(scene.steam, trade)
  if (trade.reason === 'unresolved' || trade.reason === 'bot_retired') checkGivenUp(scene, trade)
  else if (before.state === 'active' && trade.reason !== null) checkEnd(scene.steam, trade)
}

function checkCredit(steam: Steam, trade: TradeRow): void {
  const steamTrade = steam.steamTrades.get(trade.steamTrade ?? '')
  const isOurs = steamTrade !== undefined && steamTrade.offer.message === trade.code
  must(
    isOurs,
    'I7',
    () => `trade ${trade.id} is credited for ${trade.steamTrade}, which is not its Steam trade`,
  )
  const arrived = steamTrade?.items.every(({ newAssetId }) => newAssetId !== null)
  must(arrived === true, 'I7', () => `trade ${trade.id} is credited while its items are under way`)
  // The till cannot know yet what Steam reports later.
  if (steamTrade !== undefined && isReportedLate(steamTrade)) return
  const protects = steamTrade?.settlesAt !== null
  must(
    protects === trade.wasProtected,
    'I15',
    () => `the till counts trade ${trade.id} as ${trade.wasProtected ? '' : 'un'}protected, unlike Steam`,
  )
}

/** Checks that no funds are released for items that the shopper took back. */
function checkRelease({ steam, engine }: Scene, { id, steamTrade, itemsBack }: TradeRow): void {
  const record = steam.steamTrades.get(steamTrade ?? '')
  if (record === undefined || engine.now() - record.changedAt < REPORTED_WITHIN_MS) return
  const back = record.items.filter((item) => item.rolledBackAssetId !== null).length
  must(back === itemsBack, 'I7', () => `trade ${id}: ${back} items back on Steam, ${itemsBack} in the books`)
}

/** The answers of Steam that justify each end. */
const ANSWERS: Partial<Record<TradeStateColumn, readonly OfferState[]>> = {
  declined: ['declined'],
  countered: ['countered'],
  timed_out: ['cancelled', 'expired'],
}

/** Checks that a trade with an open offer ended only after an answer from Steam. */
function checkEnd(steam: Steam, { id, state, offer, reason }: TradeRow): void {
  const reported = steam.offers.get(offer ?? '')?.reported
  const isReported =
    state === 'invalid'
      ? isReportedInvalid(steam, offer, reason ?? '')
      : (ANSWERS[state]?.some((answer) => reported?.has(answer)) ?? true)
  must(isReported, 'I7', () => `trade ${id} ended as ${reason}, which Steam never reported`)
}

function checkGivenUp({ steam, engine, lost }: Scene, { id, bot, code, reason }: TradeRow): void {
  const madeAt = steam.byMessage.get(code)?.createdAt
  if (reason === 'bot_retired') {
    must(
      lost.get(BOTS[bot - 1] ?? '') === 'retired',
      'I7',
      () => `trade ${id} ended, but bot ${bot} is in service`,
    )
  } else if (madeAt !== undefined) {
    const waitedMs = engine.now() - madeAt
    must(waitedMs > WAIT_MS - CLOCKS_MS, 'I7', () => `trade ${id} was given up after ${waitedMs} ms`)
  }
}

function checkDeposit(deposit: Snapshot['deposits'][number], trades: readonly TradeRow[]): void {
  const { id, status } = deposit
  const delivered = trades.filter((trade) => trade.delivered)
  const credited = sum(delivered.map(({ total }) => total))
  must(
    (deposit.credited ?? 0n) === credited,
    'I13',
    () => `deposit ${id} has ${deposit.credited} credited, its trades ${credited}`,
  )
  must(
    deposit.held === sum(delivered.map(({ held }) => held)),
    'I13',
    () => `deposit ${id} holds ${deposit.held}, unlike its trades`,
  )
  const reversed = sum(delivered.map((trade) => trade.reversed))
  must(
    deposit.reversed === reversed,
    'I13',
    () => `deposit ${id} has ${deposit.reversed} reversed, its trades ${reversed}`,
  )
  const until = delivered.flatMap(({ held, settlesAt }) =>
    held > 0n && settlesAt !== null ? [settlesAt] : [],
  )
  must(
    deposit.heldUntil === (until.sort().at(-1) ?? null),
    'I13',
    () => `deposit ${id} is held until ${deposit.heldUntil}, its trades until ${until}`,
  )
  must((status === 'succeeded') === credited > 0n, 'I13', () => `deposit ${id} is ${status} with ${credited}`)
  must(deposit.hasEvent, 'I9', () => `deposit ${id} is ${status} without an event`)
}

/** Checks, long after the faults, that each deposit has ended, unless the till cannot learn how its open trade ended. */
export function checkNotOverdue(scene: Scene, { deposits, trades }: Snapshot): void {
  for (const { id, status } of deposits) {
    const open = trades.find(({ deposit, state }) => deposit === id && OPEN.includes(state))
    const isUnknowable = open !== undefined && cannotLearnEnd(scene, open)
    must(isUnknowable || isFinal(status), 'I12', () => `deposit ${id} is still ${status}`)
  }
}

function cannotLearnEnd(scene: Scene, { bot, code, state }: TradeRow): boolean {
  const { offers, byMessage } = scene.steam
  if (isLost(scene, bot) || isHidden(byMessage.get(code))) return true
  // The till does not know the trade's offer yet. It may be one of the bot's offers that Steam does not let it read.
  const isLookedFor = state === 'sending' || state === 'unknown'
  return isLookedFor && [...offers.values()].some((offer) => offer.bot === BOTS[bot - 1] && offer.isOpaque)
}

const isHidden = (offer: SteamOffer | undefined): boolean =>
  offer?.isOpaque === true || offer?.isIdLost === true

/** Checks, long enough after the last offer, that only delivered trades are still watched. */
export async function checkTradesAtRest(monitor: pg.ClientBase): Promise<void> {
  const { rows } = await monitor.query<{ id: bigint; state: string }>(
    `select id, state from trade where delivered_at is null and (ended_at is null or due_at is not null)`,
  )
  must(rows.length === 0, 'I12', () => `trade ${rows[0]?.id} (${rows[0]?.state}) is still open or watched`)
}

/**
 * Checks the end state, long after the faults. No offer is open. An item is credited if and only if it arrived and was
 * not taken back, as far as the till can see. Nothing is due except delivered trades of dead bots. The events of each
 * store are numbered without gaps, every reversal has an event, and no ledger entry can be changed.
 */
export async function checkFinalState(scene: Scene): Promise<void> {
  const { steam, monitor } = scene
  for (const offer of steam.offers.values()) {
    const isOpen = offer.state === 'active' && !offer.isCounter
    must(!isOpen, 'I12', () => `the offer of ${offer.message} is still open on Steam`)
  }
  const { rows } = await monitor.query<{
    trade: string
    bot: number
    code: string
    asset: string
    kept: boolean
  }>(
    `select trade_id || ' (' || state || ')' as trade, bot_id::int as bot, secret_code as code, asset_id as asset, delivered_at is not null and reversed_at is null as kept
     from trade_item join trade on trade.id = trade_id`,
  )
  for (const { trade, bot, code, asset, kept } of rows) {
    const offer = steam.byMessage.get(code)
    const steamTrade = steam.steamTrades.get(offer?.tradeId ?? '')
    // The till cannot see the outcome of these offers. The operator credits complete deliveries.
    if (isLost(scene, bot) || (isHidden(offer) && !kept)) {
      const isUnpaid = !kept && steamTrade?.state === 'complete'
      must(!isUnpaid, 'I7', () => `trade ${trade}: the bot has its items, but they were not credited`)
      continue
    }
    const item = steamTrade?.items.find((each) => each.asset.assetId === asset)
    const isOurs = item !== undefined && item.newAssetId !== null && item.rolledBackAssetId === null
    must(
      isOurs === kept,
      'I7',
      () => `item ${asset} of trade ${trade}: the bot has it: ${isOurs}, credited: ${kept}`,
    )
  }
  const { rows: due } = await monitor.query<{ id: bigint }>(
    `select trade.id from trade join bot on bot.id = bot_id
     where due_at is not null and (bot.state <> 'dead' or delivered_at is null)`,
  )
  must(due.length === 0, 'I12', () => `trade ${due[0]?.id} is still due`)
  const { rows: gaps } = await monitor.query<{ id: bigint }>(
    `select store.id from store where last_sequence <> (select count(sequence) from event where store_id = store.id)
       or exists (select from event where sequence is null)`,
  )
  must(gaps.length === 0, 'I9', () => `the events of store ${gaps[0]?.id} have gaps`)
  const { rows: unreported } = await monitor.query<{ id: bigint }>(
    `select trade.id from trade where (select count(distinct part) from ledger_entry where trade_id = trade.id and cause = 'reversed')
       <> (select count(*) from event where trade_id = trade.id and type = 'deposit.reversed')`,
  )
  must(unreported.length === 0, 'I9', () => `trade ${unreported[0]?.id} was reversed without an event`)
  await checkFrozen(monitor)
}

async function checkFrozen(monitor: pg.ClientBase): Promise<void> {
  const change = async () => {
    await monitor.query('update ledger_entry set amount = amount + 1')
    return true
  }
  const wasChanged = await change().catch(() => false)
  must(!wasChanged, 'I5', () => 'an entry can be changed after it was written')
}
