import { NOBODY } from '../../contract/steam-id.ts'
import { LEASABLE_STATES } from '../bots/store.ts'
import type { Tx } from '../db/client.ts'
import type { TradeStateColumn } from '../db/trade-tables.ts'
import { lockDeposit } from '../deposits/store.ts'
import { systemIds } from '../kit/ids.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { worthOfTrade } from '../operators/proposal-store.ts'
import type { Fact } from '../trades/decide.ts'
import { type OperatorDeps, recordByOperator } from '../trades/operator.ts'
import { ownerOf } from '../trades/store.ts'
import { act, type NamedAct, type SecondOperator } from './act.ts'
import {
  type ActDeps,
  type Answer,
  done,
  type ReadDeps,
  type Refused,
  refused,
  unchanged,
} from './operation.ts'
import { findTrade, lookSoon, type OpenTrade, selectOpenTrades } from './store.ts'

export type ChangedTrade = {
  tradeId: bigint
  depositId: bigint
  state: TradeStateColumn
  depositStatus: string
  steamTradeId: string | null
}

/** `isCut`: there are more trades than the list has. */
export type TradeList = { trades: OpenTrade[]; isCut: boolean }

const MOST_LISTED = 500

/**
 * Lists the oldest `MOST_LISTED` trades that are open or held, or about which a bot must ask Steam again. `bot`: its
 * number or Steam id; undefined for all bots.
 */
export async function listTrades({ db }: ReadDeps, bot?: string): Promise<Answer<TradeList>> {
  const rows = await selectOpenTrades(db, { bot, limit: MOST_LISTED + 1 })
  return done({ trades: rows.slice(0, MOST_LISTED), isCut: rows.length > MOST_LISTED })
}

const viewOf = ({ tradeId, depositId, state, depositStatus, steamTradeId }: ChangedTrade): ChangedTrade => ({
  tradeId,
  depositId,
  state,
  depositStatus,
  steamTradeId,
})

const argumentsOf = ({ tradeId, depositId, state, steamTradeId }: ChangedTrade) => ({
  tradeId,
  depositId,
  state,
  steamTradeId,
})

export function endTrade(deps: ActDeps, tradeId: bigint): Promise<Answer<ChangedTrade>> {
  const namedAct = { name: 'trade end', needsReason: true, argumentsOf }
  return change(deps, namedAct, {
    tradeId,
    fact: { kind: 'given_up', because: 'ended_by_operator' },
    message: ({ state, depositStatus }) =>
      `Trade ${tradeId} is ${state}, its deposit ${depositStatus}. If Steam later proves that the items arrived, the deposit still succeeds.`,
    otherwise: (trade) =>
      DELIVERED.includes(trade.state)
        ? refused('conflict', `The items of trade ${tradeId} have arrived; the trade is ${trade.state}.`)
        : unchanged(viewOf(trade), `Trade ${tradeId} had already ended; it is ${trade.state}.`),
  })
}

const DELIVERED: readonly TradeStateColumn[] = ['held', 'final', 'reversed']

type Credit = { tradeId: bigint; steamTradeId: string; offerId: string | null }

const STEAM_NUMBER = /^[1-9]\d{0,19}$/

/** Says to wait, because a look counts no item as missing in the ten minutes after its delivery was booked. */
const UNASKED =
  'Steam was not asked. Compare the Steam trade with the bot’s trade history; in ten minutes, run `items drift --now` to find items that did not arrive.'

/** Credits a trade, given a Steam trade that the operator has seen. */
export function creditTrade(
  deps: ActDeps,
  { tradeId, steamTradeId, offerId }: Credit,
): Promise<Answer<ChangedTrade>> {
  const secondOperator = secondOperatorFor(tradeId, { tradeId, steamTradeId, offerId })
  const namedAct = { name: 'trade credit', needsReason: true, argumentsOf, secondOperator }
  if (!STEAM_NUMBER.test(steamTradeId) || (offerId !== null && !STEAM_NUMBER.test(offerId))) {
    return Promise.resolve(refused('usage', 'Steam’s numbers have up to 20 digits.'))
  }
  return change(deps, namedAct, {
    tradeId,
    fact: { kind: 'operator_credits', steamTradeId, offerId },
    check: (tx) => whyTaken(tx, { tradeId, steamTradeId, offerId }),
    message: ({ depositId }) =>
      `Trade ${tradeId} is credited for Steam trade ${steamTradeId}: deposit ${depositId} succeeded. ${UNASKED}`,
    otherwise: (trade) => whyNotCredited(trade, { tradeId, steamTradeId, offerId }),
  })
}

async function whyTaken(tx: Tx, { tradeId, steamTradeId, offerId }: Credit): Promise<Refused | undefined> {
  const owner = await ownerOf(tx, { tradeId, steamTradeId, offerId })
  if (owner === undefined) return undefined
  const taken = owner.steamTradeId === steamTradeId ? `Steam trade ${steamTradeId}` : `offer ${offerId}`
  return refused('conflict', `Nothing was credited: ${taken} belongs to trade ${owner.tradeId}.`)
}

function whyNotCredited(before: FoundTrade, asked: Credit): Refused {
  const { state, steamTradeId, offerId } = before
  const because = (text: string) => refused('conflict', `Nothing was credited: ${text}.`)
  if (DELIVERED.includes(state)) return because(`the trade was credited for Steam trade ${steamTradeId}`)
  if (state === 'intended') return because('nothing was sent for the trade')
  if (steamTradeId !== null && steamTradeId !== asked.steamTradeId)
    return because(`trade ${before.tradeId} is Steam trade ${steamTradeId}`)
  if (offerId === null)
    return refused('usage', 'The till does not know the offer of the trade: name it with --offer.')
  return because(`the offer of the trade is ${offerId}`)
}

