import type { Agent } from 'node:https'
import { EAuthSessionGuardType, EAuthTokenPlatformType, LoginSession } from 'steam-session'
import { z } from 'zod'
import type { Unavailable } from '../steam.ts'
import { withDeadline } from './login.ts'

// Steam's result numbers. Several have the same meaning here.
const WRONG_PASSWORD = 5
const WRONG_CODES = new Set([65, 85, 88])
const RATE_LIMITED = 84
const EXPIRED = new Set([27, 9])
const MOST_CODES = 3

type Times = {
  /** The deadline for one answer of Steam. */
  answerMs: number
  /** The deadline for the confirmation of the login. */
  personMs: number
}

const DEFAULT_TIMES: Times = { answerMs: 15_000, personMs: 180_000 }

export type LoginWay =
  | {
      kind: 'password'
      accountName: string
      password: string
      /** Called again after a wrong code, at most three times in all. Not called if Steam asks for no code. */
      code(): Promise<string>
    }
  /**
   * `show` gets the address that the Steam app on the bot's phone must open. It is called again for each address with
   * which Steam replaces an earlier one. The wait ends when `signal` is aborted.
   */
  | { kind: 'phone'; show(address: string, isReplacement: boolean): void; signal?: AbortSignal }

export type TokenAnswer =
  | { kind: 'token'; refreshToken: string }
  /** `not_confirmed`: nobody confirmed the login before the wait for it ended. */
  | {
      kind: 'refused'
      reason: 'wrong_password' | 'wrong_code' | 'not_confirmed'
    }
  | Unavailable

/** Logs in once to obtain a refresh token for web sessions. */
export async function obtainToken(
  agent: Agent,
  way: LoginWay,
  times: Times = DEFAULT_TIMES,
): Promise<TokenAnswer> {
  const signal = way.kind === 'phone' ? way.signal : undefined
  // A signal that is already aborted emits no event.
  if (signal?.aborted) return { kind: 'refused', reason: 'not_confirmed' }
  const session = new LoginSession(EAuthTokenPlatformType.WebBrowser, { agent })
  session.loginTimeout = times.personMs
  const outcome = outcomeOf(session, signal)
  try {
    const start = await answerInTime(begin(session, way), times.answerMs)
    if (start.kind !== 'done') return start
    if (way.kind === 'password' && start.needsCode) {
      const answer = await submitCode(session, way.code, times.answerMs)
      if (answer.kind !== 'done') return answer
    }
    return await withDeadline(outcome, times.personMs, { kind: 'refused', reason: 'not_confirmed' })
  } finally {
    session.cancelLoginAttempt()
  }
}

/** The library reports a new QR code only in its debug event about each answer to a poll. */
const replacedCode = z.object({ newChallengeUrl: z.string().min(1) })

type Start = { kind: 'done'; needsCode: boolean }

async function begin(session: LoginSession, way: LoginWay): Promise<Start> {
  if (way.kind === 'phone') {
    const { qrChallengeUrl } = await session.startWithQR()
    way.show(qrChallengeUrl ?? '', false)
    session.on('debug', (_what: unknown, details: unknown) => {
      const { data } = replacedCode.safeParse(details)
      if (data !== undefined) way.show(data.newChallengeUrl, true)
    })
    return { kind: 'done', needsCode: false }
  }
  const { accountName, password } = way
  const { validActions = [] } = await session.startWithCredentials({ accountName, password })
  const codes = [EAuthSessionGuardType.DeviceCode, EAuthSessionGuardType.EmailCode]
  return { kind: 'done', needsCode: validActions.some(({ type }) => codes.includes(type)) }
}

async function submitCode(session: LoginSession, ask: () => Promise<string>, ms: number) {
  for (let tries = 1; ; tries += 1) {
    const code = (await ask()).trim().toUpperCase()
    const answer = await answerInTime(
      session.submitSteamGuardCode(code).then(() => ({ kind: 'done' as const })),
      ms,
    )
    const isWrong = answer.kind === 'refused' && answer.reason === 'wrong_code'
    if (!isWrong || tries >= MOST_CODES) return answer
  }
}

/** Must be called before the first request, because the session emits events from its own timers. */
function outcomeOf(session: LoginSession, signal: AbortSignal | undefined): Promise<TokenAnswer> {
  const { promise, resolve } = Promise.withResolvers<TokenAnswer>()
  session.on('authenticated', () => resolve({ kind: 'token', refreshToken: session.refreshToken }))
  const giveUp = () => resolve({ kind: 'refused', reason: 'not_confirmed' })
  session.on('timeout', giveUp)
  signal?.addEventListener('abort', giveUp)
  session.on('error', (error: unknown) => resolve(explain(error)))
  return promise
}

async function answerInTime<T>(
  work: Promise<T>,
  ms: number,
): Promise<T | Exclude<TokenAnswer, { kind: 'token' }>> {
  return withDeadline<T | Exclude<TokenAnswer, { kind: 'token' }>>(work.catch(explain), ms, {
    kind: 'unavailable',
    reason: 'timeout',
    detail: 'enrolment: no answer in time',
  })
}

/** Drops the error's own text, because it may quote the request. */
function explain(error: unknown): Exclude<TokenAnswer, { kind: 'token' }> {
  const result = error instanceof Error && 'eresult' in error ? Number(error.eresult) : Number.NaN
  if (result === WRONG_PASSWORD) return { kind: 'refused', reason: 'wrong_password' }
  if (WRONG_CODES.has(result)) return { kind: 'refused', reason: 'wrong_code' }
  if (EXPIRED.has(result)) return { kind: 'refused', reason: 'not_confirmed' }
  const reason = result === RATE_LIMITED ? 'rate_limited' : 'steam_error'
  return {
    kind: 'unavailable',
    reason,
    detail: `enrolment: ${Number.isNaN(result) ? 'no answer' : `result ${result}`}`,
  }
}
