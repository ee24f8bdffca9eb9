/** Every endpoint has a lane of its own: no delivery ever waits behind another endpoint's. */
import type { Signals } from '../db/signals.ts'
import { aboutOf, attempt, claimDue, type DeliveryDeps } from './delivery.ts'
import { DELIVERIES_TOPIC } from './publisher.ts'

export type LanesDeps = DeliveryDeps & { signals: Pick<Signals, 'until'> }

/** Attempts that one endpoint is sent at the same time. */
const WIDTH = 8
/** How often it is looked for what has come due; new events wake it at once. */
const LOOK_EVERY_MS = 1_000

/**
 * Sends what is due until it is stopped. There is no limit over all lanes, which is what would let slow endpoints
 * hold up others: the number of endpoints is limited where they are created.
 */
export function startLanes(deps: LanesDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const lanes = new Map<bigint, Lane>()

  const look = async (): Promise<void> => {
    for (const endpointId of await endpointsDue(deps)) {
      const lane = lanes.get(endpointId) ?? createLane(deps, endpointId, signal)
      lanes.set(endpointId, lane)
      lane.wake()
    }
    for (const [id, lane] of lanes) if (lane.isIdle()) lanes.delete(id)
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
      await Promise.all([...lanes.values()].map((lane) => lane.ended()))
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

type Lane = { wake(): void; isIdle(): boolean; ended(): Promise<void> }

function createLane(deps: LanesDeps, endpointId: bigint, signal: AbortSignal): Lane {
  const running = new Set<Promise<void>>()
  let claiming: Promise<void> | undefined
  let wanted = false

  const claim = async (): Promise<void> => {
    while (wanted && !signal.aborted && running.size < WIDTH) {
      wanted = false
      const claims = await claimDue(deps, endpointId, WIDTH - running.size)
      for (const one of claims) {
        const sent = attempt(deps, one, signal)
          .catch((error: unknown) => {
            deps.log.error(
              { err: error, ...aboutOf(one) },
              'an attempt of a webhook could not be written down',
            )
          })
          .finally(() => {
            running.delete(sent)
            wake()
          })
        running.add(sent)
      }
    }
  }
  const wake = (): void => {
    wanted = true
    if (claiming !== undefined || running.size >= WIDTH || signal.aborted) return
    claiming = claim()
      .catch((error: unknown) => {
        deps.log.error(
          { err: error, endpoint: String(endpointId) },
          'webhooks that are due could not be claimed',
        )
      })
      .finally(() => {
        claiming = undefined
        // Woken while the last claim was answered.
        if (wanted) wake()
      })
  }
  return {
    wake,
    isIdle: () => running.size === 0 && claiming === undefined,
    ended: async () => {
      await claiming
      await Promise.all(running)
    },
  }
}
