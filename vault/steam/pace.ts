/**
 * The least time between two requests of the same kind to Steam, for each account. The gateway makes requests for the
 * same accounts, so the vault reads, sends and cancels offers, and reads trades, at most a tenth as often as
 * gateway/steam/methods.ts allows. It reads confirmations at most every ten seconds, because Steam is said to refuse
 * more frequent reads.
 */
export const GAPS_MS = {
  login: 60_000,
  inventory: 2_000,
  offer: 200,
  offers: 1_500,
  trade: 20_000,
  send: 10_000,
  acknowledge: 10_000,
  cancel: 5_000,
  accept: 5_000,
  confirmations: 10_000,
  confirm: 3_000,
  /** Prices of Steam's market. Steam counts these requests per IP address. */
  price: 4_000,
} as const

export type RequestKind = keyof typeof GAPS_MS

/** The pause after a 429, or another answer that means too many requests. Each further one in a row doubles it. */
const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 1_800_000
/** A request that would wait longer for its turn is not made. */
const LONGEST_WAIT_MS = 45_000

/** `pause` resolves after this time. `nowMs` never jumps. */
export type Timer = { nowMs(): number; pause(ms: number): Promise<void> }

export type Pace = {
  /**
   * Resolves to true when it is this request's turn. False: the wait would be too long, or Steam answered 429
   * meanwhile.
   */
  turn(kind: RequestKind): Promise<boolean>
  /** Records that Steam answered 429. Requests of this kind then pause, longer each time. */
  noteLimit(kind: RequestKind): void
  /** Records any other answer, so the next pause is short again. */
  noteAnswer(kind: RequestKind): void
}

export function createPace({ nowMs, pause }: Timer): Pace {
  const freeAtMs = new Map<RequestKind, number>()
  /** How many times Steam has answered 429. */
  const limits = new Map<RequestKind, number>()
  /** How many times in a row Steam has answered 429. */
  const refusals = new Map<RequestKind, number>()
  return {
    async turn(kind) {
      const turnMs = Math.max(nowMs(), freeAtMs.get(kind) ?? 0)
      const waitMs = turnMs - nowMs()
      if (waitMs > LONGEST_WAIT_MS) return false
      freeAtMs.set(kind, turnMs + GAPS_MS[kind])
      const limitsBefore = limits.get(kind)
      if (waitMs > 0) await pause(waitMs)
      // Differs if Steam has answered 429 to another request meanwhile.
      return limits.get(kind) === limitsBefore
    },
    noteLimit(kind) {
      const count = refusals.get(kind) ?? 0
      refusals.set(kind, count + 1)
      const untilMs = nowMs() + Math.min(FIRST_PAUSE_MS * 2 ** count, LONGEST_PAUSE_MS)
      limits.set(kind, (limits.get(kind) ?? 0) + 1)
      freeAtMs.set(kind, Math.max(untilMs, freeAtMs.get(kind) ?? 0))
    },
    noteAnswer: (kind) => void refusals.delete(kind),
  }
}
