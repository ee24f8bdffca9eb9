/** Departures in PostgreSQL, and the custody of what left. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction, Overtaken } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import { recordCustody } from '../ledger/store.ts'
import type { MovedAsset, OfferAsset } from '../steam/steam.ts'
import {
  type Departure,
  type DepartureEvent,
  type Explanation,
  evolve,
  keyOf,
  type Stage,
} from './departure.ts'
import type { DepartureStore, Noted } from './watch.ts'
import { isVaultsGift } from './wish-store.ts'

/** After so long nobody asks any more what became of a departure. */
const MOST_DAYS = 30

export function createDepartureStore({ db, clock }: { db: Db; clock: Clock }): DepartureStore {
  return {
    watchedFrom: (botId) => watchedFrom(db, botId),
    known: (botId, ids) => knownDepartures(db, botId, ids),
    underWay: (botId, limit) => underWay(db, botId, limit),
    note: (botId, exchange, judge) =>
      inTransaction(db, async (tx): Promise<Noted | undefined> => {
        const { tradeId: steamTradeId, partnerSteamId, given } = exchange
        const locked = await lockDeparture(tx, botId, steamTradeId)
        const custody = await custodyOf(tx, botId, given)
        const otherBotId = await ownBot(tx, botId, partnerSteamId)
        const movedByHand = new Set(
          given.map(({ assetId }) => assetId).filter((assetId) => isMovedByHand(custody, given, assetId)),
        )
        const isGift = await isVaultsGift(tx, partnerSteamId, given.map(keyOf).sort())
        const around = { isOwnBot: otherBotId !== undefined, isVaultsGift: isGift, movedByHand }
        const events = judge(locked?.departure, around)
        if (events.length === 0) return undefined
        const departure = events.reduce<Departure | undefined>(evolve, locked?.departure)
        if (departure === undefined) return undefined
        const id = await save(tx, { id: locked?.id, botId, departure, at: clock.now() })
        const { begunAt, items } = departure
        const booking = { id, botId, otherBotId, begunAt, items, at: clock.now(), custody }
        for (const event of events) await book(tx, booking, event)
        return { events, departure, items: custody.size }
      }),
    bringBack: (botId, sent) => inTransaction(db, (tx) => bringBack(tx, { ...sent, botId, at: clock.now() })),
    bookLate: (botId) => bookLate(db, clock, botId),
  }
}

async function watchedFrom(db: Db, botId: bigint): Promise<Date | undefined> {
  const { rows } = await sql<{ from: Date }>`
    select watched_from as "from" from bot
    where id = ${botId} and exists (select from custody_entry where bot_id = bot.id)`.execute(db)
  return rows[0]?.from
}

type Row = {
  id: bigint
  steamTradeId: string
  partnerSteamId: string
  begunAt: Date
  stage: Stage
  explanation: Explanation['kind'] | null
  destination: string | null
  items: Departure['items']
}

const departureOf = ({ id: _, explanation, destination, ...row }: Row): Departure => ({
  ...row,
  explanation: explanationOf(explanation, destination),
})

function explanationOf(kind: Explanation['kind'] | null, destination: string | null): Explanation | null {
  if (kind === null) return null
  return kind === 'destination' ? { kind, name: destination ?? '' } : { kind }
}

const departures = sql`
  select id, steam_trade_id as "steamTradeId", partner_steam_id as "partnerSteamId", begun_at as "begunAt", stage,
    explanation, destination, (select json_agg(json_build_object('appId', app_id, 'contextId', context_id,
      'assetId', asset_id, 'newAssetId', new_asset_id, 'isBack', is_back) order by app_id, asset_id)
      from departed_item where departure_id = departure.id) as items
  from departure`

