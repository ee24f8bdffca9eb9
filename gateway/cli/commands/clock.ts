import { buildRouteMap } from '@stricli/core'
import { text } from '../arguments.ts'
import { ACT, type ActFlags, command } from '../command.ts'
import type { Session } from '../session.ts'

const advance = command({
  does: 'advance the clock of the till and of its Steam sandbox; sandbox mode only',
  example: 'clock advance 8d',
  parameters: {
    flags: ACT,
    positional: {
      kind: 'tuple',
      parameters: [
        { parse: text, brief: 'a whole number and s, m, h or d, such as 90s or 8d', placeholder: 'DURATION' },
      ],
    },
  },
  load: async () => {
    const operations = await import('../../operations/clock.ts')
    return async (session: Session, flags: ActFlags, duration: string) =>
      operations.advance(await session.actDeps(flags), duration)
  },
})

export const clock = buildRouteMap({ routes: { advance }, docs: { brief: 'the clock of the sandbox' } })
