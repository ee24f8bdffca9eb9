/** The clock of the Steam sandbox, over its control API. */
import { z } from 'zod'

const DEADLINE_MS = 2_000

const answerSchema = z.object({ aheadS: z.int().nonnegative() })

export type SandboxClock = {
  /** How far it is ahead of the machine's, in seconds. All calls reject when the sandbox does not answer. */
  ahead(): Promise<number>
  /** Brings it at least this far ahead. Returns how far ahead it is then. */
  raise(aheadS: number): Promise<number>
  /** Moves it on by this much. Returns how far ahead it is then. */
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
