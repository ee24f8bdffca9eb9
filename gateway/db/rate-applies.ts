import { sql } from 'kysely'

/** A condition on `exchange_rate`: the rate's source was not removed. */
export const RATE_APPLIES = sql<boolean>`not exists (select from price_feed
  where price_feed.source = exchange_rate.source and feed = 'rates' and removed_at is not null)`
