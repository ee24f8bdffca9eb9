/** Type of the table of operators' acts; apart from schema.ts, which is full. */
import type { Generated, JSONColumnType } from 'kysely'

export type OperatorActTable = {
  id: Generated<bigint>
  at: Date
  operator: string
  act: string
  arguments: JSONColumnType<Record<string, unknown>, string, never>
  reason: string | null
}
