import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import type { Triggered } from '../../operations/trigger.ts'
import { id, text } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import type { Session } from '../session.ts'

type TriggerFlags = FindFlags & { store: bigint; customer?: string; order?: string }

function eventType(typed: string): EventType {
  const knownType = EVENT_TYPES.find((type) => type === typed)
  if (knownType === undefined) throw new Error(`must be one of ${EVENT_TYPES.join(', ')}`)
  return knownType
}

const lineOf = ({ type, sequence, url, status, failure }: Triggered['deliveries'][number]): string =>
  `${sequence} ${type} ${url}: ${status ?? failure}`

export const trigger = command({
  does: "send made-up events of one deposit to a store's enabled webhooks, in the given order; sandbox mode only",
  example: 'trigger --store 2 --customer nova deposit.trade_timeout deposit.succeeded',
  parameters: {
    flags: {
      store: { kind: 'parsed', parse: id, brief: 'number of the store', placeholder: 'STORE' },
      customer: {
        kind: 'parsed',
        parse: text,
        brief: 'customerReference of the deposit; none by default',
        placeholder: 'NAME',
        optional: true,
      },
      order: {
        kind: 'parsed',
        parse: text,
        brief: 'externalId of the deposit, for a store that credits only known orders; made up by default',
        placeholder: 'ID',
        optional: true,
      },
      ...FIND,
    },
    positional: {
      kind: 'array',
      parameter: {
        parse: eventType,
        brief: 'a type of event, such as deposit.reversed',
        placeholder: 'TYPE',
      },
      minimum: 1,
    },
  },
  load: async () => {
    const operations = await import('../../operations/trigger.ts')
    return async (session: Session, flags: TriggerFlags, ...types: EventType[]) => {
      const { store: storeId, customer, order } = flags
      return operations.trigger(await session.findDeps(), { storeId, types, customer, order })
    }
  },
  lines: ({ deliveries }) => deliveries.map(lineOf),
})
