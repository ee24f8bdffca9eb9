import { z } from 'zod'
import { type DeliveryDeps, deliver, sweepDeliveries } from './delivery.ts'
import { DELIVER_QUEUE, PUBLISH_QUEUE } from './events.ts'
import { publishEvents } from './publisher.ts'

const deliverJob = z.object({ eventId: z.uuid() })

/** Creates the queues; needed before the first event is recorded. */
export async function ensureWebhookQueues({ queue }: Pick<DeliveryDeps, 'queue'>): Promise<void> {
  await queue.ensure(PUBLISH_QUEUE)
  await queue.ensure(DELIVER_QUEUE)
}

/** Takes the jobs of this room; resolves to what stops it. */
export async function workOnWebhooks(deps: DeliveryDeps): Promise<() => Promise<void>> {
  const stops = [
    await deps.queue.work(PUBLISH_QUEUE, () => publishEvents(deps), { concurrency: 1 }),
    await deps.queue.work(DELIVER_QUEUE, (data) => deliver(deps, deliverJob.parse(data).eventId), {
      concurrency: 8,
    }),
  ]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** Does what a lost job would have done. */
export async function sweepWebhooks(deps: DeliveryDeps): Promise<void> {
  await publishEvents(deps)
  await sweepDeliveries(deps)
}
