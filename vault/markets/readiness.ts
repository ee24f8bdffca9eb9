/** Asks the vault's switch, the till and the market whether an account may sell there, and keeps the account online. */
import { MINUTE_MS } from '../durations.ts'
import { type Needs, problemOf } from '../needs.ts'
import type { MarketAccount } from './book.ts'
import { isMaintenance } from './maintenance.ts'
import type { Failure, Market } from './market.ts'
import type { Till } from './till.ts'
import type { Timetable } from './timetable.ts'

/** Listings sell only while their seller pings the market every few minutes. */
const PING_MS = 3 * MINUTE_MS
/** After a failure, how soon to ping again, or to ask again whether the account may sell. */
const AGAIN_MS = 20_000
/** The least time between two logins to Steam for a market that refuses pings: it may refuse them with any token. */
const RENEW_MS = 15 * MINUTE_MS
/** How often to ask the market whether the account may sell. */
const READY_MS = 30 * MINUTE_MS
/**
 * For this long without an answer, the last answer of the till or the market stays valid. Meanwhile nothing new is
 * listed. Taking all listings down and making them again because of one lost answer would take many calls.
 */
const TILL_VALID_MS = MINUTE_MS
const MARKET_VALID_MS = 5 * MINUTE_MS
/** How long a market may stay silent, or refuse pings, before a person is told. Short outages need no person. */
const LONG_SILENCE_MS = 60 * MINUTE_MS
const LONG_OFFLINE_MS = 30 * MINUTE_MS
const MARKET_SILENT = 'the market does not answer'
const TILL_SILENT = 'the till does not answer'

export type ReadinessParts = {
  market: Market
  marketAccount: MarketAccount
  account: { accessToken(options: { fresh: boolean }): Promise<string | undefined> }
  /** The token of the account's trade link, if the rules list the account as a destination. */
  tradeToken: string | undefined
  till: Pick<Till, 'isOff'>
  /** True if the operator has switched the account off at this market, in the vault. Throws if the file is damaged. */
  isOff(): boolean
  now(): Date
  say(line: string, about: Record<string, string | number>): void
  needs: Pick<Needs, 'note' | 'end'>
}

export type Readiness = {
  /** Asks whether the account may sell, and reports a changed answer. */
  ask(): Promise<void>
  /** The reason why all listings must be taken down; undefined if there is none. */
  stoppedBecause(): string | undefined
  /**
   * The reason why nothing is listed now; undefined if items may be listed: nothing forbids it, till and market answer,
   * and the account is online.
   */
  listsNothingBecause(): string | undefined
  /** True if items may be listed now. */
  mayList(): boolean
  /** Call this after a listing failed: before the next one, the market is asked whether the account may sell. */
  doubt(): void
  /** Pings the market if it is time. */
  stayOnline(): Promise<void>
  /** The fee that the market states. */
  feeBp(): bigint | null
}

/** The latest answer of the till or the market, and since when it has been silent. */
type LastAnswer = { because: string | undefined; silentSinceMs: number | undefined }

type State = {
  stoppedBecause: string | undefined
  /** Why the vault's switch cannot be read; undefined if it can. */
  switchProblem: string | undefined
  /** Undefined before the first answer. */
  till: LastAnswer | undefined
  market: LastAnswer | undefined
  /** How long to wait before the market is asked again. */
  askAgainMs: number
  /** Since when the vault sells nothing because the market does not answer. */
  stoppedSinceMs: number | undefined
  isOnline: boolean
  /** Why the latest ping failed; undefined if it succeeded. */
  pingProblem: string | undefined
  /** When the pings began to fail; undefined while they succeed. */
  offlineSinceMs: number | undefined
  feeBp: bigint | null
}

