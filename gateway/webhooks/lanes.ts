/**
 * Every endpoint has two lanes of its own: no delivery ever waits behind another endpoint's, and none that is sent for
 * the first time behind one that comes again.
 */
import { sql } from 'kysely'
import type { Signals } from '../db/signals.ts'
import type { DeliveryDeps } from './delivery.ts'
import { createLane, type Lane } from './lane.ts'
import { createPace, PATIENCE_MS } from './pace.ts'
import { DELIVERIES_TOPIC } from './store.ts'

export type LanesDeps = DeliveryDeps & {
  signals: Pick<Signals, 'until'>
  /** The least time without an answer after which an attempt counts as hanging. */
  patienceMs?: number
}

/** How often it is looked for what has come due; new events wake it at once. */
const LOOK_EVERY_MS = 1_000
/** So many events that an endpoint has taken tell how long it usually takes; older ones hardly count. */
const MOST_REMEMBERED = 8
/** So far back they are looked for: after an outage the newest attempts are all failures. */
const MOST_LOOKED_BACK = 500

/**
 * Sends what is due until it is stopped. There is no queue over all lanes, which is what would let slow endpoints hold
 * up others: each has its width, and only what it may have beyond that depends on how many endpoints are busy.
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
    const due = await endpointsDue(deps)
    const fresh = due.filter((id) => !lanes.has(id))
    const before = fresh.length === 0 ? [] : await tookBefore(deps, fresh)
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

/**
 * What the newest events took that each endpoint has taken, the oldest first. Lanes end when nothing is due; what is
 * known of a store's pace outlives them, and the process, in the attempts that were written down.
 */
async function tookBefore(
  { db }: LanesDeps,
  endpointIds: bigint[],
): Promise<{ id: bigint; beforeMs: number[] }[]> {
  const { rows } = await sql<{ id: bigint; beforeMs: number[] }>`
    select wanted.id, array(
      select duration_ms from (
        select taken.id, duration_ms from (
          select id, duration_ms, status from webhook_attempt
          where endpoint_id = wanted.id order by id desc limit ${MOST_LOOKED_BACK}
        ) taken
        where status between 200 and 299 order by id desc limit ${MOST_REMEMBERED}
      ) newest order by id
    ) as "beforeMs"
    from unnest(${endpointIds}::bigint[]) wanted (id)`.execute(db)
  return rows
}
