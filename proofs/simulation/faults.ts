/**
 * The faults, which docs/proofs.md explains, and their counts. A run of `simulate` fails if one of its level's faults
 * never happens, because it then proves nothing about that fault.
 */

/** Faults of both levels: the pure one, in memory, and the real one, on PostgreSQL. */
const SHARED = [
  'answer lost before Steam acted',
  'answer lost after Steam acted',
  'offer listed late',
  'stale read',
  'accepted offer reported as not accepted',
  'open offer reported as ended',
  'refusal of an offer that was made',
  'duplicated job',
  'lost job',
  'poison job',
  'clock jump',
  'crash',
  'serialization failure',
  'paused lease holder',
  'two processes on one bot',
  'write under an old lease',
  'reversal, whole',
  'reversal, in part',
  'reversal before the delivery was reported',
  'acceptance after refused',
  'acceptance after abandoned',
  'acceptance after declined',
  'acceptance after countered',
  'acceptance after invalid',
  'acceptance after timed_out',
  'abandoned offer that turns up',
  'acceptance faster than a cancel',
  'cancel that does nothing',
  'commit without an answer',
  'unreadable row in a list',
  'row that stays unreadable',
  'further page of a list',
  'further page of a history',
  'escrow',
  'escrow that completes',
  'escrow that is cancelled',
  'refusal on the bot’s side',
  'hold on the bot’s side',
  'too many requests',
  'request held back by our own limits',
  'token refused for a while',
  'store cancels',
  'acceptance faster than a store’s cancel',
  'counter-offer declined',
  'changed settings of a store',
  'Steam trade that fails',
  'bot that Steam refuses forever',
  'offer in an unknown state',
  'accepted offer without a trade id',
  'protection reported late',
  'rolled back, with only some items marked',
  'credit by an operator',
  'credit released early by an operator',
  'theft from a bot',
  'items sent away by the operator',
  'departure cancelled',
  'departure taken back',
  'items moved to another bot',
  'items sent back by a destination',
] as const

export const PURE_FAULTS = [
  ...SHARED,
  'open offer reported as accepted',
  'shopper forgiven by an operator',
  'item that vanished',
  'item without a trade',
  'own inventory shown in part',
  'own inventory lacking an item',
] as const

export const REAL_FAULTS = [...SHARED, 'lock wait', 'crowd at a lock'] as const

export type Fault = (typeof PURE_FAULTS)[number] | (typeof REAL_FAULTS)[number]

export type Faults = {
  /** Decides whether the fault happens now, and counts it. Always false after `stop`. */
  strike(fault: Fault, probability: number): boolean
  /** Decides whether a fault may happen later. Call `note` with the fault once it has changed an answer. */
  plan(probability: number): boolean
  /** Counts a fault that has happened. */
  note(fault: Fault): void
  stop(): void
  readonly areStopped: boolean
  counts(): ReadonlyMap<Fault, number>
}

export function createFaults(chance: (probability: number) => boolean): Faults {
  const counts = new Map<Fault, number>()
  let areStopped = false
  const note = (fault: Fault): void => {
    counts.set(fault, (counts.get(fault) ?? 0) + 1)
  }
  return {
    strike(fault, probability) {
      if (areStopped || !chance(probability)) return false
      note(fault)
      return true
    },
    plan: (probability) => !areStopped && chance(probability),
    note,
    stop: () => {
      areStopped = true
    },
    get areStopped() {
      return areStopped
    },
    counts: () => counts,
  }
}

/** Makes each fault `times` times as likely, for a level whose runs are short. */
export function moreLikely(faults: Faults, times: number): Faults {
  return {
    strike: (fault, probability) => faults.strike(fault, probability * times),
    plan: (probability) => faults.plan(probability * times),
    note: faults.note,
    stop: faults.stop,
    get areStopped() {
      return faults.areStopped
    },
    counts: faults.counts,
  }
}
