/** Stores departures, and books the custody of their items. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { Overtaken } from '../db/transaction.ts'
import { recordCustody } from '../ledger/store.ts'
import type { OfferAsset } from '../steam/steam.ts'
import {
  type CustodyChange,
  type Departure,
  type DepartureEvent,
  type Explanation,
  keyOf,
  laterDepartures,
  type Stage,
} from './departure.ts'
import { currentSaleOf } from './sale-store.ts'

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

export async function knownDepartures(
  db: Db,
  botId: bigint,
  ids: readonly string[],
): Promise<Map<string, Departure>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Row>`
    ${departures} where bot_id = ${botId} and steam_trade_id = any(${[...ids]}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.steamTradeId, departureOf(row)]))
}

export async function lockDeparture(tx: Tx, botId: bigint, steamTradeId: string) {
  const { rows } = await sql<Row>`
    ${departures} where bot_id = ${botId} and steam_trade_id = ${steamTradeId} for update of departure`.execute(
    tx,
  )
  const [row] = rows
  return row && { id: row.id, departure: departureOf(row) }
}

/** Finds the id of another bot of ours, neither removed nor retired, that has this account. */
export async function findOtherBot(tx: Tx, botId: bigint, steamId: string): Promise<bigint | undefined> {
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
  /** The asset id in its shopper's inventory. */
  assetId: string
  /** `in`: the bot has it. `back`: its shopper took it back. `out`: it left the bot. */
  moved: 'in' | 'back' | 'out'
  botId: bigint
  departureId: bigint | null
  /** When the departure with this id began. */
  departedAt: Date | null
  /** The asset id in the bot's inventory, or the last asset id there; null if it is unknown. */
  as: string | null
}

/** The last custody entries of items, by app id and asset id in the bot's inventory. */
export type Custody = ReadonlyMap<string, CustodyItem>

/** The last custody entries of these assets of the bot. Locks their trades, as every change of custody does. */
export async function custodyOf(tx: Tx, botId: bigint, assets: readonly OfferAsset[]): Promise<Custody> {
  const { rows: bookedItems } = await sql<{ key: string; tradeId: bigint; assetId: string }>`
    select given.app_id || '/' || given.asset_id as key, entry.trade_id as "tradeId", entry.asset_id as "assetId"
    from unnest(${assets.map(({ appId }) => appId)}::int[], ${assets.map(({ assetId }) => assetId)}::text[])
      given (app_id, asset_id)
    join lateral ${arrivalsOf({ assetId: sql`given.asset_id`, botId: sql`${botId}::bigint` })} entry on true
    join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id and item.app_id = given.app_id
    order by entry.id`.execute(tx)
  const trades = [...new Set(bookedItems.map(({ tradeId }) => tradeId))]
  if (trades.length === 0) return new Map()
  await tx.selectFrom('trade').select('id').where('id', 'in', trades).orderBy('id').forUpdate().execute()
  const { rows: lastEntries } = await sql<CustodyItem>`
    select distinct on (trade_id, asset_id) trade_id as "tradeId", asset_id as "assetId", moved,
      custody_entry.bot_id as "botId", departure_id as "departureId", begun_at as "departedAt",
      coalesce(received_asset_id, (select received_asset_id from learnt_asset where custody_entry_id = custody_entry.id)) as "as"
    from custody_entry left join departure on departure.id = departure_id
    where trade_id = any(${trades}::bigint[]) order by trade_id, asset_id, custody_entry.id desc`.execute(tx)
  const lastOf = new Map(lastEntries.map((item) => [`${item.tradeId}/${item.assetId}`, item]))
  return new Map(
    bookedItems.flatMap(({ key, tradeId, assetId }): [string, CustodyItem][] => {
      const item = lastOf.get(`${tradeId}/${assetId}`)
      return item === undefined ? [] : [[key, item]]
    }),
  )
}

/**
 * The custody entries by which a bot received an asset with this id, even if the id became known only later.
 */
export function arrivalsOf({ assetId, botId }: Record<'assetId' | 'botId', RawBuilder<unknown>>) {
  return sql`(
    select id, trade_id, asset_id from custody_entry
    where received_asset_id = ${assetId} and bot_id = ${botId} and moved = 'in'
    union all
    select id, trade_id, asset_id from learnt_asset learnt join custody_entry on custody_entry.id = custody_entry_id
    where learnt.received_asset_id = ${assetId} and bot_id = ${botId} and moved = 'in')`
}

/** True if an operator recorded that the item left. */
export function isMovedByHand(custody: Custody, given: readonly OfferAsset[], assetId: string): boolean {
  const asset = given.find((each) => each.assetId === assetId)
  const item = asset && custody.get(keyOf(asset))
  return item?.moved === 'out' && item.departureId === null
}

