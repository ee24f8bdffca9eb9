/** Writes the effects of a trade's events, in the transaction of their cause. */
import { sql } from 'kysely'
import { barBot, doubtBot, trustBot } from '../bots/bar-store.ts'
import { type Batch, createBatch } from '../db/batch.ts'
import type { Tx } from '../db/client.ts'
import { appendTransition, depositTopic } from '../deposits/service.ts'
import { storeDepositOf, toStoreDeposit } from '../deposits/store-deposit.ts'
import { changeLost, lockRoom, roomChangeSql } from '../ledger/room-store.ts'
import {
  accountsFor,
  addReversed,
  type Posting,
  postingSql,
  recordCustody,
  recordTakenBack,
} from '../ledger/store.ts'
import { putOnRelease } from '../shoppers/on-release-store.ts'
import type { Effect, PublishedEvent } from './effects.ts'
import { moveToOtherBot, type WriteDeps } from './intent-store.ts'
import { type LockedRows, type Money, shownAs } from './locked-store.ts'
import type { RoomChange } from './room.ts'
import { type TradeRow, tradeTopic } from './store.ts'

export type EffectDeps = WriteDeps & { wake(tx: Tx, tradeId: bigint, at: Date): Promise<void> }

type FleetEffect = Extract<Effect, { kind: 'bar_bot' | 'trust_bot' | 'doubt_bot' | 'move_to_other_bot' }>
type RowEffect = Exclude<Effect, FleetEffect | RoomChange | { kind: 'post' | 'log' }>

/** The rows of a trade and its deposit after the effects so far. */
type CurrentRows = { deposit: LockedRows['deposit']; row: LockedRows['row']; reversed: Set<string> }

/** A statement that is being built, and what it already changes. */
type Writing = { batch: Batch; changed: Set<string>; room: RoomChange | undefined }

/**
 * Writes the effects in few statements, and wakes everyone who waits for news of the trade. If a statement posts to the
 * ledger, its last two updates are those of the store's room and then of the balances.
 */
export async function applyEffects(
  deps: EffectDeps,
  tx: Tx,
  { target, effects }: { target: LockedRows & { money: Money }; effects: readonly Effect[] },
): Promise<void> {
  const { deposit, row, written, money } = target
  const current: CurrentRows = { deposit: { ...deposit }, row: { ...row, ...written }, reversed: new Set() }
  const writing: Writing = { batch: createBatch(), changed: new Set(), room: undefined }
  const postings = effects.flatMap((effect) => (effect.kind === 'post' ? [postingOf(target, effect)] : []))
  for (const posting of postings) money.accounts = await accountsFor(tx, posting, money.accounts)
  // Room is always locked before balances, so two transactions cannot deadlock. The first posting locks balances, and a
  // later one may come with a change of room, so the room is locked here.
  if (postings.length > 1) await lockRoom(tx, deposit.store_id)
  const roomSource = { storeId: deposit.store_id, tradeId: row.id, rateId: money.rateId, seen: money.seen }
  const flush = async (posting?: Posting, later: readonly Posting[] = []) => {
    const { batch, changed, room: change } = writing
    const room = change && roomChangeSql(roomSource, change)
    const posted = posting && postingSql(posting, money.accounts, { after: room && 'room', later })
    await batch.run(tx, { ...(room && { room }), ...posted })
    writing.room = undefined
    changed.clear()
  }
  for (const topic of [tradeTopic(row.id), depositTopic(deposit.id)]) {
    await deps.signals.notify(writing.batch.tx, topic)
  }
  for (const effect of effects) {
    switch (effect.kind) {
      case 'log':
        break
      case 'bar_bot':
      case 'trust_bot':
      case 'doubt_bot':
      case 'move_to_other_bot':
        await flush()
        await applyToFleet(deps, tx, { row, effect })
        break
      case 'change_room':
        if (writing.room !== undefined || effect.lost !== null) await flush()
        if (effect.lost !== null) await changeLost(tx, roomSource, effect.lost)
        writing.room = effect
        break
      case 'post': {
        // The postings are in the order of their effects. After `shift`, only the later ones are left.
        const posting = postings.shift()
        if (posting !== undefined && posting.movements.length > 0) await flush(posting, postings)
        break
      }
      default:
        if (writing.changed.has(changedBy(effect))) await flush()
        await write({ deps, tx, flush }, { current, effect, batch: writing.batch })
        writing.changed.add(changedBy(effect))
    }
  }
  await flush()
}

function postingOf(
  { deposit, row, money }: LockedRows & { money: Money },
  { kind: _, ...posted }: Extract<Effect, { kind: 'post' }>,
): Posting {
  const source = { tradeId: row.id, quoteId: row.quote_id, rateId: money.rateId }
  return { ...posted, ...source, storeId: deposit.store_id, currency: row.currency }
}

/**
 * Names what the effect changes. A statement must not change a row twice or append two events, because their order
 * would be undefined.
 */
