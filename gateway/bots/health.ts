/** Tracks since when every call of a bot fails, by capability. Pure: answers and times are arguments. */

export type Capability = 'offers' | 'inventories'

/** The part of an answer that tells failure from success. Every answer of the port fits. */
export type Answer = { kind: string; reason?: string; detail?: string }

/** How long each capability has failed, in milliseconds; null if it works. */
export type Failing = Record<Capability, number | null>

export type Health = {
  /** Takes in an answer of Steam to a call of this capability. */
  see(capability: Capability, answer: Answer): void
  /** No session can be opened, so nothing works. */
  lost(answer: Answer): void
  failing(): Failing
  /** How long ago the last answer came, in milliseconds. */
  sinceAnswerMs(capability: Capability): number
}

/** Refusals so close to each other are one: what Steam refuses is not asked again for half a minute. */
const LIMITED_AGAIN_MS = 20_000
/** Longer than any pause of ours. Refusals so far apart have nothing to do with each other. */
const LIMITS_APART_MS = 15 * 60_000

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
  // Our own pause follows a 429. It must not age into an outage, so one 429 is no failure, and a second after it is.
  const limited: Record<Capability, { firstMs: number; lastMs: number } | null> = {
    offers: null,
    inventories: null,
  }
  // No inventory may be read for hours. A failure that was only concluded for them ends when offers work again.
  let isConcluded = known.inventories !== null

  /** Since when the failure lasts that this answer tells of; null if it is none yet. */
  const beginOf = (capability: Capability, { reason }: Answer): number | null => {
    const nowMs = monotonicMs()
    if (reason !== 'rate_limited') return since[capability] ?? nowMs
    const before = limited[capability]
    const firstMs = before !== null && nowMs - before.lastMs < LIMITS_APART_MS ? before.firstMs : nowMs
    limited[capability] = { firstMs, lastMs: nowMs }
    return since[capability] ?? (nowMs - firstMs >= LIMITED_AGAIN_MS ? firstMs : null)
  }
  return {
    see(capability, answer) {
      answeredAtMs[capability] = monotonicMs()
      if (isOurLimit(answer)) return
      if (isFailure(answer)) {
        since[capability] = beginOf(capability, answer)
        if (capability === 'inventories') isConcluded = false
        return
      }
      since[capability] = null
      limited[capability] = null
      if (capability === 'offers' && isConcluded) since.inventories = null
    },
    lost(answer) {
      if (isOurLimit(answer)) return
      since.offers = beginOf('offers', answer)
      if (since.inventories !== null) return
      since.inventories = beginOf('inventories', answer)
      isConcluded = since.inventories !== null
    },
    failing() {
      const age = (ms: number | null) => (ms === null ? null : monotonicMs() - ms)
      return { offers: age(since.offers), inventories: age(since.inventories) }
    },
    sinceAnswerMs: (capability) => monotonicMs() - answeredAtMs[capability],
  }
}

/** Steam was not asked: it neither works nor fails. */
function isOurLimit({ reason }: Answer): boolean {
  return reason === 'not_our_turn'
}

/** A refusal of the request itself means that Steam works. */
function isFailure({ kind, reason = '' }: Answer): boolean {
  return (
    kind === 'unavailable' ||
    kind === 'unknown' ||
    (kind === 'refused' && REFUSED_BY_STEAM_ITSELF.has(reason))
  )
}
