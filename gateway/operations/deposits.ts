import { type Moment, timelineOf } from '../deposits/timeline-store.ts'
import { type Answer, done, type FindDeps, refused } from './operation.ts'

export type DepositView = { depositId: bigint; moments: Moment[] }

/** All that is known of a deposit, in the order of time. */
export async function showDeposit({ db }: FindDeps, depositId: bigint): Promise<Answer<DepositView>> {
  const moments = await timelineOf(db, depositId)
  if (moments === undefined) return refused('not_found', `There is no deposit ${depositId}.`)
  return done({ depositId, moments })
}
