export type Capability = 'offers' | 'inventories'

/** The part of a Steam port's answer that shows failure or success. */
export type Answer = { kind: string; reason?: string; detail?: string }

/** Null for a capability that does not count as failing. */
export type FailedForMs = Record<Capability, number | null>

export type Health = {
  /** Records the answer to a call of this capability, even if the call was not sent (`not_our_turn`). */
  recordAnswer(capability: Capability, answer: Answer): void
  /** Records that no session can be opened, so every capability fails. */
  recordNoSession(answer: Answer): void
  failing(): FailedForMs
  /** Time since the last answer that was recorded. Infinity before the first. */
  sinceAnswerMs(capability: Capability): number
}

/** Refusals within this time count once. Safely below the 30 s after which we repeat a refused request. */
const LIMITED_AGAIN_MS = 20_000
/** Longer than any of our pauses. Refusals this far apart are unrelated. */
const LIMITS_APART_MS = 15 * 60_000

/**
 * An answer without content proves neither failure nor success. After this long with nothing else, a failure ends: an
 * account without offers gets no other answers, and only a new offer can show more.
 */
const ONLY_EMPTY_MS = 10 * 60_000

/** Reasons of a refusal that count as failures, because none of them is about the request. */
const REFUSED_BY_STEAM_ITSELF = new Set(['rate_limited', 'session_dead', 'item_server_down'])

/**
 * Tracks since when each capability of a bot has failed. `knownFailures`: the database's record when this process takes
 * the bot.
 */
export function trackHealth(monotonicMs: () => number, knownFailures: FailedForMs): Health {
  const beganMs = (ms: number | null) => (ms === null ? null : monotonicMs() - ms)
  const sinceMs: Record<Capability, number | null> = {
    offers: beganMs(knownFailures.offers),
    inventories: beganMs(knownFailures.inventories),
  }
  const answeredAtMs: Record<Capability, number> = {
    offers: Number.NEGATIVE_INFINITY,
    inventories: Number.NEGATIVE_INFINITY,
  }
  const failedAtMs: Record<Capability, number> = { offers: monotonicMs(), inventories: monotonicMs() }
  // After a 429 we pause, and our pause must not count as an outage. So the first 429 is no failure, but a 429 after
  // the pause is.
  const limited: Record<Capability, { firstMs: number; lastMs: number } | null> = {
    offers: null,
    inventories: null,
  }
  // Hours can pass without an inventory read. If the failure of inventories was only inferred from a missing session,
  // it ends when offers work again. A failure from the database counts as inferred, because the record does not say.
  let isInferred = knownFailures.inventories !== null

  /** Records the failure, and returns when it began; null if it does not count as a failure yet. */
  const recordFailure = (capability: Capability, { reason }: Answer): number | null => {
    const nowMs = monotonicMs()
    failedAtMs[capability] = nowMs
    if (reason !== 'rate_limited') return sinceMs[capability] ?? nowMs
    const before = limited[capability]
    const firstMs = before !== null && nowMs - before.lastMs < LIMITS_APART_MS ? before.firstMs : nowMs
    limited[capability] = { firstMs, lastMs: nowMs }
    return sinceMs[capability] ?? (nowMs - firstMs >= LIMITED_AGAIN_MS ? firstMs : null)
  }
  return {
    recordAnswer(capability, answer) {
      answeredAtMs[capability] = monotonicMs()
      if (isOurLimit(answer)) return
      if (isFailure(answer)) {
        sinceMs[capability] = recordFailure(capability, answer)
        if (capability === 'inventories') isInferred = false
        return
      }
      if (isEmpty(answer) && monotonicMs() - failedAtMs[capability] < ONLY_EMPTY_MS) return
      sinceMs[capability] = null
      limited[capability] = null
      if (capability === 'offers' && isInferred) sinceMs.inventories = null
    },
    recordNoSession(answer) {
      if (isOurLimit(answer)) return
      sinceMs.offers = recordFailure('offers', answer)
      if (sinceMs.inventories !== null) return
      sinceMs.inventories = recordFailure('inventories', answer)
      isInferred = sinceMs.inventories !== null
    },
    failing() {
      const ageMsOf = (ms: number | null) => (ms === null ? null : monotonicMs() - ms)
      return { offers: ageMsOf(sinceMs.offers), inventories: ageMsOf(sinceMs.inventories) }
    },
    sinceAnswerMs: (capability) => monotonicMs() - answeredAtMs[capability],
  }
}

/** True if Steam was not asked, so the answer does not show whether Steam works. */
function isOurLimit({ reason }: Answer): boolean {
  return reason === 'not_our_turn'
}

/** True for an answer without content: no list of offers at all, or not the offer that was asked for. */
function isEmpty({ kind }: Answer): boolean {
  return kind === 'nothing' || kind === 'missing'
}

/** A refusal because of the request means that Steam works, and so does an inventory that is too large to be read. */
function isFailure({ kind, reason = '' }: Answer): boolean {
  return (
    (kind === 'unavailable' && reason !== 'too_large') ||
    kind === 'unknown' ||
    (kind === 'refused' && REFUSED_BY_STEAM_ITSELF.has(reason))
  )
}
