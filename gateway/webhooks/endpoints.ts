/** Where a store wants its webhooks, and the secrets that sign them. */
import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import { MOST_ENDPOINTS } from '../../contract/limits.ts'
import type { CreateEndpointBody, Endpoint, UpdateEndpointBody } from '../../contract/webhooks.ts'
import type { Db, Tx } from '../db/client.ts'
import type { WebhookEndpointTable } from '../db/schema.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { refuseUrl } from './url.ts'

export type EndpointRow = Selectable<WebhookEndpointTable>

export type EndpointDeps = { db: Db; box: SecretBox; clock: Clock; mode: 'sandbox' | 'live' }

const HOUR_MS = 3_600_000

export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/**
 * An https address without a user name, and no number that is never sent to; in the sandbox http and this machine as
 * well. Where a name leads is judged when it is sent to.
 */
export function isWebhookUrl(text: string, mode: 'sandbox' | 'live'): boolean {
  if (/[\p{Cc}\s]/u.test(text) || !text.isWellFormed()) return false
  const url = URL.parse(text)
  return url !== null && url.username === '' && url.password === '' && refuseUrl(url, mode) === undefined
}

function refuseForeignUrl(url: string, mode: 'sandbox' | 'live'): void {
  if (isWebhookUrl(url, mode)) return
  refuse('invalid_request', [{ path: 'url', message: 'must be a public https address without a user name' }])
}

/** Creates an endpoint; the secret is shown this once. Refuses an address that is none and the eleventh one. */
export async function createEndpoint(
  deps: EndpointDeps,
  storeId: bigint,
  body: CreateEndpointBody,
): Promise<Endpoint & { secret: string }> {
  refuseForeignUrl(body.url, deps.mode)
  return inTransaction(deps.db, async (tx) => {
    // Parallel creations of one store wait here, so that the limit holds.
    await tx.selectFrom('store').select('id').where('id', '=', storeId).forUpdate().execute()
    const known = await tx
      .selectFrom('webhook_endpoint')
      .select('id')
      .where('store_id', '=', storeId)
      .execute()
    if (known.length >= MOST_ENDPOINTS) refuse('too_many_endpoints')
    return addEndpoint(tx, deps, { storeId, ...body })
  })
}

type NewEndpoint = { storeId: bigint } & CreateEndpointBody

