/**
 * One call of a bot to the simulated Steam. It waits for its turn by the gateway's rules, takes time, and may be lost.
 */
import type { Method } from '../../gateway/steam/methods.ts'
import type { SendAnswer, Unavailable } from '../../gateway/steam/steam.ts'
import { createTurns, type Turns } from '../../gateway/steam/turns.ts'
import type { Gate, Restartable, Sim } from './process.ts'
import type { Steam } from './steam.ts'

/** The probability of each fault, per call. */
const TOO_MANY = 0.003
const LOST_BEFORE = 0.012
const LOST_AFTER = 0.013

const TIMEOUT_MS = 10_000

export type SteamAccess = {
  steam: Steam
  /** Steam id of the bot. */
  bot: string
  gate: Gate
  /** The process that asks. Each of its runs begins with unused budgets. */
  process: Restartable
  isDown(): boolean
}

/** The turns that each run of a process uses, with their budgets. */
const turnsOfRuns = new WeakMap<Restartable, { run: number; turns: Turns }>()

function turnsOf({ engine, random, faults }: Sim, { gate, process }: SteamAccess): Turns {
  const known = turnsOfRuns.get(process)
  if (known?.run === process.run) return known.turns
  const turns = createTurns({
    time: { now: engine.now, pause: (ms) => gate(Math.ceil(ms), Math.ceil(ms)) },
    random: random.next,
    observer: { request() {}, heldBack: () => faults.note('request held back by our own limits') },
    gateways: () => 1,
  })
  turnsOfRuns.set(process, { run: process.run, turns })
  return turns
}

const isHeldBack = (answer: { kind: string; reason?: string }): answer is Unavailable =>
  answer.kind === 'unavailable' && answer.reason === 'not_our_turn'

/** Makes the answer of a method if Steam was not asked, or refused to answer. */
type Refusals<T> = (reason: 'rate_limited' | 'session_dead' | 'not_our_turn') => T

export const notRead: Refusals<Unavailable> = (reason) => ({
  kind: 'unavailable',
  reason,
  detail: 'simulated',
})
export const notSent: Refusals<SendAnswer> = (reason) => ({ kind: 'refused', reason })

/** `lost`: the answer if Steam's is lost. `risk`: the probability that the answer is lost after Steam acted. */
type Ask<T> = { method: Method; act: () => T; lost: T; refused: Refusals<T>; risk?: number }

export function askerOf(sim: Sim, access: SteamAccess) {
  const { faults } = sim
  const { steam, bot, gate, isDown } = access
  async function ask<T extends { kind: string }>(wanted: Ask<T>): Promise<T> {
    const answer = await turnsOf(sim, access)
      .of(bot)
      .ask<T>({
        method: wanted.method,
        ms: TIMEOUT_MS,
        make: () => request(wanted),
        judge: (answer) => {
          const isLimited = 'reason' in answer && answer.reason === 'rate_limited'
          return isLimited ? 'limited' : answer === wanted.lost ? 'failed' : 'answered'
        },
      })
    return isHeldBack(answer) ? wanted.refused('not_our_turn') : answer
  }
  async function request<T>({ act, lost, refused, risk = LOST_AFTER }: Ask<T>): Promise<T> {
    await gate(20, 400)
    if (isDown()) return lost
    if (steam.refusesToken(bot)) {
      faults.note('token refused for a while')
      return refused('session_dead')
    }
    if (faults.strike('too many requests', TOO_MANY)) return refused('rate_limited')
    if (faults.strike('answer lost before Steam acted', LOST_BEFORE)) {
      await gate(1_000, TIMEOUT_MS)
      return lost
    }
    const answer = act()
    const isLost = faults.strike('answer lost after Steam acted', risk)
    await gate(isLost ? 1_000 : 20, isLost ? TIMEOUT_MS : 400)
    return isLost ? lost : answer
  }
  return ask
}
