import type { Generated, GeneratedAlways } from 'kysely'
import type { EventType } from '../../contract/event-types.ts'

/** A host and port to which the operator allowed webhooks. `inside`: it may lead into the operator's own network. */
export type WebhookAddressTable = {
  store_id: bigint
  host: string
  port: number
  inside: boolean
  allowed_at: Date
}

export type WebhookEndpointTable = {
  id: Generated<bigint>
  store_id: bigint
  url: string
  secret: Buffer
  previous_secret: Generated<Buffer | null>
  previous_until: Generated<Date | null>
  event_types: EventType[] | null
  /** `pending`: the endpoint must first repeat a challenge. */
  state: Generated<'pending' | 'enabled' | 'disabled'>
  /** `gone`: it answered 410. */
  disabled_reason: Generated<'by_store' | 'gone' | null>
  created_at: Generated<Date>
  /** True once the endpoint has repeated the challenge, or if it needs no proof. */
  proved: Generated<boolean>
  removed_at: Generated<Date | null>
}

/** A replay. Its deliveries count towards the store's limit for 24 hours. */
export type WebhookReplayTable = {
  id: GeneratedAlways<bigint>
  store_id: bigint
  at: Date
  deliveries: number
}

export type WebhookDeliveryTable = {
  id: Generated<bigint>
  event_id: string
  endpoint_id: bigint
  /** `due`: an attempt is under way, or follows at `due_at`. `failed`: the till has given up. */
  state: Generated<'due' | 'delivered' | 'failed'>
  attempts: Generated<number>
  due_at: Date | null
  last_result: string | null
  delivered_at: Date | null
  /** Grows with each claim of the delivery by a sender, and with each replay after the first claim. */
  claim: Generated<bigint>
}

export type WebhookAttemptTable = {
  id: Generated<bigint>
  delivery_id: bigint
  endpoint_id: bigint
  attempt: number
  at: Date
  duration_ms: number
  status: number | null
  failure: string | null
  answer: string | null
}
