/** Stores deliveries: written when their events get sequences, claimed by a lane, and settled by an attempt. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { isFar } from '../db/far-time.ts'
import type { Signals } from '../db/signals.ts'
import type { PublisherDeps } from '../events/service.ts'
import type { Clock } from '../kit/clock.ts'
import type { EndpointRow } from './endpoint-store.ts'
import { chosenEvents, type ReplayChoice } from './replay-store.ts'

/** The signal for new deliveries. */
export const DELIVERIES_TOPIC = 'webhooks'

type WriterDeps = { clock: Clock; signals: Pick<Signals, 'notify'> }

/**
 * Writes a delivery of every event for each endpoint that wants it, and wakes the senders. Locks the
 * endpoints. If one is being disabled meanwhile, it gets no new deliveries, or they are given up with the rest.
 */
export const deliveryWriter =
  (deps: WriterDeps): PublisherDeps['addDeliveries'] =>
  (tx, events) =>
    addDeliveries(deps, tx, events)

async function addDeliveries(
  { clock, signals }: WriterDeps,
  ...[tx, events]: Parameters<PublisherDeps['addDeliveries']>
): Promise<void> {
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

/** The secrets that sign webhooks to an endpoint. */
export type Signer = Pick<EndpointRow, 'id' | 'secret' | 'previous_secret' | 'previous_until'>

/** A claimed delivery. `id` is the endpoint's. */
export type Claim = Signer & {
  delivery_id: bigint
  /** The delivery's counter of claims and replays. The claim owns the delivery until the counter changes. */
  claim: bigint
  store_id: bigint
  event_id: string
  deposit_id: bigint | null
  url: string
  attempts: number
  payload: object
  sequence: bigint
  caused_at: Date
}

/** `first`: deliveries that were never claimed. `again`: retries, replays, and what a stopped or killed sender left. */
export type LaneName = 'first' | 'again'

/** More attempts than the schedule has. */
const MOST_ATTEMPTS = 20
/**
 * The order of the lane `again`, by attempts so far. Replays have none yet. They come after the first retries: a replay
 * of thousands of old events must not delay the news of a payment that was refused once.
 */
const ORDER_AGAIN = [1, 2, 3, 0, ...Array.from({ length: MOST_ATTEMPTS - 3 }, (_, nth) => nth + 4)]
/**
 * How long a claim lasts. An attempt ends within 15 seconds, and another sender must take over from a killed one
 * within 30 seconds.
 */
const CLAIM_MS = 18_000

/**
 * Claims up to `most` due deliveries of a lane. On a restored or copied database none is claimed until the next epoch
 * begins, even before the gateway notices: a copy must not call the stores.
 */
export async function claimLane(
  { db, clock }: { db: Db; clock: Clock },
  { endpointId, lane }: { endpointId: bigint; lane: LaneName },
  most: number,
): Promise<Claim[]> {
  const now = clock.now()
  // For retries, searches the index once for each number of attempts. A single scan would also read rows that are not
  // due.
  const due =
    lane === 'first'
      ? sql`
        select id from webhook_delivery
        where endpoint_id = ${endpointId} and state = 'due' and claim = 0 and due_at <= ${now}
        order by due_at, id limit ${most} for update skip locked`
      : sql`
        select row.id from unnest(${ORDER_AGAIN}::int[]) with ordinality turn (tried, place),
        lateral (
          select id, due_at from webhook_delivery
          where endpoint_id = ${endpointId} and state = 'due' and claim > 0 and attempts = tried and due_at <= ${now}
          order by due_at, id limit ${most} for update skip locked
        ) row
        order by place, due_at, id limit ${most}`
  const { rows } = await sql<Claim>`
    with due as (${due}),
    claimed as (
      update webhook_delivery set due_at = ${new Date(now.getTime() + CLAIM_MS)}, claim = claim + 1
      -- As a list: for a join the planner might read all deliveries.
      where id = any(array(select id from due)) and (select life_is_current())
      returning webhook_delivery.id, event_id, endpoint_id, attempts, claim
    )
    select claimed.id as delivery_id, claimed.attempts, claimed.claim, event.id as event_id, event.deposit_id,
      event.payload, event.sequence, event.created_at as caused_at, endpoint.id, endpoint.store_id, endpoint.url, endpoint.secret,
      endpoint.previous_secret, endpoint.previous_until
    from claimed join event on event.id = claimed.event_id
    join webhook_endpoint endpoint on endpoint.id = claimed.endpoint_id
    where endpoint.state = 'enabled'
    order by claimed.attempts, event.sequence`.execute(db)
  return rows
}

const claimedDelivery = (db: Db | Tx, { delivery_id: id, claim }: Claim) =>
  db
    .updateTable('webhook_delivery')
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('state', '=', 'due')

/** Makes the delivery due immediately, for another process. */
export async function releaseClaim(db: Db, claim: Claim, now: Date): Promise<void> {
  await claimedDelivery(db, claim).set({ due_at: now }).execute()
}

type Settlement = {
  attempts: number
  last_result: string
  state: 'delivered' | 'due' | 'failed'
  due_at: Date | null
  delivered_at: Date | null
}

/** Settles a claimed delivery. Resolves to false if this claim no longer owns it. */
export async function settleClaim(tx: Tx, claim: Claim, settlement: Settlement): Promise<boolean> {
  const { numUpdatedRows } = await claimedDelivery(tx, claim).set(settlement).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export type DueEndpoint = { id: bigint; storeId: bigint }

export const endpointsDue = (db: Db, now: Date): Promise<DueEndpoint[]> =>
  db
    .selectFrom('webhook_endpoint')
    .select(['id', 'store_id as storeId'])
    .where('state', '=', 'enabled')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('webhook_delivery')
          .select('webhook_delivery.id')
          .whereRef('webhook_delivery.endpoint_id', '=', 'webhook_endpoint.id')
          .where('webhook_delivery.state', '=', 'due')
          .where('webhook_delivery.due_at', '<=', now),
      ),
    )
    .execute()

