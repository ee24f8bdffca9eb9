/** `find`: one search for whatever an operator was given. */
import { text } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import { findingLines } from '../deposit-lines.ts'
import type { Session } from '../session.ts'

const STDIN = '-'

export const find = command({
  does: 'find what a text names: link, number, order id, account, offer, item, webhook, store or bot',
  example: "find 'https://steamcommunity.com/profiles/76561198000000077'",
  parameters: {
    flags: FIND,
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: text,
          brief: 'what you were given; - reads it from stdin, so no history keeps it',
          placeholder: 'TEXT',
        },
      ],
    },
  },
  load: async () => {
    const operations = await import('../../operations/find.ts')
    return async (session: Session, _flags: FindFlags, typed: string) =>
      operations.find(await session.find(), typed === STDIN ? await firstLine(session) : typed)
  },
  lines: findingLines,
})

async function firstLine({ terminal }: Session): Promise<string> {
  for await (const line of terminal.lines()) return line
  return ''
}
