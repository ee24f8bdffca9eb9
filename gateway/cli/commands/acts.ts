import { limitUpTo, moment, pageBefore, text } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import { actLines } from '../lines.ts'
import type { Session } from '../session.ts'

const MOST_ACTS = 1_000

type Flags = FindFlags & { act?: string; by?: string; since?: Date; before?: bigint; limit: number }

export const acts = command({
  does: 'list the acts of operators, newest first: who, when, what and why',
  example: "acts --act 'bot remove' --since 2026-11-01",
  parameters: {
    flags: {
      act: {
        kind: 'parsed',
        parse: text,
        brief: "only this act, such as 'bot remove'",
        placeholder: 'NAME',
        optional: true,
      },
      by: {
        kind: 'parsed',
        parse: text,
        brief: 'only acts of this operator',
        placeholder: 'NAME',
        optional: true,
      },
      since: {
        kind: 'parsed',
        parse: moment,
        brief: 'only acts since this time',
        placeholder: 'DATE',
        optional: true,
      },
      before: pageBefore('ACT'),
      limit: limitUpTo(MOST_ACTS),
      ...FIND,
    },
  },
  load: async () => {
    const { listActs } = await import('../../operations/acts.ts')
    return async (session: Session, { act, by: operator, since, before, limit }: Flags) =>
      listActs(await session.findDeps(), { act, operator, since, before, limit })
  },
  lines: actLines,
})
