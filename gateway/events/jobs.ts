import type { Queue } from '../db/queue.ts'
import { PUBLISH_QUEUE, type PublisherDeps, publishEvents } from './service.ts'

/** Creates the queue; needed before the first event is appended. */
export const ensureEventQueue = ({ queue }: { queue: Queue }): Promise<void> => queue.ensure(PUBLISH_QUEUE)

/** Publishes events until stopped. Resolves to the function that stops it. */
export const workOnEvents = (deps: PublisherDeps & { queue: Queue }): Promise<() => Promise<void>> =>
  deps.queue.work(PUBLISH_QUEUE, () => publishEvents(deps), { concurrency: 1 })
