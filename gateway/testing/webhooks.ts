/** Webhooks for tests: makes an event, and sends due deliveries with or without the lanes. */
import type { Queue } from '../db/queue.ts'
import { workOnEvents } from '../events/jobs.ts'
import type { PublisherDeps } from '../events/service.ts'
import { expireDeposit } from '../trades/expiry.ts'
import { attemptDelivery, type DeliveryDeps } from '../webhooks/delivery.ts'
import { type LanesDeps, startLanes } from '../webhooks/lanes.ts'
import { createSender } from '../webhooks/sender.ts'
import { type Claim, claimLane } from '../webhooks/store.ts'
import type { FindAllowance } from '../webhooks/url.ts'
import { aDeposit, type Till } from './till.ts'

/** The secret that signs for the endpoints of tests, which store only a placeholder. */
export const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

/**
 * Allows every address for all stores, because a test knows its ports only while it runs. In sandbox mode, allowed
 * addresses may be on this machine.
 */
export const ANY_ALLOWED: FindAllowance = async () => ({ inside: false })
export const NONE_ALLOWED: FindAllowance = async () => undefined

/** Longer than any test, so a hanging call hangs until the sending is stopped. */
const DEADLINE_MS = 3_600_000

/** The dependencies of a till's deliveries. Waits between attempts are at the middle of their spread. */
export const senderDeps = (till: Till): Till['deps'] & DeliveryDeps => ({
  ...till.deps,
  send: createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: DEADLINE_MS }),
  secretsOf: () => [SECRET],
  random: () => 0.5,
})

/** Makes an event for the store by letting a new deposit expire. */
export async function expiredDeposit(till: Till, store: { id: bigint }): Promise<bigint> {
  const { id } = await aDeposit(till, store)
  await till.db.updateTable('deposit').set({ expires_at: till.clock.now() }).where('id', '=', id).execute()
  await expireDeposit(till.deps, id)
  return id
}

/** Publishes and sends events until the returned function is called. */
export async function workOnWebhooks(
  deps: LanesDeps & PublisherDeps & { queue: Queue },
): Promise<() => Promise<void>> {
  const lanes = startLanes(deps)
  const stopPublishing = await workOnEvents(deps)
  return async () => {
    await Promise.all([stopPublishing(), lanes.stop()])
  }
}

type ClaimDeps = Pick<DeliveryDeps, 'db' | 'clock'>

/** Claims up to `most` due deliveries of an endpoint, starting with those that were never claimed. */
export async function claimDue(deps: ClaimDeps, endpointId: bigint, most = 8): Promise<Claim[]> {
  const first = await claimLane(deps, { endpointId, lane: 'first' }, most)
  return [...first, ...(await claimLane(deps, { endpointId, lane: 'again' }, most - first.length))]
}

export async function sendDue(deps: DeliveryDeps, endpointId: bigint, most = 8): Promise<void> {
  for (const claim of await claimDue(deps, endpointId, most)) await attemptDelivery(deps, claim)
}
