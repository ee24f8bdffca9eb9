/**
 * Acts that wait for a second operator. Only the console can approve, because the command line cannot prove who types.
 */
import { z } from 'zod'
import { CURRENCIES } from '../../contract/money.ts'
import {
  backProposal,
  decideProposal,
  findOpenProposal,
  readApprovalLimit,
  selectProposals,
  writeApprovalLimit,
} from '../operators/proposal-store.ts'
import { act } from './act.ts'
import { formatAmount } from './amount.ts'
import { releaseDeposit } from './early-release.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'
import { recordPayout, voidPayout } from './payouts.ts'
import { creditStore, debitStore, writeOffStore } from './store-books.ts'
import { creditTrade, releaseTrade, reverseTrade } from './trades.ts'

export type ApprovalLimit = { aboveUsdMinor: bigint | null }

/** With null, no act needs a second operator. A change of an existing limit always needs one. */
export function changeApprovalLimit(
  deps: ActDeps,
  { aboveUsdMinor }: ApprovalLimit,
): Promise<Answer<ApprovalLimit>> {
  const secondOperator = { input: () => ({ aboveUsdMinor }), amountMoved: () => 'all' as const }
  const namedAct = {
    name: 'proposal limit',
    needsReason: true,
    argumentsOf: () => ({ aboveUsdMinor }),
    secondOperator,
  }
  return act(deps, namedAct, async (tx) => {
    if (aboveUsdMinor !== null && aboveUsdMinor < 0n)
      return refused('usage', 'The limit must not be below zero.')
    const before = (await readApprovalLimit(tx)) ?? null
    if (before === aboveUsdMinor)
      return unchanged({ aboveUsdMinor }, 'Nothing changed: the limit is the same.')
    await writeApprovalLimit(tx, aboveUsdMinor)
    if (aboveUsdMinor === null) return done({ aboveUsdMinor }, 'No act needs a second operator.')
    const above = formatAmount(aboveUsdMinor, 'USD')
    return done(
      { aboveUsdMinor },
      `If an operator's acts move more than ${above} in 24 hours, a second operator must approve them.`,
    )
  })
}

const id = z.coerce.bigint()
const trade = z.object({ tradeId: id })
const payout = z.object({
  storeId: id,
  amountMinor: id,
  currency: z.enum(CURRENCIES),
  reference: z.string(),
})
const adjustment = z.object({
  storeId: id,
  amountMinor: id,
  currency: z.enum(CURRENCIES),
  reference: z.string(),
  mayOwe: z.boolean().optional(),
})
const credit = trade.extend({ steamTradeId: z.string(), offerId: z.string().nullable() })
/** Proposals of earlier versions name no trades. */
const release = z.object({ depositId: id, tradeIds: z.array(id).optional() })
const limit = z.object({ aboveUsdMinor: id.nullable() })

/** How to repeat each act that can be proposed. */
const REPETITIONS: Record<string, (deps: ActDeps, input: unknown) => Promise<Answer<unknown>>> = {
  'payout record': (deps, input) => {
    const { amountMinor: amount, ...rest } = payout.parse(input)
    return recordPayout(deps, { ...rest, amount })
  },
  'payout void': (deps, input) => voidPayout(deps, z.object({ payoutId: id }).parse(input).payoutId),
  'store credit': (deps, input) => creditStore(deps, adjustment.parse(input)),
  'store debit': (deps, input) => debitStore(deps, adjustment.parse(input)),
  'store write-off': (deps, input) => writeOffStore(deps, adjustment.parse(input)),
  'deposit release': (deps, input) => releaseDeposit(deps, release.parse(input)),
  'trade credit': (deps, input) => creditTrade(deps, credit.parse(input)),
  'trade release': (deps, input) => releaseTrade(deps, trade.parse(input).tradeId),
  'trade reverse': (deps, input) => reverseTrade(deps, trade.parse(input).tradeId),
  'proposal limit': (deps, input) => changeApprovalLimit(deps, limit.parse(input)),
}

