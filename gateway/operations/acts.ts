/** The acts of operators, newest first. */
import { type Answer, done, type FindDeps } from './operation.ts'
import { type ActFilter, selectActs } from './store.ts'

export type ActRecord = Awaited<ReturnType<typeof selectActs>>[number]

/** `next`: the `before` of the next page; null on the last page. */
export type ActPage = { acts: ActRecord[]; next: bigint | null }

export async function listActs({ db }: FindDeps, filter: ActFilter): Promise<Answer<ActPage>> {
  const rows = await selectActs(db, { ...filter, limit: filter.limit + 1 })
  const acts = rows.slice(0, filter.limit)
  return done({ acts, next: rows.length > filter.limit ? (acts.at(-1)?.actId ?? null) : null })
}
