import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import {
  bookEvent,
  custodyOf,
  findOtherBot,
  isMovedByHand,
  knownDepartures,
  lockDeparture,
  saveDeparture,
} from './books-store.ts'
import { type Departure, evolve, keyOf } from './departure.ts'
import { bookLate, bookSentBack, bookUndone, CHECKED_DAYS } from './returns-store.ts'
import type { DepartureStore, NotedDeparture } from './watch.ts'
import { isVaultsGift } from './wish-store.ts'

export function createDepartureStore({ db, clock }: { db: Db; clock: Clock }): DepartureStore {
  return {
    watchedFrom: (botId) => watchedFrom(db, botId),
    findDepartures: (botId, ids) => knownDepartures(db, botId, ids),
    underWay: (botId, places) => underWay(db, botId, places),
    noteDeparture: (botId, steamTrade, judge) =>
      inTransaction(db, async (tx): Promise<NotedDeparture | undefined> => {
        const { tradeId: steamTradeId, partnerSteamId, given } = steamTrade
        const locked = await lockDeparture(tx, botId, steamTradeId)
        const custody = await custodyOf(tx, botId, given)
        const otherBotId = await findOtherBot(tx, botId, partnerSteamId)
        const movedByHand = new Set(
          given.map(({ assetId }) => assetId).filter((assetId) => isMovedByHand(custody, given, assetId)),
        )
        const isGift = await isVaultsGift(tx, partnerSteamId, given.map(keyOf).sort())
        const circumstances = { isOwnBot: otherBotId !== undefined, isVaultsGift: isGift, movedByHand }
        const events = judge(locked?.departure, circumstances)
        if (events.length === 0) return undefined
        const departure = events.reduce<Departure | undefined>(evolve, locked?.departure)
        if (departure === undefined) return undefined
        const id = await saveDeparture(tx, { id: locked?.id, botId, departure, at: clock.now() })
        const booking = { id, botId, otherBotId, begunAt: departure.begunAt, at: clock.now(), custody }
        for (const event of events) await bookEvent(tx, booking, event)
        return { events, departure, items: custody.size }
      }),
    bookSentBack: (botId, sent) =>
      inTransaction(db, (tx) => bookSentBack(tx, { ...sent, botId, at: clock.now() })),
    bookGivenBack: (botId, steamTrade, judge) =>
      inTransaction(db, (tx) => bookUndone(tx, { botId, steamTrade, judge, at: clock.now() })),
    bookLate: (botId) => bookLate(db, clock, botId),
  }
}

async function watchedFrom(db: Db, botId: bigint): Promise<Date | undefined> {
  const { rows } = await sql<{ from: Date }>`
    select watched_from as "from" from bot
    where id = ${botId} and exists (select from custody_entry where bot_id = bot.id)`.execute(db)
  return rows[0]?.from
}

async function underWay(
  db: Db,
  botId: bigint,
  { limit, after }: { limit: number; after: string },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select steam_trade_id as id from departure
    where bot_id = ${botId} and stage = 'under_way' and seen_at > till_now() - make_interval(days => ${CHECKED_DAYS})
    order by steam_trade_id collate "C" <= ${after}, steam_trade_id collate "C" limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}
