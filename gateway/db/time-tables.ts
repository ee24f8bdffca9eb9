/** Types of the tables of the till's time, for Kysely: its clock, outages, and how far sweeps have come. */
import type { Generated } from 'kysely'

export type OutageTable = {
  kind: 'offers' | 'inventories' | 'maintenance' | 'deposits'
  since: Date
  /** For maintenance only. Both texts are set, or neither. */
  text_en: Generated<string | null>
  text_ru: Generated<string | null>
  ends_at: Generated<Date | null>
}

/** At most one row; none until the clock was advanced. */
export type TillClockTable = { only_row: Generated<boolean>; ahead_s: number }

export type SweepPlaceTable = {
  sweep: string
  up_to: Date
}
