/** Up to which number a table that only grows can be read for good. */
import { setTimeout as delay } from 'node:timers/promises'

/** Each statement must see what was committed before it. */
type Ask = (statement: string) => Promise<{ rows: unknown[] }>

type GrowingTable = 'ledger_entry' | 'custody_entry'

const MOST_LOOKS = 50
const LOOK_MS = 100

/**
 * Returns the newest number before which no other will appear. Numbers are given before the commit, so a transaction that is
 * open may still bring an earlier one. But it locks the table before it takes a number, and until it ends. So the newest number
 * counts once everybody who had the table locked right after it was read has ended. No clock is asked: those of machines
 * differ. Undefined where somebody stays for longer than a transaction of the till does.
 */
export async function settledId(
  ask: Ask,
  table: GrowingTable,
  mostLooks = MOST_LOOKS,
): Promise<string | undefined> {
  const [newest = '0'] = textsOf(
    await ask(`select max(id)::text as text from ${table} having max(id) is not null`),
  )
  let open = await writersOf(ask, table)
  for (let looks = 1; open.length > 0; looks += 1) {
    if (looks > mostLooks) return undefined
    await delay(LOOK_MS)
    const now = await writersOf(ask, table)
    open = open.filter((writer) => now.includes(writer))
  }
  return newest
}

/** Transactions of others that may have taken a number. */
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
