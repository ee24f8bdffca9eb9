/** Sends made-up events to a store's webhooks, for its developer. */
import type { EventType } from '../../contract/event-types.ts'
import type { WebhookEvent } from '../../contract/webhooks.ts'
import { inventedDeposit } from '../conformance/invented.ts'
import { storyOf } from '../conformance/story.ts'
import { systemClock } from '../kit/clock.ts'
import { counted } from '../kit/counted.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { allowanceFinder } from '../webhooks/address-store.ts'
import { type EndpointRow, endpointsOf } from '../webhooks/endpoint-store.ts'
import { secretsOf } from '../webhooks/endpoints.ts'
import { createSender, isAccepted } from '../webhooks/sender.ts'
import { signWebhook } from '../webhooks/signature.ts'
import { withoutQuery } from '../webhooks/url.ts'
import { type Answer, done, type FindDeps, refused } from './operation.ts'
import { findStore } from './store.ts'
import { noStore } from './store-check.ts'

type Delivery = {
  type: string
  sequence: number
  url: string
  status: number | null
  /** Whether the answer was 2xx. */
  isTaken: boolean
  failure: string | null
}

export type Triggered = { depositId: string; deliveries: Delivery[] }

type TriggerRequest = {
  storeId: bigint
  types: readonly EventType[]
  customer?: string | undefined
  order?: string | undefined
}

const MOST_EVENTS = 20

/**
 * Sends the events one after the other, each to every enabled endpoint. Nothing is written to the event log or the
 * ledger.
 */
export async function trigger(deps: FindDeps, request: TriggerRequest): Promise<Answer<Triggered>> {
  const { config, db, clock } = deps
  const { storeId, types } = request
  if (config.mode === 'live') {
    return refused(
      'conflict',
      'Events cannot be invented in live mode: a store would credit real money for them.',
    )
  }
  if (types.length === 0 || types.length > MOST_EVENTS) {
    return refused('usage', `Name 1 to ${MOST_EVENTS} types of events.`)
  }
  const store = await findStore(db, storeId)
  if (store === undefined) return noStore(storeId)
  const endpoints = (await endpointsOf(db, storeId)).filter(({ state }) => state === 'enabled')
  if (endpoints.length === 0) return refused('conflict', `Store ${storeId} has no enabled webhook.`)
  const now = clock.now()
  const depositId = String(now.getTime())
  const order = {
    externalId: request.order ?? `trigger-${depositId}`,
    currency: 'USD',
    customerReference: request.customer ?? null,
    metadata: {},
  } as const
  const deposit = inventedDeposit(depositId, order, now)
  const events = storyOf(types, { deposit, afterSequence: Number(store.last_sequence), now })
  const deliveries = await deliver(deps, events, endpoints)
  return reportOf({ depositId, deliveries })
}

async function deliver(
  { config, db, clock }: FindDeps,
  events: readonly WebhookEvent[],
  endpoints: readonly EndpointRow[],
): Promise<Delivery[]> {
  const box = createSecretBox(config.masterKey, config.oldMasterKeys)
  const send = createSender({ mode: config.webhookMode, findAllowance: allowanceFinder(db) })
  const deliveries: Delivery[] = []
  for (const event of events) {
    const { id, type, sequence } = event
    const body = JSON.stringify(event)
    for (const endpoint of endpoints) {
      const { store_id: storeId, url } = endpoint
      // The store checks the age of signatures by its machine's clock.
      const signing = { id, body, at: systemClock.now() }
      const headers = { ...signWebhook(secretsOf(box, endpoint, clock.now()), signing) }
      const result = await send({ storeId, url, headers, body })
      const outcome =
        result.kind === 'answered'
          ? { status: result.status, isTaken: isAccepted(result), failure: null }
          : { status: null, isTaken: false, failure: result.reason }
      deliveries.push({ type, sequence, url: withoutQuery(url), ...outcome })
    }
  }
  return deliveries
}

function reportOf(data: Triggered): Answer<Triggered> {
  const failed = data.deliveries.filter((delivery) => !delivery.isTaken).length
  if (failed === 0) return done(data)
  const message = `${failed} of ${counted(data.deliveries.length, 'delivery', 'deliveries')} got no 2xx answer.`
  return { kind: 'refused', refusal: 'conflict', message, data }
}
