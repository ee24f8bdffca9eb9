/** Types of the tables of epochs. */

export type EpochTable = {
  number: bigint
  began_at: Date
  system_identifier: string | null
  timeline: bigint | null
  database_oid: bigint
  log_oid: bigint
}

export type HaltTable = { kind: 'behind' | 'disarmed'; since: Date }
