/** Manages a store's webhook endpoints, and the secrets that sign their webhooks. */
import { randomBytes } from 'node:crypto'
import { MOST_ENDPOINTS } from '../../contract/limits.ts'
import type { CreateEndpointBody, Endpoint, UpdateEndpointBody } from '../../contract/webhooks.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import { HOUR_MS } from '../kit/duration.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { type ChallengeDeps, challengeEndpoint } from './challenge.ts'
import {
  changeEndpoint,
  disableEndpoint,
  type EndpointRow,
  endpointsOf,
  findEndpoint,
  giveUpDeliveries,
  insertEndpoint,
  lockAndCountEndpoints,
  lockEndpoint,
  MOST_GIVEN_UP,
  removeEndpoint,
} from './endpoint-store.ts'
import { addressOf, type FindAllowance, refuseUrl, withCommand } from './url.ts'

export type EndpointDeps = {
  db: Db
  box: SecretBox
  clock: Clock
  /** The till's `webhookMode`, which is `live` in a public sandbox too. */
  mode: 'sandbox' | 'live'
  findAllowance: FindAllowance
}

export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/**
 * Parses an absolute URL. Returns undefined for other texts, and for URLs with a user name, a password, white space or
 * control characters.
 */
export function parseWebhookUrl(text: string): URL | undefined {
  if (/[\p{Cc}\s]/u.test(text) || !text.isWellFormed()) return undefined
  const url = URL.parse(text)
  return url === null || url.username !== '' || url.password !== '' ? undefined : url
}

/**
 * Refuses a URL to which no webhook may go. Checks only the URL: the addresses to which its host resolves are checked
 * when a webhook is sent.
 */
async function refuseForbiddenUrl(
  { mode, findAllowance }: Pick<EndpointDeps, 'mode' | 'findAllowance'>,
  storeId: bigint,
  text: string,
): Promise<void> {
  const url = parseWebhookUrl(text)
  if (url === undefined)
    return refuseField(
      'must be a URL, such as https://store.example/webhooks, without a user name or password',
    )
  const allowance = await findAllowance(storeId, addressOf(url))
  const refusal = refuseUrl(url, { mode, allowance })
  if (refusal !== undefined) refuseField(withCommand(refusal, { storeId, url, allowance }))
}

const refuseField = (message: string): never => refuse('invalid_request', [{ path: 'url', message }])

/** Refuses a forbidden URL, and an endpoint beyond the limit. */
export async function createEndpoint(
  deps: EndpointDeps,
  storeId: bigint,
  body: CreateEndpointBody,
): Promise<Endpoint & { secret: string }> {
  await refuseForbiddenUrl(deps, storeId, body.url)
  return inTransaction(deps.db, async (tx) => {
    if ((await lockAndCountEndpoints(tx, storeId)) >= MOST_ENDPOINTS) refuse('too_many_endpoints')
    // A sandbox that is not public needs no challenge: it sends only to addresses that the operator has allowed.
    return addEndpoint(tx, deps, { storeId, ...body, proved: deps.mode === 'sandbox' })
  })
}

type NewEndpoint = {
  storeId: bigint
  /** True, the default, if the endpoint needs no challenge, as for a URL that the operator enters. */
  proved?: boolean
} & CreateEndpointBody

/** Writes an endpoint whose URL has been checked. */
export async function addEndpoint(
  tx: Tx,
  { box, clock }: Pick<EndpointDeps, 'box' | 'clock'>,
  { storeId, url, eventTypes, proved = true }: NewEndpoint,
): Promise<Endpoint & { secret: string }> {
  const secret = newSecret()
  const row = await insertEndpoint(tx, {
    storeId,
    url,
    eventTypes: eventTypes ?? null,
    proved,
    createdAt: clock.now(),
  })
  const sealed = box.seal(secret, secretPlace(row.id))
  await changeEndpoint(tx, storeId, { id: row.id, change: { secret: sealed } })
  return { ...toEndpoint(row), secret }
}

/** Oldest first. */
export const listEndpoints = async (db: Db | Tx, storeId: bigint): Promise<Endpoint[]> =>
  (await endpointsOf(db, storeId)).map(toEndpoint)

/** Refuses another store's endpoint with not_found. */
export const endpointOf = async (db: Db | Tx, storeId: bigint, id: bigint): Promise<EndpointRow> =>
  (await findEndpoint(db, storeId, id)) ?? refuse('not_found')

/**
 * Returns the endpoint, locked until the transaction ends. Writers of deliveries use the `share` lock. So a call
 * that disables the endpoint either ends before they begin, and they see the endpoint disabled, or it waits for them
 * and then gives up their deliveries.
 */
export const lockedEndpointOf = async (
  tx: Tx,
  storeId: bigint,
  request: { id: bigint; as: 'share' | 'no key update' },
): Promise<EndpointRow> => (await lockEndpoint(tx, storeId, request)) ?? refuse('not_found')

type Switch = { id: bigint; on: boolean }

/**
 * Enables or disables an endpoint. Disabling gives up its first `MOST_GIVEN_UP` waiting deliveries, and a sweep the
 * rest; the event log keeps their events. Enabling first gives up those that the sweep has not reached, one transaction
 * after the other. An endpoint that was never proved is then pending, not enabled. A disabled endpoint gets no new
 * deliveries.
 */
