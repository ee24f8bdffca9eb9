/** Waits for the till's database, because a vault that cannot read wishes is not ready. */
import type { Till } from '../markets/till.ts'

const RETRY_MS = 3_000

type WaitOptions = { stop: AbortSignal; pause(ms: number): Promise<void>; say(problem: string): void }

/** Resolves to true once the database has answered, and to false if the vault is stopped first. */
export async function waitForTill(
  till: Pick<Till, 'lastReported'>,
  { stop, pause, say }: WaitOptions,
): Promise<boolean> {
  while (!stop.aborted) {
    try {
      await till.lastReported()
      return true
    } catch (error) {
      say(error instanceof Error ? error.message : 'unknown')
    }
    await pause(RETRY_MS)
  }
  return false
}
