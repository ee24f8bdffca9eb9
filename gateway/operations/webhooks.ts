import { ERRORS } from '../../contract/errors.ts'
import type { EventType } from '../../contract/event-types.ts'
import { MOST_REPLAYED } from '../../contract/limits.ts'
import { ProblemError } from '../http/refusal.ts'
import { counted } from '../kit/counted.ts'
import { keysetPage } from '../kit/keyset-page.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { readAttempts } from '../webhooks/attempt-store.ts'
import { replay } from '../webhooks/attempts.ts'
import { removeOwnEndpoint, rotateSecret } from '../webhooks/endpoints.ts'
import { withoutQuery } from '../webhooks/url.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type ReadDeps, type Refused, refused } from './operation.ts'
import { unknownStore } from './store-check.ts'
import { type EndpointFilter, type EndpointRow, selectEndpoints, storeOfEndpoint } from './webhook-store.ts'

/** `next`: the `after` of the next page; null on the last page. */
export type EndpointPage = { endpoints: EndpointRow[]; next: bigint | null }

/** Lists endpoints in the order of their numbers. The query of a URL may contain a secret, so it is left out. */
export async function listEndpoints({ db }: ReadDeps, filter: EndpointFilter): Promise<Answer<EndpointPage>> {
  const unknown = await unknownStore(db, filter.storeId)
  if (unknown !== undefined) return unknown
  const { rows, next } = await keysetPage(filter, (page) => selectEndpoints(db, page), 'endpointId')
  return done({ endpoints: rows.map((row) => ({ ...row, url: withoutQuery(row.url) })), next })
}

export type AttemptPage = {
  endpointId: bigint
  storeId: bigint
  attempts: {
    attemptId: bigint
    at: Date
    eventId: string
    type: EventType
    sequence: bigint | null
    attempt: number
    durationMs: number
    status: number | null
    failure: string | null
    answer: string | null
  }[]
  next: bigint | null
}

type AttemptFilter = { endpointId: bigint; before?: bigint | undefined; limit: number }

/** Lists attempts to reach an endpoint, newest first, including failures that its store does not see. */
export async function listAttempts(
  { db }: ReadDeps,
  { endpointId, before, limit }: AttemptFilter,
): Promise<Answer<AttemptPage>> {
  const endpoint = await storeOfEndpoint(db, endpointId)
  if (endpoint === undefined) return noEndpoint(endpointId)
  const { rows, next } = await keysetPage(
    { after: before, limit },
    (page) => readAttempts(db, endpointId, page),
    'id',
  )
  const attempts = rows.map((row) => ({
    attemptId: row.id,
    at: row.at,
    eventId: row.event_id,
    type: row.type,
    sequence: row.sequence,
    attempt: row.attempt,
    durationMs: row.duration_ms,
    status: row.status,
    failure: row.failure,
    answer: row.answer,
  }))
  return done({ endpointId, storeId: endpoint.storeId, attempts, next })
}

export type Replayed = { endpointId: bigint; storeId: bigint; replayed: number }

type Replay = { endpointId: bigint } & ({ eventId: string } | { fromSequence: number; toSequence: number })

/** Sends one event again, whatever its type, or every event of a range whose type the endpoint wants. */
export function replayWebhooks(deps: ActDeps, { endpointId, ...body }: Replay): Promise<Answer<Replayed>> {
  const namedAct = { name: 'webhook replay', argumentsOf: (data: Replayed) => ({ ...data, ...body }) }
  return act(deps, namedAct, async (tx) => {
    const endpoint = await storeOfEndpoint(tx, endpointId)
    if (endpoint === undefined) return noEndpoint(endpointId)
    const { storeId } = endpoint
    // No wake-up is needed: senders poll for due deliveries every second.
    const parts = { db: tx, clock: deps.clock, signals: { notify: async () => {} } }
    const answer = await orRefused(
      () => replay(parts, storeId, { id: endpointId, body }),
      'eventId' in body ? `There is no event ${body.eventId} in the log of store ${storeId}.` : undefined,
    )
    if (answer.kind === 'refused') return answer
    const { replayed } = answer.data
    return done(
      { endpointId, storeId, replayed },
      `${counted(replayed, 'webhook is', 'webhooks are')} sent again.`,
    )
  })
}

export type RotatedSecret = { endpointId: bigint; storeId: bigint; webhookSecret: string }

/** Gives an endpoint a new secret, shown once. For `overlapHours`, webhooks are signed with the old secret too. */
export function rotateWebhookSecret(
  deps: ActDeps,
  { endpointId, overlapHours }: { endpointId: bigint; overlapHours: number },
): Promise<Answer<RotatedSecret>> {
  const argumentsOf = ({ storeId }: RotatedSecret) => ({ endpointId, storeId, overlapHours })
  return act(deps, { name: 'webhook rotate', needsReason: true, argumentsOf }, async (tx) => {
    const endpoint = await storeOfEndpoint(tx, endpointId)
    if (endpoint === undefined) return noEndpoint(endpointId)
    const { storeId } = endpoint
    const { masterKey, oldMasterKeys } = deps.config
    const box = createSecretBox(masterKey, oldMasterKeys)
    const { secret } = await rotateSecret({ db: tx, box, clock: deps.clock }, storeId, {
      id: endpointId,
      overlapHours,
    })
    return done({ endpointId, storeId, webhookSecret: secret })
  })
}

export type RemovedEndpoint = { endpointId: bigint; storeId: bigint; url: string }

/** Removes an endpoint and ends its deliveries. Its store can do the same. */
export function removeWebhook(
  deps: ActDeps,
  { endpointId }: { endpointId: bigint },
): Promise<Answer<RemovedEndpoint>> {
  const argumentsOf = (data: RemovedEndpoint) => ({ ...data })
  return act(deps, { name: 'webhook remove', needsReason: true, argumentsOf }, async (tx) => {
    const endpoint = await storeOfEndpoint(tx, endpointId)
    if (endpoint === undefined) return noEndpoint(endpointId)
    const { storeId } = endpoint
    await removeOwnEndpoint({ db: tx, clock: deps.clock }, storeId, endpointId)
    const url = withoutQuery(endpoint.url)
    return done({ endpointId, storeId, url }, `Nothing more is sent to ${url}.`)
  })
}

/** Turns errors of the store API into refusals. `unknown` replaces the text of `not_found`, which names nothing. */
async function orRefused<T>(
  work: () => Promise<T>,
  unknown: string | undefined,
): Promise<{ kind: 'done'; data: T } | Refused> {
  try {
    return { kind: 'done', data: await work() }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    if (error.code === 'not_found' && unknown !== undefined) return refused('not_found', unknown)
    if (error.code === 'invalid_request')
      return refused('usage', `The range may have at most ${MOST_REPLAYED} events.`)
    return refused('conflict', ERRORS[error.code].detail.en)
  }
}

const noEndpoint = (endpointId: bigint) => refused('not_found', `There is no endpoint ${endpointId}.`)
