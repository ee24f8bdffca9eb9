/** Books items that left a bot and came back to one of our bots, even if the facts arrive late. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { MovedAsset, SteamTrade } from '../steam/steam.ts'
import {
  arrivalsOf,
  bookEvent,
  custodyOf,
  findOtherBot,
  lockDeparture,
  recordMove,
  saveDeparture,
} from './books-store.ts'
import { evolve, keyOf } from './departure.ts'
import type { JudgeUndoing } from './watch.ts'

/** How many days after a departure was first seen the till still checks it, and books the return of its items. */
export const CHECKED_DAYS = 30

type ReceivedItems = { botId: bigint; steamTradeId: string; received: readonly MovedAsset[]; at: Date }

/** `as`: the item's asset id at `toBotId`. */
type DepartedAsset = {
  fromBotId: bigint
  toBotId: bigint
  steamTradeId: string
  appId: number
  contextId: string
  assetId: string
  as: string
}

/**
 * Books items that were sent to this bot. Also stores them, because the history of the receiving bot may be read
 * before that of the giving bot. Resolves to the number of booked items.
 */
export async function bookSentBack(
  tx: Tx,
  { botId, steamTradeId: sendingTradeId, received, at }: ReceivedItems,
): Promise<number> {
  await sql`
    insert into sent_back_item (bot_id, steam_trade_id, app_id, asset_id, received_asset_id, seen_at)
    select ${botId}::bigint, ${sendingTradeId}, app_id, asset_id, received_as, ${at}::timestamptz
    from unnest(${received.map(({ appId }) => appId)}::int[], ${received.map(({ assetId }) => assetId)}::text[],
      ${received.map(({ newAssetId }) => newAssetId)}::text[]) received (app_id, asset_id, received_as)
    where not exists (select from trade where steam_trade_id = ${sendingTradeId})
    on conflict do nothing`.execute(tx)
  return bookReturns(tx, {
    condition: sql`sent.steam_trade_id = ${sendingTradeId} and sent.bot_id = ${botId}`,
    at,
  })
}

/** Books items that had left and were sent to a bot again. Resolves to their number. */
async function bookReturns(
  tx: Tx,
  { condition, at }: { condition: RawBuilder<unknown>; at: Date },
): Promise<number> {
  const { rows } = await sql<DepartedAsset>`
    select departure.bot_id as "fromBotId", sent.bot_id as "toBotId", departure.steam_trade_id as "steamTradeId",
      item.app_id as "appId", item.context_id as "contextId", item.asset_id as "assetId", sent.received_asset_id as "as"
    from sent_back_item sent
    join departed_item item on item.new_asset_id = sent.asset_id and item.app_id = sent.app_id and not is_back
    join departure on departure.id = item.departure_id and stage = 'gone'
    where ${condition}
    order by departure.id, item.asset_id`.execute(tx)
  let items = 0
  for (const { fromBotId, toBotId: botId, steamTradeId, ...asset } of rows) {
    const locked = await lockDeparture(tx, fromBotId, steamTradeId)
    if (locked === undefined) continue
    const { id } = locked
    const departure = evolve(locked.departure, { kind: 'returned', items: [asset] })
    const custody = await custodyOf(tx, fromBotId, [asset])
    const item = custody.get(keyOf(asset))
    // Custody does not show yet that the item left in this departure. `bookLate` tries again.
    if (item?.moved !== 'out' || item.departureId !== id) continue
    await saveDeparture(tx, { id, botId: fromBotId, departure, at })
    const booking = { id, botId, otherBotId: undefined, begunAt: departure.begunAt, at, custody }
    await recordMove(tx, booking, { item, moved: 'in', botId, as: asset.as })
    items += 1
  }
  return items
}

/**
 * Books items whose delivery was found only after they had left again, and items that were sent back before their
 * departure was known.
 */
export async function bookLate(db: Db, clock: Clock, botId: bigint): Promise<void> {
  const { rows } = await sql<{ steamTradeId: string; partnerSteamId: string }>`
    select distinct steam_trade_id as "steamTradeId", partner_steam_id as "partnerSteamId", begun_at
    from departure join departed_item item on item.departure_id = departure.id
    join lateral ${arrivalsOf({ assetId: sql`item.asset_id`, botId: sql`departure.bot_id` })} entry on true
    where departure.bot_id = ${botId} and stage in ('gone', 'returned') and not is_booked and not is_back
      and seen_at > till_now() - make_interval(days => ${CHECKED_DAYS})
    order by begun_at`.execute(db)
  for (const { steamTradeId, partnerSteamId } of rows) {
    await inTransaction(db, async (tx) => {
      const locked = await lockDeparture(tx, botId, steamTradeId)
      const items = locked?.departure.items.filter(({ isBack }) => !isBack) ?? []
      if (locked === undefined) return
      const custody = await custodyOf(tx, botId, items)
      const otherBotId = await findOtherBot(tx, botId, partnerSteamId)
      const { begunAt } = locked.departure
      const booking = { id: locked.id, botId, otherBotId, begunAt, at: clock.now(), custody }
      await bookEvent(tx, booking, {
        kind: 'left',
        items: items.map((item) => ({ ...item, rolledBackAssetId: null })),
      })
    })
  }
  const condition = sql`departure.bot_id = ${botId} and sent.seen_at > till_now() - make_interval(days => ${CHECKED_DAYS})`
  await inTransaction(db, (tx) => bookReturns(tx, { condition, at: clock.now() }))
}

type UndoneTrade = { botId: bigint; steamTrade: SteamTrade; judge: JudgeUndoing; at: Date }

/**
 * Books the items that this bot gave back to another of our bots, from a row of this bot's own history. Resolves to
 * their number.
 */
export async function bookUndone(tx: Tx, { botId, steamTrade, judge, at }: UndoneTrade): Promise<number> {
  const { rows } = await sql<{ fromBotId: bigint }>`
    select bot_id as "fromBotId" from departure
    where steam_trade_id = ${steamTrade.rollbackOf} and bot_id <> ${botId}
      and partner_steam_id = (select steam_id from bot where id = ${botId})
    order by id`.execute(tx)
  let items = 0
  for (const { fromBotId } of rows) {
    const locked = await lockDeparture(tx, fromBotId, steamTrade.rollbackOf ?? '')
    if (locked === undefined) continue
    const { id } = locked
    for (const event of judge(locked.departure)) {
      const departure = evolve(locked.departure, event)
      await saveDeparture(tx, { id, botId: fromBotId, departure, at })
      const custody = await custodyOf(tx, fromBotId, departure.items)
      const { begunAt } = departure
      await bookEvent(tx, { id, botId: fromBotId, otherBotId: botId, begunAt, at, custody }, event)
      if (event.kind === 'returned') items += event.items.length
    }
  }
  return items
}
