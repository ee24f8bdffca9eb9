/** The bots' inventories on Steam, compared with custody. */
import { askForLooks, type BotLook, selectDrift } from '../drift/list-store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused } from './operation.ts'

export type DriftList = { bots: BotLook[] }

const NO_BOT = refused('not_found', 'There is no such bot: see bot list.')

/** `bot`: number, Steam id or name; undefined for all bots. */
export async function listDrift({ db }: FindDeps, bot?: string): Promise<Answer<DriftList>> {
  const bots = await selectDrift(db, { bot })
  return bot !== undefined && bots.length === 0 ? NO_BOT : done({ bots })
}

/** Asks the gateways to compare the inventories now, ahead of the daily check. */
export function lookForDrift(deps: ActDeps, bot?: string): Promise<Answer<DriftList>> {
  const argumentsOf = ({ bots }: DriftList) => ({ bots: bots.map(({ botId }) => String(botId)) })
  return act(deps, { name: 'items drift', argumentsOf }, async (tx) => {
    const bots = await selectDrift(tx, { bot })
    if (bots.length === 0) return NO_BOT
    const ids = bots.map(({ botId }) => botId)
    await askForLooks(tx, ids, deps.clock.now())
    return done({ bots: await selectDrift(tx, { bot }) })
  })
}
