/** Types of the tables of epochs; apart from schema.ts, which is full. */

export type EpochTable = {
  number: bigint
  began_at: Date
  system_identifier: string | null
  timeline: bigint | null
  database_oid: bigint
  log_oid: bigint
}

export type HaltTable = { kind: 'behind' | 'disarmed'; since: Date }
