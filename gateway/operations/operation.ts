/** Dependencies and answers of operations. A refusal is a value; an exception is a bug or an outage. */
import type { Config } from '../config.ts'
import type { Db } from '../db/client.ts'
import type { TillClock } from '../kit/clock.ts'

/** The settings, including the master key of the database. */
export type ConfigWithKey = Config & { masterKey: Buffer }

export type FindDeps = { config: ConfigWithKey; db: Db; clock: TillClock }

/** Dependencies of an operation that only reads rows and needs no setting. */
export type ReadDeps = Pick<FindDeps, 'db' | 'clock'>

/**
 * Dependencies of a backup or a migration, which opens its own connections. `url`: undefined if the database is
 * the embedded one and no gateway runs.
 */
export type StandaloneDeps = { config: Config; url: string | undefined; now: Date }

/** An act also needs the operator and the reason. */
export type ActDeps = FindDeps & {
  operator: string
  reason: string | null
  /** The operator whose passkey was checked; undefined on the command line, and in a session without a passkey. */
  operatorId?: bigint
  /** Set if a second operator approved this act. */
  approval?: Approval
}

/** `approverId`: the operator whose passkey was checked. */
export type Approval = { proposalId: bigint; approvedBy: string; approverId: bigint }

/**
 * `usage`: the input is wrong. `not_found`: the input refers to something unknown. `conflict`: the current state
 * forbids the act, another service refused it, or only a part could be done. `proposed`: nothing was done yet; a second
 * operator must approve the act. `unavailable`: another service did not answer, or an exchange rate is missing.
 * `unreachable`: no answer from the database, or from the till or handler that a developer's command calls. `failed`: a
 * check or the work itself failed. `damaged`: a check proved that a backup is bad.
 */
export type RefusalKind =
  | 'usage'
  | 'not_found'
  | 'conflict'
  | 'proposed'
  | 'unavailable'
  | 'unreachable'
  | 'failed'
  | 'damaged'

/** `data`: the part of a batch that was done, or the results so far. */
export type Refused<T = never> = { kind: 'refused'; refusal: RefusalKind; message: string; data?: T }

export type Answer<T> =
  | { kind: 'done'; data: T; message: string }
  /** The state was already as wanted, so nothing changed and nothing is recorded. */
  | { kind: 'unchanged'; data: T; message: string }
  | Refused<T>

export const refused = (refusal: RefusalKind, message: string): Refused => ({
  kind: 'refused',
  refusal,
  message,
})

export const done = <T>(data: T, message = ''): Answer<T> => ({ kind: 'done', data, message })

export const unchanged = <T>(data: T, message: string): Answer<T> => ({ kind: 'unchanged', data, message })
