/** The rows in the till's database by which the vault reports what needs a person. */
import { z } from 'zod'
import { isNeedKind, MOST_NEEDS, type Need, type NeedsStore } from './needs.ts'
import type { Query } from './till-database.ts'

const rowSchema = z
  .object({ kind: z.string(), about: z.string(), text: z.string(), since: z.date(), seenAt: z.date() })
  .transform(({ kind, ...row }): Need | undefined => (isNeedKind(kind) ? { kind, ...row } : undefined))

export function needsIn(query: Query): NeedsStore {
  return {
    async read() {
      const { rows } = await query(
        `select kind, about, text, since, seen_at as "seenAt" from vault_need order by seen_at desc limit $1`,
        [MOST_NEEDS],
      )
      // A later version may have reported kinds that this one does not know.
      return rows.flatMap((row) => rowSchema.safeParse(row).data ?? []).reverse()
    },
    async write(needs) {
      await query(
        `with given as (
           select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
             as need (kind, about, text, since, seen_at)),
         deleted as (
           delete from vault_need where not exists (
             select from given where given.kind = vault_need.kind and given.about = vault_need.about))
         insert into vault_need (kind, about, text, since, seen_at) select * from given
         on conflict (kind, about) do update
           set text = excluded.text, since = excluded.since, seen_at = excluded.seen_at`,
        [
          needs.map(({ kind }) => kind),
          needs.map(({ about }) => about),
          needs.map(({ text }) => text),
          needs.map(({ since }) => since),
          needs.map(({ seenAt }) => seenAt),
        ],
      )
    },
  }
}