/**
 * Ends the hold of a trade, and releases the credit that it holds, if any, a day or more after Steam's protection ended.
 * Meant for a trade about which no bot can ask Steam.
 */
export function releaseTrade(deps: ActDeps, tradeId: bigint): Promise<Answer<ChangedTrade>> {
  const secondOperator = secondOperatorFor(tradeId, { tradeId })
  const namedAct = { name: 'trade release', needsReason: true, argumentsOf, secondOperator }
  return change(deps, namedAct, {
    tradeId,
    fact: { kind: 'operator_releases' },
    message: () => `Trade ${tradeId} is final: none of its credit is held.`,
    otherwise: ({ state, settlesAt }) => {
      if (state !== 'held') return refused('conflict', `Trade ${tradeId} has no held credit: it is ${state}.`)
      const protection = `Steam protects trade ${tradeId} until ${settlesAt?.toISOString()}`
      return refused('conflict', `${protection}, and the till keeps asking for a day after that.`)
    },
  })
}

/**
 * Takes back the credit of a trade that is `held`, spendable or not. Meant for a trade about which no bot can ask
 * Steam, if the operator knows that the shopper took all items back.
 */
export function reverseTrade(deps: ActDeps, tradeId: bigint): Promise<Answer<ChangedTrade>> {
  const secondOperator = secondOperatorFor(tradeId, { tradeId })
  const namedAct = { name: 'trade reverse', needsReason: true, argumentsOf, secondOperator }
  return change(deps, namedAct, {
    tradeId,
    fact: { kind: 'operator_reverses' },
    message: () => `Trade ${tradeId} is reversed, as if Steam had said so.`,
    otherwise: ({ state }) =>
      refused('conflict', `Trade ${tradeId} is ${state}: only a held trade can be reversed.`),
  })
}

const secondOperatorFor = (
  tradeId: bigint,
  input: Record<string, unknown>,
): SecondOperator<ChangedTrade> => ({
  input: () => input,
  amountMoved: (tx) => worthOfTrade(tx, tradeId),
})

/** Makes a bot ask Steam about a trade now, before it is due. */
export function lookAtTrade(deps: ActDeps, tradeId: bigint): Promise<Answer<ChangedTrade>> {
  return act(deps, { name: 'trade look', argumentsOf }, async (tx) => {
    const found = await findTrade(tx, tradeId)
    if (found === undefined) return refused('not_found', `There is no trade ${tradeId}.`)
    await lockDeposit(tx, { id: found.depositId })
    // The trade may have changed before it was locked.
    const before = (await findTrade(tx, tradeId)) ?? found
    const obstacle = whyNotAsked(before)
    if (obstacle !== undefined) return obstacle
    if (!(await lookSoon(tx, tradeId, deps.clock.now()))) {
      return refused(
        'conflict',
        `Trade ${tradeId} is over (${before.state}): there is nothing left to ask Steam.`,
      )
    }
    return done(
      viewOf(before),
      `Steam is asked about trade ${tradeId} within seconds if a gateway holds its bot: see deposit show ${before.depositId}.`,
    )
  })
}

function whyNotAsked({ tradeId, botId, botState, partnerSteamId }: FoundTrade): Refused | undefined {
  if (!LEASABLE_STATES.includes(botState))
    return refused('conflict', `Nobody can ask Steam about trade ${tradeId}: bot ${botId} is ${botState}.`)
  // Steam's record names the shopper, so it would contradict the trade.
  if (partnerSteamId === NOBODY)
    return refused(
      'conflict',
      `Steam’s answer about trade ${tradeId} proves nothing: its shopper was erased.`,
    )
  return undefined
}

type FoundTrade = NonNullable<Awaited<ReturnType<typeof findTrade>>>

type Change = {
  tradeId: bigint
  fact: Fact
  /** Returns a refusal for a reason that the rules of trades cannot see, such as another trade's Steam number. */
  check?: (tx: Tx) => Promise<Refused | undefined>
  message(after: ChangedTrade): string
  /** Returns the answer for a trade that the rules left unchanged. */
  otherwise(trade: FoundTrade): Answer<ChangedTrade>
}

/** Changes a trade as all other code does: the rules decide, while the deposit's row is locked. */
function change(deps: ActDeps, namedAct: NamedAct<ChangedTrade>, how: Change): Promise<Answer<ChangedTrade>> {
  const { tradeId, fact } = how
  return act(deps, namedAct, async (tx) => {
    const before = await findTrade(tx, tradeId)
    if (before === undefined) return refused('not_found', `There is no trade ${tradeId}.`)
    const obstacle = await how.check?.(tx)
    if (obstacle !== undefined) return obstacle
    const { depositId } = before
    const hasChanged = await recordByOperator(operatorDeps(deps), tx, { depositId, tradeId, fact })
    const after = await findTrade(tx, tradeId)
    if (after === undefined) throw new Error(`trade ${tradeId} vanished in its own transaction`)
    return hasChanged ? done(viewOf(after), how.message(after)) : how.otherwise(after)
  })
}

export function operatorDeps({ config, clock }: ActDeps): OperatorDeps {
  const { maxItems, fleetLimits: fleet, publicUrl } = config
  return {
    clock,
    ids: systemIds,
    box: createSecretBox(config.masterKey, config.oldMasterKeys),
    publicUrl: publicUrl.origin,
    limits: { maxItems, fleet },
    protectionDays: (game) => config.protectionDays[game],
  }
}
