/** Reports problems that need a person to the operator's webhook: once per rise, signed, and retried for days. */
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { nextWaitMs, readRetryAfter } from '../webhooks/schedule.ts'
import { isTaken, type Sender } from '../webhooks/sender.ts'
import { signWebhook } from '../webhooks/signature.ts'
import { alertSteps, alertText } from './alert.ts'
import { readNeeds } from './needs-store.ts'
import { applyStep, type DueAlert, lockAlerts, settle, takeDue } from './store.ts'

/** If a process ends while sending, another one takes over the message after this time. */
const LEASE_MS = 60_000

export type AlertDeps = {
  db: Db
  clock: Pick<TillClock, 'now' | 'machineNow'>
  log: Log
  uuid(): string
  random(): number
  send: Sender
  /** Null if alerts are off. */
  alerts: { url: string; secret: string } | null
  /** URL of the console's page with the details; null without a console. */
  consoleUrl: string | null
}

/** Sends due alerts. Call it every half minute, from any number of processes. */
export async function sendAlerts(deps: AlertDeps): Promise<void> {
  const { db, clock, uuid, alerts } = deps
  if (alerts === null) return
  const now = clock.now()
  const needs = await readNeeds(db)
  await inTransaction(db, async (tx) => {
    const known = await lockAlerts(tx)
    for (const step of alertSteps(known, needs)) await applyStep(tx, step, { id: uuid(), now })
  })
  for (const due of await takeDue(db, { now, until: new Date(now.getTime() + LEASE_MS) })) {
    await sendAlert(deps, alerts, due)
  }
}

async function sendAlert(
  { db, clock, log, random, send, consoleUrl }: AlertDeps,
  { url, secret }: { url: string; secret: string },
  { kind, count, since, messageId, attempts }: DueAlert,
): Promise<void> {
  const body = JSON.stringify({
    type: 'operator.needed',
    timestamp: clock.now().toISOString(),
    data: { kind, count, since: since.toISOString(), text: `${count} ${alertText(kind, count)}`, consoleUrl },
  })
  const headers = signWebhook([secret], { id: messageId, body, at: clock.machineNow() })
  const result = await send({ storeId: 0n, url, headers: { ...headers }, body })
  if (isTaken(result)) return settle(db, messageId, null)
  const now = clock.now()
  const retryAfterMs = result.kind === 'answered' ? readRetryAfter(result.retryAfter, now) : undefined
  const waitMs = nextWaitMs({ attempts, retryAfterMs }, random())
  await settle(db, messageId, waitMs === undefined ? null : new Date(now.getTime() + waitMs))
  const because = result.kind === 'answered' ? `status ${result.status}` : result.reason
  const fields = { kind, attempts, because }
  if (waitMs === undefined) log.error(fields, 'alert was given up after its last attempt')
  else log.warn(fields, 'alert was refused by the webhook')
}
