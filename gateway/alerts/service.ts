/** Reports to the operator's webhook when more problems of one kind need a person. Retries each report. */
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { waitAfterMs } from '../webhooks/schedule.ts'
import {
  createSender,
  isAccepted,
  resultText,
  type Sender,
  type SenderOptions,
  type SendResult,
} from '../webhooks/sender.ts'
import { signWebhook } from '../webhooks/signature.ts'
import { alertSteps, alertText } from './alert.ts'
import { readNeeds } from './needs-store.ts'
import { applyStep, type DueAlert, lockAlerts, setNextAttempt, setTold, takeDue } from './store.ts'

/** The wait between attempts once the schedule has ended. */
const DAILY_MS = 24 * 60 * 60_000

/** If a process ends while sending a message, another process sends it after this time. */
const CLAIM_MS = 60_000

type Receiver = { url: string; secret: string }

/** The operator chose the address, so it may be on this machine or in the operator's own network. */
export const alertSender = (mode: SenderOptions['mode']): Sender =>
  createSender({ mode, findAllowance: async () => ({ inside: true }) })

export type AlertDeps = {
  db: Db
  clock: Pick<TillClock, 'now' | 'machineNow'>
  log: Log
  uuid(): string
  random(): number
  send: Sender
  /** Null if alerts are off. */
  alerts: Receiver | null
  /** Origin of the console; null without a console. */
  consoleUrl: string | null
}

/** Records changed counts, and sends due alerts. Several processes can call it at the same time. */
export async function sendAlerts(deps: AlertDeps): Promise<void> {
  const { db, clock, uuid, alerts } = deps
  if (alerts === null) return
  const now = clock.now()
  const needs = await readNeeds(db)
  await inTransaction(db, async (tx) => {
    const earlierCounts = await lockAlerts(tx)
    for (const step of alertSteps(earlierCounts, needs)) await applyStep(tx, step, { id: uuid(), now })
  })
  const claimedAt = clock.now()
  const due = await takeDue(db, { now: claimedAt, until: new Date(claimedAt.getTime() + CLAIM_MS) })
  // All are sent at once. One after the other, slow answers could take longer than the claims last.
  await Promise.all(due.map((alert) => sendAlert(deps, alerts, alert)))
}

async function sendAlert(
  deps: AlertDeps,
  alerts: Receiver,
  { kind, count, since, messageId, attempts }: DueAlert,
): Promise<void> {
  const { db, clock, log, random, consoleUrl } = deps
  const result = await post(deps, alerts, {
    id: messageId,
    type: 'operator.needed',
    data: { kind, count, since: since.toISOString(), text: `${count} ${alertText(kind, count)}`, consoleUrl },
  })
  if (isAccepted(result)) return setTold(db, messageId)
  const now = clock.now()
  const waitMs = waitAfterMs(result, { attempts, now: clock.machineNow() }, random())
  await setNextAttempt(db, messageId, new Date(now.getTime() + (waitMs ?? DAILY_MS)))
  const fields = { kind, attempts, because: resultText(result) }
  if (waitMs === undefined)
    log.error(fields, 'alert was not accepted by the webhook for days, and is now sent once a day')
  else log.warn(fields, 'alert was not accepted by the webhook')
}

const TEST_TEXT = 'This is a test: alerts of the till arrive here'

/** Sends a message with the fields of an alert, once. It reports no problem and is not retried. */
export function sendTestAlert(
  deps: PostDeps & Pick<AlertDeps, 'uuid' | 'consoleUrl'>,
  alerts: Receiver,
): Promise<SendResult> {
  const { clock, uuid, consoleUrl } = deps
  const data = { kind: 'test', count: 0, since: clock.now().toISOString(), text: TEST_TEXT, consoleUrl }
  return post(deps, alerts, { id: uuid(), type: 'operator.test', data })
}

type PostDeps = Pick<AlertDeps, 'clock' | 'send'>

type Message = {
  id: string
  type: 'operator.needed' | 'operator.test'
  data: { kind: string; count: number; since: string; text: string; consoleUrl: string | null }
}

async function post(
  { clock, send }: PostDeps,
  { url, secret }: Receiver,
  { id, type, data }: Message,
): Promise<SendResult> {
  const body = JSON.stringify({ type, timestamp: clock.now().toISOString(), data })
  const headers = signWebhook([secret], { id, body, at: clock.machineNow() })
  // No store has number 0: the address belongs to the operator.
  return send({ storeId: 0n, url, headers: { ...headers }, body })
}
