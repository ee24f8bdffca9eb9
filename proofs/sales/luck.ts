/** The faults of sales, and their times: decided by the seed alone. */
import type { Random } from '../random.ts'
import { createTrace, type Trace } from '../simulation/trace.ts'

export const FAULTS = [
  'call to Steam lost',
  'answer of Steam lost',
  'offer listed late',
  'stale read of an offer',
  'offer refused',
  'buyer declines',
  'buyer counters',
  'buyer never accepts',
  'buyer accepts after the market gave up',
  'offer held by Steam',
  'cancel loses to an accept',
  'call to a market lost',
  'answer of a market lost',
  'market refuses a hand-over that is fine',
  'market asks for an asset that was not listed',
  'market asks for more than it sold',
  'market names an account of ours as the buyer',
  'market uses the message of a deposit',
  'market shows another price',
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
] as const
export type Fault = (typeof FAULTS)[number]

/** Thrown at the call at which the vault's process dies, and at each one after it. */
export class Killed extends Error {}

export class Luck {
  readonly random: Random
  readonly trace: Trace
  readonly met = new Map<Fault, number>()
  /** Nothing goes wrong any longer. */
  isCalm = false
  isDead = false

  constructor(random: Random, keepAll: boolean) {
    this.random = random
    this.trace = createTrace({ keepAll })
  }

  hits(fault: Fault, probability: number): boolean {
    if (this.isCalm || !this.random.chance(probability)) return false
    this.met.set(fault, (this.met.get(fault) ?? 0) + 1)
    this.trace.add(`! ${fault}`)
    return true
  }

  /** A moment at which the process may die. */
  mayDie(): void {
    if (!this.isDead && this.hits('vault killed', 0.004)) this.isDead = true
    if (this.isDead) throw new Killed()
  }

  /** A call outside: it may be lost, its answer may be, and the process may die on either side of it. */
  call<T, L>(to: 'Steam' | 'a market', { effect, lost }: { effect: () => T; lost: L }): T | L {
    this.mayDie()
    if (this.hits(`call to ${to} lost`, 0.02)) return lost
    const answer = effect()
    this.mayDie()
    return this.hits(`answer of ${to} lost`, 0.03) ? lost : answer
  }
}
