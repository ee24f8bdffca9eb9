/**
 * Every endpoint has two lanes of its own: no delivery ever waits behind another endpoint's, and none that is sent for
 * the first time behind one that comes again.
 */
import type { Signals } from '../db/signals.ts'
import { createLane, type Lane, type LaneDeps } from './lane.ts'
import { DELIVERIES_TOPIC } from './publisher.ts'

export type LanesDeps = LaneDeps & { signals: Pick<Signals, 'until'> }

/** How often it is looked for what has come due; new events wake it at once. */
const LOOK_EVERY_MS = 1_000

/**
 * Sends what is due until it is stopped. There is no queue over all lanes, which is what would let slow endpoints hold
 * up others: each has its width, and only what it may have beyond that depends on how many endpoints are busy.
 */
export function startLanes(deps: LanesDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const lanes = new Map<bigint, Lane[]>()
  const busyEndpoints = () => lanes.size
  const lanesOf = (endpointId: bigint): Lane[] =>
    (['first', 'again'] as const).map((lane) => createLane(deps, { endpointId, lane, signal, busyEndpoints }))

  const look = async (): Promise<void> => {
    for (const endpointId of await endpointsDue(deps)) {
      const own = lanes.get(endpointId) ?? lanesOf(endpointId)
      lanes.set(endpointId, own)
      for (const lane of own) lane.wake()
    }
    for (const [id, own] of lanes) if (own.every((lane) => lane.isIdle())) lanes.delete(id)
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      let looked = false
      try {
        // The first check looks; a notification or the time brings the second one, which ends the wait.
        await deps.signals.until(
          DELIVERIES_TOPIC,
          async () => {
            if (looked) return true
            looked = true
            await look()
            return undefined
          },
          LOOK_EVERY_MS / (deps.haste === undefined ? 1 : Math.min(deps.haste, 20)),
          signal,
        )
      } catch (error) {
        deps.log.error({ err: error }, 'webhooks that are due could not be looked for')
        await deps.signals.until(DELIVERIES_TOPIC, async () => undefined, LOOK_EVERY_MS, signal)
      }
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
      await Promise.all([...lanes.values()].flat().map((lane) => lane.ended()))
    },
  }
}

async function endpointsDue({ db, clock }: LanesDeps): Promise<bigint[]> {
  const rows = await db
    .selectFrom('webhook_endpoint')
    .select('id')
    .where('state', '=', 'enabled')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('webhook_delivery')
          .select('webhook_delivery.id')
          .whereRef('webhook_delivery.endpoint_id', '=', 'webhook_endpoint.id')
          .where('webhook_delivery.state', '=', 'due')
          .where('webhook_delivery.due_at', '<=', clock.now()),
      ),
    )
    .execute()
  return rows.map(({ id }) => id)
}
