/** The newest row is the current epoch. The last four columns identify the database that it began on. */
export type EpochTable = {
  number: bigint
  began_at: Date
  system_identifier: string | null
  timeline: bigint | null
  database_oid: bigint
  log_oid: bigint
}

/** `behind`: a gateway remembers a later state than the database has. `disarmed`: no bot may talk to Steam. */
export type HaltTable = { kind: 'behind' | 'disarmed'; since: Date }
