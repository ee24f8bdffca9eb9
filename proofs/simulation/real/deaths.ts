/** Bots that die for good: Steam refuses their tokens forever. The operator retires some of them, sooner or later. */
import { actOnBot } from '../../../gateway/bots/operator.ts'
import { inTransaction } from '../../../gateway/db/transaction.ts'
import { insertAct } from '../../../gateway/operations/store.ts'
import { sweepTrades } from '../../../gateway/trades/jobs.ts'
import { BOTS } from './people.ts'
import { inProcess } from './process.ts'
import type { Process, Scene } from './scene.ts'

const DAY_MS = 86_400_000
/** Steam ends an offer that nobody ended. */
const OFFER_LIFE_MS = 14 * DAY_MS

/** Of a bot's number in the database: they are given in their order. */
export const isLost = ({ lost }: Pick<Scene, 'lost'>, botId: number): boolean =>
  lost.has(BOTS[botId - 1] ?? '')

/** `withinMs`: faults come for so long from now. */
export function planDeaths(scene: Scene, withinMs: number): void {
  const { engine, random, steam, faults, lost } = scene
  for (const steamId of BOTS) {
    if (!random.chance(0.12)) continue
    engine.after(random.int(withinMs), () => {
      faults.saw('bot that dies for good')
      lost.set(steamId, 'dead')
      asSoonAsAble(scene, (process) => markDead(process, steamId))
    })
    if (!random.chance(0.5)) continue
    engine.after(withinMs + random.int(12 * DAY_MS), () => {
      lost.set(steamId, 'retired')
      asSoonAsAble(scene, (process) => retire(process, steamId))
    })
  }
  engine.after(withinMs + OFFER_LIFE_MS, () => steam.expire(({ bot, isOpaque }) => isOpaque || lost.has(bot)))
}

/** In a process that lives, and again where it dies. */
function asSoonAsAble(scene: Scene, work: (process: Process) => Promise<unknown>): void {
  const process = scene.processes.find(({ alive }) => alive)
  const again = () => scene.engine.after(1_000, () => asSoonAsAble(scene, work))
  if (process === undefined) again()
  else inProcess(scene, () => work(process), again)
}

async function markDead({ deps }: Process, steamId: string): Promise<void> {
  const change = { state: 'dead', online: false, lease_owner: null, lease_until: null } as const
  await deps.db.updateTable('bot').set(change).where('steam_id', '=', steamId).execute()
}

/** As `bot retire` does it, with the record that `ledger verify` looks for. */
async function retire({ deps }: Process, steamId: string): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    const answer = await actOnBot(tx, steamId, 'retire')
    if (answer.kind !== 'done') return
    await insertAct(tx, {
      at: deps.clock.now(),
      operator: 'Ada',
      act: 'bot retire',
      arguments: JSON.stringify({ botId: String(answer.botId) }),
      reason: 'banned by Steam',
    })
  })
  await sweepTrades(deps)
}
