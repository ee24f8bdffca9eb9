import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { RATE_APPLIES } from '../db/rate-applies.ts'

/** Returns the limit in US cents; undefined if no act needs a second operator. */
export async function readApprovalLimit(db: Db | Tx): Promise<bigint | undefined> {
  const row = await db.selectFrom('approval_limit').select('above_usd_cents').executeTakeFirst()
  return row?.above_usd_cents
}

/** `aboveUsdCents`: null removes the limit. */
export async function writeApprovalLimit(tx: Tx, aboveUsdCents: bigint | null): Promise<void> {
  await tx.deleteFrom('approval_limit').execute()
  if (aboveUsdCents !== null)
    await tx.insertInto('approval_limit').values({ above_usd_cents: aboveUsdCents }).execute()
}

/**
 * Converts an amount into US cents by the newest rate, rounded up. Returns undefined if no rate is known. A rate of a
 * removed source does not count.
 */
export async function usdCentsOf(
  tx: Tx,
  { amountMinor, currency }: { amountMinor: bigint; currency: Currency },
): Promise<bigint | undefined> {
  if (currency === 'USD') return amountMinor
  const { rows } = await sql<{ cents: bigint }>`
    select ceil(${amountMinor}::bigint / per_usd)::bigint as cents from exchange_rate
    where currency = ${currency} and ${RATE_APPLIES} order by as_of desc, id desc limit 1`.execute(tx)
  return rows[0]?.cents
}

/** `operatorId`: undefined for the command line, and for a session without a passkey. */
type Mover = { operatorId: bigint | undefined; since: Date }

/**
 * Returns the money that an operator moved after `since` without a second operator, in US cents. Locks the mover, so
 * the next transaction sees this one's amount.
 */
export async function readMovedAlone(tx: Tx, { operatorId, since }: Mover): Promise<bigint> {
  const key = `moved alone ${operatorId ?? 'command'}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx)
  const { rows } = await sql<{ cents: bigint }>`
    select coalesce(sum(worth_usd_cents), 0)::bigint as cents from moved_alone
    where operator_id is not distinct from ${operatorId ?? null}::bigint and at > ${since}`.execute(tx)
  return rows[0]?.cents ?? 0n
}

/** Inserts a moved amount. Deletes amounts of this mover that no longer count. */
export async function insertMovedAlone(
  tx: Tx,
  { operatorId, since, worthUsdCents, at }: Mover & { worthUsdCents: bigint; at: Date },
): Promise<void> {
  const mover = operatorId ?? null
  await tx
    .deleteFrom('moved_alone')
    .where('operator_id', 'is not distinct from', mover)
    .where('at', '<=', since)
    .execute()
  await tx
    .insertInto('moved_alone')
    .values({ operator_id: mover, worth_usd_cents: worthUsdCents, at })
    .execute()
}

/** The worth of a trade: its entire credit. */
export function worthOfTrade(tx: Tx, tradeId: bigint) {
  return tx
    .selectFrom('trade')
    .select(['total as amountMinor', 'currency'])
    .where('id', '=', tradeId)
    .executeTakeFirstOrThrow()
}

export type NewProposal = {
  act: string
  /** JSON of the arguments, without secrets. */
  input: string
  reason: string | null
  proposedBy: string
  /** The operator whose console session proposed it; null for a session without a passkey, and for the command line. */
  backedBy: bigint | null
  /** The amount that the act moves; null if no exchange rate is known, or if the act changes the limit itself. */
  worthUsdCents: bigint | null
}

export async function insertProposal(tx: Tx, proposal: NewProposal): Promise<bigint> {
  const { id } = await tx
    .insertInto('proposal')
    .values({
      act: proposal.act,
      input: proposal.input,
      reason: proposal.reason,
      proposed_by: proposal.proposedBy,
      backed_by: proposal.backedBy,
      worth_usd_cents: proposal.worthUsdCents,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

const MOST_LISTED = 200

/** Returns up to 200 proposals: open ones first, then newest first. */
export function selectProposals(db: Db) {
  return db
    .selectFrom('proposal')
    .leftJoin('operator', 'operator.id', 'proposal.backed_by')
    .select(['proposal.id as proposalId', 'act', 'input', 'reason', 'state'])
    .select(['proposed_by as proposedBy', 'operator.name as backedBy', 'worth_usd_cents as worthUsdMinor'])
    .select(['proposal.created_at as createdAt', 'decided_by as decidedBy', 'decided_at as decidedAt'])
    .orderBy((eb) => eb('state', '=', 'open'), 'desc')
    .orderBy('proposal.id', 'desc')
    .limit(MOST_LISTED)
    .execute()
}

export function findOpenProposal(db: Db | Tx, proposalId: bigint) {
  return db
    .selectFrom('proposal')
    .leftJoin('operator', 'operator.id', 'proposal.backed_by')
    .select(['act', 'input', 'reason', 'proposed_by as proposedBy', 'backed_by as backedBy'])
    .select('operator.removed_at as backerRemovedAt')
    .where('proposal.id', '=', proposalId)
    .where('state', '=', 'open')
    .executeTakeFirst()
}

/** Returns false if an operator already backs the proposal, or if it is not open. */
export async function backProposal(tx: Tx, proposalId: bigint, operatorId: bigint): Promise<boolean> {
  const row = await tx
    .updateTable('proposal')
    .set({ backed_by: operatorId })
    .where('id', '=', proposalId)
    .where('state', '=', 'open')
    .where('backed_by', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Declines all open proposals that the operator backs, and returns their ids. */
export async function declineProposalsOf(
  tx: Tx,
  { operatorId, by, at }: { operatorId: bigint; by: string; at: Date },
): Promise<bigint[]> {
  const rows = await tx
    .updateTable('proposal')
    .set({ state: 'declined', decided_by: by, decided_at: at })
    .where('backed_by', '=', operatorId)
    .where('state', '=', 'open')
    .returning('id')
    .execute()
  return rows.map(({ id }) => id).sort((a, b) => Number(a - b))
}

type Decision = { proposalId: bigint; state: 'approved' | 'declined'; by: string; at: Date }

/** Returns false if the proposal is not open. */
export async function decideProposal(tx: Tx, { proposalId, state, by, at }: Decision): Promise<boolean> {
  const row = await tx
    .updateTable('proposal')
    .set({ state, decided_by: by, decided_at: at })
    .where('id', '=', proposalId)
    .where('state', '=', 'open')
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
