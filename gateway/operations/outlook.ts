/**
 * The next steps of a deposit, and the acts that an operator can do now or later. Pure.
 */

import type { DepositStatus } from '../../contract/statuses.ts'
import { NOBODY } from '../../contract/steam-id.ts'
import type { BotState } from '../db/bot-tables.ts'
import type { CreditMode, TradeStateColumn } from '../db/trade-tables.ts'
import { isPast } from '../kit/clock.ts'

/**
 * How long after the end of Steam's protection `trade release` becomes possible. Repeats the figure of
 * trades/by-hand.ts, because a command that only reads must not load the rules of trades.
 */
export const RELEASE_WAIT_MS = 86_400_000

export type OutlookTrade = {
  tradeId: bigint
  state: TradeStateColumn
  heldMinor: bigint
  botId: bigint
  bot: string
  botState: BotState
  /** Whether a process holds the bot. */
  hasGateway: boolean
  offerId: string | null
  /** The shopper's account. */
  partnerSteamId: string
  /** When the offer is cancelled unless it is accepted. */
  deadline: Date | null
  acceptedAt: Date | null
  isCancelling: boolean
  /** When Steam's protection ends. */
  settlesAt: Date | null
  /** When Steam is next asked whether the items were taken back. */
  lookAt: Date | null
  /** End of Steam's hold (escrow) of the items. */
  steamHoldUntil: Date | null
  /** When the till's next step is due. */
  dueAt: Date | null
}

export type GivenUpDelivery = { endpointId: bigint; sequence: bigint }

export type OutlookDelivery = { endpointId: bigint; sequence: bigint; dueAt: Date; attempts: number }

export type OutlookFacts = {
  depositId: bigint
  status: DepositStatus
  /** The deposit's own mode; null if it has none. */
  creditMode: CreditMode | null
  expiresAt: Date
  /** Whether maintenance or an outage pauses the countdown of deposits. */
  isTimeStopped: boolean
  /** Whether an outage also pauses the countdown of offers. Maintenance does not. */
  isOfferTimeStopped: boolean
  trades: readonly OutlookTrade[]
  /** Webhooks still to be sent. */
  due: readonly OutlookDelivery[]
  givenUp: readonly GivenUpDelivery[]
}

/** `at`: null if the time is unknown. */
export type NextStep = { at: Date | null; what: string }

/** `command`: arguments of `tradetill`. `from`: earliest time of the act; null means now. */
export type PossibleAct = { act: string; command: string; does: string; from: Date | null }

export type Outlook = { next: NextStep[]; can: PossibleAct[] }

export function outlookOf(facts: OutlookFacts, now: Date): Outlook {
  const next = [
    ...stepsOfDeposit(facts),
    ...facts.trades.flatMap((trade) => stepsOfTrade(trade, facts.isOfferTimeStopped)),
    ...facts.due.map(({ endpointId, sequence, dueAt, attempts }) => ({
      at: dueAt,
      what: `event ${sequence} is sent to endpoint ${endpointId}, attempt ${attempts + 1}`,
    })),
  ]
  return {
    next: next.sort((a, b) => (a.at?.getTime() ?? Infinity) - (b.at?.getTime() ?? Infinity)),
    can: [
      ...holdActs(facts),
      ...releaseActs(facts),
      ...facts.trades.flatMap((trade) => [...lookActs(trade), ...tradeActs(trade, now), ...botActs(trade)]),
      ...shopperActs(facts.trades),
      ...facts.givenUp.map(({ endpointId, sequence }) => ({
        act: 'webhook replay',
        command: `webhook replay ${endpointId} --from ${sequence} --to ${sequence}`,
        does: 'send the undelivered webhooks again',
        from: null,
      })),
    ],
  }
}

const OPEN: Record<TradeStateColumn, boolean> = {
  intended: true,
  sending: true,
  unknown: true,
  active: true,
  refused: false,
  abandoned: false,
  declined: false,
  countered: false,
  invalid: false,
  timed_out: false,
  held: false,
  final: false,
  reversed: false,
}

function stepsOfDeposit({ status, expiresAt, isTimeStopped, trades }: OutlookFacts): NextStep[] {
  if (status !== 'created') return []
  if (trades.some(({ state }) => OPEN[state])) return []
  return isTimeStopped
    ? [{ at: null, what: 'the deposit waits for its shopper; the countdown is paused' }]
    : [{ at: expiresAt, what: 'the deposit expires, unless its shopper trades' }]
}

function stepsOfTrade(trade: OutlookTrade, isOfferTimeStopped: boolean): NextStep[] {
  const next = nextStepOf(trade, isOfferTimeStopped)
  if (next === undefined) return []
  const named = { ...next, what: `trade ${trade.tradeId}: ${next.what}` }
  if (canAskSteam(trade)) return [named]
  const why = isInService(trade) ? 'is held by no gateway' : `is ${trade.botState}`
  return [{ at: null, what: `${named.what}; but bot ${trade.botId} (${trade.bot}) ${why}` }]
}

/** A paused bot continues its trades under way. */
const isInService = ({ botState }: OutlookTrade): boolean => botState === 'active' || botState === 'paused'

const canAskSteam = (trade: OutlookTrade): boolean => trade.hasGateway && isInService(trade)

