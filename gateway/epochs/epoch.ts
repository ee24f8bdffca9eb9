/** Detects whether the till's database was restored or replaced. A life is one unbroken history of a database. */

/** Facts that a server reports about a database, and that tell the database's lives apart. Null: not reported. */
export type Life = {
  systemIdentifier: string | null
  timeline: bigint | null
  databaseOid: bigint
  /** The id of the events table, which a restored dump changes. */
  logOid: bigint
  /** How far the server's write-ahead log is flushed to disk, in bytes since its beginning. */
  written: bigint | null
}

/** The database's record of its epoch, and the life that its server reports. */
export type History = {
  /** Undefined before the first start of a gateway. */
  epoch: (Omit<Life, 'written'> & { number: bigint; beganAt: Date }) | undefined
  life: Life
  /** Whether some gateway found the database older than the state that it had remembered itself. */
  isBehind: boolean
}

/** The last state that a gateway saw, stored outside the database. `beganAt`: null if an earlier version stored it. */
export type SeenState = {
  epoch: bigint
  beganAt: Date | null
  timeline: bigint | null
  written: bigint | null
}

/**
 * `system`: restored or copied to another server; a restored copy of the embedded database counts as this too.
 * `database`: restored into the same server. `timeline`: a replica was promoted, or the server was restored to a point
 * in time. `behind`: the same server has less data than before.
 */
export type Break = 'system' | 'database' | 'timeline' | 'behind'

/** Returns how the database's history was broken; undefined if it was not. */
export function breakOf(
  { epoch, life, isBehind }: History,
  remembered: SeenState | undefined,
): Break | undefined {
  if (epoch === undefined) return undefined
  if (epoch.systemIdentifier !== life.systemIdentifier) return 'system'
  if (epoch.databaseOid !== life.databaseOid || epoch.logOid !== life.logOid) return 'database'
  if (epoch.timeline !== life.timeline) return 'timeline'
  return isBehind || (remembered !== undefined && isOlder(epoch, life, remembered)) ? 'behind' : undefined
}

function isOlder(
  epoch: NonNullable<History['epoch']>,
  { timeline, written }: Life,
  remembered: SeenState,
): boolean {
  // If the database's epoch is the later one, it began after the loss was noticed.
  if (remembered.epoch !== epoch.number) return remembered.epoch > epoch.number
  // Epochs that began after two restores of the same backup have the same number.
  const aheadMs = remembered.beganAt === null ? 0 : remembered.beganAt.getTime() - epoch.beganAt.getTime()
  if (aheadMs !== 0) return aheadMs > 0
  if (remembered.timeline !== timeline || written === null || remembered.written === null) return false
  return remembered.written > written
}

export const BREAKS: Record<Break, string> = {
  system: 'the database is on another server: it was restored or copied',
  database: 'the database was restored into the same server',
  timeline: 'a replica was promoted, or the server was restored to a point in time',
  behind: 'the database lacks data that a gateway has already seen in it',
}
