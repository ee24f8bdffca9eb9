/**
 * The events of a store: one for each transition of a deposit, for each later change of its credit, and for each new
 * epoch (`epoch.started`). The event log (GET /v1/events) is authoritative; a webhook (Standard Webhooks: headers
 * webhook-id, webhook-timestamp, webhook-signature) contains the same event.
 */
import { z } from 'zod'
import { DEPOSIT_EVENT_TYPES, EPOCH_TYPE, EVENT_TYPES } from './event-types.ts'
import { MOST_SECRET_OVERLAP_HOURS, MOST_SEQUENCE } from './limits.ts'
import { wholeNumber } from './query.ts'
import { idText, storeDepositSchema } from './store-api.ts'

const eventType = z.enum(EVENT_TYPES)
const time = z.iso.datetime()

const envelope = {
  id: z.uuid().describe('The same in every attempt. Equals the header `webhook-id`.'),
  timestamp: time.describe('When the reported change happened.'),
  sequence: z
    .int()
    .positive()
    .describe(
      'The event’s number in your log: 1, 2, 3 … Numbers are skipped only before an `epoch.started`.',
    ),
}

export const depositEventSchema = z
  .object({
    ...envelope,
    type: z.enum(DEPOSIT_EVENT_TYPES),
    data: storeDepositSchema.describe('The deposit at that time.'),
  })
  .meta({ id: 'DepositEvent' })

const epochEventSchema = z
  .object({
    ...envelope,
    type: z.literal(EPOCH_TYPE),
    data: z.object({
      epoch: z
        .int()
        .positive()
        .describe(
          'The number of the new epoch. A till begins with epoch 1, so its first event of this type has 2.',
        ),
      previousSequence: z
        .int()
        .nonnegative()
        .describe(
          'Sequence of the last earlier event that the till still has. You may have read later ones, which the till has lost. No event will get a number between `previousSequence` and the `sequence` of this event.',
        ),
    }),
  })
  .meta({ id: 'EpochEvent' })

/** An event of the log, and the whole body of a webhook. */
export const webhookSchema = z
  .discriminatedUnion('type', [depositEventSchema, epochEventSchema])
  .meta({ id: 'Event' })

/** The type of the message that tests an endpoint. It is not an event of the log. */
export const TEST_TYPE = 'webhook.test'

export const testMessageSchema = z
  .object({
    id: z.uuid(),
    type: z.literal(TEST_TYPE),
    timestamp: time,
    data: z.object({ endpointId: z.string(), challenge: z.string() }),
  })
  .meta({ id: 'WebhookTest' })

const sequence = wholeNumber({ least: 0, most: MOST_SEQUENCE, fallback: 0 })

/** GET /v1/events: request. */
export const eventsQuerySchema = z.strictObject({
  after: sequence.describe('`sequence` of the last event you have; 0 for the beginning.'),
  limit: wholeNumber({ least: 1, most: 500, fallback: 100 }).describe(
    'The most events of the answer. It has fewer if they are large: only `hasMore` says whether there are more.',
  ),
})

export const eventListSchema = z
  .object({
    events: z.array(webhookSchema).describe('In order; none is left out.'),
    next: z.int().nonnegative().describe('Pass this as `after` in the next call.'),
    hasMore: z.boolean().describe('Whether later events can be read now.'),
  })
  .meta({ id: 'EventList' })

/** GET /v1/deposits/{id}/events. A deposit has only a few. */
export const depositEventsSchema = z
  .object({ events: z.array(depositEventSchema) })
  .meta({ id: 'DepositEvents' })

export const endpointSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    eventTypes: z.array(eventType).nullable().describe('Null: all types, including future types.'),
    state: z
      .enum(['pending', 'enabled', 'disabled'])
      .describe(
        '`pending`: no events are sent until the answer to a test repeats its `data.challenge`. `enabled`: events are sent. `disabled`: none are sent; see `disabledReason`.',
      ),
    disabledReason: z
      .enum(['by_store', 'gone'])
      .nullable()
      .describe(
        '`by_store`: a call of your store disabled it. `gone`: the endpoint answered 410. Null unless `state` is `disabled`.',
      ),
    previousSecretUntil: time
      .nullable()
      .describe(
        'Until this time, webhooks are signed with the previous secret too. It can be in the past. Null: only the current secret signs.',
      ),
    createdAt: time,
  })
  .meta({ id: 'WebhookEndpoint' })

export const endpointListSchema = z
  .object({ endpoints: z.array(endpointSchema) })
  .meta({ id: 'WebhookEndpointList' })

const webhookUrl = z
  .string()
  .max(2000)
  .describe(
    'Must use https on port 443 and lead to a public address, unless the operator allows another address.',
  )
const eventTypes = z
  .array(eventType)
  .min(1)
  .max(EVENT_TYPES.length)
  .refine((types) => new Set(types).size === types.length, 'must not name a type twice')