export async function switchEndpoint(db: Db, storeId: bigint, request: Switch): Promise<Endpoint> {
  for (;;) {
    const endpoint = await inTransaction(db, (tx) => switchWithin(tx, storeId, request))
    if (endpoint !== undefined) return endpoint
  }
}

/** Resolves to undefined if waiting deliveries may be left, so the endpoint cannot be enabled yet. */
async function switchWithin(tx: Tx, storeId: bigint, { id, on }: Switch): Promise<Endpoint | undefined> {
  const row = await lockedEndpointOf(tx, storeId, { id, as: 'no key update' })
  if (on === (row.state !== 'disabled')) return toEndpoint(row)
  if (!on) return toEndpoint(await disableEndpoint(tx, id, 'by_store'))
  if ((await giveUpDeliveries(tx, id)) === MOST_GIVEN_UP) return undefined
  const change = { state: row.proved ? 'enabled' : 'pending', disabled_reason: null } as const
  return toEndpoint((await changeEndpoint(tx, storeId, { id, change })) ?? refuse('not_found'))
}

/**
 * Changes an endpoint's URL, event types or both, on behalf of its store. In live mode, a new URL must send back
 * a challenge before it replaces the old one, unless the endpoint has not been proved yet.
 */
export async function updateOwnEndpoint(
  deps: EndpointDeps & ChallengeDeps,
  storeId: bigint,
  request: Change,
): Promise<Endpoint> {
  const { url } = request.change
  const endpoint = await endpointOf(deps.db, storeId, request.id)
  const needsProof = (row: EndpointRow) =>
    deps.mode === 'live' && url !== undefined && url !== row.url && row.proved
  if (url !== undefined) await refuseForbiddenUrl(deps, storeId, url)
  const isProved = needsProof(endpoint) && (await challengeEndpoint(deps, endpoint, url)).isChallengeRepeated
  return inTransaction(deps.db, async (tx) => {
    // In the meantime, the endpoint may have been proved with another URL.
    const row = await lockedEndpointOf(tx, storeId, { id: request.id, as: 'no key update' })
    if (needsProof(row) && !isProved) refuse('endpoint_unproved')
    return changeWithin(tx, storeId, request)
  })
}

/** Removes an endpoint and gives up its waiting deliveries. The store can then add another one. */
export async function removeOwnEndpoint(
  { db, clock }: Pick<EndpointDeps, 'clock'> & { db: Db | Tx },
  storeId: bigint,
  id: bigint,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockedEndpointOf(tx, storeId, { id, as: 'no key update' })
    await removeEndpoint(tx, id, clock.now())
  })
}

/** Changes an endpoint's URL on behalf of the operator, without a challenge. */
export async function moveEndpoint(
  tx: Tx,
  deps: Pick<EndpointDeps, 'mode' | 'findAllowance'>,
  { storeId, id, url }: { storeId: bigint; id: bigint; url: string },
): Promise<void> {
  await refuseForbiddenUrl(deps, storeId, url)
  await changeWithin(tx, storeId, { id, change: { url } })
}

type Change = { id: bigint; change: UpdateEndpointBody }

/** Changes the endpoint. If its URL changes, waiting deliveries go to the new one. */
async function changeWithin(
  tx: Tx,
  storeId: bigint,
  { id, change: { url, eventTypes } }: Change,
): Promise<Endpoint> {
  const change = {
    ...(url !== undefined && { url }),
    ...(eventTypes !== undefined && { event_types: eventTypes }),
  }
  return toEndpoint((await changeEndpoint(tx, storeId, { id, change })) ?? refuse('not_found'))
}

/** Gives the endpoint a new secret. For `overlapHours`, the old one signs too. */
export async function rotateSecret(
  { db, box, clock }: Pick<EndpointDeps, 'box' | 'clock'> & { db: Db | Tx },
  storeId: bigint,
  { id, overlapHours }: { id: bigint; overlapHours: number },
): Promise<Endpoint & { secret: string }> {
  return inTransaction(db, async (tx) => {
    // The lock orders simultaneous rotations, so the later one keeps the secret of the earlier one as the previous
    // secret.
    const before = await lockedEndpointOf(tx, storeId, { id, as: 'no key update' })
    const secret = newSecret()
    const until = new Date(clock.now().getTime() + overlapHours * HOUR_MS)
    const overlaps = overlapHours > 0
    const change = {
      secret: box.seal(secret, secretPlace(id)),
      previous_secret: overlaps ? before.secret : null,
      previous_until: overlaps ? until : null,
    }
    const row = (await changeEndpoint(tx, storeId, { id, change })) ?? refuse('not_found')
    return { ...toEndpoint(row), secret }
  })
}

/**
 * Returns the secrets that sign a webhook now, the newest first. Throws if the newest cannot be decrypted. An older
 * secret that cannot be decrypted is left out, so a new secret works immediately even if a key was lost.
 */
export function secretsOf(
  box: SecretBox,
  endpoint: Pick<EndpointRow, 'id' | 'secret' | 'previous_secret' | 'previous_until'>,
  now: Date,
): string[] {
  const { id, secret, previous_secret: previous, previous_until: until } = endpoint
  const isValid = previous !== null && until !== null && until > now
  const place = secretPlace(id)
  return [box.open(secret, place), ...(isValid ? openOrNone(box, previous, place) : [])]
}

function openOrNone(box: SecretBox, sealed: Buffer, place: string): string[] {
  try {
    return [box.open(sealed, place)]
  } catch {
    return []
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