type Saving = { id: bigint | undefined; botId: bigint; departure: Departure; at: Date }

/** Resolves to the departure's id. */
export async function saveDeparture(tx: Tx, { id: knownId, botId, departure, at }: Saving): Promise<bigint> {
  const { steamTradeId, partnerSteamId, begunAt, stage, explanation, items } = departure
  if (knownId !== undefined) {
    await tx.updateTable('departure').set({ stage }).where('id', '=', knownId).execute()
  }
  const id = knownId ?? (await insert())
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
    // Another process stored the departure a moment ago, so judge again with its row.
    if (row === undefined) throw new Overtaken()
    return row.id
  }
}

type Booking = {
  id: bigint
  botId: bigint
  otherBotId: bigint | undefined
  begunAt: Date
  at: Date
  custody: Custody
}

export async function bookEvent(tx: Tx, booking: Booking, event: DepartureEvent): Promise<void> {
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

/** Writes one custody entry, and updates the item in memory. */
export async function recordMove(
  tx: Tx,
  { id, begunAt, at }: Booking,
  { item, moved, botId, as }: Move,
): Promise<void> {
  const { tradeId, assetId } = item
  const change = { tradeId, botId, at, moved, departureId: id }
  await recordCustody(tx, change, [{ assetId, receivedAssetId: as }])
  Object.assign(item, { moved, botId, departureId: id, departedAt: begunAt, as })
}

/**
 * Books an item out of the bot's custody, and into that of another of our bots if it went there. The history is read
 * newest first, so an item's later departure can be read before its return from the earlier one is known. In that case,
 * nothing is booked here: `bookLate` (returns-store.ts) books the later departure once the return is known.
 */
async function bookOut(
  tx: Tx,
  booking: Booking,
  asset: OfferAsset & { newAssetId: string | null },
): Promise<void> {
  const { id, botId, otherBotId, begunAt, custody } = booking
  const item = custody.get(keyOf(asset))
  if (item === undefined || item.botId !== botId) return
  if (item.moved !== 'in' && !(await wasOnlyMovedByHand(tx, booking, item))) return
  // A later departure of the item is booked already, and the item came back after it.
  if (item.departedAt !== null && item.departedAt > begunAt) return
  // The item had this asset id at another time.
  if (item.as !== null && item.as !== asset.assetId) return
  await tx
    .updateTable('departed_item')
    .set({ is_booked: true })
    .where('departure_id', '=', id)
    .where('app_id', '=', asset.appId)
    .where('asset_id', '=', asset.assetId)
    .execute()
  if (item.moved === 'in') await recordMove(tx, booking, { item, moved: 'out', botId, as: asset.assetId })
  if (otherBotId === undefined) return
  await recordMove(tx, booking, { item, moved: 'in', botId: otherBotId, as: asset.newAssetId })
}

/**
 * True if an operator had recorded that the item left, and then sent it to another of our bots. False if a sale of the
 * item is recorded: such a record cannot be taken back, so the item stays away.
 */
async function wasOnlyMovedByHand(tx: Tx, { otherBotId }: Booking, item: CustodyItem): Promise<boolean> {
  if (otherBotId === undefined || item.moved !== 'out' || item.departureId !== null) return false
  return (await currentSaleOf(tx, item)) === undefined
}

/** Books back an item that this departure took. Also undoes all later departures that took the item further. */
async function bookBack(tx: Tx, booking: Booking, asset: OfferAsset & { as: string }): Promise<void> {
  const { id, botId, custody } = booking
  const item = custody.get(keyOf(asset))
  // `back`: its shopper took it back, so the bot cannot get it back.
  if (item === undefined || item.moved === 'back') return
  const later = laterDepartures(await custodyChangesOf(tx, item), id)
  if (later === undefined) return
  for (const { departure, botId: leftBotId } of later)
    await giveBack(tx, { ...booking, id: departure }, { item, botId: leftBotId, as: null })
  await giveBack(tx, booking, { item, botId, as: asset.as })
}

async function giveBack(tx: Tx, booking: Booking, { item, botId, as }: Omit<Move, 'moved'>): Promise<void> {
  if (item.moved === 'in') await recordMove(tx, booking, { item, moved: 'out', botId: item.botId, as: null })
  await recordMove(tx, booking, { item, moved: 'in', botId, as })
}

/** Every change of custody of the item, in order. The caller must have locked the item's trade. */
async function custodyChangesOf(tx: Tx, { tradeId, assetId }: CustodyItem): Promise<CustodyChange<bigint>[]> {
  return tx
    .selectFrom('custody_entry')
    .select(['moved', 'bot_id as botId', 'departure_id as departure'])
    .where('trade_id', '=', tradeId)
    .where('asset_id', '=', assetId)
    .orderBy('id')
    .execute()
}
