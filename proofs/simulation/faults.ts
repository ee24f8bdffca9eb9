/** The names of all that goes wrong. A run that never met one of its faults has proved nothing about it, and fails. */

/** Met on both levels. */
const SHARED = [
  'answer lost before Steam acted',
  'answer lost after Steam acted',
  'offer listed late',
  'stale read',
  'flip of an accepted offer',
  'false end',
  'refusal of an offer that was made',
  'duplicated job',
  'lost job',
  'poison job',
  'clock jump',
  'crash',
  'serialization failure',
  'paused lease holder',
  'two processes at one bot',
  'write under an old lease',
  'reversal, whole',
  'reversal, in part',
  'reversal before it was seen',
  'acceptance after refused',
  'acceptance after abandoned',
  'acceptance after declined',
  'acceptance after countered',
  'acceptance after invalid',
  'acceptance after timed_out',
  'abandoned offer turns up',
  'cancel loses to an accept',
  'cancel that does nothing',
  'commit answered by nobody',
  'unreadable row in a list',
  'row that stays unreadable',
  'further page of a list',
  'further page of a history',
  'escrow',
  'escrow that completes',
  'escrow that is called off',
  'refusal on the bot’s side',
  'hold of a bot',
  'too many requests',
  'request held back by our own limits',
  'token refused for a while',
  'store cancels',
  'accept faster than a store’s cancel',
  'counter-offer declined',
  'settings of a store change',
  'exchange that fails',
  'bot that dies for good',
  'offer whose state nobody knows',
  'accepted offer without a trade id',
  'protection told late',
  'status 12 with some rows marked',
  'credit on the word of an operator',
  'thief at a bot',
  'items sent away by the operator',
  'departure called off',
  'departure taken back',
  'items moved to another bot',
  'items sent back by a destination',
] as const

export const PURE_FAULTS = [
  ...SHARED,
  'shopper forgiven by an operator',
  'item that vanished',
  'item that no trade brought',
  'own inventory in part',
  'own inventory without an item',
] as const

export const REAL_FAULTS = [...SHARED, 'lock wait', 'crowd at a lock'] as const

export type Fault = (typeof PURE_FAULTS)[number] | (typeof REAL_FAULTS)[number]

export type Faults = {
  /** True if it happens now; then it is counted. Never once the faults have stopped. */
  strike(fault: Fault, probability: number): boolean
  /** True if it may happen from now on. It counts once it has changed an answer: then call `saw`. */
  plan(probability: number): boolean
  /** Counts what happened. */
  saw(fault: Fault): void
  stop(): void
  readonly stopped: boolean
  counts(): ReadonlyMap<Fault, number>
}

export function createFaults(chance: (probability: number) => boolean): Faults {
  const counts = new Map<Fault, number>()
  let stopped = false
  const saw = (fault: Fault): void => {
    counts.set(fault, (counts.get(fault) ?? 0) + 1)
  }
  return {
    strike(fault, probability) {
      if (stopped || !chance(probability)) return false
      saw(fault)
      return true
    },
    plan: (probability) => !stopped && chance(probability),
    saw,
    stop: () => {
      stopped = true
    },
    get stopped() {
      return stopped
    },
    counts: () => counts,
  }
}

/** The same faults, that many times as likely: for a level whose seeds are short. */
export function moreLikely(faults: Faults, times: number): Faults {
  return {
    strike: (fault, probability) => faults.strike(fault, probability * times),
    plan: (probability) => faults.plan(probability * times),
    saw: faults.saw,
    stop: faults.stop,
    get stopped() {
      return faults.stopped
    },
    counts: faults.counts,
  }
}