export function createReadiness(parts: ReadinessParts, timetable: Timetable): Readiness {
  const state: State = {
    stoppedBecause: undefined,
    switchProblem: undefined,
    till: undefined,
    market: undefined,
    askAgainMs: READY_MS,
    stoppedSinceMs: undefined,
    isOnline: false,
    pingProblem: undefined,
    offlineSinceMs: undefined,
    feeBp: null,
  }
  const isAnswering = (last: LastAnswer | undefined): boolean =>
    last !== undefined && last.silentSinceMs === undefined
  const listsNothingBecause = (): string | undefined => {
    if (state.stoppedBecause !== undefined) return state.stoppedBecause
    if (!isAnswering(state.till)) return TILL_SILENT
    if (!isAnswering(state.market)) return MARKET_SILENT
    return state.isOnline ? undefined : `the ping failed: ${state.pingProblem}`
  }
  return {
    async ask() {
      const reason = await reasonToStop(parts, state, timetable)
      noteStop(parts, state, reason)
      if (reason === state.stoppedBecause) return
      state.stoppedBecause = reason
      parts.say(reason === undefined ? 'the vault began to sell' : 'the vault stopped selling', {
        market: parts.market.name,
        account: parts.marketAccount.account,
        ...(reason === undefined ? {} : { because: reason }),
      })
    },
    stoppedBecause: () => state.stoppedBecause,
    listsNothingBecause,
    mayList: () => listsNothingBecause() === undefined,
    doubt() {
      noteSilence(state.market, parts.now())
      timetable.hurry('ready')
    },
    async stayOnline() {
      if (!timetable.isDue('ping', state.isOnline ? PING_MS : AGAIN_MS)) return
      const because = await ping(parts, state, timetable)
      const { market, account } = parts.marketAccount
      if (because !== undefined) parts.say('the ping failed', { market, account, because })
    },
    feeBp: () => state.feeBp,
  }
}

/** Returns the reason to stop; undefined if there is none. The vault's switch comes first: the till cannot undo it. */
async function reasonToStop(
  parts: ReadinessParts,
  state: State,
  timetable: Timetable,
): Promise<string | undefined> {
  const { market, till, now } = parts
  const switchReason = readSwitch(parts, state)
  if (switchReason !== undefined) return switchReason
  const isOff = await till.isOff(market.name).catch(() => undefined)
  if (isOff === undefined) noteSilence(state.till, now())
  else state.till = { because: isOff ? 'switched off by the till' : undefined, silentSinceMs: undefined }
  const tillsReason = isStillValid(state.till, TILL_VALID_MS, now()) ? state.till.because : TILL_SILENT
  if (tillsReason !== undefined) return tillsReason
  if (isMaintenance(now())) return 'maintenance of Steam'
  if (timetable.isDue('ready', state.askAgainMs)) await askMarket(parts, state, timetable)
  return isStillValid(state.market, MARKET_VALID_MS, now()) ? state.market.because : MARKET_SILENT
}

/** If the switch cannot be read, this throws nothing: buyers of sold items must not wait for it. */
function readSwitch({ isOff }: ReadinessParts, state: State): string | undefined {
  state.switchProblem = undefined
  try {
    return isOff() ? 'switched off at the vault' : undefined
  } catch (error) {
    state.switchProblem = `the switch at the vault cannot be read: ${problemOf(error)}`
    return state.switchProblem
  }
}

type AccountParts = Pick<ReadinessParts, 'market' | 'marketAccount'>

/** How a problem that needs a person (needs.ts) names the account. */
export const accountName = ({ market, marketAccount }: AccountParts): string =>
  `${market.name} account ${marketAccount.account}`

/**
 * A market that does not let the account sell needs a person. So does one that has been silent for long, and a switch
 * that cannot be read.
 */
function noteStop(parts: ReadinessParts, state: State, reason: string | undefined): void {
  const nowMs = parts.now().getTime()
  if (reason !== MARKET_SILENT) state.stoppedSinceMs = undefined
  else state.stoppedSinceMs = Math.min(state.stoppedSinceMs ?? nowMs, nowMs)
  const isRefused =
    reason !== undefined && (reason === state.market?.because || reason === state.switchProblem)
  const isLongSilent = nowMs - (state.stoppedSinceMs ?? nowMs) >= LONG_SILENCE_MS
  if (isRefused || isLongSilent)
    parts.needs.note('selling_stopped', accountName(parts), `the vault stopped selling: ${reason}`)
  else parts.needs.end('selling_stopped', accountName(parts))
}

function noteSilence(last: LastAnswer | undefined, now: Date): void {
  if (last !== undefined) last.silentSinceMs ??= now.getTime()
}

