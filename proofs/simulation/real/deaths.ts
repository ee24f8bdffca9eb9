/** Bots whose tokens Steam refuses forever. The operator retires some of them, sooner or later. */
import { retire, runInLiveProcess } from './operator.ts'
import { BOTS } from './people.ts'
import type { Process, Scene } from './scene.ts'

const DAY_MS = 86_400_000
/** After this time Steam ends an open offer. */
const OFFER_LIFE_MS = 14 * DAY_MS

/** Whether a bot is lost, by its number in the database. Numbers follow the order of BOTS. */
export const isLost = ({ lost }: Pick<Scene, 'lost'>, botId: number): boolean =>
  lost.has(BOTS[botId - 1] ?? '')

/** Plans the deaths. `withinMs`: how long faults continue, from now. */
export function planDeaths(scene: Scene, withinMs: number): void {
  const { engine, random, steam, faults, lost } = scene
  for (const steamId of BOTS) {
    if (!random.chance(0.12)) continue
    engine.after(random.int(withinMs), () => {
      faults.note('bot that Steam refuses forever')
      lost.set(steamId, 'dead')
      runInLiveProcess(scene, (process) => markDead(process, steamId))
    })
    if (!random.chance(0.5)) continue
    engine.after(withinMs + random.int(12 * DAY_MS), () => {
      lost.set(steamId, 'retired')
      runInLiveProcess(scene, (process) => retire(process, steamId))
    })
  }
  // Ends the offers that the till cannot end: those of lost bots, and those whose state Steam's answers never show.
  engine.after(withinMs + OFFER_LIFE_MS, () => steam.expire(({ bot, isOpaque }) => isOpaque || lost.has(bot)))
}

async function markDead({ deps }: Process, steamId: string): Promise<void> {
  const change = { state: 'dead', online: false, lease_owner: null, lease_until: null } as const
  await deps.db.updateTable('bot').set(change).where('steam_id', '=', steamId).execute()
}
