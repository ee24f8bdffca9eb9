/** Trades whose items have arrived but are not credited yet. */
import { sql } from 'kysely'
import { z } from 'zod'
import { systemIds } from '../kit/ids.ts'
import type { SteamTrade } from '../steam/steam.ts'
import { aDeposit, type Till } from './till.ts'

export type Delivery = {
  tradeId: bigint
  depositId: bigint
  storeId: bigint
  offerId: string
  total: bigint
  /** Steam's record of the trade. */
  steamTrade: SteamTrade
}

type DeliveryOptions = { botId: bigint; store: { id: bigint }; prices?: bigint[]; game?: 'cs' | 'dota' }

/** Steam's ids are the till's trade id or the shopper's asset id, each with a different digit in front. */
const offerIdOf = (tradeId: bigint): string => `5${tradeId}`
const steamTradeIdOfTrade = (tradeId: bigint): string => `9${tradeId}`
const newAssetIdOf = (assetId: string): string => `7${assetId}`

/** Creates a trade whose offer was accepted and whose items the bot has, but which is not credited yet. */
export async function uncreditedDelivery(
  till: Till,
  { botId, store, prices = [1_000n, 2_000n], game = 'cs' }: DeliveryOptions,
): Promise<Delivery> {
  const deposit = await aDeposit(till, store, { game, prices })
  await till.db.updateTable('deposit').set({ status: 'pending' }).where('id', '=', deposit.id).execute()
  const { rows } = await sql`
    insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, state,
      currency, total, gross_total, lease_epoch, send_started_at, deadline, accepted_at, created_at, due_at)
    select ${deposit.id}, ${botId}, ${deposit.quoteId}, ${game}, ${systemIds.secretCode()}, user_steam_id,
      'active', 'USD', (select sum(price) from quote_item where quote_id = ${deposit.quoteId}),
      (select sum(gross) from quote_item where quote_id = ${deposit.quoteId}), 1, now(), now(), now(), now(), now()
    from deposit where id = ${deposit.id}
    returning id, total, partner_steam_id as partner`.execute(till.db)
  const { id, total, partner } = z
    .object({ id: z.bigint(), total: z.bigint(), partner: z.string() })
    .parse(rows[0])
  await sql`
    update trade set steam_offer_id = ${offerIdOf(id)}, steam_trade_id = ${steamTradeIdOfTrade(id)} where id = ${id}`.execute(
    till.db,
  )
  const items = await sql<{ appId: number; contextId: string; assetId: string }>`
    insert into trade_item (trade_id, asset_id, app_id, context_id, name, market_hash_name, price, gross)
    select ${id}, asset_id, app_id, context_id, name, market_hash_name, price, gross
    from quote_item where quote_id = ${deposit.quoteId}
    returning app_id as "appId", context_id as "contextId", asset_id as "assetId"`.execute(till.db)
  const received = items.rows.map((item) => ({
    ...item,
    newAssetId: newAssetIdOf(item.assetId),
    rolledBackAssetId: null,
  }))
  const steamTrade: SteamTrade = {
    tradeId: steamTradeIdOfTrade(id),
    partnerSteamId: partner,
    state: 'complete',
    begunAt: till.clock.now(),
    received,
    given: [],
    settlesAt: null,
    rollbackOf: null,
  }
  return { tradeId: id, depositId: deposit.id, storeId: store.id, offerId: offerIdOf(id), total, steamTrade }
}
