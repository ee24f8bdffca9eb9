/** Counts problems that need a person. Tables that grow with time are read through an index. */
import { sql } from 'kysely'
import { NEAR_LIMIT } from '../../contract/limits.ts'
import { hasGateway } from '../bots/store.ts'
import { TOKEN_SOON_MS } from '../bots/token-end.ts'
import type { Db } from '../db/client.ts'
import { missingItems } from '../drift/list-store.ts'

export type Needs = {
  /** 1 from a restore until the next epoch begins: the till opens no deposit and sends no offer. Otherwise 0. */
  restoreUnfinished: number
  /**
   * Trades whose next step has been due for more than a minute. Also trades about which Steam is still asked a day
   * after their send began or, once `held`, a day after they should have been settled.
   */
  tradesOverdue: number
  /** Bots whose token Steam refuses. */
  botsDead: number
  /**
   * Active bots that cannot be reached: no process holds them, or theirs has no session. `tradetill_bots_unheld`
   * counts differently: bots that no process holds, paused ones too, unless their next login is put off.
   */
  botsUnheld: number
  /** Active bots whose bar ends more than half an hour from now. Bars for the reason `doubted` do not count. */
  botsBarred: number
  /** Active and paused bots whose token expires within 30 days. */
  tokensEndSoon: number
  /** Endpoints that answered that they no longer exist (410). */
  endpointsLost: number
  /** Endpoints with a webhook that has failed at least `FAILED_TIMES` times and will be retried. */
  endpointsFailing: number
  /** Webhooks due for more than five minutes, at endpoints without any attempt, even a failed one, in those minutes. */
  webhooksLate: number
  /** Unexplained departures whose items are leaving or gone. Those called off or returned do not count. */
  departuresUnexplained: number
  /** Items that the books say a bot has, and that are certainly missing on Steam. Removed bots do not count. */
  itemsMissing: number
  /** Problems at the vault that need a person, as the vault last reported them. */
  vaultNeeds: number
  /** Stores whose credit at risk is at least nine tenths of their limit, so further credit will soon be held. */
  storesAtLimit: number
  /** Accounts that took items back in the last 24 hours, until an operator trusts them again. */
  shoppersTookBack: number
  proposalsOpen: number
  /** Feeds of prices or exchange rates whose latest request failed. One source has a feed for each game. */
  feedsFailing: number
  /** Differences that the last complete check of the ledger found, and those in newer entries. */
  ledgerDifferences: number
}

/** After this many failures, the next attempt is hours away. */
const FAILED_TIMES = 5

/** How long Steam is asked in vain before a person is told. */
export const IN_VAIN_MS = 86_400_000
/**
 * The longest pause between two requests to Steam about a trade, plus a minute. So a trade about which Steam is still
 * asked is due within this time, and the index on `due_at` finds it.
 */
export const ASK_AGAIN_MS = 3_660_000

export async function readNeeds(db: Db): Promise<Needs> {
  const seconds = (ms: number) => sql`make_interval(secs => ${sql.lit(ms / 1_000)})`
  const { rows } = await sql<Needs>`
    select
      (not life_is_current())::int as "restoreUnfinished",
      (select count(*) from trade where due_at < (select till_now()) + ${seconds(ASK_AGAIN_MS)} and (
        due_at < (select till_now()) - interval '1 minute'
        or (state in ('sending', 'unknown', 'active') and send_started_at < (select till_now()) - ${seconds(IN_VAIN_MS)})
        or (state = 'held' and settles_at < (select till_now()) - ${seconds(IN_VAIN_MS)})))::int as "tradesOverdue",
      (select count(*) from bot where state = 'dead')::int as "botsDead",
      (select count(*) from bot where state = 'active' and not (online and ${hasGateway}))::int as "botsUnheld",
      (select count(*) from bot where state in ('active', 'paused')
        and token_expires_at < (select till_now()) + ${seconds(TOKEN_SOON_MS)})::int as "tokensEndSoon",
      (select count(*) from webhook_endpoint where state = 'disabled' and disabled_reason = 'gone'
        and removed_at is null)::int as "endpointsLost",
      (select count(*) from webhook_endpoint endpoint where state = 'enabled' and removed_at is null and exists (
        select from webhook_delivery where endpoint_id = endpoint.id and state = 'due' and claim > 0
          and attempts >= ${FAILED_TIMES}))::int as "endpointsFailing",
      (select count(*) from webhook_delivery delivery where state = 'due'
        and due_at < (select till_now()) - interval '5 minutes'
        and endpoint_id not in (select endpoint_id from webhook_attempt
          where at > (select till_now()) - interval '5 minutes'))::int as "webhooksLate",
      (select count(*) from departure where explanation is null
        and stage in ('under_way', 'gone'))::int as "departuresUnexplained",
      ${missingItems} as "itemsMissing",
      (select count(*) from vault_need)::int as "vaultNeeds",
      (select count(distinct bot_id) from bot_bar join bot on bot.id = bot_id
        where until > (select till_now()) + interval '30 minutes' and reason <> 'doubted'
          and bot.state = 'active')::int as "botsBarred",
      (select count(*) from store join credit_at_risk on store_id = store.id where disabled_at is null
        and risk_limit_usd_cents > 0 and usd_cents >= ${sql.lit(NEAR_LIMIT)} * risk_limit_usd_cents)::int as "storesAtLimit",
      (select count(*) from careful_shopper
        where last_at > (select till_now()) - interval '24 hours')::int as "shoppersTookBack",
      (select count(*) from proposal where state = 'open')::int as "proposalsOpen",
      (select count(*) from price_feed where failures > 0 and removed_at is null)::int as "feedsFailing",
      coalesce((select differences from ledger_check), 0)::int as "ledgerDifferences"`.execute(db)
  const [needs] = rows
  if (needs === undefined) throw new Error('the database returned no row')
  return needs
}
