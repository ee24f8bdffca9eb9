/** Fake time that passes while nothing else happens, for calls over real sockets: deadlines are met without waiting. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { vi } from 'vitest'

/** After an answer the libraries go on in one of the next turns of the event loop. */
const QUIET_TURNS = 10

/** Open connections of the caller, and answers that the server keeps back. */
export type UnderWay = { asked: Set<Socket>; keptBack: Set<ServerResponse> }

/** Keeps an answer back for so many milliseconds of fake time; for ever if that is Infinity. */
export function keepBack({ keptBack }: UnderWay) {
  return (ms: number, response: ServerResponse): Promise<void> => {
    keptBack.add(response)
    response.once('close', () => keptBack.delete(response))
    return new Promise((resolve) => {
      const goOn = () => {
        keptBack.delete(response)
        resolve()
      }
      if (Number.isFinite(ms)) setTimeout(goOn, ms)
    })
  }
}

/** Lets time jump to the next timer whenever all that was asked is kept back; resolves to how long the work took. */
export async function inOwnTime(
  what: string,
  { asked, keptBack }: UnderWay,
  work: Promise<unknown>,
): Promise<number> {
  const beganMs = performance.now()
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  for (let quiet = 0; !isOver; await turn()) {
    quiet = asked.size === keptBack.size ? quiet + 1 : 0
    if (quiet < QUIET_TURNS) continue
    if (vi.getTimerCount() === 0) throw new Error(`${what} has no deadline: it would wait for ever`)
    vi.advanceTimersToNextTimer()
    quiet = 0
  }
  return performance.now() - beganMs
}
