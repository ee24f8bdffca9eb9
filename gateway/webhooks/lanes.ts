/**
 * Every endpoint has two lanes of its own. A delivery never waits behind another endpoint's, and a first attempt never
 * waits behind a repeated one.
 */
import type { Signals } from '../db/signals.ts'
import { durationsOf } from './attempt-store.ts'
import type { DeliveryDeps } from './delivery.ts'
import { createLane, type Lane } from './lane.ts'
import { createPace, PATIENCE_MS } from './pace.ts'
import { DELIVERIES_TOPIC, endpointsDue } from './store.ts'

export type LanesDeps = DeliveryDeps & {
  signals: Pick<Signals, 'until'>
  /** The shortest time without an answer after which an attempt counts as hanging. */
  patienceMs?: number
}

/** How often to check for due deliveries; new events wake the lanes at once. */
const LOOK_EVERY_MS = 1_000

/**
 * Sends due deliveries until it is stopped. There is no queue over all lanes, because slow endpoints would hold up the
 * others there. Each lane has its width, and only its share beyond that depends on how many endpoints are busy.
 */
export function startLanes(deps: LanesDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const lanes = new Map<bigint, Lane[]>()
  const busyEndpoints = () => lanes.size
  const lanesOf = (endpointId: bigint, beforeMs: number[]): Lane[] => {
    const pace = createPace(deps.patienceMs ?? PATIENCE_MS, beforeMs)
    const options = { endpointId, pace, signal, busyEndpoints }
    return (['first', 'again'] as const).map((lane) => createLane(deps, { ...options, lane }))
  }

  const look = async (): Promise<void> => {
    const due = await endpointsDue(deps.db, deps.clock.now())
    const fresh = due.filter((id) => !lanes.has(id))
    const before = fresh.length === 0 ? [] : await durationsOf(deps.db, fresh)
    for (const { id, beforeMs } of before) lanes.set(id, lanesOf(id, beforeMs))
    for (const id of due) for (const lane of lanes.get(id) ?? []) lane.wake()
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
          { timeoutMs: LOOK_EVERY_MS / (deps.haste === undefined ? 1 : Math.min(deps.haste, 20)), signal },
        )
      } catch (error) {
        deps.log.error({ err: error }, 'check for due webhooks failed')
        await deps.signals.until(DELIVERIES_TOPIC, async () => undefined, {
          timeoutMs: LOOK_EVERY_MS,
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
      await Promise.all([...lanes.values()].flat().map((lane) => lane.ended()))
    },
  }
}