function nextStepOf(trade: OutlookTrade, isOfferTimeStopped: boolean): NextStep | undefined {
  const { state, heldMinor, dueAt, deadline, settlesAt, lookAt, steamHoldUntil } = trade
  switch (state) {
    case 'intended':
      return { at: dueAt, what: 'the offer is sent' }
    case 'sending':
    case 'unknown':
      return { at: dueAt, what: 'Steam is asked whether the offer was made' }
    case 'active':
      if (trade.acceptedAt !== null)
        return { at: dueAt, what: 'Steam is asked for proof that the items arrived' }
      if (trade.isCancelling) return { at: dueAt, what: 'the offer is taken off Steam' }
      if (isOfferTimeStopped) return { at: null, what: 'the offer is open; the countdown is paused' }
      return { at: deadline, what: 'the offer is taken off Steam, unless it is accepted' }
    case 'held':
      return {
        at: settlesAt,
        what:
          heldMinor > 0n
            ? 'the held credit is released, unless the items were taken back'
            : 'Steam’s protection ends, and the credit is final',
      }
    case 'final':
      return lookAt === null
        ? undefined
        : { at: lookAt, what: 'Steam is asked whether the items were taken back' }
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
      if (steamHoldUntil !== null) return { at: steamHoldUntil, what: 'Steam’s hold of the items ends' }
      return dueAt === null
        ? undefined
        : { at: dueAt, what: 'Steam is asked whether the items arrived after all' }
    case 'reversed':
      return undefined
    default:
      return state satisfies never
  }
}

const REASON_OPTION = "--reason 'TEXT'"

function lookActs(trade: OutlookTrade): PossibleAct[] {
  if (!canAskSteam(trade) || nextStepOf(trade, false) === undefined) return []
  const { tradeId } = trade
  return [
    {
      act: 'trade look',
      command: `trade look ${tradeId}`,
      does: 'ask Steam about the trade now',
      from: null,
    },
  ]
}

function tradeActs(trade: OutlookTrade, now: Date): PossibleAct[] {
  const { tradeId, state, settlesAt, offerId } = trade
  const can = (
    act: string,
    does: string,
    more: { from?: Date | null; options?: string } = {},
  ): PossibleAct => ({
    act,
    command: [act, tradeId, ...(more.options === undefined ? [] : [more.options]), REASON_OPTION].join(' '),
    does,
    from: more.from ?? null,
  })
  const offer = offerId === null ? ' --offer ID' : ''
  const credit = can('trade credit', 'credit the trade for a Steam trade that you have seen', {
    options: `--steam-trade ID${offer}`,
  })
  const end = can('trade end', 'end the wait; later proof that the items arrived still counts')
  switch (state) {
    case 'intended':
      return [end]
    case 'sending':
    case 'unknown':
    case 'active':
      return [end, credit]
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
      return trade.steamHoldUntil === null ? [credit] : [end, credit]
    case 'held': {
      const from = settlesAt === null ? null : new Date(settlesAt.getTime() + RELEASE_WAIT_MS)
      const isTime = settlesAt === null || isPast(settlesAt, RELEASE_WAIT_MS, now)
      return [
        can('trade release', 'release the held credit, if no bot can ask Steam', {
          from: isTime ? null : from,
        }),
        can('trade reverse', 'reverse the credit, if you know that the items went back'),
      ]
    }
    case 'final':
    case 'reversed':
      return []
    default:
      return state satisfies never
  }
}

/** Possible only before the first offer, which shows the shopper how much is credited at once. */
function holdActs({ depositId, status, creditMode, trades }: OutlookFacts): PossibleAct[] {
  if (status !== 'created' || creditMode === 'on_release' || trades.some(({ state }) => OPEN[state]))
    return []
  return [
    {
      act: 'deposit hold',
      command: `deposit hold ${depositId} ${REASON_OPTION}`,
      does: 'hold all credit of the deposit until its shopper can no longer take the items back',
      from: null,
    },
  ]
}

/**
 * Possible while a trade holds credit. After Steam's protection the till releases the credit, or an operator does with
 * `trade release`.
 */
function releaseActs({ depositId, trades }: OutlookFacts): PossibleAct[] {
  if (!trades.some(({ state, heldMinor }) => state === 'held' && heldMinor > 0n)) return []
  return [
    {
      act: 'deposit release',
      command: `deposit release ${depositId} ${REASON_OPTION}`,
      does: 'release the held credit now, although the items may still be taken back',
      from: null,
    },
  ]
}

/** Possible only if the trade still needs its bot, and Steam refuses the bot's token. */
function botActs(trade: OutlookTrade): PossibleAct[] {
  const { botId, botState } = trade
  if (nextStepOf(trade, false) === undefined || canAskSteam(trade)) return []
  if (botState === 'dead') {
    return [
      { act: 'bot renew', command: `bot renew ${botId}`, does: 'give the bot a new token', from: null },
      {
        act: 'bot retire',
        command: `bot retire ${botId} ${REASON_OPTION}`,
        does: 'retire the bot and end its open trades; then release or reverse its held credit',
        from: null,
      },
    ]
  }
  return []
}

function shopperActs(trades: readonly OutlookTrade[]): PossibleAct[] {
  const [latest] = trades.toReversed()
  if (latest === undefined || latest.partnerSteamId === NOBODY) return []
  return [
    {
      act: 'shopper deny',
      command: `shopper deny ${latest.partnerSteamId} ${REASON_OPTION}`,
      does: 'stop taking items from this account; its open offers stay open',
      from: null,
    },
  ]
}
