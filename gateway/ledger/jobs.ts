import type pg from 'pg'
import type { Log } from '../kit/log.ts'
import type { Metrics } from '../metrics.ts'
import {
  beginCompleteCheck,
  type CheckState,
  type Client,
  differencesOf,
  endCompleteCheck,
  lastOfNextPart,
  readCheck,
  recordVerified,
  releaseCheck,
  renewCheck,
  settledEntry,
  takeCheck,
} from './check-store.ts'
import { type Difference, differencesOfAll } from './verify.ts'

type CheckDeps = {
  pool: Pick<pg.Pool, 'connect'>
  log: Log
  metrics: Pick<Metrics, 'ledgerDifferences' | 'ledgerChecked'>
}

/** One check logs at most this many differences. */
const MOST_LOGGED = 20
/** One run checks at most this many parts of the new entries. The rest waits for the next run. */
const MOST_PARTS = 50

/**
 * Checks the entries since the last check, and everything once a day. Call it once a minute. Skips the check while
 * another process has claimed it. The metrics show the stored result, whichever process found it.
 */
export async function checkLedger({ pool, log, metrics }: CheckDeps): Promise<void> {
  const client = await pool.connect()
  let claim: CheckState | undefined
  try {
    claim = await takeCheck(client)
    if (claim !== undefined) {
      logDifferences(log, await check(client, claim, log))
      await releaseCheck(client)
    }
    setMetrics(metrics, await readCheck(client))
    client.release()
  } catch (error) {
    metrics.ledgerDifferences.set(Number.NaN)
    client.release(true)
    if (claim !== undefined) await giveUp(pool)
    throw error
  }
}

/** Releases the claim. Otherwise the next runs would not check, and would show the result from before the failure. */
async function giveUp(pool: CheckDeps['pool']): Promise<void> {
  try {
    const client = await pool.connect()
    await releaseCheck(client).finally(() => client.release())
  } catch {
    // The claim expires in any case.
  }
}

async function check(
  client: Client,
  { isCompleteDue, verifiedEntry }: CheckState,
  log: Log,
): Promise<Difference[]> {
  const settled = await settledEntry(client)
  if (settled !== undefined) {
    return isCompleteDue
      ? checkAll(client, settled)
      : checkNewest(client, { verified: verifiedEntry, settled })
  }
  log.warn('ledger was not checked, because a transaction that writes to it stays open')
  return []
}

async function checkAll(client: Client, settled: string): Promise<Difference[]> {
  await beginCompleteCheck(client)
  const differences = await differencesOfAll(client, () => renewCheck(client))
  await endCompleteCheck(client, settled, differences.length)
  return differences
}

type UncheckedEntries = { verified: string; settled: string }

async function checkNewest(client: Client, { verified, settled }: UncheckedEntries): Promise<Difference[]> {
  const differences: Difference[] = []
  let from = verified
  for (let parts = 0; parts < MOST_PARTS; parts += 1) {
    const to = await lastOfNextPart(client, from, settled)
    if (to === undefined) break
    const differencesOfPart = await differencesOf(client, from, to)
    if (!(await recordVerified(client, { from, to }, differencesOfPart.length))) break
    differences.push(...differencesOfPart)
    from = to
  }
  return differences
}

function setMetrics(
  { ledgerDifferences, ledgerChecked }: CheckDeps['metrics'],
  state: CheckState | undefined,
): void {
  if (state === undefined || state.completeAtS === null) return
  ledgerChecked.set(state.completeAtS)
  // A complete check that has begun and not ended proves nothing.
  ledgerDifferences.set(state.isIncomplete ? Number.NaN : state.differences)
}

function logDifferences(log: Log, differences: readonly Difference[]): void {
  for (const { problem, detail } of differences.slice(0, MOST_LOGGED)) {
    log.fatal({ problem, detail }, 'the ledger does not agree with itself: stop payouts and look into it')
  }
  if (differences.length > MOST_LOGGED) {
    log.fatal({ differences: differences.length }, 'more differences: run `ledger verify`')
  }
}
