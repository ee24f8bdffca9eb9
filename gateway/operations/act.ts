/**
 * Acts are operations that change something. Each is recorded (who, when, what, why) in the transaction of its change.
 */
import type { Currency } from '../../contract/money.ts'
import type { Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { DAY_MS } from '../kit/duration.ts'
import { scrub } from '../kit/scrub.ts'
import {
  decideProposal,
  insertMovedAlone,
  insertProposal,
  type NewProposal,
  readApprovalLimit,
  readMovedAlone,
  usdCentsOf,
} from '../operators/proposal-store.ts'
import { lockOperator } from '../operators/store.ts'
import { toJson } from './json.ts'
import { type ActDeps, type Answer, type Refused, refused } from './operation.ts'
import { insertAct } from './store.ts'

export type NamedAct<T> = {
  /** Name of the command, such as `bot pause`. */
  name: string
  /** Whether the operator must give a reason, as for an act that moves money or removes something. */
  needsReason?: boolean
  /** Arguments to record. They must not contain a secret. */
  argumentsOf(data: T): Record<string, unknown>
  /** Set if a second operator must approve the act when it moves more than the limit for one operator. */
  secondOperator?: SecondOperator<T>
}

export type SecondOperator<T> = {
  /** Returns the amount that moves, or `all` if the act needs approval under any limit. */
  amountMoved(tx: Tx, data: T): Promise<Amount | 'all'> | Amount | 'all'
  /** Arguments for repeating the act after its approval. */
  input(data: T): Record<string, unknown>
}

export type Amount = { amountMinor: bigint; currency: Currency }

const MOST_NAME_CHARACTERS = 80
const MOST_REASON_CHARACTERS = 500
const CONTROL = /\p{Cc}/u

/**
 * Does `work` and records it in one transaction. If `work` refuses, or a second operator must approve the act first, the
 * changes are rolled back and not recorded. Nothing commits after the removal of the operator has committed.
 */
export async function act<T>(
  deps: ActDeps,
  namedAct: NamedAct<T>,
  work: (tx: Tx) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const mistake = mistakeOf(deps, namedAct)
  if (mistake !== undefined) return refused('usage', mistake)
  let obstacle: Refused<T> | NewProposal | undefined
  try {
    return await inTransaction(deps.db, async (tx) => {
      const operatorId = deps.operatorId ?? deps.approval?.approverId
      if (operatorId !== undefined && !(await lockOperator(tx, operatorId))) return REMOVED
      // Read before the work, which may change the limit.
      const limit = namedAct.secondOperator && (await readApprovalLimit(tx))
      const answer = await work(tx)
      obstacle = answer.kind === 'refused' ? answer : undefined
      if (answer.kind === 'done')
        obstacle = await obstacleTo(tx, deps, { ...namedAct, data: answer.data, limit })
      if (obstacle !== undefined) throw new RolledBack()
      if (answer.kind === 'done') await record(tx, deps, { ...namedAct, data: answer.data })
      return answer
    })
  } catch (error) {
    if (!(error instanceof RolledBack) || obstacle === undefined) throw error
    return 'kind' in obstacle ? obstacle : propose(deps, obstacle)
  }
}

/** The operator was removed after the console had admitted the call. */
const REMOVED = refused('conflict', 'You are no longer an operator: nothing was changed.')

class RolledBack extends Error {}

/**
 * Returns a proposal if the act moves more than the limit. An approved act decides its own proposal here, or gets a
 * refusal if the proposal was already decided. Runs after the work, so only an act that would succeed is proposed.
 */
async function obstacleTo<T>(
  tx: Tx,
  deps: ActDeps,
  { name, secondOperator, data, limit }: NamedAct<T> & { data: T; limit: bigint | undefined },
): Promise<Refused | NewProposal | undefined> {
  if (deps.approval !== undefined) {
    const { proposalId, approvedBy: by } = deps.approval
    const isFirst = await decideProposal(tx, { proposalId, state: 'approved', by, at: deps.clock.now() })
    return isFirst ? undefined : refused('conflict', `Proposal ${proposalId} is already decided.`)
  }
  if (secondOperator === undefined || limit === undefined) return undefined
  const moved = await secondOperator.amountMoved(tx, data)
  const worthUsdCents = moved === 'all' ? undefined : await usdCentsOf(tx, moved)
  if (worthUsdCents !== undefined && (await mayMoveAlone(tx, deps, { worthUsdCents, limit })))
    return undefined
  return {
    act: name,
    input: toJson(secondOperator.input(data)),
    reason: deps.reason,
    proposedBy: deps.operator,
    backedBy: deps.operatorId ?? null,
    worthUsdCents: worthUsdCents ?? null,
  }
}

/**
 * Returns whether the limit allows the amount, and if so counts the amount. Applies the limit to the sum of the last 24
 * hours, because one large act can be split into many small ones. All acts without an operator id share one sum. Uses
 * the machine's clock, which no operator can advance.
 */
async function mayMoveAlone(
  tx: Tx,
  { operatorId, clock }: ActDeps,
  { worthUsdCents, limit }: { worthUsdCents: bigint; limit: bigint },
): Promise<boolean> {
  const at = clock.machineNow()
  const mover = { operatorId, since: new Date(at.getTime() - DAY_MS) }
  const movedUsdCents = await readMovedAlone(tx, mover)
  if (worthUsdCents > limit - movedUsdCents) return false
  await insertMovedAlone(tx, { ...mover, worthUsdCents, at })
  return true
}

async function propose(deps: ActDeps, proposal: NewProposal): Promise<Refused> {
  const proposalId = await inTransaction(deps.db, async (tx) => {
    if (deps.operatorId !== undefined && !(await lockOperator(tx, deps.operatorId))) return undefined
    const id = await insertProposal(tx, proposal)
    const argumentsOf = () => ({ proposalId: id, proposed: proposal.act, ...JSON.parse(proposal.input) })
    await record(tx, deps, { name: 'propose', argumentsOf, data: undefined })
    return id
  })
  if (proposalId === undefined) return REMOVED
  // Without an operator id, nothing proves who acts.
  const approvers = deps.operatorId === undefined ? 'Two operators' : 'Another operator'
  const message = `Nothing was done yet. ${approvers} must approve proposal ${proposalId} in the console.`
  return refused('proposed', message)
}

function mistakeOf({ operator, reason }: ActDeps, namedAct: Pick<NamedAct<never>, 'name' | 'needsReason'>) {
  if (operator.length < 1 || operator.length > MOST_NAME_CHARACTERS || CONTROL.test(operator)) {
    return `The operator must have a name of 1 to ${MOST_NAME_CHARACTERS} characters.`
  }
  if (reason === null) return namedAct.needsReason === true ? `${namedAct.name} needs a reason.` : undefined
  if (reason.trim() === '' || reason.length > MOST_REASON_CHARACTERS || CONTROL.test(reason)) {
    return `The reason must have 1 to ${MOST_REASON_CHARACTERS} characters on one line.`
  }
  return undefined
}

const approvalOf = ({ approval }: ActDeps) =>
  approval && { proposalId: approval.proposalId, approvedBy: approval.approvedBy }

function record<T>(
  tx: Tx,
  deps: ActDeps,
  { name, argumentsOf, data }: NamedAct<T> & { data: T },
): Promise<void> {
  return insertAct(tx, {
    at: deps.clock.now(),
    operator: scrub(deps.operator),
    act: name,
    arguments: scrub(toJson({ ...argumentsOf(data), ...approvalOf(deps) })),
    reason: deps.reason === null ? null : scrub(deps.reason),
  })
}
