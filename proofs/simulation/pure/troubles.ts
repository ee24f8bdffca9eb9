/**
 * Troubles of a simulated till: an outage of Steam, bots whose tokens Steam refuses forever, and acts of the operator.
 */

import type { Fact } from '../../../gateway/trades/decide.ts'
import { sweepTrades } from '../../../gateway/trades/jobs.ts'
import { recordLocked } from '../../../gateway/trades/record.ts'
import { must } from '../violation.ts'
import type { Bot, TradeRow } from './memory.ts'
import { type Process, type Scene, startInProcess } from './scene.ts'

const DAY_MS = 86_400_000
/** After this time Steam ends an open offer. */
const OFFER_LIFE_MS = 14 * DAY_MS

/**
 * Makes Steam refuse the tokens of some bots forever. The operator retires about half of these bots after the faults.
 * Two weeks after the faults, Steam ends the offers that the till cannot close. `withinMs`: how long faults continue,
 * from now.
 */
export function planDeaths(scene: Scene, withinMs: number): void {
  const { engine, random, bots, steam, faults } = scene
  for (const bot of bots.values()) {
    if (!random.chance(0.08)) continue
    engine.after(random.int(withinMs), () => {
      faults.note('bot that Steam refuses forever')
      die(scene, bot)
    })
    if (random.chance(0.5)) engine.after(withinMs + random.int(12 * DAY_MS), () => retire(scene, bot))
  }
  const isOutOfService = (botId: string) => bots.get(BigInt(botId))?.state !== 'active'
  engine.after(withinMs + OFFER_LIFE_MS, () =>
    steam.expire(({ bot, isOpaque }) => isOpaque || isOutOfService(bot)),
  )
}

function die({ processes, trace, engine }: Scene, bot: Bot): void {
  bot.state = 'dead'
  for (const { leases } of processes) leases.delete(bot.botId)
  trace.add(`${engine.now()} bot ${bot.botId} is dead`)
}

function retire(scene: Scene, bot: Bot): void {
  bot.state = 'retired'
  scene.trace.add(`${scene.engine.now()} bot ${bot.botId} is retired`)
  const [process] = scene.processes
  if (process !== undefined) startInProcess(scene, () => sweepTrades(process.deps))
}

/** Plans an outage of Steam. The till notices it after half a minute, if it still lasts. */
export function planOutage(scene: Scene, withinMs: number): void {
  const { engine, random, outage, faults } = scene
  const from = engine.now() + random.between(0, withinMs)
  engine.at(from, () => {
    if (faults.areStopped) return
    outage.isDown = true
    engine.after(30_000, () => {
      outage.isKnown = outage.isDown
    })
    engine.after(random.between(5_000, 180_000), () => {
      outage.isDown = false
      outage.isKnown = false
    })
  })
}

/**
 * The acts of an operator. `faultsMs`: how long faults continue, from now. `byHandMs`: when the till has given up all
 * unreported deliveries.
 */
export function planOperatorActs(
  scene: Scene,
  { faultsMs, byHandMs }: { faultsMs: number; byHandMs: number },
): void {
  changeStores(scene, faultsMs)
  creditByHand(scene, byHandMs)
  releaseEarly(scene, [faultsMs / 3, faultsMs, DAY_MS])
  forgiveShoppers(scene, DAY_MS)
}

/** The operator credits deliveries that Steam never reported. `afterMs`: when the till has given up all of them. */
function creditByHand(scene: Scene, afterMs: number): void {
  const { engine, trades, steam, faults, processes } = scene
  const [process] = processes
  engine.after(afterMs, () => {
    for (const row of trades.values()) {
      const offer = steam.byMessage.get(row.trade.secretCode)
      const steamTrade = steam.steamTrades.get(offer?.tradeId ?? '')
      const isThere = steamTrade?.state === 'complete' && row.deliveredBy === null
      if (!isThere || offer === undefined || process === undefined) continue
      faults.note('credit by an operator')
      startInProcess(scene, () =>
        credit(process, row, { steamTradeId: steamTrade.tradeId, offerId: offer.offerId }),
      )
    }
  })
}

async function credit(
  { deps }: Process,
  { facts }: TradeRow,
  seen: { steamTradeId: string; offerId: string },
): Promise<void> {
  const fact: Fact = { kind: 'operator_credits', ...seen }
  const recorded = await deps.trades.transaction(async (tx) => {
    const deposit = await tx.lockDeposit(facts.depositId)
    const source = { tradeId: facts.id }
    return deposit && recordLocked(deps, tx, { deposit, source, fact, now: deps.clock.now() })
  })
  must(recorded?.events.length !== 0, 'I12', () => `trade ${facts.id} could not be credited by hand`)
}

/** Held trades whose number is a multiple of this are released early. */
const EARLY_EVERY = 3n

/** The operator releases held credit of stores while the items can still be taken back. `timesMs`: from now. */
function releaseEarly(scene: Scene, timesMs: readonly number[]): void {
  const { engine, trades, processes } = scene
  const [process] = processes
  for (const ms of timesMs) {
    engine.after(ms, () => {
      for (const row of trades.values()) {
        const isChosen = row.facts.id % EARLY_EVERY === 0n && row.trade.state === 'held' && row.held > 0n
        if (isChosen && process !== undefined) startInProcess(scene, () => releaseTrade(process, row))
      }
    })
  }
}

async function releaseTrade({ deps }: Process, { facts }: TradeRow): Promise<void> {
  const fact: Fact = { kind: 'operator_releases_early' }
  await deps.trades.transaction(async (tx) => {
    const deposit = await tx.lockDeposit(facts.depositId)
    const source = { tradeId: facts.id }
    return deposit && recordLocked(deps, tx, { deposit, source, fact, now: deps.clock.now() })
  })
}

/** The operator forgives some shoppers who took items back. `withinMs`: the latest time for that, from now. */
function forgiveShoppers(scene: Scene, withinMs: number): void {
  const { engine, random, faults } = scene
  engine.after(random.int(withinMs), () => {
    for (const shopper of scene.onRelease) {
      if (!random.chance(0.3)) continue
      faults.note('shopper forgiven by an operator')
      scene.onRelease.delete(shopper)
      for (const row of scene.trades.values())
        if (row.trade.partnerSteamId === shopper) scene.forgiven.set(row, row.reversals)
    }
  })
}

/**
 * The operator changes how a store is credited, and who pays for its reversals. `withinMs`: the latest time for that,
 * from now.
 */
function changeStores(scene: Scene, withinMs: number): void {
  const { engine, random, faults, stores } = scene
  for (const store of stores) {
    if (!random.chance(0.3)) continue
    engine.after(random.int(withinMs), () => {
      faults.note('changed settings of a store')
      store.mode = random.pick(['on_accept', 'on_release'])
      store.liability = random.pick(['operator', 'store'])
      store.riskLimit = BigInt(random.between(0, 40_000))
    })
  }
}
