/** `ledger …`: verifies the books. */
import { buildRouteMap } from '@stricli/core'
import { command, FIND, type FindFlags } from '../command.ts'
import { ledgerLines } from '../lines.ts'
import type { Session } from '../session.ts'

const verify = command({
  does: 'recompute the ledger, custody and the accounts of the markets; exit code 1: differences',
  example: 'ledger verify',
  parameters: { flags: FIND },
  load: async () => {
    const { verifyLedger } = await import('../../operations/ledger.ts')
    return async (session: Session, _flags: FindFlags) => verifyLedger(await session.pool())
  },
  lines: ledgerLines,
})

export const ledger = buildRouteMap({ routes: { verify }, docs: { brief: 'the books' } })
