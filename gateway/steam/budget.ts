/** Limits how often one kind of request is made: a bucket that fills up, and a pause after Steam answers 429. */

export type Budget = {
  /** How long until the next turn, in milliseconds; Infinity while a pause lasts. */
  waitMs(): number
  /** Takes the next turn. The request may be made after `waitMs`, if the turn is still good then. */
  take(): Turn
  isPaused(): boolean
}

/** A turn that was taken. It must be told what became of its request. */
export type Turn = {
  /** The first one after a pause: until it is over there is no other. */
  isProbe: boolean
  /** False once Steam has answered 429 to somebody since the turn was taken. */
  isGood(): boolean
  /** Steam answered 429: pauses all requests, longer each time in a row. */
  limited(): void
  /** Steam answered: the next pause is short again. */
  answered(): void
  /** The request brought no answer, or was not made: it says nothing about Steam's limits. */
  unanswered(): void
}

export type BudgetLimits = {
  /** Requests at once after a time of rest. */
  burst: number
  /** Time in which one more becomes free. */
  everyMs: number
}

export type Time = {
  /** Never jumps; in milliseconds. */
  now(): number
  pause(ms: number): Promise<void>
}

/** `random`: from 0 to 1, for pauses that do not all end together. */
export type Circumstances = { time: Pick<Time, 'now'>; random: () => number }

/** Steam does not say how long it refuses. Requests in that time are said to make it longer. */
const FIRST_PAUSE_MS = 30_000
const LAST_PAUSE_MS = 600_000
/** A pause is up to this much longer. */
const JITTER = 0.25

/** The limits are read at each turn: they may change. */
export function createBudget(limits: Readonly<BudgetLimits>, { time, random }: Circumstances): Budget {
  // In time, not in turns, so nothing is rounded. Negative while turns that were granted are still ahead.
  let savedMs = limits.burst * limits.everyMs
  let countedAtMs = time.now()
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  /** In a row. */
  let pauses = 0
  let refusals = 0
  let probe: Turn | undefined

  const count = () => {
    const nowMs = time.now()
    savedMs = Math.min(limits.burst * limits.everyMs, savedMs + nowMs - countedAtMs)
    countedAtMs = nowMs
  }
  const isPaused = () => pausedUntilMs > time.now()
  const takeTurn = (): Turn => {
    const before = refusals
    const isProbe = pauses > 0
    const isGood = () => refusals === before
    const end = () => {
      if (probe === turn) probe = undefined
    }
    const turn: Turn = {
      isProbe,
      isGood,
      limited() {
        end()
        // Several requests under way may be refused at once: one pause for all.
        if (!isGood()) return
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** pauses, LAST_PAUSE_MS)
        pausedUntilMs = time.now() + pauseMs * (1 + JITTER * random())
        refusals += 1
        pauses += 1
      },
      answered() {
        end()
        // A request that was made before a refusal does not say that it is over.
        if (isGood()) pauses = 0
      },
      unanswered: end,
    }
    return turn
  }
  return {
    waitMs() {
      count()
      return isPaused() || probe !== undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(0, limits.everyMs - savedMs)
    },
    take() {
      count()
      savedMs -= limits.everyMs
      const turn = takeTurn()
      if (turn.isProbe) probe = turn
      return turn
    },
    isPaused,
  }
}
