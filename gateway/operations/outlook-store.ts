import { sql } from 'kysely'
import { hasGateway } from '../bots/store.ts'
import type { Db } from '../db/client.ts'
import type { OutlookDelivery, OutlookFacts, OutlookTrade } from './outlook.ts'

/** Returns undefined if there is no such deposit. */
export async function readOutlookFacts(db: Db, depositId: bigint): Promise<OutlookFacts | undefined> {
  const { rows } = await sql<Omit<OutlookFacts, 'trades' | 'due' | 'givenUp'>>`
    select id as "depositId", status, credit_mode as "creditMode", expires_at as "expiresAt",
      exists (select from outage where kind in ('maintenance', 'offers', 'deposits')) as "isTimeStopped",
      exists (select from outage where kind = 'offers') as "isOfferTimeStopped"
    from deposit where id = ${depositId}`.execute(db)
  const [deposit] = rows
  if (deposit === undefined) return undefined
  const trades = await sql<OutlookTrade>`
    select trade.id as "tradeId", trade.state, bot.id as "botId", bot.name as bot, bot.state as "botState", held_amount as "heldMinor",
      ${hasGateway} as "hasGateway", steam_offer_id as "offerId",
      partner_steam_id as "partnerSteamId", deadline, accepted_at as "acceptedAt", cancelling is not null as "isCancelling",
      settles_at as "settlesAt", look_at as "lookAt", steam_hold_until as "steamHoldUntil", due_at as "dueAt"
    from trade join bot on bot.id = trade.bot_id where deposit_id = ${depositId} order by trade.id`.execute(
    db,
  )
  const { rows: deliveries } = await sql<OutlookDelivery & { isDue: boolean }>`
    select endpoint_id as "endpointId", sequence, due_at as "dueAt", attempts, delivery.state = 'due' as "isDue"
    from event join webhook_delivery delivery on delivery.event_id = event.id
    where event.deposit_id = ${depositId} and delivery.state <> 'delivered' and sequence is not null
    order by sequence, endpoint_id`.execute(db)
  return {
    ...deposit,
    trades: trades.rows,
    due: deliveries.filter(({ isDue }) => isDue),
    givenUp: deliveries.filter(({ isDue }) => !isDue),
  }
}
