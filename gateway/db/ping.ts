import type pg from 'pg'

/** Rejects if the database does not answer. */
export async function ping(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  await pool.query('select 1')
}