/** True if there was an answer, and the silence since then is shorter than `forMs`. */
function isStillValid(last: LastAnswer | undefined, forMs: number, now: Date): last is LastAnswer {
  if (last?.silentSinceMs === undefined) return last !== undefined
  // If the clock was set back, the silence counts from the new time: otherwise the answer would stay valid too long.
  last.silentSinceMs = Math.min(last.silentSinceMs, now.getTime())
  return now.getTime() - last.silentSinceMs < forMs
}

async function askMarket(parts: ReadinessParts, state: State, timetable: Timetable): Promise<void> {
  // A seller counts as offline until its first ping.
  await ping(parts, state, timetable)
  const reply = await readyWithToken(parts)
  state.askAgainMs = reply.kind === 'answered' ? READY_MS : AGAIN_MS
  switch (reply.kind) {
    case 'answered': {
      state.feeBp = reply.value.feeBp
      // A successful ping ends the problem `offline`. While pings fail, nothing is listed anyway.
      const problems = reply.value.problems.filter((problem) => problem !== 'offline')
      const because = problems.length === 0 ? undefined : problems.join(', ')
      state.market = { because, silentSinceMs: undefined }
      return
    }
    case 'refused': {
      const because = `the market refuses: ${reply.code.slice(0, 100)}`
      state.market = { because, silentSinceMs: undefined }
      return
    }
    case 'locked_out':
      state.market = { because: 'the market refuses the key', silentSinceMs: undefined }
      return
    default:
      noteSilence(state.market, parts.now())
  }
}

/** Sends the account's trade token to a market that lacks it. */
async function readyWithToken({ market, tradeToken }: ReadinessParts): ReturnType<Market['ready']> {
  const reply = await market.ready()
  const isMissing = reply.kind === 'answered' && reply.value.problems.includes('no_trade_token')
  if (!isMissing || tradeToken === undefined) return reply
  await market.setTradeToken(tradeToken)
  return market.ready()
}

/** Resolves to the reason why the ping failed; undefined if the market took it. */
async function ping(parts: ReadinessParts, state: State, timetable: Timetable): Promise<string | undefined> {
  timetable.note('ping')
  const because = await pingWithToken(parts, timetable)
  state.isOnline = because === undefined
  state.pingProblem = because
  noteObstacle(parts)
  const nowMs = parts.now().getTime()
  if (state.isOnline) {
    state.offlineSinceMs = undefined
    parts.needs.end('seller_offline', accountName(parts))
    return undefined
  }
  state.offlineSinceMs = Math.min(state.offlineSinceMs ?? nowMs, nowMs)
  const text = `the ping has failed for half an hour or longer: ${because}`
  if (nowMs - state.offlineSinceMs >= LONG_OFFLINE_MS)
    parts.needs.note('seller_offline', accountName(parts), text)
  return because
}

function noteObstacle(parts: ReadinessParts): void {
  const because = parts.market.obstacle?.()
  const text = `the market does not put the listings on sale: ${because}`
  if (because === undefined) parts.needs.end('listings_hidden', accountName(parts))
  else parts.needs.note('listings_hidden', accountName(parts), text)
}

/** Tells the market that the seller is online. If it refuses, renews the token, at most once every `RENEW_MS`. */
async function pingWithToken(
  { market, account }: ReadinessParts,
  timetable: Timetable,
): Promise<string | undefined> {
  let refusal: string | undefined
  for (const fresh of [false, true]) {
    if (fresh && !timetable.isDue('renew', RENEW_MS)) break
    const token = await account.accessToken({ fresh })
    if (token === undefined) return 'the account has no session'
    const reply = await market.keepOnline(token)
    if (reply.kind === 'answered') return undefined
    refusal = textOf(reply)
    if (reply.kind !== 'refused') break
  }
  return refusal
}

function textOf(failure: Failure): string {
  switch (failure.kind) {
    case 'unanswered':
      return `the market did not answer: ${failure.because.slice(0, 100)}`
    case 'refused':
      return `the market refuses: ${failure.code.slice(0, 100)}`
    case 'locked_out':
      return 'the market refuses the key'
    case 'busy':
      return 'calls to the market are paused, or too many are waiting'
    default:
      return failure satisfies never
  }
}
