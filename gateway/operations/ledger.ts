import type pg from 'pg'
import { counted } from '../kit/counted.ts'
import { countEntries, type Difference, verifyLedger as verify } from '../ledger/verify.ts'
import { type Answer, done } from './operation.ts'

export type LedgerCheck = { entries: number; differences: Difference[] }

/** Lists the differences in the ledger. Corrects none. */
export async function verifyLedger(pool: pg.Pool): Promise<Answer<LedgerCheck>> {
  const differences = await verify(pool)
  const data = { entries: await countEntries(pool), differences }
  const message = `${counted(data.entries, 'entry', 'entries')} checked, ${counted(differences.length, 'difference')}.`
  return differences.length === 0
    ? done(data, message)
    : { kind: 'refused', refusal: 'failed', message, data }
}
