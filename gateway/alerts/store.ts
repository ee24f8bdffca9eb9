import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { isFar } from '../db/far-time.ts'
import { LONGEST_WAIT_MS } from '../webhooks/schedule.ts'
import type { AlertStep } from './alert.ts'

/** Delay before an alert. Many problems pass within a minute, such as a bot moving to another process. */
const GRACE_MS = 60_000

/**
 * Returns the count of each kind of problem at the last check; a kind without a row had 0. Locks the table, so two
 * processes that check at the same time send only one alert.
 */
export async function lockAlerts(tx: Tx): Promise<Map<string, number>> {
  await sql`lock table alert in share row exclusive mode`.execute(tx)
  const rows = await tx.selectFrom('alert').select(['kind', 'count']).orderBy('kind').execute()
  return new Map(rows.map(({ kind, count }) => [kind, count]))
}

export async function applyStep(
  tx: Tx,
  step: AlertStep,
  { id, now }: { id: string; now: Date },
): Promise<void> {
  const { kind } = step
  if (step.step === 'forget') {
    await tx.deleteFrom('alert').where('kind', '=', kind).execute()
    return
  }
  const { count } = step
  if (step.step === 'lower') {
    // A count that the operator already knows needs no message.
    await sql`
      update alert set count = ${count}, told = least(told, ${count}),
        due_at = case when told < ${count} then due_at end
      where kind = ${kind}`.execute(tx)
    return
  }
  const report = { count, message_id: id, attempts: 0 }
  const dueAt = new Date(now.getTime() + GRACE_MS)
  // The delay counts from the first rise: a count that rises at every check would otherwise never be reported.
  const earlierDueAt = sql<Date>`case when alert.attempts = 0 and alert.due_at < ${dueAt} then alert.due_at else ${dueAt} end`
  await tx
    .insertInto('alert')
    .values({ kind, since: now, ...report, due_at: dueAt })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet({ ...report, due_at: earlierDueAt }))
    .execute()
}

export type DueAlert = { kind: string; count: number; since: Date; messageId: string; attempts: number }

/**
 * Claims due alerts, and alerts due so late that only a clock that was ahead can have scheduled them. No other process
 * sends them before `until`. `attempts` includes the attempt that now begins.
 */
export async function takeDue(db: Db, { now, until }: { now: Date; until: Date }): Promise<DueAlert[]> {
  const isFarAfter = (waitMs: number) => isFar(sql`due_at`, now, waitMs)
  const { rows } = await sql<DueAlert>`
    update alert set attempts = attempts + 1, due_at = ${until}
    where kind in (
      select kind from alert where due_at <= ${now}
        or case when attempts = 0 then ${isFarAfter(GRACE_MS)} else ${isFarAfter(LONGEST_WAIT_MS)} end
      order by kind for update skip locked)
    returning kind, count, since, message_id as "messageId", attempts`.execute(db)
  return rows.sort((a, b) => a.kind.localeCompare(b.kind))
}

/** Sets when to send the alert again. Ignores an alert that a newer one has replaced. */
export async function setNextAttempt(db: Db, messageId: string, at: Date): Promise<void> {
  await db.updateTable('alert').set({ due_at: at }).where('message_id', '=', messageId).execute()
}

/** Records that the receiver accepted the alert. Ignores an alert that a newer one has replaced. */
export async function setTold(db: Db, messageId: string): Promise<void> {
  await db
    .updateTable('alert')
    .set((eb) => ({ due_at: null, told: eb.ref('count') }))
    .where('message_id', '=', messageId)
    .execute()
}
