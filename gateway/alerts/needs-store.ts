/** Counts problems that need a person. Each query uses an index. */
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'

/** Counts of problems that need a person. */
export type Needs = {
  tradesOverdue: number
  botsDead: number
  botsUnheld: number
  tokensEndSoon: number
  endpointsLost: number
  webhooksLate: number
  departuresUnexplained: number
  proposalsOpen: number
  feedsFailing: number
  ledgerDifferences: number
}

export async function readNeeds(db: Db): Promise<Needs> {
  const { rows } = await sql<Needs>`
    select
      (select count(*) from trade where due_at < (select till_now()) - interval '1 minute')::int as "tradesOverdue",
      (select count(*) from bot where state = 'dead')::int as "botsDead",
      (select count(*) from bot where state = 'active' and not online)::int as "botsUnheld",
      (select count(*) from bot where state in ('active', 'paused')
        and token_expires_at < (select till_now()) + interval '30 days')::int as "tokensEndSoon",
      (select count(*) from webhook_endpoint where state = 'disabled' and disabled_reason = 'gone'
        and removed_at is null)::int as "endpointsLost",
      (select count(*) from webhook_delivery where state = 'due'
        and due_at < (select till_now()) - interval '5 minutes')::int as "webhooksLate",
      (select count(*) from departure where explanation is null)::int as "departuresUnexplained",
      (select count(*) from proposal where state = 'open')::int as "proposalsOpen",
      (select count(*) from price_feed where failures > 0)::int as "feedsFailing",
      coalesce((select differences from ledger_check), 0)::int as "ledgerDifferences"`.execute(db)
  const [needs] = rows
  if (needs === undefined) throw new Error('the database returned no row')
  return needs
}