/** Writes an endpoint whose address was judged. */
export async function addEndpoint(
  tx: Tx,
  { box, clock }: Pick<EndpointDeps, 'box' | 'clock'>,
  { storeId, url, eventTypes }: NewEndpoint,
): Promise<Endpoint & { secret: string }> {
  const secret = newSecret()
  const row = await tx
    .insertInto('webhook_endpoint')
    .values({
      store_id: storeId,
      url,
      secret: Buffer.alloc(0),
      event_types: eventTypes ?? null,
      created_at: clock.now(),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const sealed = box.seal(secret, secretPlace(row.id))
  await tx.updateTable('webhook_endpoint').set({ secret: sealed }).where('id', '=', row.id).execute()
  return { ...toEndpoint(row), secret }
}

/** The oldest first. */
export async function listEndpoints(db: Db | Tx, storeId: bigint): Promise<Endpoint[]> {
  const rows = await db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('store_id', '=', storeId)
    .orderBy('id')
    .execute()
  return rows.map(toEndpoint)
}

/** Refuses with not_found what is not the store's. */
export async function endpointOf(db: Db | Tx, storeId: bigint, id: bigint): Promise<EndpointRow> {
  const row = await db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('id', '=', id)
    .where('store_id', '=', storeId)
    .executeTakeFirst()
  return row ?? refuse('not_found')
}

/**
 * The same, and nobody changes it until the transaction ends. `share`: for who writes deliveries to it, so that
 * whoever disables it comes before and is seen, or comes after and gives them up.
 */
export async function lockedEndpointOf(
  tx: Tx,
  storeId: bigint,
  { id, as }: { id: bigint; as: 'share' | 'no key update' },
): Promise<EndpointRow> {
  const wanted = tx
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('id', '=', id)
    .where('store_id', '=', storeId)
  const locked = as === 'share' ? wanted.forShare() : wanted.forNoKeyUpdate()
  return (await locked.executeTakeFirst()) ?? refuse('not_found')
}

type Switch = { id: bigint; on: boolean }

/** Switches an endpoint on or off. What was waiting for one that is switched off is given up; the event log has it. */
export const switchEndpoint = (db: Db, storeId: bigint, wanted: Switch): Promise<Endpoint> =>
  inTransaction(db, (tx) => switchWithin(tx, storeId, wanted))

/** The same as a part of what a transaction does. */
export async function switchWithin(tx: Tx, storeId: bigint, { id, on }: Switch): Promise<Endpoint> {
  const row = await lockedEndpointOf(tx, storeId, { id, as: 'no key update' })
  if (on === (row.state === 'enabled')) return toEndpoint(row)
  if (!on) return toEndpoint(await disableEndpoint(tx, id, 'by_store'))
  return toEndpoint(
    await tx
      .updateTable('webhook_endpoint')
      .set({ state: 'enabled', disabled_reason: null })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

/** Gives an endpoint another address, other types or both; what waits for it goes to the new address. */
export async function updateEndpoint(
  { db, mode }: Pick<EndpointDeps, 'mode'> & { db: Db | Tx },
  storeId: bigint,
  { id, change: { url, eventTypes } }: { id: bigint; change: UpdateEndpointBody },
): Promise<Endpoint> {
  if (url !== undefined) refuseForeignUrl(url, mode)
  const row = await db
    .updateTable('webhook_endpoint')
    .set({ ...(url !== undefined && { url }), ...(eventTypes !== undefined && { event_types: eventTypes }) })
    .where('id', '=', id)
    .where('store_id', '=', storeId)
    .returningAll()
    .executeTakeFirst()
  return toEndpoint(row ?? refuse('not_found'))
}

/** Nothing more is sent there. The endpoint is locked first, its deliveries after it, as by all who write both. */
export async function disableEndpoint(tx: Tx, id: bigint, reason: 'by_store' | 'gone'): Promise<EndpointRow> {
  const row = await tx
    .updateTable('webhook_endpoint')
    .set({ state: 'disabled', disabled_reason: reason })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'failed', due_at: null, last_result: 'the endpoint was disabled' })
    .where('endpoint_id', '=', id)
    .where('state', '=', 'due')
    .execute()
  return row
}

/** Gives the endpoint a new secret; the old one signs beside it for `overlapHours`. */
export async function rotateSecret(
  { db, box, clock }: EndpointDeps,
  storeId: bigint,
  { id, overlapHours }: { id: bigint; overlapHours: number },
): Promise<Endpoint & { secret: string }> {
  return inTransaction(db, async (tx) => {
    // Of two rotations at a time the later one keeps the secret of the earlier one beside its own.
    const before = await lockedEndpointOf(tx, storeId, { id, as: 'no key update' })
    const secret = newSecret()
    const until = new Date(clock.now().getTime() + overlapHours * HOUR_MS)
    // Sealed anew: the old one may lie under the place that it had with its store.
    const previous = box.seal(openSecret(box, before, before.secret), secretPlace(id))
    const row = await tx
      .updateTable('webhook_endpoint')
      .set({
        secret: box.seal(secret, secretPlace(id)),
        previous_secret: overlapHours > 0 ? previous : null,
        previous_until: overlapHours > 0 ? until : null,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return { ...toEndpoint(row), secret }
  })
}

type SecretOwner = Pick<EndpointRow, 'id' | 'store_id'>

/** The secrets that sign a webhook now, the newest first. Throws if one does not open. */
export function secretsOf(
  box: SecretBox,
  endpoint: SecretOwner & Pick<EndpointRow, 'secret' | 'previous_secret' | 'previous_until'>,
  now: Date,
): string[] {
  const { secret, previous_secret: previous, previous_until: until } = endpoint
  const isValid = previous !== null && until !== null && until > now
  return [secret, ...(isValid ? [previous] : [])].map((sealed) => openSecret(box, endpoint, sealed))
}

function openSecret(box: SecretBox, { id, store_id: storeId }: SecretOwner, sealed: Buffer): string {
  try {
    return box.open(sealed, secretPlace(id))
  } catch {
    // Sealed when a store had one webhook only.
    return box.open(sealed, `store:${storeId}:webhook_secret`)
  }
}

const secretPlace = (id: bigint): string => `webhook_endpoint:${id}:secret`

export function toEndpoint(row: EndpointRow): Endpoint {
  return {
    id: String(row.id),
    url: row.url,
    eventTypes: row.event_types,
    state: row.state,
    disabledReason: row.disabled_reason,
    previousSecretUntil: row.previous_until?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  }
}