/** The most deliveries that one statement brings forward. */
export const MOST_BROUGHT_FORWARD = 500

/**
 * Makes deliveries of a lane due now that are scheduled further ahead than a correct clock does (`isFar`), and returns
 * their number. `waitMs`: how far ahead the lane schedules at most.
 */
export async function bringForward(
  db: Db,
  lane: LaneName,
  { now, waitMs }: { now: Date; waitMs: number },
): Promise<number> {
  const ofLane = lane === 'first' ? sql`claim = 0` : sql`claim > 0`
  const { numAffectedRows = 0n } = await sql`
    update webhook_delivery set due_at = ${now}
    where id = any(array(
      select late.id from webhook_endpoint endpoint, lateral (
        select id from webhook_delivery
        where endpoint_id = endpoint.id and state = 'due' and ${ofLane} and ${isFar(sql`due_at`, now, waitMs)}
        limit ${MOST_BROUGHT_FORWARD} for update skip locked
      ) late
      where endpoint.state = 'enabled' limit ${MOST_BROUGHT_FORWARD}))`.execute(db)
  return Number(numAffectedRows)
}

type ReplayTarget = { id: bigint; storeId: bigint; eventTypes: readonly string[] | null; now: Date }

/**
 * Makes deliveries of events due again, and returns their number. A range includes only the types that the endpoint
 * wants. New rows count as claimed once, which puts them into the lane of retries. A delivery that was never sent
 * stays in the lane of first attempts.
 */
export async function replayDeliveries(
  tx: Tx,
  { id, storeId, eventTypes, now }: ReplayTarget,
  events: ReplayChoice,
): Promise<number> {
  const chosen = chosenEvents(events, eventTypes)
  const { rows } = await sql`
    insert into webhook_delivery (event_id, endpoint_id, due_at, claim)
    select id, ${id}::bigint, ${now}, 1 from event where store_id = ${storeId} and ${chosen}
    order by sequence
    on conflict (event_id, endpoint_id) do update
      set state = 'due', attempts = 0, due_at = excluded.due_at, delivered_at = null,
        claim = case when webhook_delivery.state = 'due' and webhook_delivery.claim = 0 then 0
          else webhook_delivery.claim + 1 end
    returning id`.execute(tx)
  return rows.length
}
