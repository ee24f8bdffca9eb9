/** Times that lie further ahead than any rule sets them: a clock that was ahead wrote them, and was set back since. */
import { type RawBuilder, sql } from 'kysely'
import { plus } from '../kit/clock.ts'
import { HOUR_MS } from '../kit/duration.ts'

/** How far apart the clocks of two gateways may be. Neither may change what the other one scheduled. */
const CLOCKS_APART_MS = HOUR_MS

/**
 * Whether a time is further ahead than a rule sets it. `waitMs`: how far ahead of `now` the rule sets it at most. The
 * database's clock must agree, because the caller's may be the one that is wrong.
 */
export function isFar(time: RawBuilder<unknown>, now: Date, waitMs = 0): RawBuilder<boolean> {
  const ms = waitMs + CLOCKS_APART_MS
  return sql<boolean>`(${time} > ${plus(now, ms)}::timestamptz
    and ${time} > (select till_now()) + make_interval(secs => ${sql.lit(ms / 1_000)}))`
}

/** The earlier of a column and a time. SQL's `least` would turn null into the time. */
export const notAfter = (column: string, time: Date) => sql<Date | null>`
  case when ${sql.ref(column)} > ${time}::timestamptz then ${time}::timestamptz else ${sql.ref(column)} end`
