import { randomUUID } from 'node:crypto'
import { type DepositEventType, EPOCH_TYPE } from '../../contract/event-types.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { DepositEvent, WebhookEvent } from '../../contract/webhooks.ts'
import type { Clock } from '../kit/clock.ts'
import { signWebhook } from '../webhooks/signature.ts'
import type { ReadBalance } from './balance.ts'
import { describeReply, type HandlerClient, isAccepted, type Message, type Reply } from './handler-client.ts'
import { eventOf, inventedDeposit, type Order } from './invented.ts'
import type { StandInTill } from './stand-in-till.ts'

export type Patience = {
  /** How long to wait for a credit: a handler may answer first and credit later. */
  settleMs: number
  /** How long to watch for a credit that must not happen. */
  quietMs: number
  /** How long to wait for the store to read the event log. */
  reconcileMs: number
}

export type Surroundings = {
  handlerClient: HandlerClient
  secret: string
  clock: Clock
  customer: string
  patience: Patience
  balance?: ReadBalance | undefined
  till?: StandInTill | undefined
  /** Makes the store open a deposit at `till`. */
  openDeposit?: (() => Promise<StoreDeposit>) | undefined
}

export type Kit = Surroundings & {
  newDeposit(order?: Partial<Order>): Promise<StoreDeposit>
  /** Makes an event with the next number. */
  event(type: DepositEventType, deposit: StoreDeposit): DepositEvent
  /** Makes the event of a restored till, and skips numbers. */
  newEpoch(): WebhookEvent
  /** Adds all events so far to the log that the store can read. Before that, events arrive by webhook only. */
  publish(): void
  /** Makes an event that no till wrote. It uses up no number. */
  unwrittenEvent(type: DepositEventType, deposit: StoreDeposit): DepositEvent
  sign(event: { id: string }, change?: Signing): Message
  deliver(event: WebhookEvent): Promise<Reply>
}

export type Signing = { secrets?: readonly string[]; at?: Date; body?: string }

export type Verdict =
  | { kind: 'passed' }
  | { kind: 'failed'; detail: string }
  /** The check could not tell whether the handler is right. */
  | { kind: 'incomplete'; detail: string }

export const PASSED: Verdict = { kind: 'passed' }
export const failed = (detail: string): Verdict => ({ kind: 'failed', detail })
export const incomplete = (detail: string): Verdict => ({ kind: 'incomplete', detail })

/** Events are numbered by the time of the run, so a store that was checked before does not ignore them as old. */
const NUMBERS_BEGIN_MS = Date.UTC(2026, 0, 1)
const MS_PER_NUMBER = 100
/**
 * How many numbers the restored till skips. A real till skips a million or more. Here, numbers follow the time: after a
 * skip of a million, the events of every run in the next 27 hours would look old.
 */
const SKIPPED_NUMBERS = 40

export function createKit(surroundings: Surroundings): Kit {
  const { clock, handlerClient, secret, customer, till, openDeposit } = surroundings
  let sequence = Math.max(1, Math.floor((clock.now().getTime() - NUMBERS_BEGIN_MS) / MS_PER_NUMBER))
  // Part of the ids of this run's deposits.
  const runNumber = sequence
  const unpublished: WebhookEvent[] = []
  let deposits = 0
  const sign: Kit['sign'] = (event, { secrets = [secret], at = clock.now(), body } = {}) => {
    const text = body ?? JSON.stringify(event)
    return { headers: signWebhook(secrets, { id: event.id, body: text, at }), body: text }
  }
  return {
    ...surroundings,
    sign,
    async newDeposit(order = {}) {
      if (openDeposit !== undefined) return openDeposit()
      deposits += 1
      const invented = { currency: 'USD' as const, customerReference: customer, metadata: {}, ...order }
      const externalId = `verify-${runNumber}-${deposits}`
      return inventedDeposit(`${runNumber}${deposits}`, { externalId, ...invented }, clock.now())
    },
    event(type, deposit) {
      sequence += 1
      const event = eventOf({ type, sequence, deposit }, clock)
      unpublished.push(event)
      return event
    },
    newEpoch() {
      const previousSequence = sequence
      sequence += SKIPPED_NUMBERS
      const timestamp = clock.now().toISOString()
      const data = { epoch: 2, previousSequence }
      const event = { id: randomUUID(), type: EPOCH_TYPE, timestamp, sequence, data } as const
      unpublished.push(event)
      return event
    },
    publish() {
      till?.log.push(...unpublished.splice(0))
    },
    unwrittenEvent: (type, deposit) => eventOf({ type, sequence: sequence + 1, deposit }, clock),
    deliver: (event) => handlerClient.send(sign(event)),
  }
}

/** The complaint about a step; undefined if the step is right. */
export type Complaint = string | undefined

/** One of these statuses refuses a call that was signed with the wrong secret. */
const REFUSES_SIGNATURES: readonly number[] = [400, 401, 403]

export function mustAccept(reply: Reply): Complaint {
  if (isAccepted(reply)) return undefined
  const mayDoubtSecret = reply.kind === 'answered' && REFUSES_SIGNATURES.includes(reply.status)
  const question = mayDoubtSecret ? ' (is --secret the secret of this handler?)' : ''
  return `${describeReply(reply)}, and must answer 2xx${question}`
}

export const mustRefuse = (reply: Reply): Complaint =>
  reply.kind === 'answered' && reply.status >= 400 && reply.status < 500
    ? undefined
    : `${describeReply(reply)}, and must answer 4xx`

/** Delivers the events in order, until the handler does not accept one. */
export async function deliverAll(kit: Kit, events: readonly WebhookEvent[]): Promise<Complaint> {
  for (const event of events) {
    const complaint = mustAccept(await kit.deliver(event))
    if (complaint !== undefined) return `${event.type}: ${complaint}`
  }
  return undefined
}

type Expected = { change: number; currency?: string }

/** Runs the steps, then checks that the balance has changed by exactly this amount. */
export async function checkBalanceChange(
  kit: Kit,
  { change, currency = 'USD' }: Expected,
  steps: () => Promise<Complaint>,
): Promise<Verdict> {
  const { balance, patience } = kit
  const before = await balance?.(currency)
  const complaint = await steps()
  if (complaint !== undefined) return failed(complaint)
  if (balance === undefined || before === undefined) {
    return incomplete('the answers are right; only with --balance can the credit be checked')
  }
  const wanted = before + change
  const isReached = await until(async () => (await balance(currency)) === wanted, patience.settleMs)
  // A second credit may follow a moment after the first.
  await pause(patience.quietMs)
  const after = await balance(currency)
  if (isReached && after === wanted) return PASSED
  return failed(`the balance must change by ${change}, and changed by ${after - before}`)
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const POLL_MS = 25

/** Resolves to true once the condition holds, or to false if the time is up before that. */
export async function until(condition: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs
  for (;;) {
    if (await condition()) return true
    if (performance.now() >= end) return false
    await pause(POLL_MS)
  }
}
