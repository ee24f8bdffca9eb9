import {
  type DepartureFilter,
  explainByOperator,
  type ListedDeparture,
  lockDeparture,
  selectDepartures,
} from '../departures/list-store.ts'
import { keysetPage } from '../kit/keyset-page.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'

/** `next`: the `before` of the next page; null on the last page. */
export type DeparturePage = { departures: ListedDeparture[]; next: bigint | null }

/** Lists departures, newest first. */
export async function listDepartures(
  { db }: FindDeps,
  filter: DepartureFilter,
): Promise<Answer<DeparturePage>> {
  const { rows: departures, next } = await keysetPage(
    filter,
    (page) => selectDepartures(db, page),
    'departureId',
  )
  return done({ departures, next })
}

export type ExplainedDeparture = {
  departureId: bigint
  bot: string
  steamTradeId: string
  partnerSteamId: string
}

/** Ends the alarm about a departure: the operator knows why the items left. */
export function explainDeparture(deps: ActDeps, departureId: bigint): Promise<Answer<ExplainedDeparture>> {
  const namedAct = {
    name: 'items explain',
    needsReason: true,
    argumentsOf: (explained: ExplainedDeparture) => explained,
  }
  return act(deps, namedAct, async (tx) => {
    const locked = await lockDeparture(tx, departureId)
    if (locked === undefined) return refused('not_found', `There is no departure ${departureId}.`)
    const { explanation, ...explained } = locked
    if (explanation !== null) return unchanged(explained, `Departure ${departureId} was explained before.`)
    await explainByOperator(tx, departureId)
    return done(explained, `Departure ${departureId} is explained.`)
  })
}
