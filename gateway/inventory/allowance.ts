/**
 * Limits the reads of Steam that one deposit or one account can cause, because all shoppers share the bots' budgets.
 */
import type { Tx } from '../db/client.ts'
import { MINUTE_MS } from '../kit/duration.ts'
import { type InventoryKey, lockReadsOf, readsOfAccount, readsOfDeposit, spanOf } from './store.ts'

const WINDOW_MS = 10 * MINUTE_MS

/**
 * In the long run a bot can read an inventory every 4 seconds (`steam/methods.ts`), so 150 times in 10 minutes. One
 * deposit may cause a short burst of reads, but over 10 minutes it must leave more than half of the 150 to others.
 */
const LIMITS_OF_DEPOSIT = [
  { ms: MINUTE_MS, most: 12 },
  { ms: WINDOW_MS, most: 60 },
] as const
/**
 * The limits of an account, for one game and for all, over all deposits, languages and tokens that Steam accepted: fewer
 * than the 45 reads that three bots can make in a minute.
 */
const LIMITS_OF_ACCOUNT_AND_GAME = [{ ms: MINUTE_MS, most: 30 }] as const
const LIMITS_OF_ACCOUNT = [{ ms: MINUTE_MS, most: 40 }] as const

type Limit = { ms: number; most: number }

/** Returns the wait before one more read; undefined if it is allowed now. */
export async function retryAfterOf(
  tx: Tx,
  { depositId, key, now }: { depositId: bigint; key: InventoryKey; now: Date },
): Promise<{ retryAfterS: number } | undefined> {
  const { steamId, game } = key
  await lockReadsOf(tx, { depositId, steamId })
  const ofDeposit = await readsOfDeposit(tx, depositId, spanOf(now, WINDOW_MS))
  const ofAccount = await readsOfAccount(tx, key, spanOf(now, MINUTE_MS))
  const ofGame = ofAccount.filter((read) => read.game === game)
  const msUntil = (reads: typeof ofAccount, limits: readonly Limit[]) =>
    msUntilAllowed(
      reads.map(({ at }) => at),
      limits,
      now,
    )
  const waitMs = Math.max(
    msUntil(ofDeposit, LIMITS_OF_DEPOSIT),
    msUntil(ofGame, LIMITS_OF_ACCOUNT_AND_GAME),
    msUntil(ofAccount, LIMITS_OF_ACCOUNT),
  )
  return waitMs > 0 ? { retryAfterS: Math.ceil(waitMs / 1000) } : undefined
}

/** Returns the milliseconds until the limits allow one more read. `reads`: the times of earlier reads, oldest first. */
export function msUntilAllowed(reads: readonly Date[], limits: readonly Limit[], now: Date): number {
  const waits = limits.map(({ ms, most }) => {
    // The next read is allowed once this one has left the window.
    const blocking = reads.at(-most)
    return blocking === undefined ? 0 : blocking.getTime() + ms - now.getTime()
  })
  return Math.max(0, ...waits)
}
