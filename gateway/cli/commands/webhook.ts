import { buildRouteMap } from '@stricli/core'
import { MOST_SECRET_OVERLAP_HOURS, MOST_SEQUENCE } from '../../../contract/limits.ts'
import { id, limitUpTo, pageBefore, STORE, text, wholeUpTo } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import type { Session } from '../session.ts'
import { Refusal } from '../terminal.ts'
import { attemptLines, endpointLines } from '../webhook-lines.ts'

const ENDPOINT = { parse: id, brief: 'the number of the endpoint', placeholder: 'ENDPOINT' } as const
const ONE_ENDPOINT = { kind: 'tuple', parameters: [ENDPOINT] } as const
const MOST_LISTED = 500
const LIMIT = limitUpTo(MOST_LISTED)

type ListFlags = FindFlags & { store?: bigint; failing?: boolean; after?: bigint; limit: number }

const list = command({
  does: 'list the webhook endpoints of stores and the state of their deliveries',
  example: 'webhook list --failing',
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed', optional: true },
      failing: {
        kind: 'boolean',
        brief: 'only endpoints that answered 410, or have failing or given-up webhooks',
        optional: true,
        withNegated: false,
      },
      after: {
        ...ENDPOINT,
        kind: 'parsed',
        brief: 'the next page: the number at the end of the previous one',
        optional: true,
      },
      limit: LIMIT,
      ...FIND,
    },
  },
  load: async () => {
    const { listEndpoints } = await import('../../operations/webhooks.ts')
    return async (session: Session, { store: storeId, failing, after, limit }: ListFlags) =>
      listEndpoints(await session.findDeps(), { storeId, failing, after, limit })
  },
  lines: endpointLines,
  ifEmpty: 'No such endpoints.',
})

type AttemptFlags = FindFlags & { before?: bigint; limit: number }

const attempts = command({
  does: 'list the delivery attempts to an endpoint, newest first, with their errors',
  example: 'webhook attempts 3',
  parameters: {
    flags: {
      before: pageBefore('ATTEMPT'),
      limit: LIMIT,
      ...FIND,
    },
    positional: ONE_ENDPOINT,
  },
  load: async () => {
    const { listAttempts } = await import('../../operations/webhooks.ts')
    return async (session: Session, { before, limit }: AttemptFlags, endpointId: bigint) =>
      listAttempts(await session.findDeps(), { endpointId, before, limit })
  },
  lines: attemptLines,
})

const SEQUENCE = {
  kind: 'parsed',
  parse: wholeUpTo(MOST_SEQUENCE),
  placeholder: 'SEQUENCE',
  optional: true,
} as const

type ReplayFlags = ActFlags & { event?: string; from?: number; to?: number }

const replay = command({
  does: 'send one event again, or, from a range, all events that the endpoint subscribes to',
  example: 'webhook replay 3 --from 120 --to 180',
  parameters: {
    flags: {
      event: {
        kind: 'parsed',
        parse: text,
        brief: 'the id of one event',
        placeholder: 'EVENT',
        optional: true,
      },
      from: { ...SEQUENCE, brief: 'sequence of the first event, in the log of the endpoint’s store' },
      to: { ...SEQUENCE, brief: 'sequence of the last event' },
      ...ACT,
    },
    positional: ONE_ENDPOINT,
  },
  load: async () => {
    const { replayWebhooks } = await import('../../operations/webhooks.ts')
    return async (session: Session, flags: ReplayFlags, endpointId: bigint) => {
      const chosen = chosenOf(flags)
      return replayWebhooks(await session.actDeps(flags), { endpointId, ...chosen })
    }
  },
})

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function chosenOf({ event, from, to }: ReplayFlags) {
  if (event !== undefined && from === undefined && to === undefined) {
    if (!UUID.test(event)) throw new Refusal('usage', `${event} is not the id of an event, which is a UUID.`)
    return { eventId: event }
  }
  if (event !== undefined || from === undefined || to === undefined)
    throw new Refusal('usage', 'Give either --event ID, or --from and --to of a range of sequences.')
  if (to < from) throw new Refusal('usage', `--to ${to} is before --from ${from}.`)
  return { fromSequence: from, toSequence: to }
}

const rotate = command({
  does: 'give an endpoint a new secret, shown only once; both secrets sign for a while',
  example: "webhook rotate 3 --overlap-hours 0 --reason 'found in a repository'",
  parameters: {
    flags: {
      overlapHours: {
        kind: 'parsed',
        parse: wholeUpTo(MOST_SECRET_OVERLAP_HOURS),
        brief: 'how long the old secret still signs',
        placeholder: 'HOURS',
        default: '24',
      },
      ...SERIOUS_ACT,
    },
    positional: ONE_ENDPOINT,
  },
  load: async () => {
    const { rotateWebhookSecret } = await import('../../operations/webhooks.ts')
    return async (session: Session, flags: SeriousFlags & { overlapHours: number }, endpointId: bigint) =>
      rotateWebhookSecret(await session.actDeps(flags), { endpointId, overlapHours: flags.overlapHours })
  },
  lines: ({ webhookSecret }) => [webhookSecret],
})

const remove = command({
  does: 'remove an endpoint: nothing more is sent there, and due webhooks are given up',
  example: "webhook remove 3 --reason 'nobody at the store added it'",
  parameters: { flags: { ...SERIOUS_ACT }, positional: ONE_ENDPOINT },
  load: async () => {
    const { removeWebhook } = await import('../../operations/webhooks.ts')
    return async (session: Session, flags: SeriousFlags, endpointId: bigint) =>
      removeWebhook(await session.actDeps(flags), { endpointId })
  },
})

export const webhook = buildRouteMap({
  routes: { list, attempts, replay, rotate, remove },
  docs: { brief: 'the webhooks of all stores' },
})
