/** The calls by which a store says where it wants its webhooks, and looks after them. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { idParamsSchema } from '../../contract/store-api.ts'
import {
  attemptListSchema,
  attemptsQuerySchema,
  createEndpointBodySchema,
  endpointListSchema,
  endpointSchema,
  endpointWithSecretSchema,
  replayBodySchema,
  replayedSchema,
  rotateSecretBodySchema,
  testResultSchema,
  updateEndpointBodySchema,
} from '../../contract/webhooks.ts'
import type { Signals } from '../db/signals.ts'
import { listAttempts, replay, sendTest } from '../webhooks/attempts.ts'
import type { DeliveryDeps } from '../webhooks/delivery.ts'
import {
  createEndpoint,
  type EndpointDeps,
  endpointOf,
  listEndpoints,
  rotateSecret,
  switchEndpoint,
  tellEndpoint,
  updateEndpoint,
} from '../webhooks/endpoints.ts'
import { type Operation, storeOf } from './operation.ts'

export type EndpointRouteDeps = EndpointDeps &
  Pick<DeliveryDeps, 'send' | 'secretsOf' | 'clock'> & { signals: Pick<Signals, 'notify'> }

const OVERLAP_HOURS = 24

/** What all of these calls have in common. */
const operation = (own: Omit<Operation, 'group' | 'scope'>) => ({
  config: { operation: { group: 'Webhook endpoints', scope: 'webhooks:manage', ...own } as const },
})

export function endpointRoutes(deps: EndpointRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      '/v1/webhook-endpoints',
      {
        schema: { body: createEndpointBodySchema, response: { 201: endpointWithSecretSchema } },
        ...operation({
          id: 'createWebhookEndpoint',
          summary: 'Add an endpoint',
          description: 'The secret is shown this once.',
          answers: { 201: 'Added; it is sent what happens from now on.' },
          example: { url: 'https://store.example/webhooks/tradetill' },
          refusals: ['too_many_endpoints'],
        }),
      },
      async (request, reply) =>
        reply.code(201).send(await createEndpoint(deps, storeOf(request).id, request.body)),
    )
    app.get(
      '/v1/webhook-endpoints',
      {
        schema: { response: { 200: endpointListSchema } },
        ...operation({ id: 'listWebhookEndpoints', summary: 'List your endpoints' }),
      },
      async (request) => ({ endpoints: await listEndpoints(deps.db, storeOf(request).id) }),
    )
    app.get(
      '/v1/webhook-endpoints/:id',
      {
        schema: { params: idParamsSchema, response: { 200: endpointSchema } },
        ...operation({ id: 'getWebhookEndpoint', summary: 'Read an endpoint', refusals: ['not_found'] }),
      },
      async (request) =>
        tellEndpoint(await endpointOf(deps.db, storeOf(request).id, BigInt(request.params.id))),
    )
    app.post(
      '/v1/webhook-endpoints/:id',
      {
        schema: { params: idParamsSchema, body: updateEndpointBodySchema, response: { 200: endpointSchema } },
        ...operation({
          id: 'updateWebhookEndpoint',
          summary: 'Change an endpoint',
          description: 'Another address, other types or both. What waits for it goes to the new address.',
          example: { eventTypes: ['deposit.succeeded', 'deposit.reversed'] },
          refusals: ['not_found'],
        }),
      },
      (request) =>
        updateEndpoint(deps, storeOf(request).id, { id: BigInt(request.params.id), change: request.body }),
    )
    for (const on of [true, false]) {
      app.post(
        `/v1/webhook-endpoints/:id/${on ? 'enable' : 'disable'}`,
        {
          schema: { params: idParamsSchema, response: { 200: endpointSchema } },
          ...operation({
            id: on ? 'enableWebhookEndpoint' : 'disableWebhookEndpoint',
            summary: on ? 'Send to an endpoint again' : 'Send nothing more to an endpoint',
            description: on
              ? 'Sends what happens from now on; replay what happened meanwhile.'
              : 'What was waiting is given up. The event log has it.',
            refusals: ['not_found'],
          }),
        },
        (request) => switchEndpoint(deps.db, storeOf(request).id, { id: BigInt(request.params.id), on }),
      )
    }
    await app.register(careRoutes(deps))
  }
}

function careRoutes(deps: EndpointRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      '/v1/webhook-endpoints/:id/rotate-secret',
      {
        schema: {
          params: idParamsSchema,
          body: rotateSecretBodySchema.nullish(),
          response: { 200: endpointWithSecretSchema },
        },
        ...operation({
          id: 'rotateWebhookSecret',
          summary: 'Replace the secret',
          description: 'Webhooks carry signatures of both secrets until the overlap ends.',
          example: { overlapHours: 24 },
          refusals: ['not_found'],
        }),
      },
      (request) =>
        rotateSecret(deps, storeOf(request).id, {
          id: BigInt(request.params.id),
          overlapHours: request.body?.overlapHours ?? OVERLAP_HOURS,
        }),
    )
    app.post(
      '/v1/webhook-endpoints/:id/test',
      {
        schema: { params: idParamsSchema, response: { 200: testResultSchema } },
        ...operation({
          id: 'testWebhookEndpoint',
          summary: 'Send a test message',
          description:
            'Sends a signed message of type `webhook.test`, which is no event, and answers what the endpoint said.',
          refusals: ['not_found', 'endpoint_disabled'],
        }),
      },
      (request) => sendTest(deps, storeOf(request).id, BigInt(request.params.id)),
    )
    await app.register(attemptRoutes(deps))
  }
}

function attemptRoutes(deps: EndpointRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/v1/webhook-endpoints/:id/attempts',
      {
        schema: {
          params: idParamsSchema,
          querystring: attemptsQuerySchema,
          response: { 200: attemptListSchema },
        },
        ...operation({
          id: 'listWebhookAttempts',
          summary: 'Every attempt, newest first',
          refusals: ['not_found'],
        }),
      },
      (request) =>
        listAttempts(deps.db, storeOf(request).id, {
          id: BigInt(request.params.id),
          query: request.query,
        }),
    )
    app.post(
      '/v1/webhook-endpoints/:id/replay',
      {
        schema: { params: idParamsSchema, body: replayBodySchema, response: { 202: replayedSchema } },
        ...operation({
          id: 'replayWebhooks',
          summary: 'Send events again',
          description:
            'One event, whatever its type, or those of a range of positions that the endpoint wants. Each keeps its id.',
          answers: { 202: 'They are being sent.' },
          example: { fromSequence: 1, toSequence: 100 },
          refusals: ['not_found', 'endpoint_disabled'],
        }),
      },
      async (request, reply) => {
        const wanted = { id: BigInt(request.params.id), body: request.body }
        return reply.code(202).send(await replay(deps, storeOf(request).id, wanted))
      },
    )
  }
}
