/**
 * Lets requests to Steam take turns: every method has a budget for this process's address, and one for each account
 * unless it reads a public page.
 */
import {
  type Budget,
  type BudgetLimits,
  type Circumstances,
  createBudget,
  type Time,
  type Turn,
} from './budget.ts'
import { limitsOf, type Method } from './methods.ts'
import type { Unavailable } from './steam.ts'

/**
 * `limited`: Steam refused the request, because there were too many. `failed`: no answer, or an answer that shows
 * trouble at Steam.
 */
export type Outcome = 'answered' | 'limited' | 'failed'

/**
 * Why a request was not sent. `out_of_budget`: its turn would have come too late. `paused`: Steam limited an earlier
 * request, and either the pause is not over, or the first request after it (the probe) is still running.
 */
export type HeldBack = 'out_of_budget' | 'paused'

/** Called for every request, sent or held back. No account means a public page. */
export type Observer = {
  request(method: Method, seen: { outcome: Outcome; seconds: number; account?: string | undefined }): void
  heldBack(method: Method, why: HeldBack, account?: string): void
}

export const UNOBSERVED: Observer = { request() {}, heldBack() {} }

type Request<T> = {
  method: Method
  /** The time limit of the entire request, including the wait for a turn. */
  ms: number
  /** How many turns of its budgets the request must leave to others, at most a sixth of a burst; none by default. */
  spare?: number | undefined
  /** Sends the request within the remaining milliseconds. */
  make(ms: number): Promise<T>
  judge(answer: T): Outcome
}

/** Makes the requests of one account, or those for public pages. */
export type Asker = {
  /** Sends the request when it is its turn. `not_our_turn` means that it was certainly not sent. */
  ask<T>(request: Request<T>): Promise<T | Unavailable>
}

export type Turns = {
  /** Budgets are kept by account, so a reopened session finds them as they were. */
  of(account: string): Asker
  /** For public pages. */
  ofNobody: Asker
}

/** The part of a deadline that may be spent waiting. The request needs the rest. */
const WAITING_SHARE = 1 / 2
/** After Steam has refused a method to this many accounts in a row, the refusals count for the address. */
const ACCOUNTS_OF_ADDRESS = 2
/** The most accounts whose budgets are kept. Beyond that, those that opened a session longest ago are dropped. */
const MOST_ACCOUNTS = 1_000

type Settings = {
  time: Time
  random: () => number
  observer: Observer
  /** The number of gateways, which are assumed to call Steam from this address. */
  gateways: () => number
}
type Budgets = (method: Method) => Budget

export function createTurns(settings: Settings): Turns {
  const address = budgetsBy(settings, (method) => shareOf(limitsOf(method).address, settings.gateways))
  const accounts = new Map<string, Budgets>()
  /** The accounts to which Steam has refused a method since it last answered a request of that method. */
  const refused = new Map<Method, Set<string>>()

  /**
   * Counts a refusal. Returns true if it concerns the address: a public page or the address's probe was refused, or
   * several accounts were refused in a row. The refusal of an account's own probe is not counted.
   */
  const concernsAddress = (method: Method, turns: Pair<Turn>, account: string | undefined): boolean => {
    if (account === undefined || turns.account === undefined || turns.address.isProbe) return true
    if (turns.account.isProbe) return false
    const inARow = (refused.get(method) ?? new Set()).add(account)
    refused.set(method, inARow)
    return inARow.size >= ACCOUNTS_OF_ADDRESS
  }
  const askerOf = (accountBudgets: Budgets | undefined, account?: string): Asker => ({
    async ask({ method, ms, spare, make, judge }) {
      const { time, observer } = settings
      const untilMs = time.now() + ms
      const budgets: Pair<Budget> = {
        address: address(method),
        account: limitsOf(method).account === null ? undefined : accountBudgets?.(method),
      }
      const turns = await waitForTurn(budgets, { ms: ms * WAITING_SHARE, spare, time })
      if (typeof turns === 'string') {
        observer.heldBack(method, turns, account)
        return notOurTurn(method, turns)
      }
      const beganMs = time.now()
      let outcome: Outcome = 'failed'
      try {
        const answer = await make(untilMs - beganMs)
        outcome = judge(answer)
        return answer
      } finally {
        observer.request(method, { outcome, seconds: (time.now() - beganMs) / 1000, account })
        report(turns.account, outcome)
        if (outcome === 'answered') refused.delete(method)
        // A refusal of one account alone proves nothing about the address.
        const isOfAccountOnly = outcome === 'limited' && !concernsAddress(method, turns, account)
        report(turns.address, isOfAccountOnly ? 'failed' : outcome)
      }
    },
  })
  return {
    of(account) {
      const known = accounts.get(account) ?? budgetsBy(settings, (method) => limitsOf(method).account)
      accounts.delete(account)
      accounts.set(account, known)
      const [oldest] = accounts.keys()
      if (accounts.size > MOST_ACCOUNTS && oldest !== undefined) accounts.delete(oldest)
      return askerOf(known, account)
    },
    ofNobody: askerOf(undefined),
  }
}

/**
 * A gateway's share of the address's budget. Gateways at other addresses count too, so each gateway uses less than it
 * could.
 */
const shareOf = ({ burst, everyMs }: BudgetLimits, gateways: () => number): Readonly<BudgetLimits> => ({
  get burst() {
    return Math.max(1, Math.floor(burst / gateways()))
  },
  get everyMs() {
    return everyMs * gateways()
  },
})

const NO_LIMIT: BudgetLimits = { burst: 1, everyMs: 0 }

function budgetsBy(
  circumstances: Circumstances,
  limits: (method: Method) => Readonly<BudgetLimits> | null,
): Budgets {
  const budgetByMethod = new Map<Method, Budget>()
  return (method) => {
    const budget = budgetByMethod.get(method) ?? createBudget(limits(method) ?? NO_LIMIT, circumstances)
    budgetByMethod.set(method, budget)
    return budget
  }
}

/** `account`: undefined if the method has no budget per account. */
type Pair<T> = { address: T; account: T | undefined }

/** Takes a turn from both budgets and waits for it, or resolves to the reason why the request must not be sent. */
async function waitForTurn(
  { address, account }: Pair<Budget>,
  { ms, spare, time }: { ms: number; spare: number | undefined; time: Time },
): Promise<Pair<Turn> | HeldBack> {
  const waitMs = Math.max(address.waitMs(spare), account?.waitMs(spare) ?? 0)
  if (waitMs === Number.POSITIVE_INFINITY) return 'paused'
  if (waitMs > ms) return 'out_of_budget'
  const turns = { address: address.take(), account: account?.take() }
  if (waitMs > 0) await time.pause(waitMs)
  if (turns.address.isValid() && turns.account?.isValid() !== false) return turns
  turns.address.unanswered()
  turns.account?.unanswered()
  return 'paused'
}

function report(turn: Turn | undefined, outcome: Outcome): void {
  if (outcome === 'limited') turn?.limited()
  else if (outcome === 'answered') turn?.answered()
  else turn?.unanswered()
}

function notOurTurn(method: Method, why: HeldBack): Unavailable {
  const detail = why === 'paused' ? 'paused after a refusal of Steam' : 'our own budget is spent'
  return { kind: 'unavailable', reason: 'not_our_turn', detail: `${method}: ${detail}` }
}
