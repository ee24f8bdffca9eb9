/** Types of the tables of the till's time, for Kysely: its clock, outages, and how far sweeps have come. */
import type { Generated } from 'kysely'

/**
 * An outage or maintenance that lasts now. `offers` and `inventories`: Steam's calls for them fail for every bot.
 * `deposits`: the time of deposits stands still.
 */
export type OutageTable = {
  kind: 'offers' | 'inventories' | 'maintenance' | 'deposits'
  since: Date
  /** For maintenance only. Both texts are set, or neither. */
  text_en: Generated<string | null>
  text_ru: Generated<string | null>
  ends_at: Generated<Date | null>
}

/** At most one row, written when the clock is first advanced. */
export type TillClockTable = { only_row: Generated<boolean>; ahead_s: number }

/** Up to which time a sweep has looked at rows that it leaves in place. */
export type SweepPlaceTable = {
  sweep: string
  up_to: Date
}
