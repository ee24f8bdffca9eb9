import type { Generated } from 'kysely'

/**
 * An outage or maintenance that has not ended. `offers` and `inventories`: calls to Steam for them fail for every bot
 * in service. `deposits`: the countdown of deposits is paused while any other kind lasts.
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

/** The time up to which a sweep has checked rows that it leaves in place. */
export type SweepPlaceTable = {
  sweep: string
  up_to: Date
}
