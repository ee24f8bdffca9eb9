import { randomBytes } from 'node:crypto'
import type { OperatorRole } from '../../contract/operators.ts'
import type { Tx } from '../db/client.ts'
import { sha256 } from '../kit/sha256.ts'
import { declineProposalsOf } from '../operators/proposal-store.ts'
import {
  findOperator,
  insertOperator,
  type ListedOperator,
  LONGEST_LIFE_MS,
  type Operator,
  removeOperator,
  replaceLink,
  selectOperators,
} from '../operators/store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused } from './operation.ts'

const LINK_MS = LONGEST_LIFE_MS
const HANDLE_BYTES = 32
const SECRET_BYTES = 32
/**
 * Names are printed in acts and shown in the console, so they have neither control characters nor characters that
 * reverse the text.
 */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,79}$/u
const NAME_RULE =
  'The name must have 1 to 80 letters, digits, spaces or ._@- and begin with a letter or a digit.'
const NO_CONSOLE_TEXT =
  'This till has no console: set TRADETILL_CONSOLE_PORT, and in live mode TRADETILL_CONSOLE_URL. See docs/console.md.'

/** The name under which acts of a sandbox session are recorded. */
export const SANDBOX_OPERATOR = 'sandbox'

/** `url`: the enrolment link, shown only once. */
export type FreshLink = { operatorId: bigint; name: string; role: OperatorRole; url: string; endsAt: Date }

/** Adds an operator of the console and makes a link that registers a passkey. */
export function addOperator(
  deps: ActDeps,
  { name, role }: { name: string; role: OperatorRole },
): Promise<Answer<FreshLink>> {
  return act(deps, { name: 'operator add', argumentsOf: withoutLink }, async (tx) => {
    if (!NAME.test(name)) return refused('usage', NAME_RULE)
    if (name.toLowerCase() === SANDBOX_OPERATOR)
      return refused('usage', `The name ${SANDBOX_OPERATOR} is reserved for sessions without a passkey.`)
    const operatorId = await insertOperator(tx, { name, role, userHandle: randomBytes(HANDLE_BYTES) })
    if (operatorId === undefined) return refused('conflict', `There is already an operator ${name}.`)
    return freshLink(tx, deps, { operatorId, name, role })
  })
}

/** Makes a link that registers another passkey for an operator. Replaces the operator's unused link. */
export function linkOperator(deps: ActDeps, name: string): Promise<Answer<FreshLink>> {
  return act(deps, { name: 'operator link', argumentsOf: withoutLink }, async (tx) => {
    const operator = await findOperator(tx, name)
    if (operator === undefined) return noOperator(name)
    return freshLink(tx, deps, operator)
  })
}

const withoutLink = ({ operatorId, name, role }: FreshLink) => ({ operatorId, name, role })

const noOperator = (name: string) => refused('not_found', `There is no operator ${name}: see operator list.`)

/** Links and sessions expire by the machine's clock, so advancing the till's clock ends none of them. */
async function freshLink(tx: Tx, { config, clock }: ActDeps, operator: Operator): Promise<Answer<FreshLink>> {
  if (config.console === undefined) return refused('conflict', NO_CONSOLE_TEXT)
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const endsAt = new Date(clock.machineNow().getTime() + LINK_MS)
  const { operatorId } = operator
  await replaceLink(tx, { operatorId, secretSha256: sha256(secret), expiresAt: endsAt })
  // The secret follows a #, so browsers never send it and no server logs it.
  return done({ ...operator, url: `${config.console.url.origin}/enter#${secret}`, endsAt })
}

export type Dismissed = Operator & { declinedProposals: bigint[] }

/**
 * Ends an operator's sessions, passkeys and link immediately, and declines the open proposals that the operator
 * backs. The record of the operator's acts stays.
 */
export function dismissOperator(deps: ActDeps, name: string): Promise<Answer<Dismissed>> {
  const namedAct = {
    name: 'operator remove',
    needsReason: true,
    argumentsOf: (dismissed: Dismissed) => dismissed,
  }
  return act(deps, namedAct, async (tx) => {
    const operator = await findOperator(tx, name)
    if (operator === undefined) return noOperator(name)
    const { operatorId } = operator
    const at = deps.clock.now()
    await removeOperator(tx, { operatorId, at })
    const declinedProposals = await declineProposalsOf(tx, { operatorId, by: deps.operator, at })
    const declined =
      declinedProposals.length === 0 ? '' : ` Declined proposals: ${declinedProposals.join(', ')}.`
    return done(
      { ...operator, declinedProposals },
      `${operator.name} can no longer use the console.${declined}`,
    )
  })
}

export type OperatorList = { operators: ListedOperator[] }

export async function listOperators({ db, clock }: FindDeps): Promise<Answer<OperatorList>> {
  return done({ operators: await selectOperators(db, clock.machineNow()) })
}
