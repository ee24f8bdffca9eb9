/** Writes the effects of a trade's events into memory. At the commit, checks money, items, statuses and events. */
import { DEPOSIT_EDGES } from '../../../gateway/deposits/deposit.ts'
import type { Effect } from '../../../gateway/trades/effects.ts'
import { must } from '../violation.ts'
import { moveToOtherBot } from './attempts.ts'
import { bar, doubt, trust } from './fleet.ts'
import type { DepositRow, TillMemory, TradeRow } from './memory.ts'
import type { Posting } from './memory-ledger.ts'
import { settingsFor } from './promises.ts'
import { changeRoom, checkLimit } from './room.ts'
import { checkCredit, checkPromise, checkRelease, checkReversal, checkRisk } from './truth.ts'

/** How to undo what one run of a transaction has written so far, and what it leaves to the commit. */
export type Run = {
  undo: (() => void)[]
  wakes: { row: TradeRow; at: Date }[]
  postings: Posting[]
  /** Called at the commit: checks, and writes that need no undo. */
  atCommit: (() => void)[]
}

export const beginRun = (): Run => ({ undo: [], wakes: [], postings: [], atCommit: [] })

export function commit(memory: TillMemory, { wakes, postings, atCommit }: Run): void {
  for (const posting of postings) memory.ledger.post(posting)
  for (const { row, at } of wakes) memory.wake(row, at)
  for (const act of atCommit) act()
}

type RowEffect = { row: TradeRow; effect: Effect }

export function apply(memory: TillMemory, run: Run, { row, effect }: RowEffect): void {
  const { deposit } = row
  switch (effect.kind) {
    case 'free_items':
    case 'receive_items':
      freeItems(memory, run, row)
      return
    case 'reverse_items':
      run.atCommit.push(() => {
        for (const assetId of effect.assetIds) checkReversal(memory.steam, row, assetId)
      })
      return
    case 'record_custody':
      recordCustody(memory, run, { row, effect })
      return
    case 'change_trade':
      changeTrade(memory, run, { row, change: effect.change })
      return
    case 'change_deposit': {
      const { status, ...amounts } = effect.change
      if (status !== undefined) moveDeposit(run, deposit, status)
      Object.assign(deposit, amounts)
      return
    }
    case 'wake':
      run.wakes.push({ row, at: effect.at })
      return
    case 'publish': {
      const { event } = effect
      const id = row.facts.id
      publish(run, deposit, event.kind === 'status' ? event.status : `${event.change} ${id} ${event.part}`)
      return
    }
    case 'post':
      run.postings.push({ store: deposit.store.number, tradeId: row.facts.id, ...effect })
      return
    case 'change_room':
      run.atCommit.push(() => changeRoom(memory, row, effect))
      return
    case 'credit_on_release':
      run.atCommit.push(() => memory.onRelease.add(row.trade.partnerSteamId))
      return
    case 'count_reversed':
      run.atCommit.push(() => {
        deposit.store.reversed += effect.amount
      })
      return
    case 'bar_bot':
    case 'trust_bot':
    case 'doubt_bot':
    case 'move_to_other_bot':
      run.atCommit.push(() => applyToFleet(memory, row, effect))
      return
    case 'log':
      return
    default:
      effect satisfies never
  }
}

type FleetEffect = Extract<Effect, { kind: 'bar_bot' | 'trust_bot' | 'doubt_bot' | 'move_to_other_bot' }>

function applyToFleet(memory: TillMemory, row: TradeRow, effect: FleetEffect): void {
  const { game, botId } = row.facts
  const bot = memory.bots.get(effect.kind === 'doubt_bot' ? effect.botId : botId)
  if (bot === undefined) throw new Error(`there is no bot ${botId}`)
  switch (effect.kind) {
    case 'bar_bot':
      bar(bot, { reason: effect.reason, game, now: effect.at })
      return
    case 'trust_bot':
      trust(bot, game)
      return
    case 'doubt_bot':
      doubt(bot, { partner: row.trade.partnerSteamId, game, now: new Date(memory.engine.now()) })
      return
    case 'move_to_other_bot':
      moveToOtherBot(memory, row, effect)
      return
    default:
      effect satisfies never
  }
}

function freeItems({ taken }: TillMemory, run: Run, row: TradeRow): void {
  row.holdsAssets = false
  for (const assetId of row.items.keys()) {
    if (taken.get(assetId) !== row) continue
    taken.delete(assetId)
    run.undo.push(() => taken.set(assetId, row))
  }
}

type Custody = { row: TradeRow; effect: Extract<Effect, { kind: 'record_custody' }> }

function recordCustody({ custody }: TillMemory, run: Run, { row, effect }: Custody): void {
  const { moved, at } = effect
  const { id, botId } = row.facts
  const items =
    effect.moved === 'in'
      ? effect.items
      : effect.assetIds.map((assetId) => ({ assetId, receivedAssetId: null }))
  run.atCommit.push(() => {
    for (const { assetId, receivedAssetId: as } of items) {
      const key = `${id}/${assetId}`
      const entries = custody.get(key) ?? []
      const last = entries.at(-1)
      must(last?.moved === (moved === 'in' ? undefined : 'in'), 'I13', () => `custody of ${key} ${moved}`)
      // A shopper takes an item back from the bot that had it last.
      custody.set(key, [...entries, { ...(last ?? { botId, as }), moved, departure: null, at }])
    }
  })
}

type TradeChange = { row: TradeRow; change: Extract<Effect, { kind: 'change_trade' }>['change'] }

function changeTrade(memory: TillMemory, run: Run, { row, change }: TradeChange): void {
  const { steam, trades, engine } = memory
  const { deliveredAt, ...money } = change
  const isDelivery = deliveredAt !== undefined
  const isEarly = change.releasedEarly === true
  const isRelease = change.held === 0n && change.reversed === undefined && !isDelivery && !isEarly
  if (change.reversed !== undefined) row.reversals += 1
  Object.assign(row, money)
  if ('settlesAt' in row.trade) row.settlesAt = row.trade.settlesAt
  if ('steamTradeId' in row.trade) row.deliveredBy = row.trade.steamTradeId
  memory.atRisk.add(row)
  if (isDelivery) {
    // The store's settings at this moment, read without the gateway's rules, for the checks.
    row.settings = settingsFor(memory, row)
    run.atCommit.push(() => {
      checkCredit(steam, trades, row)
      checkRisk(memory, row)
      checkPromise(memory, row)
    })
  }
  if (isEarly) {
    memory.faults.note('credit released early by an operator')
    run.atCommit.push(() => checkLimit(memory, row.deposit.store))
  }
  if (isRelease) run.atCommit.push(() => checkRelease(steam, row, engine.now()))
}

export function moveDeposit(run: Run, deposit: DepositRow, to: DepositRow['status']): void {
  const from = deposit.status
  deposit.status = to
  if (from === to) return
  run.atCommit.push(() => must(DEPOSIT_EDGES[from].includes(to), 'I10', () => `deposit: ${from} to ${to}`))
}

export function publish(run: Run, deposit: DepositRow, type: string): void {
  run.atCommit.push(() => {
    must(!deposit.events.includes(type), 'I9', () => `deposit ${deposit.id} has two events ${type}`)
    deposit.events.push(type)
  })
}
