/** The `--json` output of the commands about operators and proposals. */
import { z } from 'zod'
import { id, minor, time } from './shapes.ts'

const operator = { operatorId: id, name: z.string(), role: z.enum(['viewer', 'support', 'operator']) }
const freshLink = z.strictObject({ ...operator, url: z.string(), endsAt: time })

export const OPERATOR_SHAPES = {
  'operator add': freshLink,
  'operator link': freshLink,
  'operator list': z.strictObject({
    operators: z.array(
      z.strictObject({ ...operator, createdAt: time, passkeys: z.int(), sessions: z.int() }),
    ),
  }),
  'operator remove': z.strictObject({ ...operator, declinedProposals: z.array(id) }),
  'proposal list': z.strictObject({
    proposals: z.array(
      z.strictObject({
        proposalId: id,
        state: z.enum(['open', 'approved', 'declined']),
        act: z.string(),
        input: z.record(z.string(), z.unknown()),
        reason: z.string().nullable(),
        proposedBy: z.string(),
        backedBy: z.string().nullable(),
        worthUsdMinor: minor.nullable(),
        createdAt: time,
        decidedBy: z.string().nullable(),
        decidedAt: time.nullable(),
      }),
    ),
    aboveUsdMinor: minor.nullable(),
  }),
  'proposal decline': z.strictObject({ proposalId: id }),
  'proposal limit': z.strictObject({ aboveUsdMinor: minor.nullable() }),
}
