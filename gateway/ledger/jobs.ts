import type pg from 'pg'
import type { Log } from '../kit/log.ts'
import type { Metrics } from '../metrics.ts'
import { verifyLedger } from './verify.ts'

type CheckDeps = { pool: Pick<pg.Pool, 'connect'>; log: Log; metrics: Pick<Metrics, 'ledgerDifferences'> }

const MOST_LOGGED = 20

/** Checks the ledger and tells loudly of every difference. */
export async function checkLedger({ pool, log, metrics }: CheckDeps): Promise<void> {
  const differences = await verifyLedger(pool)
  metrics.ledgerDifferences.set(differences.length)
  for (const { problem, detail } of differences.slice(0, MOST_LOGGED)) {
    log.fatal({ problem, detail }, 'the ledger does not agree with itself: stop payouts and look into it')
  }
  if (differences.length > MOST_LOGGED) {
    log.fatal({ differences: differences.length }, 'more differences: run `ledger verify`')
  }
}
