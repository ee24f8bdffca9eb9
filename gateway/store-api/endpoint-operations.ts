import { idParamsSchema } from '../../contract/store-api.ts'
import {
  attemptListSchema,
  attemptsQuerySchema,
  createEndpointBodySchema,
  endpointListSchema,
  endpointSchema,
  endpointWithSecretSchema,
  removedEndpointSchema,
  replayBodySchema,
  replayedSchema,
  rotateSecretBodySchema,
  testResultSchema,
  updateEndpointBodySchema,
} from '../../contract/webhooks.ts'
import { listAttempts, replay, sendTest } from '../webhooks/attempts.ts'
import {
  createEndpoint,
  endpointOf,
  listEndpoints,
  removeOwnEndpoint,
  rotateSecret,
  switchEndpoint,
  toEndpoint,
  updateOwnEndpoint,
} from '../webhooks/endpoints.ts'
import { type Operation, ok, operation } from './operation.ts'

const DEFAULT_OVERLAP_HOURS = 24

const common = { group: 'Webhook endpoints', scope: 'webhooks:manage' } as const

export const ENDPOINT_OPERATIONS: readonly Operation[] = [
  operation({
    ...common,
    id: 'createWebhookEndpoint',
    method: 'POST',
    path: '/v1/webhook-endpoints',
    idempotent: true,
    summary: 'Add an endpoint',
    description:
      'The secret is shown only once. In live mode, and in a public sandbox, the endpoint is `pending` until its answer to a test repeats the challenge. In any other sandbox it is `enabled` at once.',
    takes: { body: createEndpointBodySchema },
    answer: endpointWithSecretSchema,
    statuses: { 201: 'Added. The endpoint receives the events that happen after it is enabled.' },
    example: { url: 'https://store.example/webhooks/tradetill' },
    refusals: ['too_many_endpoints'],
    handle: async (deps, store, { body }) => ({
      status: 201,
      body: await createEndpoint(deps, store.id, body),
    }),
  }),
  operation({
    ...common,
    id: 'listWebhookEndpoints',
    method: 'GET',
    path: '/v1/webhook-endpoints',
    summary: 'List your endpoints',
    takes: {},
    answer: endpointListSchema,
    handle: async ({ db }, store) => ok({ endpoints: await listEndpoints(db, store.id) }),
  }),
  operation({
    ...common,
    id: 'getWebhookEndpoint',
    method: 'GET',
    path: '/v1/webhook-endpoints/:id',
    summary: 'Read an endpoint',
    takes: { params: idParamsSchema },
    answer: endpointSchema,
    refusals: ['not_found'],
    handle: async ({ db }, store, { params }) =>
      ok(toEndpoint(await endpointOf(db, store.id, BigInt(params.id)))),
  }),
  operation({
    ...common,
    id: 'updateWebhookEndpoint',
    method: 'POST',
    path: '/v1/webhook-endpoints/:id',
    idempotent: true,
    summary: 'Change an endpoint',
    description:
      'Changes the address, the event types or both. In live mode, and in a public sandbox, the new address of a proved endpoint first gets a test and must repeat its challenge. Waiting deliveries go to the new address.',
    takes: { params: idParamsSchema, body: updateEndpointBodySchema },
    answer: endpointSchema,
    example: { eventTypes: ['deposit.succeeded', 'deposit.reversed'] },
    refusals: ['not_found', 'endpoint_unproved', 'too_many_tests'],
    handle: async (deps, store, { params, body }) =>
      ok(await updateOwnEndpoint(deps, store.id, { id: BigInt(params.id), change: body })),
  }),
  operation({
    ...common,
    id: 'removeWebhookEndpoint',
    method: 'DELETE',
    path: '/v1/webhook-endpoints/:id',
    idempotent: true,
    summary: 'Remove an endpoint',
    description:
      'Waiting deliveries are given up and the secret is deleted. You can then add another endpoint.',
    takes: { params: idParamsSchema },
    answer: removedEndpointSchema,
    refusals: ['not_found'],
    handle: async (deps, store, { params }) => {
      await removeOwnEndpoint(deps, store.id, BigInt(params.id))
      return ok({ id: params.id, removed: true as const })
    },
  }),
  switchOperation({
    on: true,
    id: 'enableWebhookEndpoint',
    summary: 'Enable an endpoint',
    description:
      'The endpoint gets events from now on; replay the events that it missed. An endpoint that has not passed its test yet becomes `pending`, and gets none until it passes.',
  }),
  switchOperation({
    on: false,
    id: 'disableWebhookEndpoint',
    summary: 'Disable an endpoint',
    description: 'Waiting deliveries are given up. The event log keeps their events.',
  }),
  operation({
    ...common,
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/rotate-secret',
    idempotent: true,
    summary: 'Replace the secret',
    description: 'Webhooks are signed with both secrets until the overlap ends.',
    takes: { params: idParamsSchema, body: rotateSecretBodySchema.nullish() },
    answer: endpointWithSecretSchema,
    example: { overlapHours: DEFAULT_OVERLAP_HOURS },
    refusals: ['not_found'],
    handle: async (deps, store, { params, body }) => {
      const overlapHours = body?.overlapHours ?? DEFAULT_OVERLAP_HOURS
      return ok(await rotateSecret(deps, store.id, { id: BigInt(params.id), overlapHours }))
    },
  }),
  operation({
    ...common,
    id: 'testWebhookEndpoint',
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/test',
    idempotent: true,
    summary: 'Send a test message',
    description:
      'Sends a signed message of type `webhook.test`, which is not an event, and returns the endpoint’s answer. A `pending` endpoint is enabled when its answer repeats `data.challenge`.',
    takes: { params: idParamsSchema },
    answer: testResultSchema,
    refusals: ['not_found', 'endpoint_disabled', 'too_many_tests'],
    handle: async (deps, store, { params }) => ok(await sendTest(deps, store.id, BigInt(params.id))),
  }),
  operation({
    ...common,
    id: 'listWebhookAttempts',
    method: 'GET',
    path: '/v1/webhook-endpoints/:id/attempts',
    summary: 'List attempts, newest first',
    takes: { params: idParamsSchema, query: attemptsQuerySchema },
    answer: attemptListSchema,
    refusals: ['not_found'],
    handle: async ({ db }, store, { params, query }) =>
      ok(await listAttempts(db, store.id, { id: BigInt(params.id), query })),
  }),
  operation({
    ...common,
    id: 'replayWebhooks',
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/replay',
    idempotent: true,
    summary: 'Send events again',
    description:
      'Sends one event of any type, or, from a range of sequences, the events whose types the endpoint subscribes to. Each event keeps its id. A store can replay one range of at most 10,000 events at a time, and at most 50,000 deliveries in 24 hours.',
    takes: { params: idParamsSchema, body: replayBodySchema },
    answer: replayedSchema,
    statuses: { 202: 'The events are being sent.' },
    example: { fromSequence: 1, toSequence: 100 },
    refusals: ['not_found', 'endpoint_disabled', 'endpoint_unproved', 'replay_in_progress', 'replay_quota'],
    handle: async (deps, store, { params, body }) => ({
      status: 202,
      body: await replay(deps, store.id, { id: BigInt(params.id), body }),
    }),
  }),
]

type SwitchOperation = Pick<Operation, 'id' | 'summary' | 'description'> & { on: boolean }

function switchOperation({ on, ...texts }: SwitchOperation): Operation {
  return operation({
    ...common,
    ...texts,
    method: 'POST',
    path: `/v1/webhook-endpoints/:id/${on ? 'enable' : 'disable'}`,
    idempotent: true,
    takes: { params: idParamsSchema },
    answer: endpointSchema,
    refusals: ['not_found'],
    handle: async ({ db }, store, { params }) =>
      ok(await switchEndpoint(db, store.id, { id: BigInt(params.id), on })),
  })
}
