/** Identifies the caller by the two halves of a session: the cookie, and the half that the page sends. */
import type { FastifyRequest } from 'fastify'
import { mayAs, type OperatorRole } from '../../contract/operators.ts'
import type { Db } from '../db/client.ts'
import type { TillClock } from '../kit/clock.ts'
import { isSameBytes } from '../kit/same-bytes.ts'
import { sha256 } from '../kit/sha256.ts'
import { SANDBOX_OPERATOR } from '../operations/operators.ts'
import { isAlive, isFresh } from '../operators/session.ts'
import { type FoundSession, findSession, noteUse } from '../operators/session-store.ts'
import { refuseCall } from './answer.ts'
import { readHalves } from './cookie.ts'

export type Visitor = {
  session: FoundSession
  /** Name under which acts are recorded. */
  name: string
  role: OperatorRole
  /** Null for a visitor who signed in with a sandbox's key, and so without a passkey. */
  operatorId: bigint | null
}

export type VisitorDeps = { db: Db; clock: TillClock; sandboxKey: string | undefined }

/**
 * Returns undefined for a caller who is signed out. `isWatching`: no person made the call, so it does not extend the
 * session.
 */
export async function visitorOf(
  { db, clock, sandboxKey }: VisitorDeps,
  { headers }: Pick<FastifyRequest, 'headers'>,
  isWatching = false,
): Promise<Visitor | undefined> {
  const halves = readHalves(headers)
  const session = halves && (await findSession(db, sha256(halves.cookie)))
  if (session === undefined || !isSameBytes(session.pageSha256, sha256(halves?.page ?? ''))) return undefined
  const now = clock.machineNow()
  if (!isAlive(session, now)) return undefined
  const visitor = visitorIn(session, sandboxKey)
  if (visitor !== undefined && !isWatching) await noteUse(db, session, now)
  return visitor
}

function visitorIn(session: FoundSession, sandboxKey: string | undefined): Visitor | undefined {
  const { operator, sandboxSha256 } = session
  if (operator !== null) return { session, ...operator }
  const hasCurrentKey =
    sandboxKey !== undefined && sandboxSha256 !== null && isSameBytes(sandboxSha256, sha256(sandboxKey))
  return hasCurrentKey ? { session, name: SANDBOX_OPERATOR, role: 'operator', operatorId: null } : undefined
}

type Requirements = { role: OperatorRole; needsFreshCheck: boolean }

export function admit(visitor: Visitor, required: Requirements, now: Date): void {
  if (!mayAs(visitor.role, required.role)) refuseCall('forbidden')
  // A visitor with a sandbox's key has no passkey to show.
  if (required.needsFreshCheck && visitor.operatorId !== null && !isFresh(visitor.session, now))
    refuseCall('step_up')
}
