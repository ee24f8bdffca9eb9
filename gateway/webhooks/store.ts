/** The rows of deliveries. */
import { sql } from 'kysely'
import type { Signals } from '../db/signals.ts'
import type { PublisherDeps } from '../events/service.ts'
import type { Clock } from '../kit/clock.ts'

/** Notified of new deliveries. */
export const DELIVERIES_TOPIC = 'webhooks'

type WriterDeps = { clock: Clock; signals: Pick<Signals, 'notify'> }

/**
 * Writes a delivery of every event to each endpoint that wants it, and wakes those who send. The endpoints are locked:
 * one that is disabled at the same moment gets nothing, or gives up its new deliveries with the others.
 */
export function deliveryWriter({ clock, signals }: WriterDeps): PublisherDeps['addDeliveries'] {
  return async (tx, events) => {
    const ids = events.map(({ id }) => id)
    const storeIds = [...new Set(events.map(({ storeId }) => String(storeId)))]
    const { rows } = await sql`
    with endpoint as (
      select id, store_id, event_types from webhook_endpoint
      where state = 'enabled' and store_id = any(${storeIds}::bigint[])
      order by id for share
    )
    insert into webhook_delivery (event_id, endpoint_id, due_at)
    select event.id, endpoint.id, ${clock.now()}
    from event join endpoint on endpoint.store_id = event.store_id
    where event.id = any(${ids}::uuid[])
      and (endpoint.event_types is null or event.type = any(endpoint.event_types))
    order by endpoint.id, event.sequence
    returning id`.execute(tx)
    if (rows.length > 0) await signals.notify(tx, DELIVERIES_TOPIC)
  }
}
