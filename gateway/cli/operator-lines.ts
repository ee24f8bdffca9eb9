import { counted } from '../kit/counted.ts'
import { CENTS_PER_DOLLAR, formatAmount } from '../operations/amount.ts'
import { toJson } from '../operations/json.ts'
import type { FreshLink, OperatorList } from '../operations/operators.ts'
import type { ProposalList } from '../operations/proposals.ts'
import { Refusal } from './terminal.ts'

/** A link expires by the machine's clock, which in a sandbox may be behind the times that the other commands print. */
export function linkLines({ name, role, url, endsAt }: FreshLink): string[] {
  return [
    `${name} (${role}) opens this link and registers a passkey. It works only once, and only for 10 minutes, until ${endsAt.toISOString()} by this machine's clock:`,
    url,
  ]
}

export const operatorLines = ({ operators }: OperatorList): string[] =>
  operators.map(({ name, role, passkeys, sessions, createdAt }) =>
    [
      name,
      role,
      counted(passkeys, 'passkey'),
      counted(sessions, 'session'),
      `since ${createdAt.toISOString().slice(0, 10)}`,
    ].join('\t'),
  )

export function proposalLines({ proposals, aboveUsdMinor }: ProposalList): string[] {
  const limit =
    aboveUsdMinor === null
      ? 'No act needs a second operator.'
      : `If an operator's acts move more than ${formatAmount(aboveUsdMinor, 'USD')} in 24 hours, a second operator must approve them.`
  const lines = proposals.map(
    ({ proposalId, state, act, input, proposedBy, backedBy, decidedBy, reason }) => {
      const who = [`by ${proposedBy}`, ...(backedBy === null ? [] : [`with the passkey of ${backedBy}`])]
      const end = decidedBy === null ? [] : [`${state} by ${decidedBy}`]
      return [proposalId, state, act, toJson(input), ...who, ...end, reason ?? ''].join('\t')
    },
  )
  return [...lines, limit]
}

export function parseLimitUsdMinor(typed: string): bigint | null {
  if (typed === 'none') return null
  if (!/^\d{1,9}$/.test(typed))
    throw new Refusal('usage', 'LIMIT must be whole dollars, such as 500, or none.')
  return BigInt(typed) * CENTS_PER_DOLLAR
}
