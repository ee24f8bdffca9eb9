/** Limits one kind of request: a token bucket, and a pause after Steam answers 429. */

export type Budget = {
  /**
   * How long until the next turn, in milliseconds; Infinity during a pause, and while the probe after it runs. `spare`:
   * how many turns must be left for others after this one, as far as SPARE_SHARE allows.
   */
  waitMs(spare?: number): number
  /**
   * Takes the next turn. Read `waitMs` first: the request may be sent after that time, if the turn is still valid then.
   */
  take(): Turn
  isPaused(): boolean
}

/** A taken turn. Its holder must report the result of the request. */
export type Turn = {
  /** Taken after a pause, before Steam has answered again. `waitMs` is Infinity until the result is reported. */
  isProbe: boolean
  /** False if a pause has begun since the turn was taken. */
  isValid(): boolean
  /** Steam answered 429: pauses the budget's requests. Several pauses in a row grow longer, up to a limit. */
  limited(): void
  /** Steam answered: the next pause is short again. */
  answered(): void
  /** The request got no answer or was not sent, so it proves nothing about Steam's limits. */
  unanswered(): void
}

export type BudgetLimits = {
  /** How many requests may be sent at once after a quiet time. */
  burst: number
  /** The time until one more request is allowed. */
  everyMs: number
}

export type Time = {
  /** A monotonic clock, in milliseconds. */
  now(): number
  pause(ms: number): Promise<void>
}

/** `random`: returns a number from 0 to 1. It varies the pauses, so they do not all end together. */
export type Circumstances = { time: Pick<Time, 'now'>; random: () => number }

/** Steam does not say how long it will refuse requests. Sending more meanwhile reportedly prolongs the refusal. */
const FIRST_PAUSE_MS = 30_000
const LONGEST_PAUSE_MS = 600_000
/** The most that chance adds to a pause, as a share of its length. */
const JITTER = 0.25

/** The part of a burst that a caller can be made to leave to others. */
const SPARE_SHARE = 1 / 6

/** The limits are read at each turn: they may change. */
export function createBudget(limits: Readonly<BudgetLimits>, { time, random }: Circumstances): Budget {
  // Counted in time, not in turns, so nothing is rounded. Negative while granted turns are still in the future.
  let savedMs = limits.burst * limits.everyMs
  let countedAtMs = time.now()
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let pausesInARow = 0
  /** How many refusals caused a pause. */
  let refusals = 0
  let probe: Turn | undefined

  const update = () => {
    const nowMs = time.now()
    savedMs = Math.min(limits.burst * limits.everyMs, savedMs + nowMs - countedAtMs)
    countedAtMs = nowMs
  }
  const isPaused = () => pausedUntilMs > time.now()
  const takeTurn = (): Turn => {
    const refusalsBefore = refusals
    const isProbe = pausesInARow > 0
    const isValid = () => refusals === refusalsBefore
    const end = () => {
      if (probe === turn) probe = undefined
    }
    const turn: Turn = {
      isProbe,
      isValid,
      limited() {
        end()
        // Several running requests can be refused together. They cause only one pause.
        if (!isValid()) return
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** pausesInARow, LONGEST_PAUSE_MS)
        pausedUntilMs = time.now() + pauseMs * (1 + JITTER * random())
        refusals += 1
        pausesInARow += 1
      },
      answered() {
        end()
        // A request sent before a refusal does not prove that the refusals are over.
        if (isValid()) pausesInARow = 0
      },
      unanswered: end,
    }
    return turn
  }
  return {
    waitMs(spare = 0) {
      update()
      if (isPaused() || probe !== undefined) return Number.POSITIVE_INFINITY
      const turns = 1 + Math.min(spare, Math.floor(limits.burst * SPARE_SHARE))
      return Math.max(0, turns * limits.everyMs - savedMs)
    },
    take() {
      update()
      savedMs -= limits.everyMs
      const turn = takeTurn()
      if (turn.isProbe) probe = turn
      return turn
    },
    isPaused,
  }
}
