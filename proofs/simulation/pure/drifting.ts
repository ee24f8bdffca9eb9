/** Changes bots' inventories without a trade, and plans the looks that must find the changes. */
import { inventoryKey } from '../own-inventory.ts'
import { must } from '../violation.ts'
import type { Bot } from './memory.ts'
import { type Process, type Scene, startInProcess } from './scene.ts'

const HOUR_MS = 3_600_000
/** After this time, nothing more vanishes or appears. */
const DRIFTED_MS = 15 * HOUR_MS
/** How long until a look that was lost is due again. */
const RETRY_MS = HOUR_MS / 2

/**
 * When to look at bots' inventories, in milliseconds from the start: some looks before the third reading of the bots'
 * histories, some after it.
 */
const LOOKS = [16, 17.5, 19, 21, 103, 104.5, 106, 107.5].map((hours) => hours * HOUR_MS)
/** When the looks after the third reading of the histories begin, in milliseconds from the start. */
const LATE_MS = 103 * HOUR_MS
/** When every change must have been found, in milliseconds from the start. */
const FOUND_MS = 109 * HOUR_MS

type Looking = {
  /** Returns a process that is alive and not paused. */
  workingProcess(scene: Scene): Process | undefined
  /** Runs `look` in the process that holds the bot. */
  inHolder(scene: Scene, bot: Bot, look: (process: Process) => Promise<void>): void
}

export function planDrift(scene: Scene, { workingProcess, inHolder }: Looking): void {
  const { engine, random, bots, steam } = scene
  const begunAt = engine.now()
  for (const { botId } of bots.values()) {
    if (random.chance(0.5))
      engine.after(random.between(HOUR_MS, DRIFTED_MS), () => steam.drift(String(botId)))
  }
  for (const ms of LOOKS) {
    engine.at(begunAt + ms, () => {
      const process = workingProcess(scene)
      if (process === undefined) return
      startInProcess(scene, async () => {
        const now = new Date(engine.now())
        const nextAt = new Date(now.getTime() + RETRY_MS)
        for (const botId of await process.drift.takeDue({ now, nextAt, limit: bots.size })) {
          const bot = bots.get(botId)
          if (bot !== undefined) inHolder(scene, bot, (holder) => holder.lookForDrift(bot))
        }
      })
    })
  }
  engine.at(begunAt + FOUND_MS, () => checkFound(scene, begunAt + LATE_MS))
}

/**
 * Checks that every vanished item was found missing, and every item without a trade was found foreign. Skips bots that
 * are dead or retired. Skips inventories without two complete looks since `lateFrom`, because an inventory that is
 * shown only in part proves nothing.
 */
function checkFound({ bots, steam, trades, drift, custody }: Scene, lateFrom: number): void {
  const isServed = (bot: string) => bots.get(BigInt(bot))?.state === 'active'
  const isShown = (bot: string, item: { appId: number }) =>
    (steam.shownInFull.get(inventoryKey(bot, item)) ?? []).filter((at) => at >= lateFrom).length > 1
  for (const row of trades.values()) {
    const steamTrade = steam.steamTrades.get(row.deliveredBy ?? '')
    for (const { asset, bots: holders, isVanished } of steamTrade?.items ?? []) {
      const key = `${row.facts.id}/${asset.assetId}`
      const last = custody.get(key)?.at(-1)
      if (!isVanished || last?.moved !== 'in' || ![...holders].every(isServed)) continue
      if (!isShown(String(last.botId), asset)) continue
      const noted = drift.get(last.botId)?.noted ?? []
      const isFound = noted.some(({ kind, item }) => kind === 'missing' && item === key)
      must(isFound, 'I19', () => `item ${key} vanished from bot ${last.botId} unnoticed`)
    }
  }
  for (const stray of steam.strayItems) {
    const { bot, assetId } = stray
    // The last look may not have shown the item.
    if (!isServed(bot) || !isShown(bot, stray) || steam.lastOmitted.get(inventoryKey(bot, stray)) === assetId)
      continue
    const noted = drift.get(BigInt(bot))?.noted ?? []
    const isFound = noted.some((each) => each.kind === 'foreign' && each.assetId === assetId)
    must(isFound, 'I19', () => `asset ${assetId} of bot ${bot} was not noticed`)
  }
}
