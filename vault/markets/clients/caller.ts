import { z } from 'zod'
import type { Failure, MarketAnswer } from '../market.ts'
import type { Call, Connection, Reply } from './connection.ts'
import { parseLossless } from './lossless-json.ts'
import { createPace, type Time } from './pace.ts'

/** How a market expects calls, and reports failures. `Ask`: the parameters of its calls. */
type Protocol<Ask> = {
  /** The shortest time between two calls, in milliseconds. */
  everyMs: number
  callOf(name: string, ask: Ask): Call
  /** The failure that an answer reports. Undefined if the call succeeded. */
  failureOf(answer: unknown, status: number, ask: Ask): Failure | undefined
  /** True if the host of this call may refuse a key that other hosts accept. */
  isSideHost?(ask: Ask): boolean
}

/** `carriesToken`: the call contains an access token, so a refusal may concern the token and not the key. */
type Refusable = { carriesToken?: true }

export type Caller<Ask> = <T, R>(
  name: string,
  schema: z.ZodType<T>,
  ask: Ask &
    Refusable & {
      read: (answer: T) => R
      /** Runs right before the call, which waits for it. Does not run if no call is made. */
      begin?: (() => Promise<void>) | undefined
    },
) => Promise<MarketAnswer<R>>

const PAUSE_MS = 60_000
/**
 * The pause after an answer whose text refuses the key. A market that fails may refuse a good key, so the key is tried
 * again, but rarely: a wrong one stays wrong.
 */
export const LOCKED_OUT_MS = 600_000
/** Replaces the key in answers. */
const HIDDEN = '***'
const TOO_MANY_REQUESTS = 'HTTP 429'
/** The statuses with which a server refuses a key, before it carries out anything. */
const KEY_STATUSES: ReadonlySet<number> = new Set([401, 403])

/**
 * Pauses for ten minutes after an answer whose text refuses the key, and for a minute after "too many requests". If
 * only the status refuses the key (`KeyStatus`), that may be a passing fault. It causes a pause of only a minute,
 * because a sold item must be handed over within five. If a call after that pause gets such a status again, and no call
 * to the market's main host succeeded in between, the key counts as refused, but again for only a minute.
 */
export function createCaller<Ask>(
  protocol: Protocol<Ask>,
  { key, connection, time }: { key: string; connection: Connection; time: Time },
): Caller<Ask> {
  const hidingConnection = hideKey(connection, key)
  const pace = createPace(protocol.everyMs, time)
  let lockedOutUntilMs = Number.NEGATIVE_INFINITY
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  /** When a status alone first refused the key. Undefined once a call to the main host has succeeded. */
  let doubtedAtMs: number | undefined
  const noteKeyStatus = (): Failure => {
    const nowMs = time.now()
    doubtedAtMs ??= nowMs
    // Calls that were under way together may have met the same fault.
    if (nowMs - doubtedAtMs >= PAUSE_MS) {
      lockedOutUntilMs = nowMs + PAUSE_MS
      return { kind: 'locked_out' }
    }
    pausedUntilMs = nowMs + PAUSE_MS
    return { kind: 'busy' }
  }
  const failureDuringPause = (): Failure | undefined => {
    if (time.now() < lockedOutUntilMs) return { kind: 'locked_out' }
    return time.now() < pausedUntilMs ? { kind: 'busy' } : undefined
  }
  const takeTurn = async (): Promise<Failure | undefined> => {
    const failure = failureDuringPause()
    if (failure !== undefined) return failure
    if (!(await pace.turn())) return { kind: 'busy' }
    // The answer to an earlier call may have begun a pause during the wait.
    return failureDuringPause()
  }
  return async (name, schema, ask) => {
    const failure = await takeTurn()
    if (failure !== undefined) return failure
    await ask.begin?.()
    const answer = await askOnce(protocol, hidingConnection, { name, ask })
    if (answer.kind === 'key_status') return noteKeyStatus()
    if (answer.kind !== 'answered') {
      if (answer.kind === 'locked_out') lockedOutUntilMs = time.now() + LOCKED_OUT_MS
      if (answer.kind === 'unanswered' && answer.because === TOO_MANY_REQUESTS)
        pausedUntilMs = time.now() + PAUSE_MS
      return answer
    }
    if (protocol.isSideHost?.(ask) !== true) doubtedAtMs = undefined
    const parsed = schema.safeParse(answer.value)
    if (!parsed.success) return { kind: 'unanswered', because: 'an answer of an unexpected shape' }
    return { kind: 'answered', value: ask.read(parsed.data) }
  }
}

/**
 * An answer may quote the address of the call, which contains the key, and texts of answers reach the log and the till.
 */
const hideKey = (connection: Connection, key: string): Pick<Connection, 'ask'> => ({
  async ask(call) {
    const reply = await connection.ask(call)
    const text = reply.text.replaceAll(key, HIDDEN).replaceAll(encodeURIComponent(key), HIDDEN)
    return { ...reply, text }
  },
})

/** The part that every answer of a market contains. */
const envelopeSchema = z.looseObject({ success: z.boolean() })

/**
 * `key_status`: a 401 whose text does not refuse the key, or a 403 with JSON that reports no failure. If the refusal
 * may be about a token or a side host, it is `refused` instead.
 */
type KeyStatus = { kind: 'key_status' }

const unanswered = (because: string): Failure => ({ kind: 'unanswered', because })

async function askOnce<Ask>(
  protocol: Protocol<Ask>,
  connection: Pick<Connection, 'ask'>,
  { name, ask }: { name: string; ask: Ask & Refusable },
): Promise<MarketAnswer<unknown> | KeyStatus> {
  const call = protocol.callOf(name, ask)
  let reply: Reply
  let answer: unknown
  try {
    reply = await connection.ask(call)
    if (KEY_STATUSES.has(reply.status)) return refusalIn(protocol, reply, ask)
    // The body of an error proves nothing, because the call may have failed halfway.
    if (reply.status !== 200) return unanswered(`HTTP ${reply.status}`)
    answer = parseLossless(reply.text)
  } catch (error) {
    // The message may contain the URL, and the URL contains the key.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no complete answer'
    return unanswered(error instanceof SyntaxError ? 'an answer that is not JSON' : code)
  }
  const failure = protocol.failureOf(answer, reply.status, ask)
  if (failure !== undefined) return failure
  const hasSucceeded = envelopeSchema.safeParse(answer).data?.success === true
  return hasSucceeded ? { kind: 'answered', value: answer } : unanswered('an answer without an envelope')
}

function refusalIn<Ask>(
  protocol: Protocol<Ask>,
  { status, text }: Reply,
  ask: Ask & Refusable,
): Failure | KeyStatus {
  const answer = jsonIn(text)
  // A web page comes from a guard in front of the market, which refuses this machine's address.
  if (answer === undefined && status === 403) return unanswered('HTTP 403')
  const failure = protocol.failureOf(answer, status, ask)
  // A 401 without a token is about the key, even if its text gives another reason.
  const hasOtherReason = failure !== undefined && (status === 403 || ask.carriesToken === true)
  if (hasOtherReason || failure?.kind === 'locked_out') return failure
  const mayKeyBeGood = ask.carriesToken === true || protocol.isSideHost?.(ask) === true
  return mayKeyBeGood ? { kind: 'refused', code: `HTTP ${status}` } : { kind: 'key_status' }
}

function jsonIn(text: string): unknown {
  try {
    return parseLossless(text)
  } catch {
    return undefined
  }
}
