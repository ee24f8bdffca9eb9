/** Fake time for calls over real sockets. It advances only while nothing else happens, so deadlines pass quickly. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { vi } from 'vitest'

/** How many turns of the event loop the libraries may need after an answer. */
const QUIET_TURNS = 10

/** The caller's open connections, and the answers that the server holds back. */
export type Traffic = { sockets: Set<Socket>; heldAnswers: Set<ServerResponse> }

/** Returns a function that holds an answer back for some milliseconds of fake time; Infinity means forever. */
export function holdBack({ heldAnswers }: Traffic) {
  return (ms: number, response: ServerResponse): Promise<void> => {
    heldAnswers.add(response)
    response.once('close', () => heldAnswers.delete(response))
    return new Promise((resolve) => {
      const goOn = () => {
        heldAnswers.delete(response)
        resolve()
      }
      if (Number.isFinite(ms)) setTimeout(goOn, ms)
    })
  }
}

/**
 * Jumps to the next timer whenever every answer is held back. Resolves to true if no more than `limitMs` of fake time
 * had passed when the work ended. A slow machine cannot make it false.
 */
export async function endsInFakeTime(
  { what, limitMs }: { what: string; limitMs: number },
  { sockets, heldAnswers }: Traffic,
  work: Promise<unknown>,
): Promise<boolean> {
  const endMs = performance.now() + limitMs
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  for (let quiet = 0; !isOver; await turn()) {
    quiet = sockets.size === heldAnswers.size ? quiet + 1 : 0
    if (quiet < QUIET_TURNS) continue
    if (vi.getTimerCount() === 0) throw new Error(`${what} has no deadline: it would wait forever`)
    vi.advanceTimersToNextTimer()
    quiet = 0
  }
  return performance.now() <= endMs
}