export type ProposalView = Awaited<ReturnType<typeof selectProposals>>[number]
export type ProposalList = { proposals: ProposalView[]; aboveUsdMinor: bigint | null }

/** Lists proposals: open ones first, then newest first. */
export async function listProposals({ db }: FindDeps): Promise<Answer<ProposalList>> {
  const proposals = await selectProposals(db)
  return done({ proposals, aboveUsdMinor: (await readApprovalLimit(db)) ?? null })
}

/** `backed`: one operator backs the proposal, and another must still approve it. */
export type Approved = { proposalId: bigint; state: 'backed' | 'approved'; message: string }

/** Backs the proposal if no operator backs it yet. Otherwise approves it and does its act. */
export async function approveProposal(deps: ActDeps, proposalId: bigint): Promise<Answer<Approved>> {
  const { operatorId } = deps
  if (operatorId === undefined)
    return refused('conflict', 'Only an operator who signed in with a passkey can approve.')
  const proposal = await findOpenProposal(deps.db, proposalId)
  if (proposal === undefined) return notOpen(proposalId)
  if (proposal.backedBy === operatorId)
    return refused('conflict', 'You stand behind this proposal: another operator must approve it.')
  if (proposal.backerRemovedAt !== null)
    return refused('conflict', 'The operator behind this proposal was removed: decline it.')
  if (proposal.backedBy === null) return back(deps, { proposalId, operatorId })
  const repeat = REPETITIONS[proposal.act]
  if (repeat === undefined) return refused('conflict', `This version cannot do ${proposal.act}.`)
  const { operatorId: _, ...rest } = deps
  const answer = await repeat(
    {
      ...rest,
      operator: proposal.proposedBy,
      reason: proposal.reason,
      approval: { proposalId, approvedBy: deps.operator, approverId: operatorId },
    },
    proposal.input,
  )
  if (answer.kind === 'refused') return refused(answer.refusal, answer.message)
  if (answer.kind === 'unchanged') return close(deps, proposalId, answer.message)
  return done({ proposalId, state: 'approved', message: answer.message }, answer.message)
}

const notOpen = (proposalId: bigint) => refused('not_found', `There is no open proposal ${proposalId}.`)

type Backing = { proposalId: bigint; operatorId: bigint }

/** Records the first operator who backs a proposal. */
function back(deps: ActDeps, { proposalId, operatorId }: Backing): Promise<Answer<Approved>> {
  return act(deps, { name: 'proposal back', argumentsOf: () => ({ proposalId }) }, async (tx) => {
    if (!(await backProposal(tx, proposalId, operatorId)))
      return refused('conflict', 'Another operator already stands behind this proposal: look again.')
    const message = `You stand behind proposal ${proposalId}. Another operator must approve it.`
    return done({ proposalId, state: 'backed', message }, message)
  })
}

/** Closes a proposal whose act has been done in another way. */
function close(deps: ActDeps, proposalId: bigint, message: string): Promise<Answer<Approved>> {
  return act(deps, { name: 'proposal approve', argumentsOf: () => ({ proposalId }) }, async (tx) => {
    const decision = { proposalId, state: 'approved', by: deps.operator, at: deps.clock.now() } as const
    if (!(await decideProposal(tx, decision))) return notOpen(proposalId)
    return done({ proposalId, state: 'approved', message }, message)
  })
}

export function declineProposal(deps: ActDeps, proposalId: bigint): Promise<Answer<{ proposalId: bigint }>> {
  const namedAct = { name: 'proposal decline', needsReason: true, argumentsOf: () => ({ proposalId }) }
  return act(deps, namedAct, async (tx) => {
    const decision = { proposalId, state: 'declined', by: deps.operator, at: deps.clock.now() } as const
    if (!(await decideProposal(tx, decision))) return notOpen(proposalId)
    return done({ proposalId }, `Proposal ${proposalId} is declined.`)
  })
}
