import type { Generated, JSONColumnType } from 'kysely'
import type { OperatorRole } from '../../contract/operators.ts'
import type { OperatorActTable } from './operator-act.ts'

type OperatorTable = {
  id: Generated<bigint>
  name: string
  role: OperatorRole
  user_handle: Buffer
  created_at: Generated<Date>
  removed_at: Generated<Date | null>
}

type OperatorPasskeyTable = {
  credential_id: string
  operator_id: bigint
  public_key: Buffer
  counter: bigint
  transports: string[]
  created_at: Generated<Date>
}

/**
 * A kind of problem that needs a person, and the message about it. `count`: how many there were at the last check.
 * `told`: the count in the last message that the receiver accepted, or the lowest count since.
 */
type AlertTable = {
  kind: string
  count: number
  told: Generated<number>
  since: Date
  message_id: string
  attempts: Generated<number>
  /** Null once the message was accepted or is no longer needed. */
  due_at: Date | null
}

/** A link with which an operator registers a passkey. */
type OperatorLinkTable = { secret_sha256: Buffer; operator_id: bigint; expires_at: Date }

/** `step_up`: to confirm an act with a passkey. `asked_by`: hash of the link or session; null for `sign_in`. */
type OperatorChallengeTable = {
  challenge: Buffer
  purpose: 'register' | 'sign_in' | 'step_up'
  asked_by: Buffer | null
  expires_at: Date
}

/**
 * A session has two halves: the cookie, and a secret of the page. `sandbox_sha256`: hash of the sandbox's key, for
 * a session that began with it; null for an operator. `verified_at`: when a passkey, or that key, was last checked.
 */
type OperatorSessionTable = {
  cookie_sha256: Buffer
  page_sha256: Buffer
  operator_id: bigint | null
  sandbox_sha256: Buffer | null
  begun_at: Date
  used_at: Date
  verified_at: Date
}

/** The most that one operator can move in 24 hours without the approval of a second one. At most one row. */
type ApprovalLimitTable = { is_only: Generated<boolean>; above_usd_cents: bigint }

/**
 * An act that waits, or waited, for a second operator. `backed_by`: the first operator who confirmed it
 * with a passkey, by proposing it in the console or by approving it; null until then.
 */
type ProposalTable = {
  id: Generated<bigint>
  act: string
  input: JSONColumnType<object>
  reason: string | null
  proposed_by: string
  backed_by: bigint | null
  worth_usd_cents: bigint | null
  state: Generated<'open' | 'approved' | 'declined'>
  decided_by: Generated<string | null>
  decided_at: Generated<Date | null>
  created_at: Generated<Date>
}

/**
 * Money that one operator moved without a second operator's approval. `operator_id`: null for the command line and for
 * sessions without a passkey, which together count as one person.
 */
type MovedAloneTable = {
  id: Generated<bigint>
  operator_id: bigint | null
  worth_usd_cents: bigint
  at: Date
}

type DeniedShopperTable = { steam_id: string; reason: string; denied_at: Date }

export type OperatorTables = {
  operator_act: OperatorActTable
  denied_shopper: DeniedShopperTable
  operator: OperatorTable
  operator_passkey: OperatorPasskeyTable
  operator_link: OperatorLinkTable
  operator_challenge: OperatorChallengeTable
  operator_session: OperatorSessionTable
  approval_limit: ApprovalLimitTable
  proposal: ProposalTable
  moved_alone: MovedAloneTable
  alert: AlertTable
}