/** POST /v1/webhook-endpoints: request. */
export const createEndpointBodySchema = z
  .strictObject({
    url: webhookUrl,
    eventTypes: eventTypes.optional().describe('By default all types, including future types.'),
  })
  .meta({ id: 'NewWebhookEndpoint' })

/** POST /v1/webhook-endpoints/{id}: request. */
export const updateEndpointBodySchema = z
  .strictObject({
    url: webhookUrl.optional(),
    eventTypes: eventTypes
      .nullable()
      .optional()
      .describe('Null: all types, including future types. Without the field, the types stay as they are.'),
  })
  .refine(
    (change) => change.url !== undefined || change.eventTypes !== undefined,
    'must name a url, eventTypes or both',
  )
  .meta({ id: 'WebhookEndpointChange' })

/** The only answers that show a secret. */
export const endpointWithSecretSchema = endpointSchema
  .extend({ secret: z.string().describe('`whsec_…`, shown only now.') })
  .meta({ id: 'WebhookEndpointWithSecret' })

/** POST /v1/webhook-endpoints/{id}/rotate-secret: request. */
export const rotateSecretBodySchema = z
  .strictObject({
    overlapHours: z
      .int()
      .min(0)
      .max(MOST_SECRET_OVERLAP_HOURS)
      .default(24)
      .describe('How long webhooks are signed with both secrets; 0: only with the new one.'),
  })
  .meta({ id: 'SecretRotation' })

/** DELETE /v1/webhook-endpoints/{id}. */
export const removedEndpointSchema = z
  .object({ id: z.string(), removed: z.literal(true) })
  .meta({ id: 'RemovedWebhookEndpoint' })

const answerFields = {
  status: z.int().nullable().describe('Status of the answer; null if there was none.'),
  failure: z
    .enum(['no_answer'])
    .nullable()
    .describe('`no_answer`: there was none; the operator’s log has the reason. Null if there was an answer.'),
  durationMs: z.int().nonnegative(),
  answer: z
    .string()
    .nullable()
    .describe('The first kilobyte of the answer’s body; null if there was no answer.'),
}

/** POST /v1/webhook-endpoints/{id}/test: the endpoint's answer. */
export const testResultSchema = z
  .object({
    delivered: z.boolean().describe('The answer was 2xx.'),
    challengeRepeated: z
      .boolean()
      .describe(
        'The answer was 2xx, with `data.challenge` as its body, as its JSON, or in the field `challenge` of its JSON.',
      ),
    ...answerFields,
  })
  .meta({ id: 'WebhookTestResult' })

/** GET /v1/webhook-endpoints/{id}/attempts: request. */
export const attemptsQuerySchema = z.strictObject({
  after: idText.optional().describe('`next` of the previous page.'),
  limit: wholeNumber({ least: 1, most: 100, fallback: 50 }),
})

export const attemptListSchema = z
  .object({
    attempts: z
      .array(
        z.object({
          id: z.string(),
          eventId: z.string(),
          eventType,
          sequence: z.int().positive(),
          attempt: z.int().positive().describe('1 for the first.'),
          at: time,
          ...answerFields,
        }),
      )
      .describe('Newest first.'),
    next: z.string().nullable().describe('Pass this as `after` for the next page; null on the last page.'),
  })
  .meta({ id: 'WebhookAttemptList' })

/** POST /v1/webhook-endpoints/{id}/replay: request. */
export const replayBodySchema = z
  .union(
    [
      z.strictObject({ eventId: z.uuid() }),
      z
        .strictObject({ fromSequence: z.int().positive(), toSequence: z.int().positive() })
        .refine(
          ({ fromSequence: from, toSequence: to }) => from <= to,
          'must name a range, from the smaller to the larger sequence',
        ),
    ],
    'must be { eventId } or { fromSequence, toSequence }',
  )
  .meta({ id: 'Replay' })

export const replayedSchema = z
  .object({ replayed: z.int().nonnegative().describe('The number of events that are sent again.') })
  .meta({ id: 'Replayed' })

export type EventQuery = z.infer<typeof eventsQuerySchema>
export type TestMessage = z.infer<typeof testMessageSchema>
export type WebhookEvent = z.infer<typeof webhookSchema>
export type DepositEvent = z.infer<typeof depositEventSchema>
export type EventList = z.infer<typeof eventListSchema>
export type Endpoint = z.infer<typeof endpointSchema>
export type CreateEndpointBody = z.infer<typeof createEndpointBodySchema>
export type UpdateEndpointBody = z.infer<typeof updateEndpointBodySchema>
export type ReplayBody = z.infer<typeof replayBodySchema>
export type AttemptsQuery = z.infer<typeof attemptsQuerySchema>
export type AttemptList = z.infer<typeof attemptListSchema>
export type TestResult = z.infer<typeof testResultSchema>
