/** `proposal …`: acts that wait for a second operator. */
import { buildRouteMap } from '@stricli/core'
import { id, text } from '../arguments.ts'
import { command, FIND, type FindFlags, SERIOUS_ACT, type SeriousFlags } from '../command.ts'
import { parseLimitUsdMinor, proposalLines } from '../operator-lines.ts'
import type { Session } from '../session.ts'

const PROPOSAL = { parse: id, brief: 'the number of the proposal', placeholder: 'PROPOSAL' } as const

const list = command({
  does: 'list the acts that wait, or waited, for a second operator’s approval in the console',
  example: 'proposal list',
  parameters: { flags: FIND },
  load: async () => {
    const { listProposals } = await import('../../operations/proposals.ts')
    return async (session: Session, _flags: FindFlags) => listProposals(await session.findDeps())
  },
  lines: proposalLines,
})

const decline = command({
  does: 'decline a proposal, so its act is not done',
  example: "proposal decline 7 --reason 'the amount is wrong'",
  parameters: { flags: SERIOUS_ACT, positional: { kind: 'tuple', parameters: [PROPOSAL] } },
  load: async () => {
    const { declineProposal } = await import('../../operations/proposals.ts')
    return async (session: Session, flags: SeriousFlags, proposalId: bigint) =>
      declineProposal(await session.actDeps(flags), proposalId)
  },
})

const limit = command({
  does: 'require a second operator once one operator moves more than LIMIT in 24 hours; later changes of LIMIT need one too',
  example: "proposal limit 500 --reason 'there are two of us now'",
  parameters: {
    flags: SERIOUS_ACT,
    positional: {
      kind: 'tuple',
      parameters: [{ parse: text, brief: 'whole dollars, or none', placeholder: 'LIMIT' }],
    },
  },
  load: async () => {
    const { changeApprovalLimit } = await import('../../operations/proposals.ts')
    return async (session: Session, flags: SeriousFlags, typed: string) => {
      const aboveUsdMinor = parseLimitUsdMinor(typed)
      return changeApprovalLimit(await session.actDeps(flags), { aboveUsdMinor })
    }
  },
})

export const proposal = buildRouteMap({
  routes: { list, decline, limit },
  docs: { brief: 'acts that wait for a second operator' },
})
