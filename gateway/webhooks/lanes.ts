/**
 * Every endpoint with due deliveries has two lanes: one for first attempts, one for retries and replays. A delivery
 * never waits behind another endpoint's, and a first attempt never waits behind a retry.
 */
import type { Signals } from '../db/signals.ts'
import { durationsOf } from './attempt-store.ts'
import type { DeliveryDeps } from './delivery.ts'
import { createLane, type Lane } from './lane.ts'
import { createPace, PATIENCE_MS } from './pace.ts'
import { DELIVERIES_TOPIC, type DueEndpoint, endpointsDue } from './store.ts'

export type LanesDeps = DeliveryDeps & {
  signals: Pick<Signals, 'until'>
  /** The least time without an answer after which an attempt counts as hanging. */
  patienceMs?: number
}

/** How often to check for due deliveries. New events wake the lanes immediately. */
const CHECK_EVERY_MS = 1_000
/** `haste` speeds these checks up by at most this factor: more than one every 50 ms would burden the database. */
const MOST_HASTE = 20

/**
 * Sends due deliveries until it is stopped. There is no common queue, because slow endpoints would hold up the
 * others. Each lane may always send a few deliveries at a time. How many more it may send depends on the number of busy
 * stores.
 */
export function startLanes(deps: LanesDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const lanes = new Map<bigint, Lane[]>()
  /** The endpoints that have lanes, by store. */
  const busy = new Map<bigint, Set<bigint>>()
  const lanesOf = ({ id: endpointId, storeId }: DueEndpoint, earlierDurationsMs: number[]): Lane[] => {
    const pace = createPace(deps.patienceMs ?? PATIENCE_MS, earlierDurationsMs)
    const storeLoad = () => ({ busyStores: busy.size, ownEndpoints: busy.get(storeId)?.size ?? 1 })
    const options = { endpointId, pace, signal, storeLoad }
    return (['first', 'again'] as const).map((lane) => createLane(deps, { ...options, lane }))
  }

  const end = (endpointId: bigint): void => {
    lanes.delete(endpointId)
    for (const [storeId, endpoints] of busy) {
      if (endpoints.delete(endpointId) && endpoints.size === 0) busy.delete(storeId)
    }
  }

  const check = async (): Promise<void> => {
    const due = await endpointsDue(deps.db, deps.clock.now())
    const withoutLanes = due.filter(({ id }) => !lanes.has(id))
    const ids = withoutLanes.map(({ id }) => id)
    const durations = withoutLanes.length === 0 ? [] : await durationsOf(deps.db, ids)
    const known = new Map(durations.map(({ id, earlierDurationsMs }) => [id, earlierDurationsMs]))
    for (const endpoint of withoutLanes) {
      const { id, storeId } = endpoint
      lanes.set(id, lanesOf(endpoint, known.get(id) ?? []))
      busy.set(storeId, (busy.get(storeId) ?? new Set()).add(id))
    }
    for (const { id } of due) for (const lane of lanes.get(id) ?? []) lane.wake()
    for (const [id, itsLanes] of lanes) if (itsLanes.every((lane) => lane.isIdle())) end(id)
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      let hasChecked = false
      try {
        // The first call checks. A notification or the timeout triggers the second one, which ends the wait.
        await deps.signals.until(
          DELIVERIES_TOPIC,
          async () => {
            if (hasChecked) return true
            hasChecked = true
            await check()
            return undefined
          },
          { timeoutMs: CHECK_EVERY_MS / Math.min(deps.haste ?? 1, MOST_HASTE), signal },
        )
      } catch (error) {
        deps.log.error({ err: error }, 'check for due webhooks failed')
        await deps.signals.until(DELIVERIES_TOPIC, async () => undefined, {
          timeoutMs: CHECK_EVERY_MS,
          signal,
        })
      }
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
      await Promise.all([...lanes.values()].flat().map((lane) => lane.untilIdle()))
    },
  }
}
