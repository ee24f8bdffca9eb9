/** A connection for filling large tables. It has no deadlines, because one statement fills a whole table. */
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import type { Db } from '../gateway/db/client.ts'
import type { Tables } from '../gateway/db/schema.ts'

/** Passes a connection to the database at `url` to `work`, and then closes it. The connection reads int8 as strings. */
export async function withFillConnection<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    await sql`set statement_timeout = 0`.execute(db)
    return await work(db)
  } finally {
    await db.destroy()
  }
}
