/** The acts of operators, newest first. */
import { keysetPage } from '../kit/keyset-page.ts'
import { type Answer, done, type FindDeps } from './operation.ts'
import { type ActFilter, selectActs } from './store.ts'

export type ActRecord = Awaited<ReturnType<typeof selectActs>>[number]

/** `next`: the `before` of the next page; null on the last page. */
export type ActPage = { acts: ActRecord[]; next: bigint | null }

export async function listActs({ db }: FindDeps, filter: ActFilter): Promise<Answer<ActPage>> {
  const { rows: acts, next } = await keysetPage(filter, (page) => selectActs(db, page), 'actId')
  return done({ acts, next })
}
