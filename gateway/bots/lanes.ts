/** The lanes of one bot's work. Each lane has its own places, so none waits for another. */

import { createLimiter, type Limiter } from '../kit/limiter.ts'
import type { TradeLane } from './bot.ts'

/** One send and one cancel of a bot at a time. Shoppers wait for `reads`; nobody waits for `settling` and `reviews`. */
const createLimiters = (): Record<TradeLane, Limiter> => ({
  sends: createLimiter(1),
  cancels: createLimiter(1),
  reads: createLimiter(4),
  settling: createLimiter(2),
  reviews: createLimiter(1),
})

const PATIENT: readonly TradeLane[] = ['settling', 'reviews']

/** While this many trades wait, further ones for the lanes in `PATIENT` are left to the next sweep. */
const MOST_WAITING = 5_000

/** `taken`: the trade had its turn, or moved to another lane. `dropped`: it got no place, or lost it. */
export type TurnResult = 'taken' | 'dropped'

type Waiting = { lane: TradeLane; done: Promise<TurnResult> }

export type Lanes = {
  /** Resolves after the trade's turn. A waiting trade keeps its place, or moves to the new lane. */
  add(tradeId: bigint, lane: TradeLane): Promise<TurnResult>
  /** Drops waiting turns. Resolves once the running ones have ended. */
  stop(): Promise<void>
}

export function createLanes(work: (tradeId: bigint) => Promise<void>): Lanes {
  const limiters = createLimiters()
  const waiting = new Map<bigint, Waiting>()
  const running = new Set<Promise<unknown>>()
  let isStopped = false

  const takeTurn = async (tradeId: bigint, mine: Waiting): Promise<TurnResult> => {
    // The trade has moved to another lane meanwhile.
    if (waiting.get(tradeId) !== mine) return 'taken'
    waiting.delete(tradeId)
    if (isStopped) return 'dropped'
    const turn = work(tradeId)
    running.add(turn)
    await turn.finally(() => running.delete(turn))
    return 'taken'
  }
  return {
    add(tradeId, lane) {
      const earlier = waiting.get(tradeId)
      if (earlier?.lane === lane) return earlier.done
      if (waiting.size >= MOST_WAITING && PATIENT.includes(lane)) return Promise.resolve('dropped')
      // The turn may start immediately, so the trade must already be in the map.
      const mine: Waiting = { lane, done: Promise.resolve('taken') }
      waiting.set(tradeId, mine)
      mine.done = limiters[lane](() => takeTurn(tradeId, mine))
      return mine.done
    },
    async stop() {
      isStopped = true
      await Promise.allSettled(running)
    },
  }
}
