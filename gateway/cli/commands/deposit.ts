/** `deposit …`. */
import { buildRouteMap } from '@stricli/core'
import { id } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import { depositLines } from '../lines.ts'
import type { Session } from '../session.ts'

const DEPOSIT = { parse: id, brief: 'the number of the deposit', placeholder: 'DEPOSIT' } as const

const show = command({
  does: "show all that is known of a deposit, in the order of time, with Steam's ids",
  example: 'deposit show 1001',
  parameters: { flags: FIND, positional: { kind: 'tuple', parameters: [DEPOSIT] } },
  load: async () => {
    const { showDeposit } = await import('../../operations/deposits.ts')
    return async (session: Session, _flags: FindFlags, depositId: bigint) =>
      showDeposit(await session.find(), depositId)
  },
  lines: depositLines,
})

export const deposit = buildRouteMap({ routes: { show }, docs: { brief: 'visits to the till' } })
