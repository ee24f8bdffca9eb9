/** Which life of its database a till works on: the one that it published from, or one that was set back. */

/** What a server says of a database. Null if it does not tell it. */
export type Life = {
  systemIdentifier: string | null
  timeline: bigint | null
  databaseOid: bigint
  /** Of the table of events: a restored dump has another. */
  logOid: bigint
  /** How far the server's write-ahead log is safe on its disk. */
  written: bigint | null
}

/** What the database says: the epoch that it is in, and the life that its server shows. */
export type Standing = {
  /** Undefined before the first start of a gateway. */
  epoch: (Omit<Life, 'written'> & { number: bigint }) | undefined
  life: Life
  /** Some gateway found the database behind what it remembers. */
  isBehind: boolean
}

/** What a gateway saw last of a database, and keeps apart from it. */
export type Remembered = { epoch: bigint; timeline: bigint | null; written: bigint | null }

/**
 * `system`: another server, restored or copied. `database`: restored into the same server. `timeline`: a copy of the server
 * was promoted, or it was set back to a point in time. `behind`: the same server has less than it had.
 */
export type Break = 'system' | 'database' | 'timeline' | 'behind'

/** How the database came to another life; undefined if it is in the one of its epoch. */
export function breakOf(
  { epoch, life, isBehind }: Standing,
  remembered: Remembered | undefined,
): Break | undefined {
  if (epoch === undefined) return undefined
  if (epoch.systemIdentifier !== life.systemIdentifier) return 'system'
  if (epoch.databaseOid !== life.databaseOid || epoch.logOid !== life.logOid) return 'database'
  if (epoch.timeline !== life.timeline) return 'timeline'
  return isBehind || (remembered !== undefined && isLess(epoch.number, life, remembered))
    ? 'behind'
    : undefined
}

function isLess(epoch: bigint, { timeline, written }: Life, remembered: Remembered): boolean {
  // A later epoch began after the operator knew of the loss.
  if (remembered.epoch !== epoch) return remembered.epoch > epoch
  if (remembered.timeline !== timeline || written === null || remembered.written === null) return false
  return remembered.written > written
}

export const BREAKS: Record<Break, string> = {
  system: 'another server has it: it was restored, or copied',
  database: 'it was restored into its server',
  timeline: 'a copy of its server was promoted, or it was set back to a point in time',
  behind: 'it has less than a gateway has seen in it',
}
