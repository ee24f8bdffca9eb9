/** Troubles of a simulated till: an outage of Steam, and bots that die for good. */
import { sweepTrades } from '../../../gateway/trades/jobs.ts'
import type { Bot } from './memory.ts'
import { inProcess, type Scene } from './scene.ts'

const DAY_MS = 86_400_000
/** Steam ends an offer that nobody ended. */
const OFFER_LIFE_MS = 14 * DAY_MS

/**
 * Steam refuses the tokens of some bots forever. The operator retires some of those, sooner or later. `withinMs`: faults
 * come for so long from now.
 */
export function planDeaths(scene: Scene, withinMs: number): void {
  const { engine, random, bots, steam, faults } = scene
  for (const bot of bots.values()) {
    if (!random.chance(0.08)) continue
    engine.after(random.int(withinMs), () => {
      faults.saw('bot that dies for good')
      die(scene, bot)
    })
    if (random.chance(0.5)) engine.after(withinMs + random.int(12 * DAY_MS), () => retire(scene, bot))
  }
  const isLeft = (botId: string) => bots.get(BigInt(botId))?.state !== 'active'
  engine.after(withinMs + OFFER_LIFE_MS, () => steam.expire(({ bot, isOpaque }) => isOpaque || isLeft(bot)))
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
  if (process !== undefined) inProcess(scene, () => sweepTrades(process.deps))
}

/** Steam is down for a while; the till knows of it half a minute later. */
export function troubleSteam(scene: Scene, withinMs: number): void {
  const { engine, random, outage, faults } = scene
  const from = engine.now() + random.between(0, withinMs)
  engine.at(from, () => {
    if (faults.stopped) return
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
