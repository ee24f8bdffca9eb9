import { type RawBuilder, sql } from 'kysely'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import { plus } from '../kit/clock.ts'
import { LONGEST_HOLD_MS } from '../steam/offer-times.ts'

/**
 * Whether a trade is open, protected or in escrow, or has a step to come. A retired bot's trade has no alarm (`due_at`),
 * and its look is never made, so the look counts only until `LONGEST_HOLD_MS` after its time.
 */
export const isUnfinishedSql = (now: Date): RawBuilder<boolean> => sql<boolean>`
  (state in (${sql.join(OPEN_TRADE_STATES)}, 'held') or due_at is not null
    or look_at >= ${plus(now, -LONGEST_HOLD_MS)} or steam_hold_until >= ${now})`
