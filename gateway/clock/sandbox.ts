/** The clock of the Steam sandbox, over its control API. */
import { z } from 'zod'

const DEADLINE_MS = 10_000

const answerSchema = z.object({ aheadS: z.int().nonnegative() })

/** Its calls reject if the sandbox does not answer. */
export type SandboxClock = {
  /** Seconds that the sandbox's clock is ahead of the machine's. */
  ahead(): Promise<number>
  /** Sets the clock ahead by this much, unless it is further ahead already. Returns how far ahead it is afterwards. */
  raise(aheadS: number): Promise<number>
  /** Advances the clock by this much. Returns how far ahead it is afterwards. */
  advance(seconds: number): Promise<number>
}

export function sandboxClock(sandboxUrl: string): SandboxClock {
  const url = new URL('/control/clock', sandboxUrl)
  const call = async (change?: { aheadS: number } | { advanceS: number }): Promise<number> => {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(DEADLINE_MS),
      redirect: 'error',
      ...(change && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(change),
      }),
    })
    if (!response.ok) throw new Error(`the sandbox's clock answered ${response.status}`)
    return answerSchema.parse(await response.json()).aheadS
  }
  return {
    ahead: () => call(),
    raise: (aheadS) => call({ aheadS }),
    advance: (advanceS) => call({ advanceS }),
  }
}
