/** The vault's reports of its sales and gifts, with the till's answers, in PostgreSQL. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { EntryAnswer } from '../db/sale-tables.ts'

/**
 * A report in the vault's log. `n`: the number of its entry. `part`: its number within the entry, which can have
 * several. `told`: the report, as the vault wrote it.
 */
export type EntryRow = { n: bigint; part: number; at: Date; market: string; reference: string; told: unknown }

/** `without`: the listings whose reports are left out. */
type Page = {
  limit: number
  after: Pick<EntryRow, 'n' | 'part'> | undefined
  without: readonly Pick<EntryRow, 'market' | 'reference'>[]
}

/** Returns reports without an answer, in the order of the vault's log, from the one after `after`. */
export async function unansweredEntries(db: Db, { limit, after, without }: Page): Promise<EntryRow[]> {
  return db
    .selectFrom('vault_told')
    .select(['n', 'part', 'at', 'market', 'reference', 'told'])
    .where('answer', 'is', null)
    .where(sql<boolean>`(n, part) > (${after?.n ?? 0n}::bigint, ${after?.part ?? -1}::int)`)
    .where(
      sql<boolean>`not exists (
        select from unnest(${without.map(({ market }) => market)}::text[], ${without.map(({ reference }) => reference)}::text[])
          waiting (market, reference)
        where waiting.market = vault_told.market and waiting.reference = vault_told.reference)`,
    )
    .orderBy('n')
    .orderBy('part')
    .limit(limit)
    .execute()
}

/** When the database's present life began. From a restore until the next epoch, this returns `now`. */
export async function lifeBeganAt(db: Db, now: Date): Promise<Date> {
  const { rows } = await sql<{ beganAt: Date; isCurrent: boolean }>`
    select began_at as "beganAt", life_is_current() as "isCurrent" from epoch order by number desc limit 1`.execute(
    db,
  )
  const [epoch] = rows
  if (epoch === undefined) return new Date(0)
  return epoch.isCurrent ? epoch.beganAt : now
}

/** Returns false if another process has answered the report, or is about to. */
export async function lockEntry(tx: Tx, { n, part }: Pick<EntryRow, 'n' | 'part'>): Promise<boolean> {
  const row = await tx
    .selectFrom('vault_told')
    .select('n')
    .where('n', '=', n)
    .where('part', '=', part)
    .where('answer', 'is', null)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row !== undefined
}

export async function answerEntry(
  tx: Tx,
  { n, part }: Pick<EntryRow, 'n' | 'part'>,
  answer: EntryAnswer,
): Promise<void> {
  await tx
    .updateTable('vault_told')
    .set({ answer, answered_at: sql<Date>`till_now()` })
    .where('n', '=', n)
    .where('part', '=', part)
    .execute()
}

/** Explains a departure that the till saw on Steam before the vault reported it. */
export async function explainByVault(tx: Tx, steamTradeId: string): Promise<void> {
  await tx
    .updateTable('departure')
    .set({ explanation: 'vault' })
    .where('steam_trade_id', '=', steamTradeId)
    .where('explanation', 'is', null)
    .execute()
}