async function knownDepartures(
  db: Db,
  botId: bigint,
  ids: readonly string[],
): Promise<Map<string, Departure>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Row>`
    ${departures} where bot_id = ${botId} and steam_trade_id = any(${[...ids]}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.steamTradeId, departureOf(row)]))
}

async function underWay(db: Db, botId: bigint, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select steam_trade_id as id from departure
    where bot_id = ${botId} and stage = 'under_way' and seen_at > till_now() - make_interval(days => ${MOST_DAYS})
    order by departure.id limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

async function lockDeparture(tx: Tx, botId: bigint, steamTradeId: string) {
  const { rows } = await sql<Row>`
    ${departures} where bot_id = ${botId} and steam_trade_id = ${steamTradeId} for update of departure`.execute(
    tx,
  )
  const [row] = rows
  return row && { id: row.id, departure: departureOf(row) }
}

/** The bot of ours that has this account, and is another one. */
async function ownBot(tx: Tx, botId: bigint, steamId: string): Promise<bigint | undefined> {
  const row = await tx
    .selectFrom('bot')
    .select('id')
    .where('steam_id', '=', steamId)
    .where('id', '<>', botId)
    .where('state', 'not in', ['removed', 'retired'])
    .executeTakeFirst()
  return row?.id
}

type CustodyItem = {
  tradeId: bigint
  /** As its shopper had it. */
  assetId: string
  moved: 'in' | 'back' | 'out'
  botId: bigint
  departureId: bigint | null
  /** When that departure began. */
  departedAt: Date | null
  /** What the bot calls it, or called it last. */
  as: string | null
}

/** The items in the till's books, by what they are called in the bot's inventory. */
type Custody = ReadonlyMap<string, CustodyItem>

/** What the books say last of these assets of the bot. Locks their trades, which every change of custody does. */
async function custodyOf(tx: Tx, botId: bigint, assets: readonly OfferAsset[]): Promise<Custody> {
  const { rows: named } = await sql<{ key: string; tradeId: bigint; assetId: string }>`
    select given.app_id || '/' || given.asset_id as key, entry.trade_id as "tradeId", entry.asset_id as "assetId"
    from unnest(${assets.map(({ appId }) => appId)}::int[], ${assets.map(({ assetId }) => assetId)}::text[])
      given (app_id, asset_id)
    join lateral ${arrivalsOf({ assetId: sql`given.asset_id`, botId: sql`${botId}::bigint` })} entry on true
    join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id and item.app_id = given.app_id
    order by entry.id`.execute(tx)
  const trades = [...new Set(named.map(({ tradeId }) => tradeId))]
  if (trades.length === 0) return new Map()
  await tx.selectFrom('trade').select('id').where('id', 'in', trades).orderBy('id').forUpdate().execute()
  const { rows: last } = await sql<CustodyItem>`
    select distinct on (trade_id, asset_id) trade_id as "tradeId", asset_id as "assetId", moved,
      custody_entry.bot_id as "botId", departure_id as "departureId", begun_at as "departedAt",
      coalesce(received_asset_id, (select received_asset_id from learnt_asset where custody_entry_id = custody_entry.id)) as "as"
    from custody_entry left join departure on departure.id = departure_id
    where trade_id = any(${trades}::bigint[]) order by trade_id, asset_id, custody_entry.id desc`.execute(tx)
  const lastOf = new Map(last.map((item) => [`${item.tradeId}/${item.assetId}`, item]))
  return new Map(
    named.flatMap(({ key, tradeId, assetId }): [string, CustodyItem][] => {
      const item = lastOf.get(`${tradeId}/${assetId}`)
      return item === undefined ? [] : [[key, item]]
    }),
  )
}

/** The entries by which a bot got an asset that it calls so, as Steam told it then or as it was found later. */
function arrivalsOf({ assetId, botId }: Record<'assetId' | 'botId', RawBuilder<unknown>>) {
  return sql`(
    select id, trade_id, asset_id from custody_entry
    where received_asset_id = ${assetId} and bot_id = ${botId} and moved = 'in'
    union all
    select id, trade_id, asset_id from learnt_asset learnt join custody_entry on custody_entry.id = custody_entry_id
    where learnt.received_asset_id = ${assetId} and bot_id = ${botId} and moved = 'in')`
}

function isMovedByHand(custody: Custody, given: readonly OfferAsset[], assetId: string): boolean {
  const asset = given.find((each) => each.assetId === assetId)
  const item = asset && custody.get(keyOf(asset))
  return item?.moved === 'out' && item.departureId === null
}

type Saving = { id: bigint | undefined; botId: bigint; departure: Departure; at: Date }

async function save(tx: Tx, { id: known, botId, departure, at }: Saving): Promise<bigint> {
  const { steamTradeId, partnerSteamId, begunAt, stage, explanation, items } = departure
  if (known !== undefined) {
    await tx.updateTable('departure').set({ stage }).where('id', '=', known).execute()
  }
  const id = known ?? (await insert())
  await sql`
    insert into departed_item as item (departure_id, app_id, context_id, asset_id, new_asset_id, is_back)
    select ${id}::bigint, * from unnest(${items.map(({ appId }) => appId)}::int[],
      ${items.map(({ contextId }) => contextId)}::text[], ${items.map(({ assetId }) => assetId)}::text[],
      ${items.map(({ newAssetId }) => newAssetId)}::text[], ${items.map(({ isBack }) => isBack)}::boolean[])
    on conflict (departure_id, app_id, asset_id)
      do update set new_asset_id = excluded.new_asset_id, is_back = excluded.is_back`.execute(tx)
  return id

  async function insert(): Promise<bigint> {
    const row = await tx
      .insertInto('departure')
      .values({
        bot_id: botId,
        steam_trade_id: steamTradeId,
        partner_steam_id: partnerSteamId,
        begun_at: begunAt,
        stage,
        explanation: explanation?.kind ?? null,
        destination: explanation?.kind === 'destination' ? explanation.name : null,
        seen_at: at,
      })
      .onConflict((conflict) => conflict.columns(['bot_id', 'steam_trade_id']).doNothing())
      .returning('id')
      .executeTakeFirst()
    // Another process noted it a moment ago: judge again, by what it wrote.
    if (row === undefined) throw new Overtaken()
    return row.id
  }
}

/** `begunAt`: of the departure. */
type Booking = {
  id: bigint
  botId: bigint
  otherBotId: bigint | undefined
  begunAt: Date
  items: Departure['items']
  at: Date
  custody: Custody
}

async function book(tx: Tx, booking: Booking, event: DepartureEvent): Promise<void> {
  switch (event.kind) {
    case 'seen':
    case 'called_off':
      return
    case 'left':
      for (const asset of event.items) await bookOut(tx, booking, asset)
      return
    case 'returned':
      for (const asset of event.items) await bookBack(tx, booking, asset)
      return
    default:
      event satisfies never
  }
}

type Move = { item: CustodyItem; moved: 'in' | 'out'; botId: bigint; as: string | null }

async function move(tx: Tx, { id, begunAt, at }: Booking, { item, moved, botId, as }: Move): Promise<void> {
  const { tradeId, assetId } = item
  const of = { tradeId, botId, at, moved, departureId: id }
  await recordCustody(tx, of, [{ assetId, receivedAssetId: as }])
  Object.assign(item, { moved, botId, departureId: id, departedAt: begunAt, as })
}

/**
 * Out of the bot's hands, and into those of another bot of ours if it went there. The history is read newest first, so what
 * left, came back and left again may be out by the earlier departure yet: `bookLate` books the later one then.
 */
async function bookOut(
  tx: Tx,
  booking: Booking,
  asset: OfferAsset & { newAssetId: string | null },
): Promise<void> {
  const { id, botId, otherBotId, begunAt, custody } = booking
  const item = custody.get(keyOf(asset))
  if (item?.moved !== 'in' || item.botId !== botId) return
  // It left by this one before it came back from the other.
  if (item.departedAt !== null && item.departedAt > begunAt) return
  await tx
    .updateTable('departed_item')
    .set({ is_booked: true })
    .where('departure_id', '=', id)
    .where('app_id', '=', asset.appId)
    .where('asset_id', '=', asset.assetId)
    .execute()
  await move(tx, booking, { item, moved: 'out', botId, as: asset.assetId })
  if (otherBotId === undefined) return
  await move(tx, booking, { item, moved: 'in', botId: otherBotId, as: asset.newAssetId })
}

/** Only what this departure took, and what came to the other bot by it. */
async function bookBack(tx: Tx, booking: Booking, asset: OfferAsset & { as: string }): Promise<void> {
  const { id, botId, custody } = booking
  const item = custody.get(keyOf(asset))
  if (item === undefined || item.moved === 'back') return
  if (item.departureId !== id && !isWhereItWent(item, booking, asset)) return
  if (item.moved === 'in' && item.botId === botId) return
  if (item.moved === 'in') await move(tx, booking, { item, moved: 'out', botId: item.botId, as: null })
  await move(tx, booking, { item, moved: 'in', botId, as: asset.as })
}

/** The other bot gave it away in its turn, and had it back, before it gave it back here. */
function isWhereItWent(item: CustodyItem, { otherBotId, items }: Booking, asset: OfferAsset): boolean {
  const as = items.find((each) => keyOf(each) === keyOf(asset))?.newAssetId ?? null
  return item.moved === 'in' && item.botId === otherBotId && item.as === as && as !== null
}

type Receiving = { botId: bigint; steamTradeId: string; received: readonly MovedAsset[]; at: Date }

/** `toBotId`: the bot that it was sent to. */
type Left = {
  fromBotId: bigint
  toBotId: bigint
  steamTradeId: string
  appId: number
  contextId: string
  assetId: string
  as: string
}

/** The history of the bot that got them may be read before that of the bot that gave them: what was sent is kept. */
async function bringBack(tx: Tx, { botId, steamTradeId: by, received, at }: Receiving): Promise<number> {
  await sql`
    insert into sent_back_item (bot_id, steam_trade_id, app_id, asset_id, received_asset_id, seen_at)
    select ${botId}::bigint, ${by}, app_id, asset_id, received_as, ${at}::timestamptz
    from unnest(${received.map(({ appId }) => appId)}::int[], ${received.map(({ assetId }) => assetId)}::text[],
      ${received.map(({ newAssetId }) => newAssetId)}::text[]) received (app_id, asset_id, received_as)
    where not exists (select from trade where steam_trade_id = ${by})
    on conflict do nothing`.execute(tx)
  return bookReturns(tx, { ofThem: sql`sent.steam_trade_id = ${by} and sent.bot_id = ${botId}`, at })
}

/** Books items that left and were sent to a bot again. */
async function bookReturns(
  tx: Tx,
  { ofThem, at }: { ofThem: RawBuilder<unknown>; at: Date },
): Promise<number> {
  const { rows } = await sql<Left>`
    select departure.bot_id as "fromBotId", sent.bot_id as "toBotId", departure.steam_trade_id as "steamTradeId",
      item.app_id as "appId", item.context_id as "contextId", item.asset_id as "assetId", sent.received_asset_id as "as"
    from sent_back_item sent
    join departed_item item on item.new_asset_id = sent.asset_id and item.app_id = sent.app_id and not is_back
    join departure on departure.id = item.departure_id and stage = 'gone'
    where ${ofThem}
    order by departure.id, item.asset_id`.execute(tx)
  let items = 0
  for (const { fromBotId, toBotId: botId, steamTradeId, ...asset } of rows) {
    const locked = await lockDeparture(tx, fromBotId, steamTradeId)
    if (locked === undefined) continue
    const { id } = locked
    const departure = evolve(locked.departure, { kind: 'returned', items: [asset] })
    const custody = await custodyOf(tx, fromBotId, [asset])
    const item = custody.get(keyOf(asset))
    // It is not known yet how it came, or that it left.
    if (item?.moved !== 'out' || item.departureId !== id) continue
    await save(tx, { id, botId: fromBotId, departure, at })
    const { begunAt, items: all } = departure
    const booking = { id, botId, otherBotId: undefined, begunAt, items: all, at, custody }
    await move(tx, booking, { item, moved: 'in', botId, as: asset.as })
    items += 1
  }
  return items
}

/** A delivery that became known after its items had left again, and items that were sent back before that was known. */
async function bookLate(db: Db, clock: Clock, botId: bigint): Promise<void> {
  const { rows } = await sql<{ steamTradeId: string; partnerSteamId: string }>`
    select distinct steam_trade_id as "steamTradeId", partner_steam_id as "partnerSteamId", begun_at
    from departure join departed_item item on item.departure_id = departure.id
    join lateral ${arrivalsOf({ assetId: sql`item.asset_id`, botId: sql`departure.bot_id` })} entry on true
    where departure.bot_id = ${botId} and stage in ('gone', 'returned') and not is_booked and not is_back
      and seen_at > till_now() - make_interval(days => ${MOST_DAYS})
    order by begun_at`.execute(db)
  for (const { steamTradeId, partnerSteamId } of rows) {
    await inTransaction(db, async (tx) => {
      const locked = await lockDeparture(tx, botId, steamTradeId)
      const items = locked?.departure.items.filter(({ isBack }) => !isBack) ?? []
      if (locked === undefined) return
      const custody = await custodyOf(tx, botId, items)
      const otherBotId = await ownBot(tx, botId, partnerSteamId)
      const { begunAt } = locked.departure
      const booking = { id: locked.id, botId, otherBotId, begunAt, items, at: clock.now(), custody }
      await book(tx, booking, {
        kind: 'left',
        items: items.map((item) => ({ ...item, rolledBackAssetId: null })),
      })
    })
  }
  const ofThem = sql`departure.bot_id = ${botId} and sent.seen_at > till_now() - make_interval(days => ${MOST_DAYS})`
  await inTransaction(db, (tx) => bookReturns(tx, { ofThem, at: clock.now() }))
}
