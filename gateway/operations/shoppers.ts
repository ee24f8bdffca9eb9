/** Steam accounts that may not pay. */
import { scrub } from '../kit/scrub.ts'
import { allowShopper, type DeniedShopper, deniedShoppers, denyShopper } from '../shoppers/store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'

const MOST_LISTED = 1_000

/** Refuses the account from now on. Its open offers stay as they are, and are named. */
export function denyPayer(deps: ActDeps, steamId: string): Promise<Answer<DeniedShopper>> {
  const what = { name: 'shopper deny', needsReason: true, recorded: () => ({ steamId }) }
  return act(deps, what, async (tx) => {
    const reason = scrub(deps.reason ?? '')
    const isNew = await denyShopper(tx, { steamId, reason, at: deps.clock.now() })
    const [denied] = await deniedShoppers(tx, { steamId, limit: 1 })
    if (denied === undefined) throw new Error(`the denial of ${steamId} vanished in its own transaction`)
    if (!isNew) return unchanged(denied, `${steamId} was denied before: ${denied.reason}`)
    return done(denied, `${steamId} cannot pay any longer.${openText(denied)}`)
  })
}

function openText({ openTrades }: DeniedShopper): string {
  if (openTrades.length === 0) return ''
  const named = openTrades.map(({ tradeId, depositId }) => `trade ${tradeId} of deposit ${depositId}`)
  return ` Open offers stay as they are: ${named.join(', ')}.`
}

export function allowPayer(deps: ActDeps, steamId: string): Promise<Answer<{ steamId: string }>> {
  return act(deps, { name: 'shopper allow', recorded: () => ({ steamId }) }, async (tx) => {
    if (!(await allowShopper(tx, steamId))) return refused('not_found', `${steamId} is not denied.`)
    return done({ steamId }, `${steamId} may pay again.`)
  })
}

export type DeniedList = { shoppers: DeniedShopper[] }

/** The newest first. */
export async function listDenied({ db }: FindDeps): Promise<Answer<DeniedList>> {
  return done({ shoppers: await deniedShoppers(db, { limit: MOST_LISTED }) })
}
