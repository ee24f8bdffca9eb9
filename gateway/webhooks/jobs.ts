import type { Queue } from '../db/queue.ts'
import { PUBLISH_QUEUE } from './events.ts'
import { type LanesDeps, startLanes } from './lanes.ts'
import { type PublisherDeps, publishEvents } from './publisher.ts'

export type WebhookDeps = LanesDeps & PublisherDeps & { queue: Queue }

/** Creates the queue; needed before the first event is recorded. */
export async function ensureWebhookQueues({ queue }: { queue: Queue }): Promise<void> {
  await queue.ensure(PUBLISH_QUEUE)
}

/** Publishes and sends; resolves to what stops it. */
export async function workOnWebhooks(deps: WebhookDeps): Promise<() => Promise<void>> {
  const lanes = startLanes(deps)
  const stopPublishing = await deps.queue.work(PUBLISH_QUEUE, () => publishEvents(deps), { concurrency: 1 })
  return async () => {
    await Promise.all([stopPublishing(), lanes.stop()])
  }
}

/** Does what a lost job would have done; the lanes look by themselves. */
export async function sweepWebhooks(deps: PublisherDeps): Promise<void> {
  await publishEvents(deps)
}
