/** The faults of sales. The seed alone decides which of them happen, and when. */
import type { Random } from '../random.ts'
import { createTrace, type Trace } from '../simulation/trace.ts'

/** Faults of both levels: the pure one in memory, and the real one on PostgreSQL. */
export const SHARED_FAULTS = [
  'call to Steam lost',
  'answer of Steam lost',
  'offer listed late',
  'stale read of an offer',
  'offer refused',
  'too many open offers',
  'buyer declines',
  'buyer counters',
  'buyer never accepts',
  'buyer accepts after the market gave up',
  'offer held by Steam',
  'cancel loses to an accept',
  'trade fails after it was accepted',
  'gift taken back',
  'call to a market lost',
  'answer of a market lost',
  'market refuses a hand-over that is fine',
  'market does not take an item',
  'market asks for an asset that was not listed',
  'market asks for more than it sold',
  'market names an account of ours as the buyer',
  'market uses the message of a deposit',
  'market shows another price',
  'market changes prices late',
  'market shows no listings',
  'market changes a deal',
  'market shows an item twice',
  'market says sold what nobody bought',
  'market says cancelled though it was given',
  'market says it pays more than the price',
  'others ask next to nothing',
  'reversed by the buyer',
  'reversed by the seller',
  'till away',
  'vault killed',
  'limits have no room',
  'wish for an item that is not free',
  'wish to a destination that is not on the list',
  'wish for an item that is on sale',
  'giving back approved for somebody else',
] as const

/** Faults of the real level only, whose till has processes, connections and operators. */
export const REAL_FAULTS = [
  'gateway killed',
  'answer of the database lost',
  'serialization failure',
  'lock wait',
  'wish withdrawn',
  'market switched off for a while',
] as const

export type Fault = (typeof SHARED_FAULTS)[number] | (typeof REAL_FAULTS)[number]

/** Thrown by the call during which the vault's process dies, and by every later call. */
export class Killed extends Error {}

/** Calls something outside the process. If the process dies meanwhile, the call throws `Killed`, or never ends. */
export type OutsideCall = <T>(effect: () => T) => Promise<T>

export class Luck {
  readonly random: Random
  readonly trace: Trace
  /** How often each fault has happened. */
  readonly counts = new Map<Fault, number>()
  /** True while `hits` lets no fault happen. */
  isCalm = false
  isDead = false
  /** By default, the process may die before or after a call. */
  callOutside: OutsideCall = async (effect) => {
    this.mayDie()
    const answer = effect()
    this.mayDie()
    return answer
  }

  constructor(random: Random, keepAll: boolean) {
    this.random = random
    this.trace = createTrace({ keepAll })
  }

  /** Decides whether the fault happens now, and counts it if it does. */
  hits(fault: Fault, probability: number): boolean {
    if (this.isCalm || !this.random.chance(probability)) return false
    this.note(fault)
    return true
  }

  note(fault: Fault): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1)
    this.trace.add(`! ${fault}`)
  }

  /** Kills the process sometimes. Throws if the process is dead. */
  mayDie(): void {
    if (!this.isDead && this.hits('vault killed', 0.004)) this.isDead = true
    if (this.isDead) throw new Killed()
  }

  /** Makes a call to the outside. The call or its answer may be lost. */
  async call<T, L>(to: 'Steam' | 'a market', { effect, lost }: { effect: () => T; lost: L }): Promise<T | L> {
    if (this.hits(`call to ${to} lost`, 0.02)) return this.callOutside(() => lost)
    const answer = await this.callOutside(effect)
    return this.hits(`answer of ${to} lost`, 0.03) ? lost : answer
  }
}
