import pg from 'pg'
import { verifyLedger } from '../ledger/verify.ts'
import type { Surroundings } from './run.ts'
import { databaseUrlOf } from './settings.ts'

/** Prints every difference. Resolves to the exit code: 0 without one, 1 with some, 2 when it could not be checked. */
export async function checkLedger({ env, terminal }: Surroundings): Promise<number> {
  try {
    const { url } = databaseUrlOf(env)
    const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 10_000 })
    try {
      const differences = await verifyLedger(pool)
      for (const { problem, detail } of differences) terminal.warn(`${problem}: ${detail}`)
      const { rows } = await pool.query<{ entries: string }>(
        'select count(*)::text as entries from ledger_entry',
      )
      terminal.print(`${rows[0]?.entries ?? 0} entries checked, ${differences.length} differences`)
      return differences.length > 0 ? 1 : 0
    } finally {
      await pool.end()
    }
  } catch (error) {
    terminal.warn(error instanceof Error ? error.message : String(error))
    return 2
  }
}
