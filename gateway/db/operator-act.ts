import type { Generated, JSONColumnType } from 'kysely'

export type OperatorActTable = {
  id: Generated<bigint>
  at: Date
  operator: string
  act: string
  arguments: JSONColumnType<Record<string, unknown>, string, never>
  reason: string | null
}
