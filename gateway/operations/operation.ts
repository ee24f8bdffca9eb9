/** The parts that operations work with, and their answers. A refusal is a value; a throw is a bug or an outage. */
import type { Config } from '../config.ts'
import type { Db } from '../db/client.ts'
import type { TillClock } from '../kit/clock.ts'

/** The settings, with the master key that the database belongs to. */
export type OwnConfig = Config & { masterKey: Buffer }

export type FindDeps = { config: OwnConfig; db: Db; clock: TillClock }

/** Of an operation that reads rows alone, and no setting. */
export type ReadDeps = Pick<FindDeps, 'db' | 'clock'>

/** Of what needs no till: `url` is undefined if no gateway runs on the embedded database. */
export type Place = { config: Config; url: string | undefined; now: Date }

/** An act also says who does it, and why. */
export type ActDeps = FindDeps & {
  operator: string
  reason: string | null
  /** The operator whose passkey was checked. The command line proves nobody. */
  operatorId?: bigint
  /** A second operator approved this act. */
  approval?: Approval
}

export type Approval = { proposalId: bigint; approvedBy: string }

/**
 * `usage`: the input is wrong. `not_found`: what it names does not exist. `conflict`: the state of things forbids it.
 * `proposed`: nothing was done yet, and a second operator may approve it. `unavailable`: somebody else did not answer.
 * `unreachable`: the database did not. `failed`: something of ours is wrong.
 */
export type RefusalKind =
  | 'usage'
  | 'not_found'
  | 'conflict'
  | 'proposed'
  | 'unavailable'
  | 'unreachable'
  | 'failed'

/** Of a batch, `data` says what was done before or beside what is refused. */
export type Refused<T = never> = { kind: 'refused'; refusal: RefusalKind; message: string; data?: T }

export type Answer<T> =
  | { kind: 'done'; data: T; message: string }
  /** It was so already: nothing changed, and nothing is recorded. */
  | { kind: 'unchanged'; data: T; message: string }
  | Refused<T>

export const refused = (refusal: RefusalKind, message: string): Refused => ({
  kind: 'refused',
  refusal,
  message,
})

export const done = <T>(data: T, message = ''): Answer<T> => ({ kind: 'done', data, message })

export const unchanged = <T>(data: T, message: string): Answer<T> => ({ kind: 'unchanged', data, message })
