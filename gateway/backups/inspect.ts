/** Examines a restored database: its master key, its migrations, its contents and its ledger. */
import pg from 'pg'
import { type Claim, ownershipOf, readIdentity } from '../db/identity.ts'
import { judgeSchema, migrationFiles, readApplied } from '../db/schema-version.ts'
import { type Difference, verifyLedger } from '../ledger/verify.ts'
import { type Contents, readContents } from './store.ts'

export type Inspection = Contents & {
  mode: 'sandbox' | 'live'
  /** True if the configured master keys, old ones included, can decrypt the backup's secrets. */
  isOwnKey: boolean
  /** Migrations that this version would apply to the database. */
  missing: string[]
  /** Empty if migrations are missing, because the ledger is then not verified. */
  differences: Difference[]
}

/** `refused`: the check could not be made. `damaged`: the backup is certainly bad. */
export type Inspected =
  | { kind: 'inspected'; inspection: Inspection }
  | { kind: 'refused' | 'damaged'; reason: string }

export async function inspect(url: string, claim: Claim): Promise<Inspected> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  // A broken connection also rejects its query, so this event can be ignored.
  pool.on('error', () => {})
  try {
    const identity = await readIdentity(pool)
    if (identity === undefined) return { kind: 'damaged', reason: 'It is not a till’s database.' }
    const judgement = judgeSchema(migrationFiles(), await readApplied(pool))
    if (judgement.kind === 'refused') return judgement
    const missing = judgement.missing.map(({ name }) => name)
    const isOwnKey = ownershipOf(identity, { ...claim, mode: identity.mode }).kind === 'own'
    // An older schema may lack tables that verify.sql reads.
    const differences = missing.length > 0 ? [] : await verifyLedger(pool)
    const contents = await readContents(pool)
    return {
      kind: 'inspected',
      inspection: { ...contents, mode: identity.mode, isOwnKey, missing, differences },
    }
  } finally {
    await pool.end()
  }
}
