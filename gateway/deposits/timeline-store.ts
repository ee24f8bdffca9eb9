/** The history of one deposit, in chronological order, for the operator. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { NOBODY } from '../../contract/steam-id.ts'
import type { Db } from '../db/client.ts'

export type Moment = {
  at: Date
  what: string
  /** The value of the trade, or the money that moves; null for any other moment. */
  amountMinor: bigint | null
  currency: Currency | null
}

/** Returns undefined if there is no such deposit. The texts contain neither a trade token nor a full hash. */
export async function timelineOf(db: Db, depositId: bigint): Promise<Moment[] | undefined> {
  // At equal times, causes come before their effects: by rank, then in the order of writing.
  const { rows } = await sql<Moment>`
    with visit as (select * from deposit where id = ${depositId}),
    trades as (select trade.* from trade join visit on visit.id = trade.deposit_id),
    moments (at, rank, nth, what, amount, currency) as (
      select created_at, 0, 0, 'opened by store ' || store_id || ' as ' || external_id || ', ' || currency
        || ', link ' || left(hash, 6) || '…', null::bigint, null from visit
      union all select created_at, 1, id, 'trade ' || id || ': ' || game
        || ', bot ' || bot_id
        || ', shopper ' || case partner_steam_id when ${NOBODY} then 'erased' else partner_steam_id end
        || ', code ' || secret_code, total, currency
        from trades
      union all select send_started_at, 2, id, 'trade ' || id || coalesce(
        ': sent to Steam, offer ' || steam_offer_id, ': a send to Steam began, and no offer is known'), null, null
        from trades where send_started_at is not null
      union all select accepted_at, 3, id, 'trade ' || id || ': accepted on Steam, Steam trade '
        || coalesce(steam_trade_id, 'not known'), null, null from trades where accepted_at is not null
      union all select delivered_at, 4, id, 'trade ' || id || case when credited_by_operator
          then ': credited by an operator' else ': proof that the bot has the items' end || ', Steam trade '
        || steam_trade_id, null, null from trades where delivered_at is not null
      union all select entry.created_at, 5, entry.id, 'ledger: ' || debit.kind || ' → ' || credit.kind
        || ', ' || entry.cause, entry.amount, entry.currency
        from trades join ledger_entry entry on entry.trade_id = trades.id
        join account debit on debit.id = entry.debit_account
        join account credit on credit.id = entry.credit_account
      union all select ended_at, 6, id, 'trade ' || id || ': ' || state || coalesce(', ' || reason, ''), null, null
        from trades where ended_at is not null
      union all select cancelled_at, 7, 0, 'cancelled by the store', null, null from visit where cancelled_at is not null
      union all select created_at, 8, inserted, 'event ' || coalesce(sequence::text, 'without a sequence') || ': '
        || type, null, null from event where deposit_id = ${depositId}
      union all select attempt.at, 9, attempt.id, 'webhook of event ' || event.sequence || ' to endpoint '
        || attempt.endpoint_id || ', attempt ' || attempt.attempt || ': '
        || coalesce('status ' || attempt.status, attempt.failure), null, null
        from event join webhook_delivery delivery on delivery.event_id = event.id
        join webhook_attempt attempt on attempt.delivery_id = delivery.id
        where event.deposit_id = ${depositId}
      union all select settles_at, 10, id, 'trade ' || id || ': Steam’s protection ends'
        || case when held_amount > 0 then ', held credit' else '' end, nullif(held_amount, 0),
        case when held_amount > 0 then currency end
        from trades where settles_at is not null and delivered_at is not null and state <> 'reversed'
      union all select protection_found_at, 11, id, 'trade ' || id
        || ': Steam protects it after all, and its credit is at risk', null, null
        from trades where protection_found_at is not null
    )
    select at, what, amount as "amountMinor", currency from moments order by at, rank, nth`.execute(db)
  return rows.length === 0 ? undefined : rows
}
