/** `webhook …`: the webhooks of all stores. */
import { buildRouteMap } from '@stricli/core'
import { id, limitUpTo, pageBefore, STORE, text, wholeUpTo } from '../arguments.ts'
import { ACT, type ActFlags, command, FIND, type FindFlags, GRAVE_ACT, type GraveFlags } from '../command.ts'
import type { Session } from '../session.ts'
import { Refusal } from '../terminal.ts'
import { attemptLines, endpointLines } from '../webhook-lines.ts'

const ENDPOINT = { parse: id, brief: 'the number of the endpoint', placeholder: 'ENDPOINT' } as const
const ONE_ENDPOINT = { kind: 'tuple', parameters: [ENDPOINT] } as const
const MOST_LISTED = 500
const LIMIT = limitUpTo(MOST_LISTED)

type ListFlags = FindFlags & { store?: bigint; failing?: boolean; after?: bigint; limit: number }

const list = command({
  does: 'show where stores want their webhooks, and how that goes',
  example: 'webhook list --failing',
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed', optional: true },
      failing: {
        kind: 'boolean',
        brief: 'only those with webhooks that fail or were given up',
        optional: true,
        withNegated: false,
      },
      after: {
        ...ENDPOINT,
        kind: 'parsed',
        brief: 'the next page, as the page before names it',
        optional: true,
      },
      limit: LIMIT,
      ...FIND,
    },
  },
  load: async () => {
    const { listEndpoints } = await import('../../operations/webhooks.ts')
    return async (session: Session, { store: storeId, failing, after, limit }: ListFlags) =>
      listEndpoints(await session.find(), { storeId, failing, after, limit })
  },
  lines: endpointLines,
  none: 'No such endpoints.',
})

type AttemptFlags = FindFlags & { before?: bigint; limit: number }

const attempts = command({
  does: 'show the attempts at an endpoint, newest first, with what went wrong',
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
      listAttempts(await session.find(), { endpointId, before, limit })
  },
  lines: attemptLines,
})

const MOST_SEQUENCE = 999_999_999
const SEQUENCE = {
  kind: 'parsed',
  parse: wholeUpTo(MOST_SEQUENCE),
  placeholder: 'SEQUENCE',
  optional: true,
} as const

type ReplayFlags = ActFlags & { event?: string; from?: number; to?: number }

const replay = command({
  does: 'send an event again, or those of a range that the endpoint wants',
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
      from: { ...SEQUENCE, brief: 'the first number of a range in the event log of its store' },
      to: { ...SEQUENCE, brief: 'the last one' },
      ...ACT,
    },
    positional: ONE_ENDPOINT,
  },
  load: async () => {
    const { replayWebhooks } = await import('../../operations/webhooks.ts')
    return async (session: Session, flags: ReplayFlags, endpointId: bigint) => {
      const chosen = chosenOf(flags)
      return replayWebhooks(await session.act(flags), { endpointId, ...chosen })
    }
  },
})

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const MOST_REPLAYED = 10_000

function chosenOf({ event, from, to }: ReplayFlags) {
  if (event !== undefined && from === undefined && to === undefined && UUID.test(event))
    return { eventId: event }
  if (
    event !== undefined ||
    from === undefined ||
    to === undefined ||
    to < from ||
    to - from >= MOST_REPLAYED
  ) {
    throw new Refusal(
      'usage',
      `Give either --event ID, or --from and --to of a range of ${MOST_REPLAYED} events at most.`,
    )
  }
  return { fromSequence: from, toSequence: to }
}

const rotate = command({
  does: 'give an endpoint a new secret, for a while beside the old one; shows it once',
  example: "webhook rotate 3 --overlap-hours 0 --reason 'found in a repository'",
  parameters: {
    flags: {
      overlapHours: {
        kind: 'parsed',
        parse: wholeUpTo(168),
        brief: 'how long the old one signs too',
        placeholder: 'HOURS',
        default: '24',
      },
      ...GRAVE_ACT,
    },
    positional: ONE_ENDPOINT,
  },
  load: async () => {
    const { rotateWebhookSecret } = await import('../../operations/webhooks.ts')
    return async (session: Session, flags: GraveFlags & { overlapHours: number }, endpointId: bigint) =>
      rotateWebhookSecret(await session.act(flags), { endpointId, overlapHours: flags.overlapHours })
  },
  lines: ({ webhookSecret }) => [webhookSecret],
})

const remove = command({
  does: 'remove an endpoint: nothing more is sent there, and what waited is given up',
  example: "webhook remove 3 --reason 'nobody of the store added it'",
  parameters: { flags: { ...GRAVE_ACT }, positional: ONE_ENDPOINT },
  load: async () => {
    const { removeWebhook } = await import('../../operations/webhooks.ts')
    return async (session: Session, flags: GraveFlags, endpointId: bigint) =>
      removeWebhook(await session.act(flags), { endpointId })
  },
})

export const webhook = buildRouteMap({
  routes: { list, attempts, replay, rotate, remove },
  docs: { brief: 'the webhooks of all stores' },
})
