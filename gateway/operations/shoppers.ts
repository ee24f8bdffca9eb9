/** Steam accounts that may not pay. */
import { scrub } from '../kit/scrub.ts'
import { type Erased, eraseShopper } from '../shoppers/erasure-store.ts'
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

/**
 * Erases the account from all that is over. What an open offer, a protection or the deny-list needs stays, and is said. The
 * record of the act does not name the account.
 */
export function erasePayer(deps: ActDeps, steamId: string): Promise<Answer<Erased>> {
  const recorded = ({ deposits, trades, keptDeposits }: Erased) => ({ deposits, trades, keptDeposits })
  return act(deps, { name: 'shopper erase', needsReason: true, recorded }, async (tx) => {
    const erased = await eraseShopper(tx, steamId, deps.clock.now())
    if (erased.deposits + erased.keptDeposits === 0)
      return refused('not_found', `No deposit names ${steamId}.`)
    return erased.deposits === 0 ? unchanged(erased, erasedText(erased)) : done(erased, erasedText(erased))
  })
}

function erasedText({ deposits, trades, keptDeposits, keptEvents, isDenied }: Erased): string {
  const kept = [
    ...(keptDeposits > 0
      ? [`${keptDeposits} deposits are open, protected or at risk and name it yet: run this again later.`]
      : []),
    ...(keptEvents > 0 ? [`${keptEvents} events stay as their stores were told them.`] : []),
    ...(isDenied ? ['It is denied, and the deny-list keeps its number.'] : []),
  ]
  return [`${deposits} deposits and ${trades} trades name the account no longer.`, ...kept].join(' ')
}

export type DeniedList = { shoppers: DeniedShopper[] }

/** The newest first. */
export async function listDenied({ db }: FindDeps): Promise<Answer<DeniedList>> {
  return done({ shoppers: await deniedShoppers(db, { limit: MOST_LISTED }) })
}
