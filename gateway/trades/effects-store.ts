/** Writes the effects of a trade's events, in the transaction of their cause. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { barBot, doubtBot, trustBot } from '../bots/bar-store.ts'
import type { Tx } from '../db/client.ts'
import { tellTransition } from '../deposits/service.ts'
import type { DepositRow } from '../deposits/store.ts'
import { changeRoom, type RoomOf } from '../ledger/room-store.ts'
import { addReversed, post, recordCustody, type TradeSource } from '../ledger/store.ts'
import type { Effect, Published } from './consequences.ts'
import { moveToOtherBot, type WriteDeps } from './intent-store.ts'
import type { TradeRow } from './store.ts'

export type EffectDeps = WriteDeps & { wake(tradeId: bigint, at: Date): Promise<void> }

type Locked = { deposit: DepositRow; row: TradeRow }

export async function applyEffect(
  deps: EffectDeps,
  tx: Tx,
  { of: { deposit, row }, effect }: { of: Locked; effect: Effect },
): Promise<void> {
  switch (effect.kind) {
    case 'free_items':
      await tx.updateTable('trade_item').set({ live: false }).where('trade_id', '=', row.id).execute()
      return
    case 'receive_items':
      return receiveItems(tx, row.id, effect)
    case 'reverse_items':
      await tx
        .updateTable('trade_item')
        .set({ reversed_at: effect.at })
        .where('trade_id', '=', row.id)
        .where('asset_id', 'in', effect.assetIds)
        .execute()
      return
    case 'record_custody': {
      const { moved, items, at } = effect
      return recordCustody(tx, { tradeId: row.id, botId: row.bot_id, at, moved }, items)
    }
    case 'change_trade':
      return changeTrade(tx, row.id, effect.change)
    case 'change_deposit':
      return changeDeposit(tx, deposit.id, effect.change)
    case 'wake':
      return deps.wake(row.id, effect.at)
    case 'publish':
      return publish(deps, tx, { of: { deposit, row }, event: effect.event })
    case 'post': {
      const { movements, part, mayOwe, at } = effect
      return post(tx, { ...(await postingOf(tx, { deposit, row })), movements, part, mayOwe, at })
    }
    case 'change_room':
      return changeRoom(tx, roomOf({ deposit, row }), effect)
    case 'count_reversed':
      return addReversed(tx, { storeId: deposit.store_id, currency: row.currency }, effect.amount)
    case 'bar_bot':
    case 'trust_bot':
    case 'doubt_bot':
    case 'move_to_other_bot':
      return applyToFleet(deps, tx, { row, effect })
    case 'log':
      return
    default:
      return effect satisfies never
  }
}

export const roomOf = ({ deposit, row }: Locked): RoomOf => ({
  storeId: deposit.store_id,
  tradeId: row.id,
  quoteId: row.quote_id,
})

type FleetEffect = Extract<Effect, { kind: 'bar_bot' | 'trust_bot' | 'doubt_bot' | 'move_to_other_bot' }>

async function applyToFleet(
  deps: EffectDeps,
  tx: Tx,
  { row, effect }: { row: TradeRow; effect: FleetEffect },
): Promise<void> {
  const { game, bot_id: botId, partner_steam_id: partnerSteamId } = row
  switch (effect.kind) {
    case 'bar_bot':
      return barBot(tx, { botId, game, reason: effect.reason, now: effect.at })
    case 'trust_bot':
      return trustBot(tx, botId, game)
    case 'doubt_bot':
      return doubtBot(tx, { botId: effect.botId, partnerSteamId, game, now: deps.clock.now() })
    case 'move_to_other_bot':
      return moveToOtherBot(deps, tx, { row, inDoubt: effect.inDoubt })
    default:
      return effect satisfies never
  }
}

async function receiveItems(
  tx: Tx,
  tradeId: bigint,
  { items }: Extract<Effect, { kind: 'receive_items' }>,
): Promise<void> {
  const received = sql`unnest(${items.map(({ assetId }) => assetId)}::text[],
    ${items.map(({ receivedAssetId }) => receivedAssetId)}::text[]) received (asset_id, received_asset_id)`
  await sql`
    update trade_item set live = false, received_asset_id = received.received_asset_id from ${received}
    where trade_item.trade_id = ${tradeId} and trade_item.asset_id = received.asset_id`.execute(tx)
}

async function changeTrade(
  tx: Tx,
  id: bigint,
  {
    deliveredAt,
    held,
    reversed,
    atRisk,
    atRiskUntil,
    protectionFoundAt,
    terms,
    creditedByOperator,
    releasedByOperator,
    reversedByOperator,
  }: Extract<Effect, { kind: 'change_trade' }>['change'],
): Promise<void> {
  await tx
    .updateTable('trade')
    .set({
      ...(deliveredAt !== undefined && { delivered_at: deliveredAt }),
      ...(held !== undefined && { held_amount: held }),
      ...(reversed !== undefined && { reversed_amount: reversed }),
      ...(atRisk !== undefined && { at_risk_amount: atRisk }),
      ...(atRiskUntil !== undefined && { at_risk_until: atRiskUntil }),
      ...(creditedByOperator && { credited_by_operator: true }),
      ...(releasedByOperator && { released_by_operator: true }),
      ...(reversedByOperator && { reversed_by_operator: true }),
      ...(protectionFoundAt !== undefined && { protection_found_at: protectionFoundAt }),
      ...(terms !== undefined && {
        credit_mode: terms.creditMode,
        liability: terms.liability,
        risk_limit_usd_cents: terms.riskLimitUsdCents,
      }),
    })
    .where('id', '=', id)
    .execute()
}

async function changeDeposit(
  tx: Tx,
  id: bigint,
  {
    status,
    credited,
    held,
    heldUntil,
    reversed,
    charged,
  }: Extract<Effect, { kind: 'change_deposit' }>['change'],
): Promise<void> {
  await tx
    .updateTable('deposit')
    .set({
      ...(status !== undefined && { status }),
      ...(credited !== undefined && { credited_amount: credited }),
      ...(held !== undefined && { held_amount: held }),
      ...(heldUntil !== undefined && { held_until: heldUntil }),
      ...(reversed !== undefined && { reversed_amount: reversed }),
      ...(charged !== undefined && { charged_amount: charged }),
    })
    .where('id', '=', id)
    .execute()
}

async function publish(
  deps: EffectDeps,
  tx: Tx,
  { of: { deposit, row }, event }: { of: Locked; event: Published },
): Promise<void> {
  if (event.kind === 'status') return tellTransition(deps, tx, { deposit, to: event.status })
  return tellTransition(deps, tx, { deposit, to: event.change, tradeId: row.id, part: event.part })
}

/** Returns the fields that every posting of a trade carries. */
async function postingOf(
  tx: Tx,
  { deposit, row }: Locked,
): Promise<TradeSource & { storeId: bigint; currency: Currency }> {
  const { rate_id: rateId } = await tx
    .selectFrom('quote')
    .select('rate_id')
    .where('id', '=', row.quote_id)
    .executeTakeFirstOrThrow()
  return {
    storeId: deposit.store_id,
    currency: row.currency,
    tradeId: row.id,
    quoteId: row.quote_id,
    rateId,
  }
}
