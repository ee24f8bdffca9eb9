/** Tracks since when every call of a bot fails, by capability. Pure: answers and times are arguments. */

export type Capability = 'offers' | 'inventories'

/** The part of an answer that tells failure from success. Every answer of the port fits. */
export type Answer = { kind: string; reason?: string; detail?: string }

/** How long each capability has failed, in milliseconds; null where it works. */
export type Failing = Record<Capability, number | null>

export type Health = {
  /** Takes in an answer of Steam to a call of this capability. */
  see(capability: Capability, answer: Answer): void
  /** No session can be opened, so nothing works. */
  lost(): void
  failing(): Failing
  /** How long ago the last answer came, in milliseconds. */
  sinceAnswerMs(capability: Capability): number
}

const REFUSED_BY_STEAM_ITSELF = new Set(['rate_limited', 'session_dead', 'item_server_down'])

/** `known` is the database's record when this process takes the bot. */
export function trackHealth(monotonicMs: () => number, known: Failing): Health {
  const begun = (ms: number | null) => (ms === null ? null : monotonicMs() - ms)
  const since: Record<Capability, number | null> = {
    offers: begun(known.offers),
    inventories: begun(known.inventories),
  }
  const answeredAtMs: Record<Capability, number> = {
    offers: Number.NEGATIVE_INFINITY,
    inventories: Number.NEGATIVE_INFINITY,
  }
  // No inventory may be read for hours. A failure that was only concluded for them ends when offers work again.
  let isConcluded = known.inventories !== null

  return {
    see(capability, answer) {
      answeredAtMs[capability] = monotonicMs()
      if (isFailure(answer)) {
        since[capability] ??= monotonicMs()
        if (capability === 'inventories') isConcluded = false
        return
      }
      since[capability] = null
      if (capability === 'offers' && isConcluded) since.inventories = null
    },
    lost() {
      since.offers ??= monotonicMs()
      if (since.inventories !== null) return
      since.inventories = monotonicMs()
      isConcluded = true
    },
    failing() {
      const age = (ms: number | null) => (ms === null ? null : monotonicMs() - ms)
      return { offers: age(since.offers), inventories: age(since.inventories) }
    },
    sinceAnswerMs: (capability) => monotonicMs() - answeredAtMs[capability],
  }
}

/** A refusal of the request itself means that Steam works. */
export function isFailure({ kind, reason = '' }: Answer): boolean {
  return (
    kind === 'unavailable' ||
    kind === 'unknown' ||
    (kind === 'refused' && REFUSED_BY_STEAM_ITSELF.has(reason))
  )
}
