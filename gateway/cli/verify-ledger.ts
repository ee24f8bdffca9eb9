/** `npm run verify-ledger`: recomputes the ledger of a running gateway, or of DATABASE_URL. Exit code 1: differences. */
import pg from 'pg'
import { readConfigOrExit } from '../config.ts'
import { runningEmbeddedUrl } from '../db/embedded.ts'
import { verifyLedger } from '../ledger/verify.ts'

async function main(): Promise<void> {
  const config = readConfigOrExit()
  const url = config.databaseUrl ?? runningEmbeddedUrl(config.dataDir)
  if (url === undefined) {
    throw new Error(`No gateway is running on ${config.dataDir}. Start it first, or set DATABASE_URL.`)
  }
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 10_000 })
  try {
    const differences = await verifyLedger(pool)
    for (const { problem, detail } of differences) console.error(`${problem}: ${detail}`)
    const { rows } = await pool.query<{ entries: string }>(
      'select count(*)::text as entries from ledger_entry',
    )
    console.log(`${rows[0]?.entries ?? 0} entries checked, ${differences.length} differences`)
    if (differences.length > 0) process.exitCode = 1
  } finally {
    await pool.end()
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
})
