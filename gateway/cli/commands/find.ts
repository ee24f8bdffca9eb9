import { text } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import { findingLines } from '../deposit-lines.ts'
import type { Session } from '../session.ts'

const STDIN = '-'

export const find = command({
  does: 'search for a link, number, order id, account, offer, item, webhook, store or bot',
  example: "find 'https://steamcommunity.com/profiles/76561198000000077'",
  parameters: {
    flags: FIND,
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: text,
          brief: 'the text to search for; - reads it from stdin, so it stays out of the shell history',
          placeholder: 'TEXT',
        },
      ],
    },
  },
  load: async () => {
    const operations = await import('../../operations/find.ts')
    return async (session: Session, _flags: FindFlags, typed: string) =>
      operations.find(await session.findDeps(), typed === STDIN ? await firstLine(session) : typed)
  },
  lines: findingLines,
})

async function firstLine({ terminal }: Session): Promise<string> {
  for await (const line of terminal.lines()) if (line !== '') return line
  return ''
}
