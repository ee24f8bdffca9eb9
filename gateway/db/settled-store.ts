/** Finds the number up to which an append-only table is complete. */
import { setTimeout as delay } from 'node:timers/promises'

/** Each statement must see everything committed before it. */
type Ask = (statement: string) => Promise<{ rows: unknown[] }>

type GrowingTable = 'ledger_entry' | 'custody_entry'

/** How many times to read the open transactions again, each after a pause: five seconds in all. */
const MOST_REREADS = 50
const PAUSE_MS = 100

/**
 * Returns the newest number once no smaller one can appear; 0 for an empty table, undefined if an open transaction may
 * still add a smaller one. Numbers are assigned before the commit, but a transaction locks the table before it takes a
 * number, and keeps the lock until it ends. So the newest number is final once every transaction that held the lock
 * right after the read has ended. No clock is involved, because machines' clocks differ.
 */
export async function settledId(
  ask: Ask,
  table: GrowingTable,
  mostRereads = MOST_REREADS,
): Promise<string | undefined> {
  const [newest = '0'] = textsOf(
    await ask(`select max(id)::text as text from ${table} having max(id) is not null`),
  )
  let openWriters = await writersOf(ask, table)
  for (let rereads = 1; openWriters.length > 0; rereads += 1) {
    if (rereads > mostRereads) return undefined
    await delay(PAUSE_MS)
    const currentWriters = await writersOf(ask, table)
    openWriters = openWriters.filter((writer) => currentWriters.includes(writer))
  }
  return newest
}

/** Other transactions that may have taken a number. */
const writersOf = async (ask: Ask, table: GrowingTable): Promise<string[]> =>
  textsOf(
    await ask(`select virtualtransaction as text from pg_locks
      where locktype = 'relation' and mode = 'RowExclusiveLock' and granted and pid <> pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())
        and relation = 'public.${table}'::regclass`),
  )

const textsOf = ({ rows }: { rows: unknown[] }): string[] =>
  rows.flatMap((row) => {
    const text: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'text') : undefined
    return typeof text === 'string' ? [text] : []
  })
