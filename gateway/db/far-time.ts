/** Times that lie further ahead than any rule sets them: a clock that was ahead wrote them, and was set back since. */
import { type RawBuilder, sql } from 'kysely'
import { HOUR_MS } from '../kit/duration.ts'

/** How far apart the clocks of two gateways may be. Neither may change what the other one scheduled. */
export const CLOCKS_APART_MS = HOUR_MS

export type FarTime = { latest: Date; now: Date }

/**
 * Whether a time is after `latest`. The database's clock must agree, because the caller's may be the one that is wrong.
 */
export const isFar = (time: RawBuilder<unknown>, { latest, now }: FarTime) => sql<boolean>`
  (${time} > ${latest}::timestamptz
    and ${time} > (select till_now()) + (${latest}::timestamptz - ${now}::timestamptz))`

/** The earlier of a column and a time. SQL's `least` would turn null into the time. */
export const notAfter = (column: string, time: Date) => sql<Date | null>`
  case when ${sql.ref(column)} > ${time}::timestamptz then ${time}::timestamptz else ${sql.ref(column)} end`