function changedBy({ kind }: RowEffect): string {
  return kind === 'free_items' || kind === 'receive_items' || kind === 'reverse_items' ? 'items' : kind
}

type WriteContext = { deps: EffectDeps; tx: Tx; flush(): Promise<void> }

async function write(
  { deps, tx, flush }: WriteContext,
  { current, effect, batch }: { current: CurrentRows; effect: RowEffect; batch: Batch },
): Promise<void> {
  const { row, deposit } = current
  const { tx: batchTx } = batch
  switch (effect.kind) {
    case 'free_items':
      await batchTx.updateTable('trade_item').set({ live: false }).where('trade_id', '=', row.id).execute()
      return
    case 'receive_items':
      return receiveItems(batchTx, row.id, effect)
    case 'reverse_items':
      for (const assetId of effect.assetIds) current.reversed.add(assetId)
      await sql`update trade_item set reversed_at = ${effect.at}
        where trade_id = ${row.id} and asset_id = any(${[...effect.assetIds]}::text[])`.execute(batchTx)
      return
    case 'record_custody': {
      const { at } = effect
      if (effect.moved === 'back') return recordTakenBack(batchTx, { tradeId: row.id, at }, effect.assetIds)
      return recordCustody(batchTx, { tradeId: row.id, botId: row.bot_id, at, moved: 'in' }, effect.items)
    }
    case 'change_trade': {
      const columns = tradeColumns(effect.change)
      Object.assign(row, columns)
      await batchTx.updateTable('trade').set(columns).where('id', '=', row.id).execute()
      return
    }
    case 'change_deposit': {
      const columns = depositColumns(effect.change)
      Object.assign(deposit, columns)
      await batchTx.updateTable('deposit').set(columns).where('id', '=', deposit.id).execute()
      return
    }
    case 'wake':
      return deps.wake(batchTx, row.id, effect.at)
    case 'credit_on_release':
      return putOnRelease(batchTx, { steamId: row.partner_steam_id, tradeId: row.id, at: effect.at })
    case 'count_reversed':
      return addReversed(batchTx, { storeId: deposit.store_id, currency: row.currency }, effect.amount)
    case 'publish': {
      const shown = shownAs(row, current.reversed)
      // The deposit shows another trade, so the event's data is read after all changes are written.
      if (shown === undefined) await flush()
      const data = shown
        ? toStoreDeposit(deposit, shown, deps.publicUrl)
        : await storeDepositOf(tx, { depositId: deposit.id }, deps.publicUrl)
      return appendTransition(deps, batchTx, { ...transitionOf(effect.event, row.id), deposit, data })
    }
    default:
      return effect satisfies never
  }
}

const transitionOf = (event: PublishedEvent, tradeId: bigint) =>
  event.kind === 'status' ? { to: event.status } : { to: event.change, tradeId, part: event.part }

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
      // Not the trade's bot, but the one that Steam refused before the request moved on to the trade's bot.
      return doubtBot(tx, { botId: effect.botId, partnerSteamId, game, now: deps.clock.now() })
    case 'move_to_other_bot':
      return moveToOtherBot(deps, tx, { row, isInDoubt: effect.isInDoubt })
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

function tradeColumns({
  deliveredAt,
  held,
  reversed,
  atRisk,
  atRiskUntil,
  protectionFoundAt,
  terms,
  creditedByOperator,
  releasedByOperator,
  releasedEarly,
  reversedByOperator,
}: Extract<Effect, { kind: 'change_trade' }>['change']) {
  return {
    ...(deliveredAt !== undefined && { delivered_at: deliveredAt }),
    ...(held !== undefined && { held_amount: held }),
    ...(reversed !== undefined && { reversed_amount: reversed }),
    ...(atRisk !== undefined && { at_risk_amount: atRisk }),
    ...(atRiskUntil !== undefined && { at_risk_until: atRiskUntil }),
    ...(creditedByOperator && { credited_by_operator: true }),
    ...(releasedByOperator && { released_by_operator: true }),
    ...(releasedEarly && { released_early: true }),
    ...(reversedByOperator && { reversed_by_operator: true }),
    ...(protectionFoundAt !== undefined && { protection_found_at: protectionFoundAt }),
    ...(terms !== undefined && {
      credit_mode: terms.creditMode,
      liability: terms.liability,
      risk_limit_usd_cents: terms.riskLimitUsdCents,
    }),
  }
}

function depositColumns({
  status,
  credited,
  held,
  heldUntil,
  reversed,
  charged,
}: Extract<Effect, { kind: 'change_deposit' }>['change']) {
  return {
    ...(status !== undefined && { status }),
    ...(credited !== undefined && { credited_amount: credited }),
    ...(held !== undefined && { held_amount: held }),
    ...(heldUntil !== undefined && { held_until: heldUntil }),
    ...(reversed !== undefined && { reversed_amount: reversed }),
    ...(charged !== undefined && { charged_amount: charged }),
  }
}
