/** The effects of a trade's events: on its deposit, the ledger, the custody of items and the store's events. Pure. */
import type { DepositStatus } from '../../contract/statuses.ts'
import { type DepositCause, decideDeposit } from '../deposits/deposit.ts'
import { changeOf, deliver, findProtection, release, releaseEarly, reverse } from './credit.ts'
import { type Consequences, type Effect, type Funds, logLine } from './effects.ts'
import { lineOfEnd, lineOfHold, lineOfUnwatched } from './giving-up.ts'
import type { Trade, TradeEvent } from './trade.ts'

/** `trade`: the trade before the event. Effects are in the order in which they must be applied. */
export function consequences(trade: Trade, funds: Funds, event: TradeEvent): Consequences {
  const freeItems: Effect = { kind: 'free_items' }
  switch (event.kind) {
    case 'send_begun':
    case 'send_withdrawn':
    case 'offer_missed':
    case 'cancel_begun':
    case 'accepted':
    case 'doubted':
    case 'doubt_ended':
    case 'looked':
      return { funds, effects: [] }
    case 'acceptance_withdrawn':
      return { funds, effects: [logLine('warn', 'Steam withdrew its report that an offer was accepted')] }
    case 'send_unanswered':
      return { funds, effects: [logLine('warn', 'send of an offer got no clear answer')] }
    case 'refused':
      return { funds, effects: [freeItems, ...refusalEffects(event)] }
    case 'abandoned': {
      const { level, message } = lineOfEnd(event.reason) ?? NOT_FOUND
      return { funds, effects: [freeItems, logLine(level, message)] }
    }
    case 'activated':
      return changeStatus(funds, { kind: 'offer_opened' }, [
        { kind: 'wake', at: event.deadline },
        { kind: 'trust_bot' },
        ...(event.doubted === null ? [] : [{ kind: 'doubt_bot', botId: event.doubted } as const]),
      ])
    case 'ended': {
      const cause = { kind: 'trade_ended', status: event.end.status } as const
      // Items in escrow may still arrive, so they stay reserved.
      const freed = event.steamHoldUntil === null ? [freeItems] : []
      return changeStatus(funds, cause, [...freed, ...warningsOf(event.end.reason)])
    }
    case 'hold_seen':
      return {
        funds,
        effects: [logLine('warn', 'Steam holds the items of an offer whose trade had ended')],
      }
    case 'hold_ended': {
      const { level, message } = lineOfHold(event.because)
      return { funds, effects: [freeItems, logLine(level, message)] }
    }
    case 'unwatched': {
      const { because } = event
      return { funds, effects: [logLine('error', lineOfUnwatched(trade), { because })] }
    }
    case 'delivered':
      return deliver(funds, event)
    case 'released':
      return release(funds, event)
    case 'released_early':
      return releaseEarly(funds, event)
    case 'reversed':
      return reverse(trade, funds, event)
    case 'prolonged': {
      const after = { ...funds, settlesAt: event.settlesAt }
      return { funds: after, effects: [changeOf(after, ['held']), { kind: 'wake', at: event.settlesAt }] }
    }
    case 'protection_found':
      return findProtection(funds, event)
    default:
      return event satisfies never
  }
}

/** True if an event can have effects besides the trade's new state. */
export function hasConsequences({ kind }: TradeEvent): boolean {
  return !NOTHING_MORE.has(kind)
}

const NOTHING_MORE: ReadonlySet<TradeEvent['kind']> = new Set([
  'send_begun',
  'send_withdrawn',
  'offer_missed',
  'cancel_begun',
  'accepted',
  'doubted',
  'doubt_ended',
  'looked',
])

const NOT_FOUND = {
  level: 'warn',
  message: 'offer of a send without a clear answer was not found on Steam',
} as const

function refusalEffects({ reason, refusal, at }: Extract<TradeEvent, { kind: 'refused' }>): Effect[] {
  const effects: Effect[] = []
  if (refusal?.bars) effects.push({ kind: 'bar_bot', reason: refusal.bars, at })
  if (refusal !== null && refusal.next !== 'end') {
    effects.push({ kind: 'move_to_other_bot', isInDoubt: refusal.next === 'move_in_doubt', at })
  }
  const because: string = refusal?.because ?? (reason === 'deposit_closed' ? 'deposit_paid' : 'no_bot_came')
  // A bar needs a person's attention, unless Steam only limits the bot's requests.
  if (refusal?.bars && refusal.bars !== 'rate_limited')
    return [...effects, logLine('error', 'bot was barred after a refusal or a hold by Steam', { because })]
  return [...effects, logLine('warn', 'trade was refused', { reason, because })]
}

/** Changes the deposit's status as `cause` demands. `before`: the effects to apply first. */
function changeStatus(
  funds: Funds,
  cause: Exclude<DepositCause, { kind: 'delivered' }>,
  before: Effect[],
): Consequences {
  const status = decideDeposit(funds.deposit, cause)
  if (status === null) return { funds, effects: before }
  const deposit = { ...funds.deposit, status }
  return { funds: { ...funds, deposit }, effects: [...before, ...statusEffects(status)] }
}

function statusEffects(status: Exclude<DepositStatus, 'created'>): Effect[] {
  return [
    { kind: 'change_deposit', change: { status } },
    { kind: 'publish', event: { kind: 'status', status } },
  ]
}

function warningsOf(reason: string): Effect[] {
  const givenUp = lineOfEnd(reason)
  if (givenUp !== undefined) return [logLine(givenUp.level, givenUp.message)]
  if (reason.startsWith('cancelled_elsewhere')) {
    return [logLine('error', 'offer was cancelled, but not by this till: check the account of the bot')]
  }
  if (reason === 'declined_at_once') {
    return [
      logLine(
        'warn',
        'offer was declined at once: somebody else may have access to the account of the shopper',
      ),
    ]
  }
  return []
}
